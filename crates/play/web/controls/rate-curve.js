// The rate over time, drawn: the changes of a link's rate as a step curve. The pointer draws, the keyboard moves a cursor: left and
// right in time, up and down in rate, Enter to forget all changes. The text has a block for each change.

import { button, element } from "../dom.js";
import { blocks, insert, named, read, remove } from "../state/document.js";
import { format, parse, shown } from "../state/quantity.js";
import { duration } from "./run.js";

// The steps that one can draw: as many as an outline needs, and few enough to read as text.
const STEPS = 40;
const WIDTH = 400;
const HEIGHT = 90;
// The heights are rates from a fiftieth of the link's rate to twice as much.
const LOW = 0.02;
const HIGH = 2;

const SVG = "http://www.w3.org/2000/svg";

export class RateCurve {
    #state;
    #name;
    #place;
    #cursor = 0;
    #drawn = null;
    #last = null;

    constructor(state, name, place) {
        this.#state = state;
        this.#name = name;
        this.#place = place;
        this.curve = document.createElementNS(SVG, "path");
        this.mark = document.createElementNS(SVG, "line");
        this.svg = document.createElementNS(SVG, "svg");
        this.svg.setAttribute("viewBox", `0 0 ${WIDTH} ${HEIGHT}`);
        this.svg.setAttribute("preserveAspectRatio", "none");
        this.svg.append(this.mark, this.curve);
        this.said = element("output", { className: "hint" });
        this.surface = element("div", {
            className: "curve", tabIndex: 0, role: "slider", "aria-label": "Rate over time: draw it", "aria-valuemin": 0, "aria-valuemax": STEPS - 1,
            on: {
                pointerdown: (event) => this.#begin(event),
                pointermove: (event) => this.#drawn && this.#draw(event),
                pointerup: () => this.#end(),
                pointercancel: () => this.#end(),
                keydown: (event) => this.#key(event),
            },
        });
        this.surface.append(this.svg);
        this.clear = button("Constant rate", () => this.#write([]), { className: "small" });
        this.root = element("details", { className: "drawing" }, element("summary", {}, "Rate over time"), this.surface, element("div", { className: "row" }, this.said, this.clear));
        this.root.open = this.#changes().length > 0;
        this.update();
    }

    update() {
        const rate = this.#rate();
        // Changes that are written as a list on one line are edited as text.
        this.root.hidden = rate === null || read(this.#block(), "change") === null;
        if (this.root.hidden) {
            return;
        }
        const steps = this.#drawn ?? this.#steps();
        const points = steps.map((value, step) => `${step === 0 ? "M" : "L"}${x(step)} ${y(value)}L${x(step + 1)} ${y(value)}`);
        this.curve.setAttribute("d", points.join(""));
        this.mark.setAttribute("x1", x(this.#cursor + 0.5));
        this.mark.setAttribute("x2", x(this.#cursor + 0.5));
        this.mark.setAttribute("y2", HEIGHT);
        const at = (this.#cursor / STEPS) * duration(this.#state.text);
        const text = `${shown("time", at)}: ${shown("rate", steps[this.#cursor] * rate)}`;
        this.surface.setAttribute("aria-valuetext", text);
        this.surface.setAttribute("aria-valuenow", this.#cursor);
        const count = this.#changes().length;
        this.said.textContent = count === 0 ? "Draw here, or use the arrow keys" : text;
        this.clear.hidden = count === 0;
    }

    #block() {
        return named(this.#state.text, this.#name)[this.#place];
    }

    #rate() {
        return parse("rate", read(this.#block(), "rate"))?.number ?? null;
    }

    // The blocks of changes of this link: those that follow it before the next link.
    #changes() {
        const all = blocks(this.#state.text);
        const own = this.#block()?.from;
        const after = all.slice(all.findIndex((block) => block.from === own && block.name === this.#name) + 1);
        const next = after.findIndex((block) => block.name === this.#name);
        const until = next === -1 ? after : after.slice(0, next);
        return until.filter((block) => block.name === `${this.#name}.change` && read(block, "rate") !== undefined);
    }

    // The rates as multiples of the link's, one for each step.
    #steps() {
        const rate = this.#rate();
        const whole = duration(this.#state.text);
        const changes = this.#changes().map((block) => ({
            at: parse("time", read(block, "at"))?.number ?? 0,
            value: (parse("rate", read(block, "rate"))?.number ?? 0) / rate,
        }));
        return Array.from({ length: STEPS }, (_, step) => {
            const time = ((step + 0.5) / STEPS) * whole;
            return changes.filter(({ at }) => at <= time).at(-1)?.value ?? 1;
        });
    }

    #begin(event) {
        this.surface.setPointerCapture(event.pointerId);
        this.#drawn = this.#steps();
        this.#last = null;
        this.#draw(event);
    }

    #draw(event) {
        const box = this.surface.getBoundingClientRect();
        const step = Math.max(0, Math.min(STEPS - 1, Math.floor(((event.clientX - box.left) / box.width) * STEPS)));
        const value = rateAt((event.clientY - box.top) / box.height);
        // A fast pointer skips steps.
        const from = this.#last ?? step;
        for (let between = Math.min(from, step); between <= Math.max(from, step); between++) {
            this.#drawn[between] = value;
        }
        this.#last = this.#cursor = step;
        this.update();
    }

    #end() {
        if (this.#drawn) {
            const drawn = this.#drawn;
            this.#drawn = null;
            this.#write(drawn);
        }
    }

    #key(event) {
        const { key } = event;
        const turn = { ArrowLeft: -1, ArrowRight: 1 }[key];
        const factor = { ArrowUp: 1.1, ArrowDown: 1 / 1.1 }[key];
        if (turn !== undefined) {
            this.#cursor = Math.max(0, Math.min(STEPS - 1, this.#cursor + turn));
            this.update();
        } else if (factor !== undefined) {
            const steps = this.#steps();
            const value = Math.max(LOW, Math.min(HIGH, steps[this.#cursor] * factor));
            this.#write(steps.fill(value, this.#cursor));
        } else if (key === "Enter") {
            this.#write([]);
        } else {
            return;
        }
        event.preventDefault();
    }

    // Writes the steps as changes in place of those that are there. The first step is the link's own rate.
    #write(steps) {
        let text = remove(this.#state.text, this.#changes());
        const rate = this.#rate();
        const whole = duration(this.#state.text);
        const added = [];
        let last = 1;
        steps.forEach((value, step) => {
            if (Math.abs(value / last - 1) > 0.01) {
                const at = format("time", Math.max((step / STEPS) * whole, 1e-6));
                added.push("", `[[${this.#name}.change]]`, `at = "${at}"`, `rate = "${format("rate", value * rate)}"`);
                last = value;
            }
        });
        if (added.length > 0) {
            text = insert(text, named(text, this.#name)[this.#place], added.slice(1));
        }
        this.#state.change({ text });
    }
}

function x(step) {
    return (step / STEPS) * WIDTH;
}

function y(value) {
    const share = Math.log(Math.max(value, LOW) / LOW) / Math.log(HIGH / LOW);
    return HEIGHT * (1 - Math.max(0, Math.min(1, share)));
}

function rateAt(depth) {
    return LOW * (HIGH / LOW) ** (1 - Math.max(0, Math.min(1, depth)));
}
