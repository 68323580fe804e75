// The operating point: RTT and delivery rate over the data in flight, as figure 1 of the BBR paper (ACM Queue 14(5), 2016) draws them.
// The path sets the curve, and the flows walk on it.
//
// What is in flight when a packet leaves is delivered until its ACK comes. So the RTT that an ACK measures, and the delivery rate over
// it, are drawn over what was in flight when its packet left, and not over what is in flight now.

import { measure, moment, number, scaleOf, ticks } from "./axis.js";
import { highest } from "./decimate.js";
import { between, latest } from "./search.js";
import { CROWD } from "./times.js";
import { View, line, widthOf, write } from "./view.js";

const LEFT = 50, RIGHT = 14, TOP = 20, BETWEEN = 22, BOTTOM = 34;

// The trail shows so many round trips, in so many points.
const TRAIL_ROUNDS = 8, TRAIL_POINTS = 48, TRAIL_LEAST_MS = 250;

// It fades in so many bands: a line for each of its points would take most of the time of all pictures.
const TRAIL_BANDS = 6;

export class OperatingPoint extends View {
    constructor(scene, root) {
        super(scene, root, "operating", "Operating point");
    }

    // A network of several bottlenecks has no such curve.
    isShown() {
        const { run } = this.scene;
        return run.isPath && run.path.rate_bps > 0 && run.path.rtprop_ms > 0;
    }

    unit() {
        const { run, time_ms } = this.scene;
        return run.path.withoutBdp(time_ms) ?? "figure 1 of the paper, in payload";
    }

    height(width) {
        return Math.round(Math.min(Math.max(width * 0.9, 330), 430));
    }

    // The places of a path's picture.
    #frame({ width, height }) {
        const { run, time_ms } = this.scene;
        const { bdp_bytes: bdp, rate_bps: rate, rtprop_ms: rtprop, buffer_bytes: buffer, policer_bps } = run.path.payloadAt(time_ms);
        const { inflight, rtt } = this.#most();
        const full = bdp + buffer;
        const hasBdp = run.path.withoutBdp(time_ms) === null;
        const panel = (height - TOP - BETWEEN - BOTTOM) / 2;
        let end = 1.1 * inflight || 1;
        let rttTop = Math.max(rtt, 1.5 * rtprop) * 1.06;
        const level = Math.min(rate, policer_bps);
        let rateTop = 1.18 * (rate > 0 ? Math.min(rate, 2 * level) : run.path.payload_share * run.path.fastest_bps);
        if (hasBdp) {
            end = Math.max(2.2 * bdp, end);
            if (full < 1.5 * end) {
                end = Math.max(end, 1.12 * full);
            }
            rttTop = Math.max((end / rate) * 8000, 1.5 * rtprop) * 1.06;
            rateTop = 1.18 * rate;
        }
        const x = (bytes) => LEFT + (Math.min(bytes, end) / end) * (width - LEFT - RIGHT);
        const rttY = (rtt) => TOP + panel - (Math.min(rtt, rttTop) / rttTop) * panel;
        const rateBase = TOP + panel + BETWEEN + panel;
        const rateY = (rate) => rateBase - (Math.min(rate, rateTop) / rateTop) * panel;
        return { hasBdp, bdp, rate, level, rtprop, full, end, panel, rttTop, rateTop, x, rttY, rateY, rateBase, width };
    }

    // The most data in flight in the run, of all flows together, and the longest RTT.
    #most() {
        const { run } = this.scene;
        if (this.run !== run) {
            this.run = run;
            let inflight = 0;
            for (let step = 0; step <= 200; step++) {
                inflight = Math.max(inflight, inflightOf(run.flows, (run.now_ms * step) / 200));
            }
            if (run.flows.length === 1) {
                inflight = highest(run.flows[0].at, run.flows[0].inNetwork, 0, Infinity) || 0;
            }
            this.most = { inflight, rtt: Math.max(...run.flows.map((flow) => flow.longestRtt_ms)) };
        }
        return this.most;
    }

    #axes(pen, frame) {
        const { theme } = this.scene;
        const { end, panel, rttTop, x, rttY, rateY, rateBase, width } = frame;
        const base = TOP + panel, right = width - RIGHT, rateTop = rateBase - panel;
        line(pen, [[LEFT, TOP], [LEFT, base], [right, base]], { colour: theme.line });
        line(pen, [[LEFT, rateTop], [LEFT, rateBase], [right, rateBase]], { colour: theme.line });
        const scales = [
            [scaleOf(rttTop, "ms"), rttTop, rttY, "RTT"],
            [scaleOf(frame.rateTop, "bit/s"), frame.rateTop, rateY, "Delivery rate"],
        ];
        for (const [scale, top, y, name] of scales) {
            for (const value of ticks(0, top / scale.by, panel / 34)) {
                write(pen, number(value), LEFT - 6, y(value * scale.by), { colour: theme.faint, align: "right", baseline: "middle" });
            }
            write(pen, `${name}, ${scale.unit}`, LEFT + 4, y(top) + 11, { colour: theme.faint });
        }
        const scale = scaleOf(end, "B");
        for (const value of ticks(0, end / scale.by, (width - LEFT - RIGHT) / 60)) {
            const at = x(value * scale.by);
            write(pen, number(value), at, rateBase + 13, { colour: theme.faint, align: "center" });
        }
        write(pen, `Inflight, ${scale.unit}`, right, rateBase + 28, { colour: theme.faint, align: "right" });
    }

    // Without curves, what the path lets through is a line.
    #limit(pen, { level, x, rateY, end }) {
        const { theme, run, time_ms } = this.scene;
        if (level > 0) {
            const name = run.path.isPoliced(time_ms) ? "policer" : "bottleneck";
            line(pen, [[LEFT, rateY(level)], [x(end), rateY(level)]], { colour: theme.faint, dash: [6, 4] });
            write(pen, `${name} ${measure(level, "bit/s")}`, x(end), rateY(level) - 4, { colour: theme.faint, align: "right" });
        }
    }

    #curves(pen, frame) {
        const { theme } = this.scene;
        const { bdp, rate, rtprop, full, end, panel, x, rttY, rateY, rateBase, width } = frame;
        const isFull = full < end;
        const wall = Math.min(full, end);
        const polygon = (points) => {
            pen.fillStyle = theme.impossible;
            pen.beginPath();
            for (const point of points) {
                pen.lineTo(...point);
            }
            pen.fill();
        };
        const base = TOP + panel, right = width - RIGHT, rateTop = rateBase - panel;
        const fullRtt = (wall / rate) * 8000;
        const rtts = [[LEFT, rttY(rtprop)], [x(bdp), rttY(rtprop)], [x(wall), rttY(fullRtt)]];
        const rates = [[LEFT, rateBase], [x(bdp), rateY(rate)], [x(wall), rateY(rate)]];
        const beyond = (y) => (isFull ? [[x(wall), y], [right, y]] : []);
        polygon([[LEFT, base], ...rtts, ...beyond(TOP), [right, base]]);
        polygon([...rates, ...beyond(rateBase), [right, rateTop], [LEFT, rateTop]]);

        for (const at of isFull ? [x(bdp), x(full)] : [x(bdp)]) {
            for (const [from, to] of [[TOP, base], [rateTop, rateBase]]) {
                line(pen, [[at, from], [at, to]], { colour: theme.faint, dash: [6, 4] });
            }
        }
        const bold = { colour: theme.text, width: 1.6 };
        line(pen, rtts, bold);
        line(pen, rates, bold);

        const middle = TOP + panel + BETWEEN / 2 + 4;
        const name = (text, at, align = "center") => write(pen, text, at, middle, { colour: theme.text, align, weight: "600" });
        const isTight = x(wall) - x(bdp) < 80;
        name("BDP", x(bdp), isTight && isFull ? "right" : "center");
        if (isFull) {
            name("BDP + buffer", Math.min(x(full), right), x(full) > right - 40 ? "right" : isTight ? "left" : "center");
        } else if (full < Infinity) {
            name("buffer ends further on →", right, "right");
        }
        const region = (text, from, to) => {
            if (widthOf(pen, text, 11) + 8 < to - from) {
                write(pen, text, (from + to) / 2, TOP - 7, { colour: theme.faint, align: "center" });
            }
        };
        region("app limited", LEFT, x(bdp));
        region("bandwidth limited", x(bdp), x(wall));
        if (isFull) {
            region("buffer limited", x(full), right + RIGHT);
        }
        const ring = (at, y) => {
            pen.strokeStyle = theme.text;
            pen.lineWidth = 1;
            pen.beginPath();
            pen.arc(at, y, 9, 0, 7);
            pen.stroke();
        };
        ring(x(bdp), rttY(rtprop));
        ring(x(bdp), rateY(rate));
        write(pen, "optimum", x(bdp) + 12, rttY(rtprop) + 15, { colour: theme.faint });
        if (isFull) {
            ring(x(full), rttY(fullRtt));
            ring(x(full), rateY(rate));
            write(pen, "loss-based", x(full) - 13, rttY(fullRtt) + 4, { colour: theme.faint, align: "right" });
        }
        slope(pen, "slope 1/BtlBw", [x(bdp), rttY(rtprop)], [x(wall), rttY(fullRtt)], theme);
        slope(pen, "slope 1/RTprop", [LEFT, rateBase], [x(bdp), rateY(rate)], theme);
    }

    moving(pen, size) {
        const { scene } = this;
        const { run, time_ms, theme } = scene;
        const frame = this.#frame(size);
        if (frame.hasBdp) {
            this.#curves(pen, frame);
        } else {
            this.#limit(pen, frame);
        }
        this.#axes(pen, frame);
        const isCrowd = run.flows.length > CROWD;
        const trail = Math.max(TRAIL_ROUNDS * frame.rtprop, TRAIL_LEAST_MS);
        const points = isCrowd ? 1 : TRAIL_POINTS;
        this.now = [];
        pen.lineJoin = "round";
        const walk = (colour, pointAt, radius) => {
            const walked = Array.from({ length: points }, (_, place) => pointAt(time_ms - (trail * (points - 1 - place)) / points));
            const known = walked.filter((point) => point !== null);
            const each = points / TRAIL_BANDS;
            for (let from = 0; from + 1 < known.length; from += each) {
                const some = known.slice(from, from + each + 1);
                const share = (points - known.length + from + each) / points;
                const style = { colour, width: 1 + 2 * share, alpha: 0.15 + 0.6 * share };
                line(pen, some.map(({ inflight, rtt }) => [frame.x(inflight), frame.rttY(rtt)]), style);
                line(pen, some.map(({ inflight, rate }) => [frame.x(inflight), frame.rateY(rate)]), style);
            }
            const now = walked.at(-1);
            if (now) {
                for (const y of [frame.rttY(now.rtt), frame.rateY(now.rate)]) {
                    dot(pen, frame.x(now.inflight), y, radius, colour, theme.page);
                }
            }
            return now;
        };
        for (const flow of run.flows) {
            const point = walk(scene.look(flow).colour, (time) => pointOf(flow, time), isCrowd ? 3.5 : 5.5);
            if (point) {
                this.now.push([flow.label, point, scene.look(flow).colour]);
            }
        }
        if (run.flows.length > 1) {
            const point = walk(theme.text, (time) => pointOfAll(run, time), 6.5);
            if (point) {
                this.now.unshift(["all flows", point, theme.text]);
            }
        }
    }

    // Data in flight in BDPs, or in bytes where there is none.
    #flown(inflight) {
        const { time_ms, run: { path } } = this.scene;
        return path.withoutBdp(time_ms) ? measure(inflight, "B") : `${number(inflight / path.payloadAt(time_ms).bdp_bytes)} BDP`;
    }

    readout() {
        if (!this.now?.length) {
            return [];
        }
        const [[name, { inflight }, colour]] = this.now;
        return [[`${name}: ${this.#flown(inflight)}`, colour]];
    }

    said() {
        const { time_ms } = this.scene;
        const values = (this.now ?? []).slice(0, 12).map(([name, { inflight, rtt, rate }]) => {
            const flown = `${measure(inflight, "B")} in flight (${this.#flown(inflight)})`;
            return `${name}: ${flown}, RTT ${measure(rtt, "ms")}, delivery rate ${measure(rate, "bit/s")}`;
        });
        return `at ${moment(time_ms, 2)}: ${values.join("; ") || "nothing in flight"}`;
    }

    table() {
        const rows = (this.now ?? []).map(([name, { inflight, rtt, rate }]) => (
            [name, measure(inflight, "B"), measure(rtt, "ms"), measure(rate, "bit/s")]
        ));
        return { head: ["", "Inflight", "RTT", "Delivery rate"], rows };
    }
}

function inflightOf(flows, time) {
    let sum = 0;
    for (const flow of flows) {
        sum += flow.isAlive(time) ? latest(flow.at, flow.inNetwork, time) || 0 : 0;
    }
    return sum;
}

// Where a flow is at a time; null if it is not there.
function pointOf(flow, time) {
    const rtt = flow.isAlive(time) ? latest(flow.at, flow.column("rtt_ms"), time) : NaN;
    const rate = latest(flow.at, flow.column("delivery_rate_bps"), time);
    const inflight = latest(flow.at, flow.inNetwork, time - rtt);
    return rtt > 0 && rate >= 0 && inflight >= 0 ? { rtt, rate, inflight } : null;
}

// Where all flows together are: with the RTT that the latest ACK measured, and what all delivered over it.
function pointOfAll({ flows }, time) {
    let newest = -Infinity, rtt = NaN;
    for (const flow of flows) {
        const own = flow.isAlive(time) ? latest(flow.at, flow.column("rtt_ms"), time) : NaN;
        const at = flow.lastAt(time);
        if (own > 0 && at > newest) {
            [newest, rtt] = [at, own];
        }
    }
    if (!(rtt > 0)) {
        return null;
    }
    let delivered = 0;
    for (const flow of flows) {
        const bytes = flow.column("delivered_bytes");
        delivered += between(flow.at, bytes, time) - between(flow.at, bytes, time - rtt) || 0;
    }
    return { rtt, rate: (delivered * 8000) / rtt, inflight: inflightOf(flows, time - rtt) };
}

function dot(pen, x, y, radius, colour, edge) {
    pen.fillStyle = colour;
    pen.strokeStyle = edge;
    pen.lineWidth = 1.5;
    pen.beginPath();
    pen.arc(x, y, radius, 0, 7);
    pen.fill();
    pen.stroke();
}

// Writes along a line from one point to another, if there is room.
function slope(pen, text, [fromX, fromY], [toX, toY], theme) {
    if (Math.hypot(toX - fromX, toY - fromY) < widthOf(pen, text, 10) + 40) {
        return;
    }
    pen.save();
    pen.translate((fromX + toX) / 2, (fromY + toY) / 2);
    pen.rotate(Math.atan2(toY - fromY, toX - fromX));
    write(pen, text, 0, 13, { colour: theme.faint, size: 10, align: "center" });
    pen.restore();
}
