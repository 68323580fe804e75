// A run of a scenario in the simulator, step by step. `module` is the compiled module of the crate fullpipe-play.

import { Controllers } from "./controller.js";

const FAILED = 2, GOES_ON = 1;

export class Play {
    // Begins a run of the scenario with this text, and with this seed (a BigInt) in place of its own. The run has an instance of its
    // own: it ends, with all its memory, when nothing refers to it any more. `controllers` has those in JavaScript. Throws an Error with
    // one line for people.
    constructor(module, text, seed = -1n, controllers = {}) {
        const objects = new Controllers(controllers);
        this.exports = new WebAssembly.Instance(module, { controllers: objects.imports }).exports;
        this.exports.play_states();
        objects.connect(this.exports, JSON.parse(new TextDecoder().decode(this.#result())));
        const bytes = new TextEncoder().encode(text);
        const room = this.exports.play_room(bytes.length) >>> 0;
        if (room === 0 && bytes.length > 0) {
            throw new Error("the text of the scenario is too long");
        }
        new Uint8Array(this.exports.memory.buffer, room, bytes.length).set(bytes);
        this.#check(this.exports.play_begin(seed));
    }

    // Runs at most so many steps of some milliseconds each. Returns whether there is more to run.
    step(most) {
        return this.#check(this.exports.play_step(most)) === GOES_ON;
    }

    // The record of the time until now, as bytes for `decode` of record.js.
    record() {
        this.exports.play_record();
        return this.#result();
    }

    #result() {
        const place = this.exports.play_result() >>> 0;
        return new Uint8Array(this.exports.memory.buffer, place, this.exports.play_length() >>> 0).slice();
    }

    #check(state) {
        if (state === FAILED) {
            throw new Error(new TextDecoder().decode(this.#result()));
        }
        return state;
    }
}
