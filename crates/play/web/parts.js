// The parts of the page that are no scripts of it: the module, and the worker. In a folder they are files beside this one; in a page of
// one file they are elements, since a page from a disk may read no other file.

const text = (id) => document.getElementById(id)?.textContent;

// The compiled module.
export async function loadModule() {
    const inlined = text("fullpipe-module");
    if (inlined === undefined) {
        const answer = await fetch(new URL("play.wasm", import.meta.url));
        if (!answer.ok) {
            throw new Error(`play.wasm: ${answer.status} ${answer.statusText}`);
        }
        return WebAssembly.compile(await answer.arrayBuffer());
    }
    const bytes = Uint8Array.from(atob(inlined), (character) => character.charCodeAt(0));
    const unzipped = new Blob([bytes]).stream().pipeThrough(new DecompressionStream("gzip"));
    return WebAssembly.compile(await new Response(unzipped).arrayBuffer());
}

// A new worker. A worker from a Blob has the page's Content-Security-Policy, so what runs in it can send nothing anywhere. It is not a
// module, because Chromium starts none of a Blob for a page from a disk; but it can import one, and keeps what it hears before that.
export function openWorker() {
    const script = text("fullpipe-worker") ?? new URL("worker.js", import.meta.url).href;
    const start = `
        const early = [];
        onmessage = (event) => early.push(event);
        import(${JSON.stringify(script)}).then(() => early.forEach((event) => onmessage(event)), (error) => reportError(error));`;
    const address = URL.createObjectURL(new Blob([start], { type: "text/javascript" }));
    return new Worker(address);
}
