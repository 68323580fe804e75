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

// The address of the worker's script, with all that it imports inside. In a folder, Blobs hold the scripts: their addresses do not have the
// path of the page, in which `fullpipe play` has its secret, so that a controller cannot read it from a stack.
export async function loadScript() {
    return text("fullpipe-worker") ?? blobOf("worker.js", new Map());
}

// `blobs` has the promised addresses by name: a script that two others import is one module.
function blobOf(file, blobs) {
    if (!blobs.has(file)) {
        blobs.set(file, makeBlob(file, blobs));
    }
    return blobs.get(file);
}

async function makeBlob(file, blobs) {
    const answer = await fetch(new URL(file, import.meta.url));
    if (!answer.ok) {
        throw new Error(`${file}: ${answer.status} ${answer.statusText}`);
    }
    let script = await answer.text();
    for (const [whole, other] of script.matchAll(/from "\.\/([^"]+)"/g)) {
        script = script.replace(whole, `from ${JSON.stringify(await blobOf(other, blobs))}`);
    }
    return scriptAddress(script);
}

function scriptAddress(script) {
    return URL.createObjectURL(new Blob([script], { type: "text/javascript" }));
}

// A new worker with this script. A worker from a Blob has the page's Content-Security-Policy, so what runs in it can send nothing anywhere.
// It is not a module, because Chromium starts none of a Blob for a page from a disk; but it can import one, and keeps what it hears before.
export function openWorker(script) {
    const start = `
        const early = [];
        onmessage = (event) => early.push(event);
        import(${JSON.stringify(script)}).then(() => early.forEach((event) => onmessage(event)), (error) => reportError(error));`;
    return new Worker(scriptAddress(start));
}
