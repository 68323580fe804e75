// The controls of the whole run: its length, ECN at the hosts, and the number of seeds.

import { element } from "../dom.js";
import { insert, named, read, write } from "../state/document.js";
import { parse } from "../state/quantity.js";
import { MOST_SEEDS } from "../state/state.js";
import { Choice, Field } from "./field.js";

// The length of the run in seconds; 10 s for a scenario that says none, until its record says better.
export function duration(text) {
    return parse("time", read(named(text, "")[0], "duration"))?.number ?? 10;
}

// The time from which the numbers of a run count, in seconds.
export function warmup(text) {
    return parse("time", read(named(text, "")[0], "warmup"))?.number ?? 0;
}

export class Run {
    #controls;

    constructor(state) {
        const top = () => named(state.text, "")[0];
        const set = (key) => (value) => state.change({ text: write(state.text, top(), key, value) });
        const get = (key) => () => read(top(), key) ?? undefined;
        const line = (key) => () => top().values.get(key)?.line;
        const seeds = Array.from({ length: (MOST_SEEDS + 1) / 2 }, (_, place) => 2 * place + 1);
        this.#controls = [
            new Field({
                label: "Duration", kind: "time", bare: "s", low: 0.05, high: 120,
                get: get("duration"), set: set("duration"), line: line("duration"),
            }),
            new Field({
                label: "Warmup", kind: "time", bare: "s", low: 0.01, high: 60, zero: undefined, none: "0s",
                get: get("warmup"), set: set("warmup"), line: line("warmup"),
                help: "The first part of the run, which the numbers leave out",
            }),
            new Choice({
                label: "Hosts use ECN", options: () => [["false", "no"], ["true", "yes"]],
                get: () => String(read(named(state.text, "host")[0], "ecn") ?? false),
                set: (value) => state.change({ text: withEcn(state.text, value === "true") }),
            }),
            new Choice({
                label: "Seeds", options: () => seeds.map((count) => [String(count), count === 1 ? "1" : `${count}, median and worst`]),
                get: () => String(state.seeds), set: (value) => state.change({ seeds: Number(value), preset: state.preset }),
                help: "The same scenario with other random choices",
            }),
        ];
        this.root = element("details", { className: "group", open: true }, element("summary", {}, "Run"), ...this.#controls.map((it) => it.root));
    }

    problem(line) {
        this.#controls.forEach((control) => control.problem?.(line));
    }

    update() {
        this.#controls.forEach((control) => control.update());
    }
}

function withEcn(text, ecn) {
    const [host] = named(text, "host");
    if (host) {
        return write(text, host, "ecn", ecn || undefined);
    }
    return ecn ? insert(text, null, ["[host]", "ecn = true"]) : text;
}
