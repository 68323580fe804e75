// All controls of the scenario. They follow its text: there is a group for each link and each group of flows that it has.

import { button, element } from "../dom.js";
import { CONTROLLERS } from "../flows.js";
import { blocks, insert, named, read, source } from "../state/document.js";
import { Flow } from "./flow.js";
import { Link } from "./link.js";
import { Run } from "./run.js";

// More than these are edited as text.
const MOST = 20;

export class Panel {
    #state;
    #root;
    #theme;
    #shape;
    #controls = [];

    constructor(root, state, theme) {
        this.#root = root;
        this.#state = state;
        this.#theme = theme;
        state.addEventListener("change", () => this.update());
        this.update();
    }

    // Shows the values of the text; and builds anew if it has other blocks than before.
    update() {
        const found = blocks(this.#state.text);
        const shape = JSON.stringify([this.#state.source === null, found.map(({ name }) => name).filter((name) => !name.endsWith(".change"))]);
        if (shape !== this.#shape) {
            this.#shape = shape;
            this.#build(found);
        }
        this.#controls.forEach((control) => control.update());
    }

    // Marks what the simulator refuses: { line }, or null for nothing.
    problem(found) {
        this.#controls.forEach((control) => control.problem(found?.line ?? null));
    }

    #build(found) {
        const reached = () => [...this.#root.querySelectorAll("input, select, button, summary")];
        const at = reached().indexOf(document.activeElement), before = this.#root.querySelectorAll(".flow").length;
        const links = ["path", "path.next", "link"].flatMap((name) => {
            const count = Math.min(MOST, found.filter((block) => block.name === name).length);
            return Array.from({ length: count }, (_, place) => new Link(this.#state, name, place));
        });
        const count = Math.min(MOST, found.filter((block) => block.name === "flow").length);
        const flows = Array.from({ length: count }, (_, place) => new Flow(this.#state, place, this.#theme));
        const run = new Run(this.#state);
        this.#controls = [...links, ...flows, run];
        const inText = element("p", { className: "hint" }, "This path is written as a table on one line: edit it as text.");
        const add = button("Add a flow", () => this.#add());
        this.#root.replaceChildren(
            ...(links.length > 0 ? links.map((it) => it.root) : [inText]),
            element("h2", {}, "Flows"), ...flows.map((it) => it.root), add,
            run.root,
        );
        // A browser drops the focus of what it removes.
        if (at >= 0) {
            const next = flows.length > before ? flows.at(-1).root.querySelector("select") : reached()[at];
            [next, add].find((it) => (it?.focus(), it === document.activeElement));
        }
    }

    // A flow like the last one, with the next controller of the list.
    #add() {
        const { text } = this.#state;
        const last = named(text, "flow").at(-1);
        const lines = last ? source(text, last).split("\n") : ["[[flow]]", 'controller = "bbr1"'];
        const names = CONTROLLERS.map(([name]) => name);
        const next = names[(names.indexOf(read(last, "controller")) + 1) % names.length];
        const kept = lines.filter((line) => !/^\s*(bbr1|bbr3|cubic|count|stagger)\s*=/.test(line));
        const added = kept.map((line) => line.replace(/^(\s*controller\s*=\s*).*$/, `$1"${next}"`));
        this.#state.change({ text: insert(text, last, added) });
    }
}
