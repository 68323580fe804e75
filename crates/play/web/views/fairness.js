// Fairness: the shares of the flows on top of each other, and Jain's index as a line above them.

import { moment, number } from "./axis.js";
import { END, SIZE } from "./labels.js";
import { after } from "./search.js";
import { deliveries, jain, known } from "./shares.js";
import { BOTTOM, CROWD, LEFT, RIGHT, TOP, drawMoment, drawTimes, overTime, pointing, timeScale } from "./times.js";
import { View, line, widthOf, write } from "./view.js";

const percent = (share) => (Number.isNaN(share) ? "–" : `${number(100 * share, 2)} %`);

export class Fairness extends View {
    constructor(scene, root) {
        super(scene, root, "fairness", "Fairness");
        pointing(this);
    }

    isShown() {
        const { run } = this.scene;
        if (run.flows.length < 2) {
            return false;
        }
        if (this.run !== run) {
            this.run = run;
            this.shares = deliveries(run);
            this.jain = jain(run, this.shares);
            this.sums = this.shares.ends.map((_, place) => this.shares.delivered.reduce((sum, own) => sum + own[place], 0));
        }
        return true;
    }

    height() {
        return 170;
    }

    unit() {
        return `shares in ${number(this.shares.interval)} ms, and Jain’s index of flows that are not app-limited`;
    }

    #y(height) {
        return (share) => TOP + (1 - share) * (height - TOP - BOTTOM);
    }

    ground(pen, size) {
        const { scene, shares: { interval, ends, delivered }, sums } = this;
        const { theme, run, window: { from, to } } = scene;
        const { width, height } = size;
        const { x } = timeScale(scene.window, width);
        const y = this.#y(height);
        pen.clearRect(0, 0, width, height);
        drawTimes(pen, scene, size);
        for (const share of [0, 0.25, 0.5, 0.75, 1]) {
            line(pen, [[LEFT, y(share)], [width - RIGHT, y(share)]], { colour: theme.grid });
            write(pen, percent(share), LEFT - 6, y(share), { colour: theme.faint, align: "right", baseline: "middle" });
        }
        pen.save();
        pen.beginPath();
        pen.rect(LEFT, 0, width - LEFT - RIGHT, height);
        pen.clip();
        const below = new Float64Array(ends.length);
        delivered.forEach((own, flow) => {
            const edges = { bottom: [], top: [] };
            ends.forEach((end, place) => {
                const share = sums[place] > 0 ? own[place] / sums[place] : 0;
                if (end >= from && end - interval <= to) {
                    const [left, right] = [x(end - interval), x(end)];
                    edges.bottom.push([left, y(below[place])], [right, y(below[place])]);
                    edges.top.push([left, y(below[place] + share)], [right, y(below[place] + share)]);
                }
                below[place] += share;
            });
            pen.fillStyle = scene.look(run.flows[flow]).colour;
            pen.globalAlpha = 0.75;
            pen.beginPath();
            for (const point of [...edges.bottom, ...edges.top.toReversed()]) {
                pen.lineTo(...point);
            }
            pen.fill();
            pen.globalAlpha = 1;
            line(pen, edges.top, { colour: theme.page, width: run.flows.length > 40 ? 0.3 : 1 });
            if (run.flows.length <= CROWD) {
                nameArea(pen, run.flows[flow].label, edges, LEFT + END * (width - LEFT - RIGHT), theme);
            }
        });
        for (const [first, last] of known(this.jain)) {
            const index = [[x(ends[first] - interval), y(this.jain[first])]];
            for (let place = first; place <= last; place++) {
                index.push([x(ends[place] - interval / 2), y(this.jain[place])]);
            }
            index.push([x(ends[last]), y(this.jain[last])]);
            line(pen, index, { colour: theme.page, width: 4.5, alpha: 0.8 });
            line(pen, index, { colour: theme.text, width: 1.8 });
        }
        pen.restore();
    }

    moving(pen, size) {
        drawMoment(pen, this.scene, size);
    }

    // The interval of a time.
    #place(time) {
        const { ends } = this.shares;
        const place = after(ends, time - 1e-6);
        return place < ends.length ? place : -1;
    }

    #at(time) {
        const place = this.#place(time);
        const share = (own) => (place >= 0 && this.sums[place] > 0 ? own[place] / this.sums[place] : NaN);
        return { index: place >= 0 ? this.jain[place] : NaN, shares: this.shares.delivered.map(share) };
    }

    readout() {
        const { run, time_ms, theme, look } = this.scene;
        const { index, shares } = this.#at(time_ms);
        const own = run.flows.length > CROWD ? [] : run.flows.map((flow, place) => [percent(shares[place]), look(flow).colour]);
        return [[`Jain ${number(index, 2)}`, theme.text], ...own];
    }

    said() {
        const { run, time_ms } = this.scene;
        const { index, shares } = this.#at(time_ms);
        const own = run.flows.slice(0, 12).map(({ label }, place) => `${label} ${percent(shares[place])}`);
        return `at ${moment(time_ms, 2)}: Jain’s index ${number(index, 2)}; ${own.join(", ")}`;
    }

    table() {
        const { scene, scene: { run } } = this;
        return overTime(scene, ["Jain’s index", ...run.flows.map(({ label }) => label)], (time) => {
            const { index, shares } = this.#at(time);
            return [number(index, 2), ...shares.map(percent)];
        });
    }
}

// Writes a name into an area between two edges, at the last place before `end` that is high enough for it.
function nameArea(pen, text, { bottom, top }, end, theme) {
    const wide = widthOf(pen, text, SIZE) + 8;
    for (let last = top.findLastIndex(([x]) => x < end); last >= 0; last--) {
        let low = Infinity, high = -Infinity;
        for (let first = last; first >= 0 && bottom[first][1] - top[first][1] > SIZE + 4; first--) {
            low = Math.min(low, bottom[first][1]);
            high = Math.max(high, top[first][1]);
            if (low - high <= SIZE + 4) {
                break;
            }
            if (top[last][0] - top[first][0] >= wide) {
                const look = { colour: theme.text, size: SIZE, align: "center", baseline: "middle", halo: theme.page };
                write(pen, text, (top[first][0] + top[last][0]) / 2, (low + high) / 2, look);
                return;
            }
        }
    }
}
