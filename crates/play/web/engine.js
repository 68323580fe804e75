// What a page runs scenarios with: the simulator as a module in workers.

import { Pool } from "./pool.js";

// Opens an engine. Rejects with an Error for people if this browser has no WebAssembly, or the module does not load.
export async function openEngine() {
    return new Engine(await Pool.open());
}

class Engine {
    #pool;
    #slots = new Map();

    constructor(pool) {
        this.#pool = pool;
        this.kind = "module";
    }

    // Runs the scenario with this text, and with `seed` (a number, a BigInt or nothing) in place of its own. A run with a slot cancels
    // the run of the same slot. `record` gets the record of the time until now, first when there is something to see, and last, with
    // `done`, of all; or `error` gets { message, line, where }: one line for people, the line of the text or null, and the field
    // or null.
    run(text, { seed, slot } = {}, { record, error }) {
        const hear = {
            record: (bytes, done) => record(JSON.parse(new TextDecoder().decode(bytes)), done),
            error: (message) => error(located(message)),
        };
        const job = this.#pool.start({ text, seed: seed === undefined ? -1n : BigInt(seed) }, hear, this.#slots.get(slot));
        if (slot !== undefined) {
            this.#slots.set(slot, job);
        }
        return { cancel: () => this.#pool.cancel(job) };
    }

    // Says what is wrong with the text of a scenario, as `error` above, without a run; null if nothing is.
    async check(text) {
        const message = await this.#pool.check(text);
        return message === null ? null : located(message);
    }
}

// The parts of an error of the simulator: `line 3: path.rate: …`.
function located(message) {
    const [, line = null, where = null, rest] = /^(?:line (\d+): )?(?:([\w.[\]-]+): )?(.*)$/s.exec(message);
    return { message: where === null ? rest : `${where}: ${rest}`, line: line && Number(line), where };
}
