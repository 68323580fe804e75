// The controls of a group of flows: controller, number, start, what it sends, and its own RTprop.

import { button, element, put } from "../dom.js";
import { CONTROLLERS, OWN_CONTROLLER, flows, title } from "../flows.js";
import { named, read, remove, write } from "../state/document.js";
import { Choice, Field } from "./field.js";
import { inner } from "./link.js";

// What a flow sends, as docs/scenario.md has it.
const APPS = {
    requests: '{ kind = "requests", response = "100kb", think = { mean = "1s" } }',
    poisson: '{ kind = "poisson", load = "2mbit", sizes = { kind = "pareto", min = "5kb", shape = 1.2, max = "10mb" } }',
    rate: '{ kind = "rate", rate = "3mbit", write = "10kb" }',
    video: '{ kind = "video" }',
};
const NAMES = [["bulk", "as much as it can"], ["requests", "browsing"], ["poisson", "many short flows"], ["rate", "a steady rate"], ["video", "video"]];

export class Flow {
    #controls;
    #state;
    #place;

    constructor(state, place, theme) {
        this.#state = state;
        this.#place = place;
        const block = () => named(state.text, "flow")[place];
        const get = (key) => () => read(block(), key) ?? undefined;
        const set = (key) => (value) => state.change({ text: write(state.text, block(), key, value) });
        const line = (key) => () => block()?.values.get(key)?.line;
        const controllers = () => [...CONTROLLERS, ...(state.source === null ? [] : [[OWN_CONTROLLER, title(OWN_CONTROLLER)]])];
        this.theme = theme;
        this.swatch = element("span", { className: "swatch" });
        const label = element("span", {}, this.swatch, (this.name = element("span")));
        const controller = new Choice({ label, options: controllers, get: () => read(block(), "controller") ?? "", set: set("controller") });
        const further = [
            new Field({
                label: "Number", kind: "number", line: line("count"), low: 1, high: 100, get: () => read(block(), "count") ?? "1",
                set: (value) => set("count")(count(value)),
            }),
            new Field({
                label: "Start", kind: "time", bare: "s", low: 0.001, high: 60, zero: undefined, none: "0s",
                get: get("start"), set: set("start"), line: line("start"),
            }),
            new Choice({
                label: "Sends", options: () => NAMES, get: () => inner(block(), "app", "kind") ?? read(block(), "app") ?? "bulk",
                set: (kind) => set("app")(kind === "bulk" ? undefined : { raw: APPS[kind] }),
            }),
        ];
        if (named(state.text, "link").length === 0) {
            further.push(new Field({
                label: "RTprop", kind: "time", bare: "ms", low: 1e-4, high: 1, zero: undefined, none: "the path's",
                get: get("rtt"), set: set("rtt"), line: line("rtt"), help: "The RTprop of these flows alone",
            }));
        }
        this.#controls = [controller, ...further];
        const away = button("Remove", () => state.change({ text: remove(state.text, [block()]) }), { className: "small" });
        away.disabled = named(state.text, "flow").length < 2;
        const more = element("details", {}, element("summary", {}, "Number, start, what it sends"), ...further.map((it) => it.root), away);
        this.root = element("div", { className: "group flow" }, controller.root, more);
        this.update();
    }

    problem(line) {
        this.#controls.forEach((control) => control.problem?.(line));
    }

    update() {
        this.#controls.forEach((control) => control.update());
        const own = flows(this.#state.text, this.theme()).filter((flow) => flow.group === this.#place);
        this.swatch.style.background = own[0]?.colour ?? "";
        put(this.name, own.length > 1 ? `${title(own[0].controller)} × ${own.length}` : (own[0]?.label ?? "Flow"));
    }
}

function count(value) {
    const number = Math.round(Number(value));
    return number >= 1 ? (number === 1 ? undefined : number) : value;
}
