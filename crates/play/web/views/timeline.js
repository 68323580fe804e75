// A quantity of each flow over time, with the states of a flow that is alone as its ground.

import { measure, moment, number, scaleOf, ticks } from "./axis.js";
import { decimate, highest } from "./decimate.js";
import { Labels, SIZE } from "./labels.js";
import { latest } from "./search.js";
import { drawStays } from "./stays.js";
import { BOTTOM, CROWD, LEFT, RIGHT, TOP, drawMoment, drawTimes, overTime, pointing, timeScale } from "./times.js";
import { View, line, widthOf, write } from "./view.js";

export class Timeline extends View {
    // `what` has name, title, unit ("bit/s", "B", "ms" or ""), and curves(run) → [{ flow, at, values, name, isGuide, dash }]. It may
    // have references(run) → [{ steps, name }], lines for comparison, and limit(run), the highest value of the axis.
    constructor(scene, root, what) {
        super(scene, root, what.name, what.title);
        this.what = what;
        pointing(this);
    }

    height(width) {
        return width < 500 ? 150 : 170;
    }

    isShown() {
        const { run } = this.scene;
        if (this.run !== run) {
            this.run = run;
            this.curves = this.what.curves(run);
            this.references = this.what.references?.(run) ?? [];
        }
        return this.curves.length > 0;
    }

    unit() {
        return this.scale.unit;
    }

    // The highest value of the axis: that of the curves in the window, and of references that are not far above.
    #top() {
        const { run, window: { from, to } } = this.scene;
        const limit = this.what.limit?.(run) ?? Infinity;
        let top = 0;
        for (const { at, values } of this.curves) {
            top = Math.max(top, highest(at, values, from, to) || 0);
        }
        top = Math.min(top, limit);
        for (const { steps } of this.references) {
            for (const [, value] of steps) {
                if (value > top && value < 2.5 * top) {
                    top = value;
                }
            }
        }
        return (top || 1) * 1.08;
    }

    #y(height) {
        const perValue = (height - TOP - BOTTOM) / this.top;
        return (value) => height - BOTTOM - value * perValue;
    }

    ground(pen, size) {
        const { scene, curves } = this;
        const { theme, run } = scene;
        const { width, height } = size;
        this.top = this.#top();
        this.scale = scaleOf(this.top, this.what.unit);
        const y = this.#y(height);
        const { x } = timeScale(scene.window, width);
        pen.clearRect(0, 0, width, height);
        if (run.flows.length === 1) {
            drawStays(pen, scene, run.flows[0], [TOP, height - BOTTOM - TOP], width, false);
        }
        drawTimes(pen, scene, size);
        for (const value of ticks(0, this.top / this.scale.by, (height - TOP - BOTTOM) / 32)) {
            const level = y(value * this.scale.by);
            line(pen, [[LEFT, level], [width - RIGHT, level]], { colour: theme.grid });
            write(pen, number(value), LEFT - 6, level, { colour: theme.faint, align: "right", baseline: "middle" });
        }
        pen.save();
        pen.beginPath();
        pen.rect(LEFT, 0, width - LEFT - RIGHT, height - BOTTOM + 1);
        pen.clip();
        for (const { steps } of this.references) {
            const points = stepPoints(steps, scene.window.to).map(([time, value]) => [x(time), y(value)]);
            line(pen, points, { colour: theme.faint, dash: [6, 4] });
        }
        const labels = new Labels({ left: LEFT, right: width - RIGHT, top: TOP - 6, bottom: height - BOTTOM });
        for (const curve of curves) {
            this.#curve(pen, curve, x, y, width, labels);
        }
        for (const { steps, name } of this.references) {
            this.#name(pen, steps, name, y, width, labels);
        }
        const named = curves.filter(({ isQuiet }) => !isQuiet);
        if (named.length > 1 && named.length <= CROWD) {
            for (const curve of named) {
                const colour = curve.flow && !curve.isGuide ? scene.look(curve.flow).colour : theme.text;
                labels.name(pen, curve, curve.name, { colour, halo: theme.page });
            }
        }
        pen.restore();
    }

    #curve(pen, curve, x, y, width, labels) {
        const { flow, at, values, isGuide, isQuiet, dash } = curve;
        const { scene } = this;
        const { from, to } = scene.window;
        const isCrowd = this.curves.length > CROWD;
        const look = flow ? scene.look(flow) : { colour: scene.theme.text, dash: [] };
        const pause = scene.run.pauseOf(flow);
        pen.strokeStyle = isGuide ? scene.theme.text : look.colour;
        pen.lineWidth = isGuide ? 1.2 : isCrowd ? 1 : 1.6;
        // Curves have thousands of corners, which are too small to see: round ones take several times as long.
        pen.lineJoin = "bevel";
        pen.globalAlpha = isGuide ? 0.75 : isCrowd ? 0.7 : 1;
        // In a crowd, dashes would say nothing, and take long.
        pen.setLineDash(dash ?? (isGuide ? [2, 3] : isCrowd ? [] : look.dash));
        pen.beginPath();
        const cuts = [];
        let before = -Infinity, last;
        const columns = Math.ceil((width - LEFT - RIGHT) * scene.scale);
        decimate(at, values, from, to, columns, (time, value) => {
            const point = [x(time), Math.max(y(value), -1e4)];
            if (time - before > pause) {
                pen.moveTo(...point);
                last = point;
            }
            pen.lineTo(...point);
            if (!isCrowd && !isQuiet) {
                labels.note(curve, last, point);
            }
            [before, last] = [time, point];
            if (value > this.top) {
                cuts.push(x(time));
            }
        });
        pen.stroke();
        pen.setLineDash([]);
        pen.globalAlpha = 1;
        // A tip at the upper edge for what is above it.
        pen.fillStyle = pen.strokeStyle;
        for (const at of cuts) {
            pen.beginPath();
            pen.moveTo(at, 0);
            pen.lineTo(at - 3, TOP - 2);
            pen.lineTo(at + 3, TOP - 2);
            pen.fill();
        }
    }

    #name(pen, steps, name, y, width, labels) {
        const { theme, window } = this.scene;
        const value = stepAt(steps, window.to);
        const level = y(value);
        if (!(level > TOP - 8)) {
            return;
        }
        const isBelow = level < TOP + 14;
        const text = `${name} ${measure(value, this.what.unit)}`;
        const right = width - RIGHT - 4, bottom = level + (isBelow ? 13 : -4);
        const box = labels.free({ left: right - widthOf(pen, text, SIZE), right, top: bottom - SIZE, bottom });
        labels.take(box);
        write(pen, text, box.right, bottom, { colour: theme.text, align: "right", halo: theme.page });
    }

    moving(pen, size) {
        const { scene } = this;
        drawMoment(pen, scene, size);
        const { x } = timeScale(scene.window, size.width);
        const y = this.#y(size.height);
        const at = x(scene.time_ms);
        if (at < LEFT || at > size.width - RIGHT || this.curves.length > 60) {
            return;
        }
        for (const curve of this.curves.filter(({ isGuide }) => !isGuide)) {
            const value = this.#now(curve);
            if (value <= this.top) {
                pen.fillStyle = curve.flow ? scene.look(curve.flow).colour : scene.theme.text;
                pen.strokeStyle = scene.theme.page;
                pen.lineWidth = 1.5;
                pen.beginPath();
                pen.arc(at, y(value), 4, 0, 7);
                pen.fill();
                pen.stroke();
            }
        }
    }

    // A curve's value at the moment shown. None after the end of its flow.
    #now({ flow, at, values }) {
        const { time_ms } = this.scene;
        return flow && !flow.isAlive(time_ms) ? NaN : latest(at, values, time_ms);
    }

    // A value in the unit of the axis, with as many digits as the axis makes sense of.
    #level(value) {
        const top = this.top / this.scale.by;
        return Number.isNaN(value) ? "–" : (value / this.scale.by).toFixed(top >= 200 ? 0 : top >= 20 ? 1 : 2);
    }

    readout() {
        const { scene, curves } = this;
        const shown = curves.length > 2 * CROWD ? [] : curves.filter(({ isQuiet }) => !isQuiet);
        return shown.map((curve) => {
            const value = `${this.#level(this.#now(curve))} ${this.scale.unit}`;
            const isAlone = shown.filter(({ isGuide }) => !isGuide).length === 1;
            const name = isAlone && !curve.isGuide ? "" : `${curve.name} `;
            return [name + value, curve.flow && !curve.isGuide ? scene.look(curve.flow).colour : scene.theme.text];
        });
    }

    said() {
        const { curves, scene, what } = this;
        const values = curves.slice(0, 12).map((curve) => `${curve.name} ${measure(this.#now(curve), what.unit)}`);
        const others = curves.length > 12 ? `; and ${curves.length - 12} more` : "";
        return `at ${moment(scene.time_ms, 2)}: ${values.join(", ")}${others}`;
    }

    table() {
        const { curves, scene, what } = this;
        const cells = (time) => curves.map(({ at, values }) => measure(latest(at, values, time), what.unit));
        return overTime(scene, curves.map(({ name }) => name), cells);
    }
}

// The corners of a line of steps: [time, value] from each time on.
function stepPoints(steps, end) {
    return steps.flatMap(([time, value], place) => [[time, value], [steps[place + 1]?.[0] ?? end, value]]);
}

const stepAt = (steps, time) => steps.findLast(([from]) => from <= time)?.[1];
