// What views draw of a record: its tables as arrays of numbers, for each flow and each bottleneck, in milliseconds.

import { highest } from "./decimate.js";
import { Path } from "./path.js";
import { after } from "./search.js";

const SHORTEST_PAUSE_MS = 500;

// The rows of each flow in a table, as parts [from, to) of it: one, where the rows of a flow are together.
function partsBy(keys) {
    const parts = new Map();
    for (let from = 0, to = 0; from < keys.length; from = to) {
        while (to < keys.length && keys[to] === keys[from]) {
            to++;
        }
        const own = parts.get(keys[from]);
        if (own) {
            own.push([from, to]);
        } else {
            parts.set(keys[from], [[from, to]]);
        }
    }
    return parts;
}

// The rows of a table that are of one flow, or of one bottleneck.
class Rows {
    #table;
    #parts;
    #columns = new Map();

    constructor(table, parts) {
        this.#table = table;
        this.#parts = parts;
        this.length = parts.reduce((sum, [from, to]) => sum + to - from, 0);
        this.at = this.column("at_s").map((time) => time * 1000);
    }

    // The cells of a column as numbers; NaN for those that are not there, which a record has as null or NaN.
    column(name) {
        return this.derived(name, () => {
            const cells = this.#table[name];
            if (cells instanceof Float64Array && this.#parts.length === 1) {
                return cells.subarray(...this.#parts[0]);
            }
            const numbers = new Float64Array(this.length);
            let place = 0;
            for (const [from, to] of this.#parts) {
                for (let row = from; row < to; row++) {
                    const cell = cells?.[row];
                    numbers[place++] = cell == null ? NaN : cell;
                }
            }
            return numbers;
        });
    }

    // Numbers that are derived from the columns, computed once.
    derived(name, compute) {
        let own = this.#columns.get(name);
        if (own === undefined) {
            own = compute((column) => this.column(column));
            this.#columns.set(name, own);
        }
        return own;
    }

    // A cell as it is in the table.
    cell(name, place) {
        for (const [from, to] of this.#parts) {
            if (place < to - from) {
                return this.#table[name]?.[from + place] ?? null;
            }
            place -= to - from;
        }
        return null;
    }

    has(name) {
        return this.column(name).some((value) => !Number.isNaN(value));
    }
}

// A flow of a run.
export class Flow extends Rows {
    constructor(table, parts, about) {
        super(table, parts);
        Object.assign(this, about);
    }

    // Whether the flow has started, and has not ended.
    lives(time_ms) {
        const { start_s = 0, completed_s } = this.of;
        return time_ms >= start_s * 1000 && !(completed_s != null && time_ms > completed_s * 1000);
    }

    // Whether it has been heard of, too.
    isAlive(time_ms) {
        return time_ms >= this.at[0] && this.lives(time_ms);
    }

    // The longest RTT; 0 if none was measured.
    get longestRtt_ms() {
        return this.derived("longest RTT", (column) => highest(this.at, column("rtt_ms"), 0, Infinity) || 0);
    }

    // The time of the latest sample; before the first, NaN.
    lastAt(time_ms) {
        return this.at[after(this.at, time_ms) - 1] ?? NaN;
    }

    // What the sender has sent, as the paper's figure 4 draws it: the data delivered and the data in flight.
    get sent() {
        return this.derived("sent", (column) => {
            const inflight = column("inflight_bytes");
            return column("delivered_bytes").map((bytes, row) => bytes + inflight[row]);
        });
    }

    // The data in flight that have left the sender's host.
    get inNetwork() {
        return this.derived("in network", (column) => {
            const below = column("below_tcp_bytes");
            return column("inflight_bytes").map((bytes, row) => bytes - (below[row] || 0));
        });
    }

    // BBR's gain: the pacing rate as a multiple of BtlBw.
    get gain() {
        return this.derived("gain", (column) => {
            const bandwidth = column("btl_bw_bps");
            return column("pacing_rate_bps").map((rate, row) => (bandwidth[row] > 0 ? rate / bandwidth[row] : NaN));
        });
    }

    // The periods in one state: { from, to, name }.
    get stays() {
        this.states ??= this.#stays();
        return this.states;
    }

    #stays() {
        const stays = [];
        let last;
        for (let place = 0; place < this.at.length; place++) {
            const name = this.cell("state", place);
            if (last && last.name === name) {
                last.to = this.at[place];
                continue;
            }
            if (last) {
                last.to = this.at[place];
            }
            last = name === null ? undefined : { from: this.at[place], to: this.at[place], name };
            if (last) {
                stays.push(last);
            }
        }
        return stays;
    }
}

export class Run {
    // `context` is what Views.show gets.
    constructor(record, { flows = [], duration_ms } = {}) {
        const summary = record.summary ?? {};
        this.summary = summary;
        const parts = partsBy(record.samples.flow);
        this.flows = (summary.flows ?? []).map((of) => {
            const { label = `${of.controller} ${of.id + 1}`, colour } = flows[of.id] ?? {};
            return new Flow(record.samples, parts.get(of.id) ?? [], { id: of.id, label, colour, of });
        });
        this.hops = [...partsBy(record.queue?.hop ?? [])].map(([hop, parts]) => {
            const queue = new Rows(record.queue, parts);
            queue.name = queue.cell("link", 0);
            queue.of = hop === 0 ? summary.path : summary.next?.[hop - 1];
            return queue;
        });
        this.path = new Path(record.path, record.payload_share);
        this.isPath = !summary.next?.length;
        this.throughput = record.throughput ?? {};
        this.now_ms = (summary.duration_s ?? 0) * 1000;
        this.duration_ms = Math.max(duration_ms ?? 0, this.now_ms, 1);
    }

    // What of a flow, or of all, is further apart than this is before and after a pause. While data are in flight, an ACK comes in every RTT.
    pauseOf(flow) {
        const rtts = (flow ? [flow] : this.flows).map(({ longestRtt_ms }) => longestRtt_ms);
        return Math.max(SHORTEST_PAUSE_MS, 3 * (this.path.rtprop_ms || 0), ...rtts);
    }
}
