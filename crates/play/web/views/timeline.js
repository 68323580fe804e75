// A quantity of each flow over time, with the states of a flow that is alone as its ground.

import { measure, moment, number, scaleOf, ticks } from "./axis.js";
import { decimate, highest } from "./decimate.js";
import { latest } from "./search.js";
import { Grounds, stateOf } from "./states.js";
import { View, line, write } from "./view.js";

export const LEFT = 50, RIGHT = 12;
const TOP = 8, BOTTOM = 20;

// More curves than this are a crowd: thin, and without values of their own beside the title.
export const CROWD = 6;

// Where times are in a drawing of this width.
export function timeScale({ from, to }, width) {
    const perTime = (width - LEFT - RIGHT) / (to - from);
    return { x: (time) => LEFT + (time - from) * perTime, time: (x) => from + (x - LEFT) / perTime };
}

// The axis of time below a drawing.
export function drawTimes(pen, scene, { width, height }, bottom) {
    const { theme, window: { from, to } } = scene;
    const { x } = timeScale(scene.window, width);
    const values = ticks(from, to, (width - LEFT - RIGHT) / 70);
    const digits = values.length > 1 && values[1] - values[0] < 10 ? 6 : 3;
    for (const time of values) {
        line(pen, [[x(time), TOP], [x(time), height - bottom]], { colour: theme.grid });
        write(pen, `${number(time / 1000, digits)} s`, Math.min(Math.max(x(time), LEFT), width - 14), height - bottom + 14, { colour: theme.faint, align: "center" });
    }
}

// A line at the moment shown.
export function drawMoment(pen, scene, { width, height }, bottom = BOTTOM) {
    const { x } = timeScale(scene.window, width);
    const at = x(scene.time_ms);
    if (at >= LEFT - 1 && at <= width - RIGHT + 1) {
        line(pen, [[at, TOP - 4], [at, height - bottom]], { colour: scene.theme.text, width: 1.5 });
    }
}

// Lets the pointer choose a moment.
export function pointing(view) {
    const { stage, scene } = view;
    const tell = (event, isDragging) => {
        const { left, width } = stage.getBoundingClientRect();
        const { from, to } = scene.window;
        const time = timeScale(scene.window, width).time(event.clientX - left);
        scene.pointed(Math.min(Math.max(time, from), to), isDragging);
    };
    stage.classList.add("times");
    stage.addEventListener("pointerdown", (event) => {
        if (event.button === 0) {
            stage.setPointerCapture(event.pointerId);
            tell(event, true);
        }
    });
    stage.addEventListener("pointermove", (event) => {
        if (stage.hasPointerCapture(event.pointerId)) {
            tell(event, true);
        } else if (event.pointerType === "mouse") {
            tell(event, false);
        }
    });
    stage.addEventListener("wheel", (event) => {
        if (event.ctrlKey) {
            event.preventDefault();
            scene.zoom(Math.exp(event.deltaY / 300));
        }
    }, { passive: false });
}

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
        drawTimes(pen, scene, size, BOTTOM);
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
            line(pen, stepPoints(steps, scene.window.to).map(([time, value]) => [x(time), y(value)]), { colour: theme.faint, dash: [6, 4] });
        }
        for (const curve of curves) {
            this.#curve(pen, curve, x, y, width);
        }
        for (const { steps, name } of this.references) {
            this.#name(pen, steps, name, y, width);
        }
        pen.restore();
    }

    #curve(pen, { flow, at, values, isGuide, dash }, x, y, width) {
        const { scene } = this;
        const { from, to } = scene.window;
        const isCrowd = this.curves.length > CROWD;
        const look = flow ? scene.look(flow) : { colour: scene.theme.text, dash: [] };
        const pause = Math.max(500, 3 * (scene.run.path.rtprop_ms || 0));
        pen.strokeStyle = isGuide ? scene.theme.text : look.colour;
        pen.lineWidth = isGuide ? 1.2 : isCrowd ? 1 : 1.6;
        pen.lineJoin = "round";
        pen.globalAlpha = isGuide ? 0.75 : isCrowd ? 0.7 : 1;
        pen.setLineDash(dash ?? (isGuide ? [2, 3] : look.dash));
        pen.beginPath();
        const cuts = [];
        let before = -Infinity;
        const columns = Math.ceil((width - LEFT - RIGHT) * scene.scale);
        decimate(at, values, from, to, columns, (time, value) => {
            const level = Math.max(y(value), -1e4);
            if (time - before > pause) {
                pen.moveTo(x(time), level);
            }
            pen.lineTo(x(time), level);
            before = time;
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

    #name(pen, steps, name, y, width) {
        const { theme, window } = this.scene;
        const value = stepAt(steps, window.to);
        const level = y(value);
        if (!(level > TOP - 8)) {
            return;
        }
        const isBelow = level < TOP + 14;
        write(pen, `${name} ${measure(value, this.what.unit)}`, width - RIGHT - 4, level + (isBelow ? 13 : -4), { colour: theme.text, align: "right", halo: theme.page });
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

    readout() {
        const { scene, curves, what } = this;
        const shown = curves.length > CROWD ? [] : curves;
        return shown.map((curve) => {
            const value = measure(this.#now(curve), what.unit);
            const isAlone = curves.filter(({ isGuide }) => !isGuide).length === 1;
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
        const { curves, scene: { window: { from, to } }, what } = this;
        const times = Array.from({ length: 21 }, (_, place) => from + ((to - from) * place) / 20);
        const head = ["Time", ...curves.map(({ name }) => name)];
        const rows = times.map((time) => [moment(time), ...curves.map(({ at, values }) => measure(latest(at, values, time), what.unit))]);
        return { head, rows };
    }
}

// The states of a flow, each over its time, between two heights.
export function drawStays(pen, scene, flow, [y, height], width, isRibbon) {
    const { window: { from, to }, theme } = scene;
    const { x } = timeScale(scene.window, width);
    scene.grounds ??= new Grounds(theme);
    for (const stay of flow.stays) {
        if (stay.to < from || stay.from > to) {
            continue;
        }
        const left = Math.max(x(stay.from), LEFT), right = Math.min(Math.max(x(stay.to), left + 1), width - RIGHT);
        const state = stateOf(stay.name);
        scene.grounds.fill(pen, state, [left, y, right - left, height], isRibbon);
        const names = [stay.name.replace("_", " "), state.name.replace("_", " "), state.letter];
        const size = isRibbon ? Math.min(10, height - 3) : 10;
        if (size < 8) {
            continue;
        }
        pen.font = `${size}px sans-serif`;
        const name = names.find((name) => pen.measureText(name).width + 6 < right - left);
        if (name) {
            write(pen, name, (left + right) / 2, isRibbon ? y + height / 2 + 0.5 : y + 10, { colour: isRibbon ? theme.text : theme.faint, size, align: "center", baseline: isRibbon ? "middle" : "alphabetic", halo: isRibbon ? theme.page : undefined });
        }
    }
}

// The corners of a line of steps: [time, value] from each time on.
function stepPoints(steps, end) {
    return steps.flatMap(([time, value], place) => [[time, value], [steps[place + 1]?.[0] ?? end, value]]);
}

const stepAt = (steps, time) => steps.findLast(([from]) => from <= time)?.[1];
