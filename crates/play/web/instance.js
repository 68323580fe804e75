// An instance of the module of the crate fullpipe-play, with its memory. It ends when nothing refers to it any more.

import { Controllers } from "./controller.js";

const FAILED = 2;

export class Instance {
    #exports;

    // `controllers` has those in JavaScript by name.
    constructor(module, controllers = {}) {
        const objects = new Controllers(controllers);
        this.#exports = new WebAssembly.Instance(module, { controllers: objects.imports, memory: { exhausted } }).exports;
        objects.connect(this.#exports, JSON.parse(decoded(this.result("play_states"))));
    }

    // The size of its memory in bytes, which never shrinks.
    get memory() {
        return this.#exports.memory.buffer.byteLength;
    }

    // Writes what the next call reads. Throws an Error for people if it is too long.
    write(bytes) {
        const room = this.#exports.play_room(bytes.length) >>> 0;
        if (room === 0 && bytes.length > 0) {
            throw new Error("the text of the scenario is too long");
        }
        new Uint8Array(this.#exports.memory.buffer, room, bytes.length).set(bytes);
    }

    writeText(text) {
        this.write(new TextEncoder().encode(text));
    }

    // Calls a function of the module, and returns its state. Throws an Error with one line for people if it fails.
    call(name, ...values) {
        const state = this.#exports[name](...values);
        if (state === FAILED) {
            throw new Error(decoded(this.#bytes()));
        }
        return state;
    }

    // What a function of the module gives, as bytes.
    result(name, ...values) {
        this.call(name, ...values);
        return this.#bytes();
    }

    #bytes() {
        const place = this.#exports.play_result() >>> 0;
        return new Uint8Array(this.#exports.memory.buffer, place, this.#exports.play_length() >>> 0).slice();
    }
}

function exhausted() {
    throw new Error("the run takes more memory than it may have here: give lower rates, shorter delays or smaller buffers");
}

function decoded(bytes) {
    return new TextDecoder().decode(bytes);
}
