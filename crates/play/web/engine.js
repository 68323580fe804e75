// What a page runs scenarios with: the simulator as a module in workers, or that of `fullpipe play`.

import { Native, isNative } from "./native.js";
import { Pool } from "./pool.js";
import { decode } from "./record.js";

// Opens an engine. Rejects with an Error for people if this browser has no WebAssembly, or the module does not load.
export async function openEngine() {
    return isNative() ? new Engine("native", new Native()) : new Engine("module", await Pool.open());
}

class Engine {
    #simulator;
    #module;
    #slots = new Map();

    constructor(kind, simulator) {
        this.kind = kind;
        this.#simulator = simulator;
        this.#module = kind === "module" ? Promise.resolve(simulator) : null;
    }

    // Runs the scenario with this text, and with `seed` (a number, a BigInt or nothing) in place of its own. A run with a slot cancels
    // the run of the same slot. `record` gets the record of the time until now, first when there is something to see, and last, with
    // `done`, of all; or `error` gets { message, line, where }: one line for people, the line of the text or null, and the field
    // or null. `controllers` has the sources of controllers in JavaScript by name: `Gentle` for `controller = "js:Gentle"`. The `where` of
    // an error in one is `js:` and its name, and the line is of its source.
    run(text, { seed, slot, controllers: given } = {}, { record, error }) {
        const controllers = named(given, text);
        const run = { isOver: false, simulator: null, job: null };
        const before = this.#slots.get(slot);
        if (slot !== undefined) {
            this.#slots.set(slot, run);
        }
        const hear = {
            record: (bytes, done) => run.isOver || record(decode(bytes), done),
            error: (wrong) => run.isOver || error(located(wrong)),
        };
        const task = { text, seed: seed === undefined || seed === null ? -1n : BigInt(seed), controllers };
        const start = (simulator) => {
            // The worker of the run before begins this one without a pause.
            const same = before?.simulator === simulator ? before.job : undefined;
            if (before && !same) {
                before.simulator?.cancel(before.job);
            }
            if (!run.isOver) {
                run.simulator = simulator;
                run.job = simulator.start(task, hear, same);
            }
        };
        if (before) {
            before.isOver = true;
        }
        if (isEmpty(controllers) || this.kind === "module") {
            start(this.#simulator);
        } else {
            this.#withModule().then(start, ({ message }) => hear.error({ message }));
        }
        return {
            cancel: () => {
                run.isOver = true;
                run.simulator?.cancel(run.job);
            },
        };
    }

    // Says what is wrong with the text of a scenario, as `error` above, without a run; null if nothing is.
    async check(text, { controllers: given } = {}) {
        const controllers = named(given, text);
        try {
            const simulator = isEmpty(controllers) ? this.#simulator : await this.#withModule();
            const wrong = await simulator.check({ text, seed: -1n, controllers });
            return wrong && located(wrong);
        } catch ({ message }) {
            return located({ message });
        }
    }

    // Makes ready for a controller in JavaScript. Resolves to why none runs here; null if they do.
    async refusal() {
        try {
            (await this.#withModule()).prepare();
            return null;
        } catch ({ message }) {
            return message;
        }
    }

    // Advice for the path of a scenario, as `fullpipe advise` gives it: { goals, candidates, columns, summary }. Each of the goals has the
    // program's `sentences` for it, and `rivals`: a table with `headings` and `rows`, or null. `candidates` is such a table, too, and
    // `columns` says what its columns are; `summary` is the program's `--json`. `progress` hears { about, done, of }: what the runs are in a
    // line, how many are over, and how many there are. Rejects with an Error for people, or with the reason of `signal`, which ends the runs.
    async advise(text, { signal, progress }) {
        return this.#simulator.advise(text, { signal, progress });
    }

    // The program runs no JavaScript: controllers in it run here.
    #withModule() {
        this.#module ??= Pool.open().catch(() => {
            this.#module = null;
            throw new Error("this build of fullpipe play has no module, which runs controllers in JavaScript; docs/play.md says how to build one");
        });
        return this.#module;
    }
}

// Those controllers that the text names: nobody's code is in a run that does not need it.
function named(controllers, text) {
    return Object.fromEntries(Object.entries(controllers ?? {}).filter(([name]) => text.includes(`js:${name}`)));
}

function isEmpty(controllers) {
    return Object.keys(controllers).length === 0;
}

// The parts of an error of the simulator: `line 3: path.rate: …`.
function located({ message: text, line: ofSource, where: controller }) {
    if (controller !== undefined) {
        const name = controller && `js:${controller}`;
        return { message: name ? `${name}: ${text}` : text, line: ofSource, where: name };
    }
    const [, line = null, where = null, rest] = /^(?:line (\d+): )?(?:([\w.[\]-]+): )?(.*)$/s.exec(text);
    return { message: where === null ? rest : `${where}: ${rest}`, line: line && Number(line), where };
}
