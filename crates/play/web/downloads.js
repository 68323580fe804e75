// Downloads: the scenario as TOML with the numbers that `fullpipe run` shows for it, the tables of the record as CSV, the views as PNG.

import { button, element, put } from "./dom.js";
import { fileName } from "./state/document.js";
import { shown } from "./state/quantity.js";
import { isUsed } from "./editor/own.js";

const TABLES = ["samples", "throughput", "queue", "transfers"];

export class Downloads {
    constructor(root, state, { record, png }) {
        this.root = root;
        this.state = state;
        this.record = record;
        this.command = element("code");
        this.numbers = element("p", { className: "hint" });
        const tables = TABLES.map((table) => button(`${table}.csv`, () => this.#table(table)));
        const scenario = button("Scenario (TOML)", () => save(`${fileName(state.text)}.toml`, state.text, "application/toml"));
        const summary = button("Summary (JSON)", () => this.#json());
        const picture = button("Pictures (PNG)", async () => save(`${fileName(this.state.text)}.png`, await png(), "image/png"));
        root.append(
            element("div", { className: "row" }, scenario, summary, picture, ...tables),
            element("p", {}, "The same numbers in a terminal: ", this.command),
            this.numbers,
        );
    }

    // Shows the numbers of this record.
    update() {
        const record = this.record();
        put(this.command, `fullpipe run ${fileName(this.state.text)}.toml`);
        if (isUsed(this.state.text)) {
            put(this.numbers, "A flow uses your own controller, which runs in this page only.");
        } else if (record) {
            const flows = record.summary.flows.slice(0, 8).map((flow) => `${flow.controller} ${shown("rate", flow.goodput_bps)}`);
            put(this.numbers, `It gives ${flows.join(", ")}${record.summary.flows.length > 8 ? ", …" : ""} (seed ${record.summary.seed}).`);
        }
    }

    #json() {
        const record = this.record();
        if (record) {
            save(`${fileName(this.state.text)}.json`, JSON.stringify(record.summary, null, 2), "application/json");
        }
    }

    #table(table) {
        const record = this.record();
        if (record) {
            save(`${fileName(this.state.text)}-${table}.csv`, csv(record[table]), "text/csv");
        }
    }
}

// Columns as CSV (RFC 4180). A spreadsheet takes a text for a formula if it begins like one, and names of links are anybody's texts: such
// a text begins with an apostrophe.
export function csv(columns) {
    const names = Object.keys(columns);
    const length = columns[names[0]]?.length ?? 0;
    const lines = [names.join(",")];
    for (let row = 0; row < length; row++) {
        lines.push(names.map((name) => cell(columns[name][row])).join(","));
    }
    return `${lines.join("\r\n")}\r\n`;
}

function cell(value) {
    if (value === null || value === undefined || Number.isNaN(value)) {
        return "";
    }
    const text = typeof value === "string" && /^[=+\-@\t\r]/.test(value) ? `'${value}` : String(value);
    return /[",\r\n]/.test(text) ? `"${text.replaceAll('"', '""')}"` : text;
}

function save(name, content, type) {
    const address = URL.createObjectURL(content instanceof Blob ? content : new Blob([content], { type }));
    element("a", { href: address, download: name }).click();
    // The browser has begun to read it by then.
    setTimeout(() => URL.revokeObjectURL(address), 10_000);
}
