// What is typed as the part of an address behind its #, and back: no server sees it.

async function through(stream, bytes) {
  return new Uint8Array(await new Response(new Blob([bytes]).stream().pipeThrough(stream)).arrayBuffer());
}

/** #z=…: deflated, in base64url; where the browser cannot do that #t=…, as it is. */
async function writeLink(typed) {
  const text = JSON.stringify(typed);
  if (typeof CompressionStream === "undefined") return `#t=${encodeURIComponent(text)}`;
  const bytes = await through(new CompressionStream("deflate-raw"), new TextEncoder().encode(text));
  return `#z=${btoa(Array.from(bytes, (b) => String.fromCharCode(b)).join("")).replace(/\+/g, "-").replace(/\//g, "_").replace(/=+$/, "")}`;
}

/** What such a link says: {program, entry, input}; null if it is none. */
async function readLink(hash) {
  try {
    let text = null;
    if (hash.startsWith("#t=")) text = decodeURIComponent(hash.slice(3));
    if (hash.startsWith("#z=")) {
      const bytes = Uint8Array.from(atob(hash.slice(3).replace(/-/g, "+").replace(/_/g, "/")), (c) => c.charCodeAt(0));
      text = new TextDecoder().decode(await through(new DecompressionStream("deflate-raw"), bytes));
    }
    const typed = text === null ? null : JSON.parse(text);
    return typed && typeof typed.program === "string" ? { entry: "", input: "", ...typed } : null;
  } catch {
    return null;
  }
}
