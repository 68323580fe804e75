// The part of a run's time that the pictures over time show: all of it, or a shorter span that follows the moment shown.

import { number } from "./axis.js";
import { element } from "./view.js";

const SHORTEST_MS = 5;

// The moment stands so far into a shorter span when it begins to move.
const AHEAD = 0.75;

export class TimeWindow {
    #span_ms = null;

    // `changed` is called when the user chooses another span.
    constructor(root, changed) {
        this.changed = changed;
        const group = element("div", root, null, "span");
        group.setAttribute("role", "group");
        group.setAttribute("aria-label", "Time shown");
        const button = (text, label, act) => {
            const made = element("button", group, text);
            made.type = "button";
            made.setAttribute("aria-label", label);
            made.addEventListener("click", act);
            return made;
        };
        button("−", "Show more time", () => this.zoom(2));
        this.said = element("output", group);
        button("+", "Show less time", () => this.zoom(0.5));
        this.whole = button("whole run", "Show the whole run", () => this.span(null));
        this.from = 0;
        this.to = 1;
    }

    span(span_ms) {
        this.#span_ms = span_ms;
        this.changed();
    }

    zoom(by) {
        const span = Math.max((this.to - this.from) * by, SHORTEST_MS);
        this.span(span < this.duration_ms ? span : null);
    }

    // Follows a moment of a run. Returns whether the window is another one now.
    follow(time_ms, duration_ms) {
        this.duration_ms = duration_ms;
        const { from, to } = this;
        const span = Math.min(this.#span_ms ?? Infinity, duration_ms);
        const isKept = to - from === span && time_ms >= from && time_ms <= from + AHEAD * span;
        this.from = isKept ? from : Math.min(Math.max(time_ms - AHEAD * span, 0), duration_ms - span);
        this.to = this.from + span;
        this.whole.disabled = span === duration_ms;
        const text = `${number(span / 1000)} s`;
        if (this.said.textContent !== text) {
            this.said.textContent = text;
        }
        return from !== this.from || to !== this.to;
    }
}
