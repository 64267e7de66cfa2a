// The compiler in a worker, so that nothing that a program does stops the page.

class Compiler {
  constructor() {
    this.source = URL.createObjectURL(new Blob([document.getElementById("compiler").textContent], { type: "text/javascript" }));
    this.count = 0;
    this.start();
  }

  start() {
    this.waiting = new Map();
    this.worker = new Worker(this.source);
    this.worker.onmessage = ({ data }) => {
      const done = this.waiting.get(data.id);
      this.waiting.delete(data.id);
      if (data.died !== undefined) this.stop();
      if (done) done(data);
    };
    this.worker.onerror = (e) => {
      const why = `the compiler could not be started: ${e.message}`;
      for (const done of this.waiting.values()) done({ died: why });
      this.waiting.clear();
    };
  }

  /** The answer: {text}, {died}, or {stopped}. */
  ask(what, ...words) {
    return new Promise((done) => {
      this.waiting.set(++this.count, done);
      this.worker.postMessage({ id: this.count, what, words });
    });
  }

  /** Ends what is under way, and begins anew. */
  stop() {
    const { waiting } = this;
    this.worker.terminate();
    this.start();
    for (const done of waiting.values()) done({ stopped: true });
  }
}
