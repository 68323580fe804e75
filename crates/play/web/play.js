// A run of a scenario in the simulator, step by step. `module` is the compiled module of the crate fullpipe-play.

import { Instance } from "./instance.js";

const GOES_ON = 1;

export class Play {
    #instance;

    // Begins a run of the scenario with this text, and with this seed (a BigInt) in place of its own. The run has an instance of its
    // own. `controllers` has those in JavaScript. Throws an Error with one line for people.
    constructor(module, text, seed = -1n, controllers = {}) {
        this.#instance = new Instance(module, controllers);
        this.#instance.writeText(text);
        this.#instance.call("play_begin", seed);
    }

    // The memory that the run has taken, in bytes.
    get memory() {
        return this.#instance.memory;
    }

    // Runs at most so many steps of some milliseconds each. Returns whether there is more to run.
    step(most) {
        return this.#instance.call("play_step", most) === GOES_ON;
    }

    // The record of the time until now, as bytes for `decode` of record.js.
    record() {
        return this.#instance.result("play_record");
    }

    // What advice needs of the time until now, as bytes for `note` of Advising.
    measured() {
        return this.#instance.result("play_measured");
    }
}
