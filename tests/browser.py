"""A headless chromium, spoken to through a pipe, and what every page of dpc is held to."""
import base64
import json
import os
import shutil
import subprocess
import tempfile

SKIPPED = 77  # for ctest
failures = []  # what did not hold, of the script that imports this


def check(what, holds, seen=""):
    if not holds:
        failures.append(what)
        print("FAILED:", what, seen)


def find():
    """The program, or None."""
    return shutil.which("chromium") or shutil.which("chromium-browser") or shutil.which("google-chrome")


class Browser:
    """Scripts that throw are what does not hold. pictures: a folder for them, or None."""

    def __init__(self, program_path, pictures=None):
        self.pictures = pictures
        read, self.to = os.pipe()
        self.source, write = os.pipe()
        self.folder = tempfile.mkdtemp()

        def connect():  # it reads from 3 and writes to 4
            high = os.dup(read), os.dup(write)
            os.dup2(high[0], 3)
            os.dup2(high[1], 4)
        command = [program_path, "--headless=new", "--no-sandbox", "--disable-gpu", "--disable-dev-shm-usage", "--remote-debugging-pipe",
                   "--hide-scrollbars", "--no-first-run", "--user-data-dir=" + self.folder, "about:blank"]
        self.process = subprocess.Popen(command, preexec_fn=connect, close_fds=False, stdout=subprocess.DEVNULL,
                                        stderr=subprocess.DEVNULL)
        os.close(read)
        os.close(write)
        self.count, self.pending, self.events, self.session = 0, b"", [], None
        pages = [t for t in self.send("Target.getTargets")["targetInfos"] if t["type"] == "page"]
        self.session = self.send("Target.attachToTarget", targetId=pages[0]["targetId"], flatten=True)["sessionId"]
        for domain in ("Page", "Runtime", "Log", "Network"):
            self.send(domain + ".enable")

    def receive(self):
        while b"\0" not in self.pending:
            part = os.read(self.source, 1 << 16)
            if not part:
                raise EOFError("the browser has gone away")
            self.pending += part
        message, self.pending = self.pending.split(b"\0", 1)
        return json.loads(message)

    def send(self, method, **params):
        self.count += 1
        message = {"id": self.count, "method": method, "params": params}
        if self.session:
            message["sessionId"] = self.session
        os.write(self.to, json.dumps(message).encode() + b"\0")
        while True:
            answer = self.receive()
            if answer.get("id") == self.count:
                return answer["result"]
            self.events.append(answer)

    def run(self, script):
        answer = self.send("Runtime.evaluate", expression=script, returnByValue=True, awaitPromise=True)
        if "exceptionDetails" in answer:
            check("script", False, answer["exceptionDetails"].get("exception", {}).get("description", "")[:300])
        return answer["result"].get("value")

    def look(self, width, height, scheme="light", media="screen"):
        self.send("Emulation.setDeviceMetricsOverride", width=width, height=height, deviceScaleFactor=1, mobile=False)
        self.send("Emulation.setEmulatedMedia", media=media, features=[{"name": "prefers-color-scheme", "value": scheme}])

    def open(self, path, fragment=""):
        self.events = []
        self.send("Page.navigate", url="file://" + os.path.abspath(path) + fragment)
        while self.run("document.readyState") != "complete":
            pass

    def key(self, key, text=""):
        code = {"Tab": 9, "Enter": 13, "ArrowRight": 39, "ArrowLeft": 37, "ArrowDown": 40, "End": 35, "Escape": 27}.get(key, 0)
        for kind in ("keyDown", "keyUp"):
            self.send("Input.dispatchKeyEvent", type=kind, key=key, code=key, windowsVirtualKeyCode=code, text=text if kind == "keyDown" else "")

    def errors(self):
        wrong = [e for e in self.events if e.get("method") in ("Runtime.exceptionThrown", "Log.entryAdded")]
        asked = [e["params"]["request"]["url"] for e in self.events if e.get("method") == "Network.requestWillBeSent"]
        return wrong + [u for u in asked if not u.startswith("file:")]

    def picture(self, name):
        if self.pictures:
            data = self.send("Page.captureScreenshot", format="png")["data"]
            with open(os.path.join(self.pictures, name + ".png"), "wb") as f:
                f.write(base64.b64decode(data))

    def close(self):
        try:
            self.send("Browser.close")
        except (EOFError, OSError):
            pass
        self.process.wait(20)
        shutil.rmtree(self.folder, ignore_errors=True)


# Contrast of each text with what is behind it, and names of all controls: what a checker of accessibility looks for.
ACCESSIBLE = r"""(() => {
  const wrong = [];
  const canvas = document.createElement("canvas").getContext("2d", { willReadFrequently: true });
  const rgb = (c) => { canvas.clearRect(0, 0, 1, 1); canvas.fillStyle = c; canvas.fillRect(0, 0, 1, 1); return [...canvas.getImageData(0, 0, 1, 1).data]; };
  const light = ([r, g, b]) => [r, g, b].map((v) => v / 255).map((v) => v <= 0.03928 ? v / 12.92 : ((v + 0.055) / 1.055) ** 2.4).reduce((s, v, i) => s + v * [0.2126, 0.7152, 0.0722][i], 0);
  const behind = (n) => { for (; n; n = n.parentElement) { const c = rgb(getComputedStyle(n).backgroundColor); if (c[3] > 0) return c; } return [255, 255, 255]; };
  const cell = (n) => { const rect = n.parentElement.querySelector("rect"); const c = rect ? rgb(getComputedStyle(rect).fill) : null; return c && c[3] ? c : behind(n.closest("div")); };
  const seen = new Set();
  for (const n of document.querySelectorAll("body *")) {
    if (n.closest("script") || !n.getClientRects().length || ![...n.childNodes].some((c) => c.nodeType === 3 && c.data.trim())) continue;
    const svg = n.namespaceURI.endsWith("svg");
    if (svg && n.tagName !== "text") continue;
    const style = getComputedStyle(n), ink = light(rgb(svg ? style.fill : style.color)), paper = light(svg ? cell(n) : behind(n));
    const ratio = (Math.max(ink, paper) + 0.05) / (Math.min(ink, paper) + 0.05);
    const name = `${n.tagName} ${n.getAttribute("class") || ""}`;
    if (ratio < 4.5 && !seen.has(name)) seen.add(name), wrong.push(`contrast ${ratio.toFixed(2)}: ${name}: ${n.textContent.slice(0, 30)}`);
  }
  for (const n of document.querySelectorAll("button, input, select, textarea, iframe, [role=tab], [role=tabpanel], [role=img], [role=group], pre[tabindex]")) {
    if (!n.getClientRects().length) continue;
    const label = n.getAttribute("aria-label") || n.getAttribute("aria-labelledby") || n.title || n.textContent.trim() || (n.labels && n.labels.length && n.labels[0].textContent);
    if (!label) wrong.push(`no name: ${n.outerHTML.slice(0, 80)}`);
  }
  const ids = [...document.querySelectorAll("[id]")].map((n) => n.id);
  for (const id of new Set(ids.filter((x, i) => ids.indexOf(x) !== i))) wrong.push(`two of id ${id}`);
  return wrong;
})()"""

# Every control that can be seen is reached by the tabulator or by the arrows inside a group.
REACHABLE = r"""[...document.querySelectorAll("button, input, select, textarea, pre, .drawing")].filter((n) => n.getClientRects().length && n.tabIndex < 0 && !n.closest("[aria-hidden=true]") &&
  !n.closest("[role=tablist]") && !n.closest(".passlist")).map((n) => n.outerHTML.slice(0, 80))"""
