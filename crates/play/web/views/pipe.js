// The path as a pipe: the packets that wait in the bottleneck's buffer, those on their way to the receiver, and their ACKs.
//
// How many wait is what the record says. Whose they are, and where the others are, follows from the times of the ACKs (packets.js).
// Of several bottlenecks, a record does not tell which flows cross which; their queues have no colour of a flow.

import { measure, moment } from "./axis.js";
import { highest } from "./decimate.js";
import { packets } from "./packets.js";
import { latest } from "./search.js";
import { overTime } from "./times.js";
import { View, fitting, line, write } from "./view.js";

// A full packet on the wire, and its payload.
const PACKET_BYTES = 1500, PAYLOAD_BYTES = 1448;

// At most so many squares fill the buffer, or the pipe.
const MOST_WAITING = 144, MOST_MOVING = 48;

// What is expected after the end of the record is faint.
const FAINT = 0.5;

const HEIGHT = 176, TOP = 22, LANE = 26;

// Of a network, so many queues are shown.
const MOST_HOPS = 6, ROW = 34;

export class Pipe extends View {
    constructor(scene, root) {
        super(scene, root, "pipe", "Packets");
    }

    isShown() {
        const { run } = this.scene;
        if (this.run !== run) {
            this.run = run;
            this.hops = run.hops.map((hop) => ({ hop, most: highest(hop.at, hop.column("queue_bytes"), 0, Infinity) || 0 }));
            this.isOne = run.hops.length === 1 && run.path.rate_bps > 0;
            if (!this.isOne) {
                this.hops = this.hops.filter(({ most }) => most > 0).slice(0, MOST_HOPS);
            }
        }
        return this.hops.length > 0;
    }

    height() {
        return this.isOne ? HEIGHT : this.hops.length * ROW + 8;
    }

    unit() {
        const unit = this.isOne ? this.#unit() : 0;
        return unit === 0 ? "that wait at each bottleneck" : unit === 1 ? "one for each square" : `${unit} for each square`;
    }

    // The room of the buffer that is drawn: all of it, unless it is far more than ever waits, and than the path holds.
    #room(most, buffer, bdp) {
        return buffer <= 4 * Math.max(most, bdp / 2) ? buffer : Math.max(1.25 * most, bdp);
    }

    // So many packets are a square: 1, 2, 5, 10 …
    #unit() {
        const { run, time_ms } = this.scene;
        const { bdp_bytes, buffer_bytes } = run.path.at(time_ms);
        const room = this.#room(this.hops[0].most, buffer_bytes, bdp_bytes);
        const least = Math.max(bdp_bytes / MOST_MOVING, room / MOST_WAITING) / PACKET_BYTES;
        let unit = 1;
        for (let step = 0; unit < least; step++) {
            unit *= [2, 2.5, 2][step % 3];
        }
        return unit;
    }

    moving(pen, size) {
        if (this.isOne) {
            this.#one(pen, size);
        } else {
            this.hops.forEach((hop, place) => this.#row(pen, hop, place * ROW + 4, size.width));
        }
    }

    #one(pen, { width, height }) {
        const { scene } = this;
        const { run, time_ms, theme } = scene;
        const path = run.path.at(time_ms);
        const [{ hop, most }] = this.hops;
        const unit = this.#unit();
        const queued = latest(hop.at, hop.column("queue_bytes"), time_ms) || 0;
        const { waiting, moving } = packets(run.flows, time_ms, {
            unit: unit * PAYLOAD_BYTES, rate_bps: path.rate_bps, rtpropOf: ({ id }) => run.path.rtpropOf(id, time_ms),
        });
        this.queued = queued;

        // The buffer: columns of squares that fill from the bottleneck on.
        const room = this.#room(most, path.buffer_bytes, path.bdp_bytes), isWhole = room === path.buffer_bytes;
        const neck = Math.round(width * 0.52), bottom = height - 52;
        const squares = Math.max(Math.ceil(room / unit / PACKET_BYTES), 1);
        const tall = bottom - TOP - 4;
        let rows = 1;
        const side = (rows) => Math.min(tall / rows, (neck - 26) / Math.ceil(squares / rows), 16);
        while (rows < 16 && side(rows + 1) > side(rows)) {
            rows++;
        }
        const each = side(rows), columns = Math.ceil(squares / rows);
        const left = neck - 8 - columns * each, top = bottom - 2 - rows * each;
        pen.fillStyle = theme.panel;
        pen.fillRect(left - 2, top - 2, columns * each + 4, rows * each + 4);
        pen.strokeStyle = theme.faint;
        pen.lineWidth = 1.5;
        pen.beginPath();
        pen.moveTo(left - 2, top - 2);
        pen.lineTo(neck - 6, top - 2);
        pen.lineTo(neck - 6, bottom - LANE / 2 - 6);
        pen.moveTo(neck - 6, bottom);
        pen.lineTo(left - 2, bottom);
        pen.stroke();
        if (isWhole) {
            line(pen, [[left - 2, top - 2], [left - 2, bottom]], { colour: theme.text, width: 1.5, dash: [3, 3] });
        }
        const count = Math.round(queued / unit / PACKET_BYTES);
        for (let place = 0; place < Math.min(count, squares); place++) {
            const packet = waiting[waiting.length > count ? place : Math.floor((place * waiting.length) / count)];
            const x = neck - 8 - (Math.floor(place / rows) + 1) * each;
            const y = bottom - 2 - ((place % rows) + 1) * each;
            square(pen, packet, scene, x + 0.75, y + 0.75, each - 1.5);
        }
        const buffer = Number.isFinite(path.buffer_bytes) ? ` of ${measure(path.buffer_bytes, "B")}` : "";
        const waits = fitting(pen, `queue ${measure(queued, "B")}${buffer}`, neck - 8, 11);
        write(pen, waits, neck - 8, 11, { colour: theme.text, align: "right" });

        // The pipe: data above, ACKs below.
        const lane = bottom - LANE / 2 - 3, back = bottom + 26;
        const begin = neck + 10, end = width - (back - lane) / 2 - 2;
        pen.fillStyle = theme.panel;
        pen.fillRect(begin, lane - LANE / 2 + 2, end - begin, LANE - 4);
        const wall = { colour: theme.faint, width: 1.5 };
        const [upper, lower] = [lane - LANE / 2 + 2, lane + LANE / 2 - 2];
        line(pen, [[neck - 6, bottom - LANE / 2 - 6], [neck, lane - 5], [begin, upper], [end, upper]], wall);
        line(pen, [[neck - 6, bottom], [neck, lane + 5], [begin, lower], [end, lower]], wall);
        line(pen, [[end, back], [6, back]], { colour: theme.line, dash: [2, 4] });
        pen.strokeStyle = theme.faint;
        pen.lineWidth = 1.5;
        pen.beginPath();
        pen.arc(end, (lane + back) / 2, (back - lane) / 2, -Math.PI / 2, Math.PI / 2);
        pen.setLineDash([2, 4]);
        pen.stroke();
        pen.setLineDash([]);
        const small = Math.min(Math.max(each - 1.5, 6), 11);
        const slots = Math.max(Math.round(path.bdp_bytes / unit / PACKET_BYTES), 1);
        for (const packet of moving) {
            const { flow, isExpected, progress } = packet;
            const at = scene.reducedMotion ? Math.round(progress * slots) / slots : progress;
            if (at < 0.5) {
                square(pen, packet, scene, begin + (end - begin) * at * 2 - small / 2, lane - small / 2, small);
            } else {
                pen.fillStyle = scene.look(flow).colour;
                pen.globalAlpha = isExpected ? FAINT : 1;
                pen.beginPath();
                pen.arc(end - (end - 6) * (at * 2 - 1), back, 2.6, 0, 7);
                pen.fill();
                pen.globalAlpha = 1;
            }
        }
        write(pen, `bottleneck ${measure(path.rate_bps, "bit/s")}`, begin, 11, { colour: theme.faint });
        write(pen, "data →", begin, lane - LANE / 2 - 4, { colour: theme.faint, size: 10 });
        write(pen, "receiver", end + 12, lane - LANE / 2 - 4, { colour: theme.faint, size: 10, align: "right" });
        const isExpected = [...waiting, ...moving].some((packet) => packet.isExpected);
        write(pen, isExpected ? "← ACKs; faint: expected" : "← ACKs", 6, back + 15, { colour: theme.faint, size: 10 });
        const rtprops = run.path.rtpropsAt(time_ms);
        const own = [...new Set([rtprops[0], rtprops.at(-1)])].map((rtprop) => measure(rtprop, "ms"));
        const way = `RTprop, ${own.join(" to ")}`;
        const text = width < 400 ? way : `from the bottleneck to the ACK: ${way}`;
        write(pen, text, width - 2, back + 15, { colour: theme.faint, size: 10, align: "right" });
    }

    #row(pen, { hop, most }, y, width) {
        const { run, time_ms, theme, look } = this.scene;
        const { buffer_bytes } = hop.of ?? {};
        const queued = latest(hop.at, hop.column("queue_bytes"), time_ms) || 0;
        const room = this.#room(most, buffer_bytes ?? Infinity, 20 * PACKET_BYTES);
        const name = Math.min(width * 0.26, 130), value = 78;
        const wide = width - name - value;
        write(pen, fitting(pen, this.#name(hop), name - 6, 11), 0, y + 15, { colour: theme.text });
        pen.fillStyle = theme.panel;
        pen.fillRect(name, y + 3, wide, ROW - 14);
        pen.fillStyle = run.flows.length === 1 ? look(run.flows[0]).colour : theme.faint;
        pen.fillRect(name, y + 3, (wide * Math.min(queued, room)) / room, ROW - 14);
        const [top, bottom] = [y + 3, y + ROW - 11];
        line(pen, [[name + wide, top], [name, top], [name, bottom], [name + wide, bottom]], { colour: theme.faint });
        if (room === buffer_bytes) {
            line(pen, [[name + wide, y], [name + wide, y + ROW - 8]], { colour: theme.text, dash: [3, 3] });
        }
        write(pen, measure(queued, "B"), width, y + 16, { colour: theme.text, align: "right" });
    }

    #name(hop) {
        return hop.name ?? `bottleneck ${this.scene.run.hops.indexOf(hop) + 1}`;
    }

    readout() {
        if (!this.isOne) {
            return [];
        }
        const { run, time_ms, theme } = this.scene;
        const { rate_bps } = run.path.at(time_ms);
        if (rate_bps === 0) {
            return [["an outage", theme.text]];
        }
        return [[`${measure((this.queued * 8000) / rate_bps, "ms")} of waiting`, theme.text]];
    }

    // What waits at each bottleneck: [name, bytes, delay].
    #waiting(time) {
        return this.hops.map(({ hop }) => {
            const now = (column) => latest(hop.at, hop.column(column), time);
            return [this.isOne ? "the queue" : this.#name(hop), now("queue_bytes"), now("delay_ms")];
        });
    }

    said() {
        const { time_ms } = this.scene;
        const now = this.#waiting(time_ms);
        const told = now.map(([name, bytes, delay]) => `${name} ${measure(bytes, "B")}, ${measure(delay, "ms")} of waiting`);
        return `at ${moment(time_ms, 2)}: ${told.join("; ")}`;
    }

    table() {
        const names = this.#waiting(0).flatMap(([name]) => [name, "waiting"]);
        const cells = (time) => this.#waiting(time).flatMap(([, bytes, delay]) => [measure(bytes, "B"), measure(delay, "ms")]);
        return overTime(this.scene, names, cells);
    }
}

// A packet: flows differ by what is in its middle, too.
function square(pen, packet, { look, theme }, x, y, side) {
    pen.fillStyle = packet ? look(packet.flow).colour : theme.faint;
    pen.globalAlpha = packet && !packet.isExpected ? 1 : FAINT;
    pen.fillRect(x, y, side, side);
    pen.globalAlpha = 1;
    const kind = packet && side >= 5 ? packet.flow.id % 3 : 0;
    const third = side / 3;
    pen.fillStyle = theme.page;
    if (kind === 1) {
        pen.fillRect(x + third, y + third, third, third);
    } else if (kind === 2) {
        pen.fillRect(x + side * 0.15, y + side * 0.42, side * 0.7, side * 0.16);
    }
}
