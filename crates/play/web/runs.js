// Runs the shown scenario: with its own seed first, and with further seeds once it stops changing. Tells of records by "record",
// { seed, record, done }, and of what is wrong with the text by "problem",
// { message, line, until_s }: the time until which a run had gone that broke off, or null.

import { named, read } from "./state/document.js";

// While somebody drags a slider, only the scenario's own seed runs.
const QUIET_MS = 200;

export class Runs extends EventTarget {
    // The last record of each seed, by its place: 0 is the scenario's own, and of the others only the summary is kept.
    records = [];
    // Whether the first of them is of this state, and not of the one before.
    isHeard = false;
    done = 0;
    #engine;
    #later;
    #further = [];

    constructor(engine) {
        super();
        this.#engine = engine;
    }

    // Runs this state in place of the one before.
    start(state) {
        this.#forget();
        this.began = performance.now();
        this.tookMs = null;
        this.isHeard = false;
        this.seeds = state.seeds;
        this.#run(state, 0);
        if (state.seeds > 1) {
            this.#later = setTimeout(() => {
                for (let place = 1; place < state.seeds; place++) {
                    this.#run(state, place);
                }
            }, QUIET_MS);
        }
    }

    // The first run's own slot lets the next one take its place; further seeds end here. What was shown stays until there is more.
    #forget() {
        clearTimeout(this.#later);
        this.#further.forEach((run) => run.cancel());
        this.#further = [];
        this.records.length = Math.min(this.records.length, 1);
        this.done = 0;
    }

    #run(state, place) {
        const own = seedOf(state.text);
        const options = { slot: place, controllers: state.controllers };
        if (place > 0) {
            options.seed = own + BigInt(place);
        }
        let until_s = null;
        const run = this.#engine.run(state.text, options, {
            record: (record, done) => {
                this.records[place] = place === 0 ? record : { summary: record.summary };
                until_s = record.summary.duration_s;
                this.done += done ? 1 : 0;
                this.isHeard ||= place === 0;
                this.tookMs = performance.now() - this.began;
                this.#tell("record", { place, record, done });
            },
            error: (problem) => {
                this.#tell("problem", { ...problem, until_s });
            },
        });
        if (place > 0) {
            this.#further.push(run);
        }
    }

    #tell(name, detail) {
        this.dispatchEvent(new CustomEvent(name, { detail }));
    }
}

// The scenario's own seed, which is 1 if it has none.
export function seedOf(text) {
    const value = read(named(text, "")[0], "seed") ?? "1";
    return /^\d+$/.test(value) ? BigInt(value) : 1n;
}
