// A controller's own variables at the moment shown: the columns of its latest sample.

import { measure, moment, number } from "./axis.js";
import { after } from "./search.js";
import { stateOf } from "./states.js";
import { put } from "../dom.js";
import { Sight } from "./sight.js";
import { element } from "./view.js";

// [column, name, unit]
const VARIABLES = [
    ["btl_bw_bps", "BtlBw", "bit/s"],
    ["rtprop_ms", "RTprop", "ms"],
    ["pacing_rate_bps", "pacing rate", "bit/s"],
    ["gain", "pacing gain", ""],
    ["cwnd_bytes", "cwnd", "B"],
    ["ssthresh_bytes", "ssthresh", "B"],
    ["short_term_bw_bps", "short-term bandwidth", "bit/s"],
    ["short_term_inflight_bytes", "short-term inflight", "B"],
    ["long_term_inflight_bytes", "long-term inflight", "B"],
    ["inflight_bytes", "inflight", "B"],
    ["below_tcp_bytes", "below TCP in the host", "B"],
    ["delivery_rate_bps", "delivery rate", "bit/s"],
    ["rtt_ms", "RTT", "ms"],
    ["srtt_ms", "smoothed RTT", "ms"],
    ["delivered_bytes", "delivered", "B"],
    ["lost_bytes", "lost", "B"],
];

// So many flows have a column.
const MOST = 6;

export class Variables {
    constructor(scene, root) {
        this.scene = scene;
        this.figure = element("figure", root, null, "view view-variables");
        const caption = element("figcaption", this.figure);
        element("b", caption, "Variables");
        this.about = element("small", caption);
        this.box = element("div", this.figure, null, "scroll");
        this.box.tabIndex = 0;
        this.box.setAttribute("role", "group");
        this.box.setAttribute("aria-label", "Variables of the controllers");
        this.sight = new Sight(this.figure, scene.dirty);
    }

    draw(_version, isAll = false) {
        return this.sight.isNear || isAll;
    }

    say() {
        const { run, time_ms, theme } = this.scene;
        if (this.run !== run || this.theme !== theme) {
            Object.assign(this, { run, theme });
            this.#take(run);
        }
        put(this.about, `at ${moment(time_ms)}${run.flows.length > MOST ? `, of the first ${MOST} flows` : ""}`);
        for (const { flow, cells, state } of this.shown) {
            const place = flow.isAlive(time_ms) ? after(flow.at, time_ms) - 1 : -1;
            const name = place < 0 ? null : flow.cell("state", place);
            put(state, name === null ? "–" : breakable(name));
            state.style.background = name === null ? "" : theme.states[stateOf(name).key];
            for (const { cell, values, unit } of cells) {
                const value = place < 0 ? NaN : values[place];
                put(cell, unit ? measure(value, unit) : number(value));
            }
        }
    }

    // Takes the values of a run: with a new table, if it has other flows or other variables than the one before.
    #take({ flows }) {
        const some = flows.slice(0, MOST);
        const valuesOf = (flow, column) => (column === "gain" ? flow.gain : flow.column(column));
        const all = VARIABLES.map(([column, name, unit]) => ({ name, unit, of: some.map((flow) => valuesOf(flow, column)) }));
        const rows = all.filter(({ of }) => of.some((values) => values.some((value) => !Number.isNaN(value))));
        const shape = JSON.stringify([some.map((flow) => [flow.label, this.scene.look(flow).colour]), rows.map(({ name }) => name)]);
        if (shape !== this.shape) {
            this.shape = shape;
            this.#make(some, rows);
        }
        some.forEach((flow, place) => {
            const own = this.shown[place];
            own.flow = flow;
            own.cells.forEach((cell, row) => (cell.values = rows[row].of[place]));
        });
    }

    #make(flows, rows) {
        const table = element("table");
        element("caption", table, "Variables of the controllers at the moment shown");
        const top = element("tr", element("thead", table));
        element("th", top, "").scope = "col";
        const body = element("tbody", table);
        const states = element("tr", body);
        element("th", states, "state").scope = "row";
        this.shown = flows.map((flow) => {
            const head = element("th", top, flow.label);
            head.scope = "col";
            head.style.color = this.scene.look(flow).colour;
            return { state: element("td", states, null, "state"), cells: [] };
        });
        for (const { name, unit } of rows) {
            const row = element("tr", body);
            element("th", row, name).scope = "row";
            this.shown.forEach(({ cells }) => cells.push({ cell: element("td", row), unit }));
        }
        this.box.replaceChildren(table);
    }

    destroy() {
        this.sight.destroy();
        this.figure.remove();
    }
}

// A name that may be continued on another line.
const breakable = (name) => name.replace("_", " ").replace(/(?<=[a-z])(?=[A-Z])/g, "\u200b");
