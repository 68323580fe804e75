// Advice for the path of a scenario: the plan of its runs, and the answer from what they have measured. Results are JSON as bytes.

import { Instance } from "./instance.js";

export class Advising {
    #instance;

    // Plans the runs for the scenario with this text. `plan` has { about, scenarios }: what they are in a line, and the text of each.
    // Throws an Error with one line for people.
    constructor(module, text) {
        this.#instance = new Instance(module);
        this.#instance.writeText(text);
        this.plan = this.#instance.result("play_plan");
    }

    // Keeps what the run at this place of the plan has measured.
    note(place, measured) {
        this.#instance.write(measured);
        this.#instance.call("play_note", place);
    }

    // The answer from the runs that were noted: { goals, candidates, columns, summary }. Throws an Error for people if there is none.
    answer() {
        return this.#instance.result("play_advise");
    }
}
