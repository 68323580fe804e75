// One's own controller: its source, its errors at their lines, and a flow that uses it.

import { button, element } from "../dom.js";
import { OWN_CONTROLLER } from "../flows.js";
import { insert, named, read, source as linesOf, write } from "../state/document.js";
import { Code } from "./code.js";
import { example } from "./example.js";

const PAUSE_MS = 400;

export class OwnEditor {
    #later;
    #state;

    constructor(root, state, engine, race) {
        this.#state = state;
        this.code = new Code({
            label: "Your controller as JavaScript", rows: 26,
            input: (source) => {
                clearTimeout(this.#later);
                this.#later = setTimeout(() => this.#change({ source, preset: state.preset }), PAUSE_MS);
            },
        });
        this.code.text = state.source ?? example;
        const first = button("Use it for the first flow", () => this.#use());
        const further = button("Add a flow with it", () => this.#add());
        const raced = button("Race it against each", () => {
            this.#take();
            race(OWN_CONTROLLER);
        });
        const again = button("Begin anew", () => {
            this.code.text = example;
            this.#change({ source: example, preset: state.preset });
        });
        const hint =
            "A class in JavaScript: each ACK gives you what TCP knows, and you answer with a window in bytes and a pacing rate in bit/s. " +
            "It runs in this page only, and a link to this page contains it.";
        const refusal = element("p", { className: "hint", role: "status" });
        root.append(element("p", { className: "hint" }, hint), element("div", { className: "row" }, first, further, raced, again), refusal, this.code.root);
        root.addEventListener("toggle", async () => {
            refusal.textContent = await engine.refusal();
            [first, further, raced].forEach((it) => (it.disabled = refusal.textContent !== ""));
        }, { once: true });
        state.addEventListener("change", ({ detail }) => {
            if (detail.by !== this && state.source !== null) {
                this.code.text = state.source;
            }
        });
    }

    // Shows an error of it.
    problem(problem) {
        this.code.problem(problem);
    }

    #take() {
        if (this.#state.source !== this.code.text) {
            this.#change({ source: this.code.text, preset: this.#state.preset });
        }
    }

    #use() {
        const text = write(this.#state.text, named(this.#state.text, "flow")[0], "controller", OWN_CONTROLLER);
        this.#change({ text, source: this.code.text });
        this.#shown();
    }

    #add() {
        const { text } = this.#state;
        const last = named(text, "flow").at(-1);
        const lines = last ? linesOf(text, last).split("\n") : ["[[flow]]", `controller = "${OWN_CONTROLLER}"`];
        const added = lines.map((line) => line.replace(/^(\s*controller\s*=\s*).*$/, `$1"${OWN_CONTROLLER}"`));
        this.#change({ text: insert(text, last, added), source: this.code.text });
        this.#shown();
    }

    // What was typed is in the new state, and needs no later run.
    #change(to) {
        clearTimeout(this.#later);
        this.#state.change(to, this);
    }

    #shown() {
        document.getElementById("results").scrollIntoView({ block: "nearest" });
    }
}

// Whether a flow of the scenario uses it.
export function isUsed(text) {
    return named(text, "flow").some((block) => read(block, "controller") === OWN_CONTROLLER);
}
