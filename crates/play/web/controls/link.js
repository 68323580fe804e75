// The controls of a link: of `[path]`, of a bottleneck after it, or of a `[[link]]` of a network.

import { element } from "../dom.js";
import { named, read, write } from "../state/document.js";
import { Choice, Field } from "./field.js";
import { RateCurve } from "./rate-curve.js";

// The size of a buffer is in the unit that it was given in.
const BUFFERS = { bdp: [0.05, 32], p: [2, 20_000], ms: [0.001, 4], s: [0.001, 4] };
const BUFFER_BYTES = [3_000, 100e6];

const QUEUES = [
    ["droptail", "Drop-tail"],
    ["codel", "CoDel"],
    ["fq_codel", "FQ-CoDel"],
    ["red", "RED"],
    ["threshold", "Marks at a threshold"],
    ["dualpi2", "DualPI2 (L4S)"],
];
// Those that are tables. CoDel and RED mark what may be marked, as FQ-CoDel and DualPI2 do by themselves.
const TABLES = {
    codel: '{ kind = "codel", ecn = true }',
    red: '{ kind = "red", min = "50kb", max = "150kb", ecn = true }',
    threshold: '{ kind = "threshold", at = "65kb" }',
};

export class Link {
    #controls;

    // `place` is its number among the blocks of this name.
    constructor(state, name, place) {
        const block = () => named(state.text, name)[place];
        const get = (key) => () => read(block(), key) ?? undefined;
        const set = (key) => (value) => state.change({ text: write(state.text, block(), key, value) });
        const field = (label, key, spec) => new Field({ label, get: get(key), set: set(key), line: () => block()?.values.get(key)?.line, ...spec });
        this.#controls = [
            field("Rate", "rate", { kind: "rate", bare: "mbit", low: 1e5, high: 1e10, zero: undefined, none: "no limit" }),
            new RateCurve(state, name, place),
            field("RTprop", "rtt", { kind: "time", bare: "ms", low: 1e-4, high: 1, zero: undefined, none: "0ms", help: "The two-way propagation delay" }),
            field("Buffer", "buffer", {
                kind: "buffer", unit: "bdp", bare: "bdp", zero: undefined, none: "no limit", ends: (unit) => BUFFERS[unit] ?? BUFFER_BYTES,
                help: "In bdp (rate × RTprop), bytes (kb, mb), packets (p) or time (ms)",
            }),
            new Choice({ label: "Queue", options: () => QUEUES, get: () => queue(block()), set: (kind) => set("queue")(queueValue(kind)) }),
            field("Loss", "loss", { kind: "share", bare: "%", low: 1e-5, high: 0.5, zero: undefined, none: "0%", help: "Random loss of data packets" }),
            field("Jitter", "jitter", {
                kind: "time", bare: "ms", low: 1e-4, high: 0.2, zero: undefined, none: "0ms", help: "A delay that varies up to this time",
            }),
            field("Policer", "policer", {
                kind: "rate", bare: "mbit", low: 1e5, high: 1e9, zero: undefined, none: "none", help: "The rate of a token bucket that drops what exceeds it",
                get: () => inner(block(), "policer", "rate"),
                set: (rate) => set("policer")(rate && { raw: `{ rate = ${JSON.stringify(rate)}, burst = ${JSON.stringify(inner(block(), "policer", "burst") ?? "200kb")} }` }),
            }),
        ];
        const title = name === "link" ? (read(block(), "name") ?? `link ${place + 1}`) : name === "path" ? "Path" : `Bottleneck ${place + 2}`;
        this.root = element("details", { className: "group", open: place < 2 }, element("summary", {}, title), ...this.#controls.map((it) => it.root));
    }

    problem(line) {
        this.#controls.forEach((control) => control.problem?.(line));
    }

    update() {
        this.#controls.forEach((control) => control.update());
    }
}

function queue(block) {
    const value = read(block, "queue");
    return value === null ? inner(block, "queue", "kind") : (value ?? "droptail");
}

function queueValue(kind) {
    return kind === "droptail" ? undefined : TABLES[kind] ? { raw: TABLES[kind] } : kind;
}

// A value of a table on one line.
export function inner(block, key, name) {
    const raw = block?.values.get(key)?.raw;
    return raw && new RegExp(`\\b${name}\\s*=\\s*["']([^"']*)["']`).exec(raw)?.[1];
}
