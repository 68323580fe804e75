// The scenario as text. What people write here runs once they pause.

import { element } from "../dom.js";
import { Code } from "./code.js";

const PAUSE_MS = 250;

export class ScenarioEditor {
    #later;

    constructor(root, state) {
        this.code = new Code({
            label: "Scenario as TOML", rows: 22,
            input: (text) => {
                clearTimeout(this.#later);
                this.#later = setTimeout(() => state.change({ text }, this), PAUSE_MS);
            },
        });
        const hint = "Every field of a scenario works here, except files. Sliders change single values, and leave the rest as you wrote it.";
        root.append(element("p", { className: "hint" }, hint), this.code.root);
        this.code.text = state.text;
        state.addEventListener("change", ({ detail }) => {
            if (detail.by !== this) {
                this.code.text = state.text;
            }
        });
    }
}
