// The parts of the page that are no scripts of it: the module, and the worker. In a folder they are files beside this one; in a page of
// one file they are elements, since a page from a disk may read no other file.

import { addressOf } from "./address.js";

const text = (id) => document.getElementById(id)?.textContent;

// The bytes of the module.
export async function loadModule() {
    const inlined = text("fullpipe-module");
    if (inlined === undefined) {
        return (await got("play.wasm")).arrayBuffer();
    }
    const bytes = Uint8Array.from(atob(inlined), (character) => character.charCodeAt(0));
    const unzipped = new Blob([bytes]).stream().pipeThrough(new DecompressionStream("gzip"));
    return new Response(unzipped).arrayBuffer();
}

// The address of the worker's script, with all that it imports inside.
export async function loadScript() {
    return text("fullpipe-worker") ?? nested("worker.js");
}

async function nested(file) {
    let script = await (await got(file)).text();
    for (const [whole, other] of script.matchAll(/from "\.\/([^"]+)"/g)) {
        const address = await nested(other);
        script = script.replace(whole, () => `from ${JSON.stringify(address)}`);
    }
    return addressOf(script);
}

async function got(file) {
    const answer = await fetch(new URL(file, import.meta.url));
    if (!answer.ok) {
        throw new Error(`${file}: ${answer.status} ${answer.statusText}`);
    }
    return answer;
}
