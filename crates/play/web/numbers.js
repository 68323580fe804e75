// The summary as a table: a row for each flow, or for each group of flows if they are many. With several seeds, a cell has the median
// and, in brackets, the worst.

import { element, put } from "./dom.js";
import { title as titleOf } from "./flows.js";
import { shown } from "./state/quantity.js";

const MAX_ROWS = 8;
const MAX_LINKS = 12;
const resent = (flow) => (flow.sent_bytes > 0 ? flow.retransmitted_bytes / flow.sent_bytes : null);

const COLUMNS = [
    { name: "Goodput", kind: "rate", of: (flow) => flow.goodput_bps, worst: Math.min },
    { name: "Of limit", title: "Goodput as a share of what the path allows, from the flow's own start on", kind: "share", of: (flow) => flow.limit_share, worst: Math.min },
    { name: "RTT, median", kind: "time", of: (flow) => per(flow.rtt_ms?.p50, 1000), worst: Math.max },
    { name: "RTT, 95 %", title: "Nineteen of twenty round trips are shorter", kind: "time", of: (flow) => per(flow.rtt_ms?.p95, 1000), worst: Math.max },
    { name: "Resent", title: "Bytes sent again, as a share of those sent", kind: "share", of: resent, worst: Math.max },
];

export class Numbers {
    #body = element("tbody");
    #caption = element("caption");
    #path = element("ul", { className: "path" });
    // With several seeds, what is shown beside the table is of the first one.
    #pictures = element("p", { className: "hint" });
    #list = element("p", { className: "hint" });
    #flows = "";
    #cells = [];

    // `links` gets a line for each bottleneck.
    constructor(root, links) {
        const head = element("tr", {}, element("th", { scope: "col" }, "Flow"));
        head.append(...COLUMNS.map(({ name, title = "" }) => element("th", { scope: "col", title }, name)));
        this.table = element("table", {}, this.#caption, element("thead", {}, head), this.#body);
        root.append(element("div", { className: "scroll", tabIndex: 0, role: "region", "aria-label": "Numbers" }, this.table), this.#pictures);
        links.append(this.#list, this.#path);
        this.table.hidden = true;
    }

    // `warmup_s` is the time from which the table counts.
    show(records, flows, warmup_s) {
        const summaries = records.filter(Boolean).map((record) => record.summary);
        if (summaries.length === 0) {
            return;
        }
        this.table.hidden = false;
        const { seed } = summaries[0], isMany = summaries.length > 1;
        const from = warmup_s > 0 ? `from ${shown("time", warmup_s)} on` : "from 0 s: with the start";
        put(this.#caption, `${isMany ? `Median of ${summaries.length} seeds, the worst in brackets` : `Seed ${seed}`}; ${from}`);
        put(this.#pictures, isMany ? `The pictures are of seed ${seed}.` : "");
        put(this.#list, isMany ? `The lines below are of seed ${seed}:` : "");
        const rows = rowsOf(summaries, flows);
        const own = rows.map(({ label, colour }) => `${colour} ${label}`).join("\n");
        if (own !== this.#flows) {
            this.#flows = own;
            this.#make(rows);
        }
        rows.flatMap(({ cells }) => cells).forEach((text, place) => put(this.#cells[place], text));
        const lines = path(summaries);
        while (this.#path.children.length > lines.length) {
            this.#path.lastChild.remove();
        }
        lines.forEach((line, place) => put(this.#path.children[place] ?? this.#path.appendChild(element("li")), line));
    }

    #make(rows) {
        this.#cells = [];
        this.#body.replaceChildren(...rows.map(({ label, colour, cells }) => {
            const swatch = element("span", { className: "swatch" });
            swatch.style.background = colour;
            const made = cells.map(() => element("td"));
            this.#cells.push(...made);
            return element("tr", {}, element("th", { scope: "row" }, swatch, label), ...made);
        }));
    }
}

export function rowsOf(summaries, flows) {
    const isGrouped = summaries[0].flows.length > MAX_ROWS;
    const ofSeeds = summaries.map((summary) => by(summary.flows, (flow) => (isGrouped ? flow.group : flow.id)));
    return [...ofSeeds[0]].map(([key, each]) => {
        const [first] = each;
        const label = flows[first.id]?.label ?? first.controller;
        const all = ofSeeds.map((own) => own.get(key) ?? []);
        const cells = COLUMNS.map(({ kind, of, worst }) => cell(kind, all.map((same) => median(same.map(of))), worst));
        const name = isGrouped && each.length > 1 ? `${label.replace(/ \d+$/, "")} × ${each.length}, median` : label;
        return { label: name, colour: flows[first.id]?.colour ?? "#787878", cells };
    });
}

function by(flows, keyOf) {
    const groups = new Map();
    for (const flow of flows) {
        const key = keyOf(flow);
        const own = groups.get(key);
        own ? own.push(flow) : groups.set(key, [flow]);
    }
    return groups;
}

function cell(kind, values, worst) {
    const known = values.filter((value) => value !== null);
    const middle = shown(kind, median(values));
    return known.length > 1 ? `${middle} (${shown(kind, worst(...known))})` : middle;
}

// Lines about all flows together, the transfers of each controller, each bottleneck, and how even the flows are.
function path(summaries) {
    const [first] = summaries;
    const hops = [first.path, ...(first.next ?? [])].filter((hop) => hop?.utilization !== null && hop?.utilization !== undefined);
    const lines = hops.slice(0, MAX_LINKS).map((hop) => {
        const { queue_ms: queue = {} } = hop;
        return `${hop.name ?? "Bottleneck"}: ${shown("share", hop.utilization)} used, queue ${shown("time", per(queue.mean, 1000))} on average and ` +
            `${shown("time", per(queue.p95, 1000))} at 95 %, ${hop.drops} dropped, ${hop.marks} marked, ${hop.random_losses} lost at random`;
    });
    lines.unshift(...together(first), ...transfers(first));
    const jain = first.flows.length > 1 ? first.fairness?.jain : null;
    if (jain !== null && jain !== undefined) {
        lines.push(`Jain's index of the goodputs: ${jain.toFixed(3)}`);
    }
    return lines;
}

// Flows that start later have another time as their base: only over the same time do shares add up.
function together({ flows, together: all, controllers }) {
    if (flows.length < 2 || !all) {
        return [];
    }
    const share = ({ goodput_bps, limit_share }) =>
        shown("rate", goodput_bps) + (limit_share === null ? "" : ` (${shown("share", limit_share)} of the limit)`);
    const each = controllers.length > 1 ? controllers.map((it) => `${titleOf(it.controller)} ${share(it)}`) : [];
    return [[`All flows over the same time: ${share(all)}`, ...each].join("; ")];
}

// A line for each controller's transfers of about one size.
function transfers({ completions }) {
    return completions.map(({ controller, over_bytes, up_to_bytes, count, unfinished, p50_ms, p95_ms }) => {
        const time = (value) => shown("time", per(value, 1000));
        const others = unfinished > 0 ? `, ${unfinished} not` : "";
        const size = up_to_bytes === null ? `over ${shown("size", over_bytes)}` : `up to ${shown("size", up_to_bytes)}`;
        return `Transfers of ${titleOf(controller)} ${size}: ${count} complete${others}, ` +
            `in ${time(p50_ms)} (median) and ${time(p95_ms)} (95 %)`;
    });
}

function per(value, of) {
    return value === null || value === undefined ? null : value / of;
}

// The middle value; of an even number of values, the lower one of the two, which is a value that was measured.
export function median(values) {
    const sorted = values.filter((value) => value !== null && value !== undefined).sort((a, b) => a - b);
    return sorted.length === 0 ? null : sorted[Math.floor((sorted.length - 1) / 2)];
}
