// The views of a run: pictures that move with its time.
//
//     const views = new Views(element, { theme: "light", reducedMotion: false });
//     views.show(record, { flows: [{ label, colour }], path: { rate_bps, rtprop_ms, buffer_bytes, changes }, duration_ms });
//     views.at(time_ms);
//     views.addEventListener("time", ({ detail: { time_ms, isDragging } }) => …);
//
// `flows` has a name and a colour for each flow, in the order of their ids; both may be missing. `path` is the bottleneck; what is
// missing comes from the record's summary. `changes` are [{ at_ms, rate_bps, rtprop_ms }], for a path that changes. `duration_ms` is
// the time that the whole run takes, while a part of it is there.

import { Fairness } from "./fairness.js";
import { LINES } from "./lines.js";
import { OperatingPoint } from "./operating.js";
import { picture } from "./picture.js";
import { Pipe } from "./pipe.js";
import { Ribbons } from "./ribbons.js";
import { Run } from "./run.js";
import { lookOf, themeOf } from "./theme.js";
import { Timeline } from "./timeline.js";
import { Variables } from "./variables.js";
import { element } from "./view.js";

// A picture for paper or for download has at least so many dots for each CSS pixel.
const FINE = 2;

export class Views extends EventTarget {
    #views;
    #scene;
    #version = 0;
    #frame = null;
    #chosen;
    #span_ms = null;

    constructor(root, { theme = "light", reducedMotion = false } = {}) {
        super();
        this.root = element("div", root, null, "views");
        const scene = {
            time_ms: 0, window: { from: 0, to: 1 }, run: null, reducedMotion, scale: devicePixelRatio, theme: themeOf(theme),
            dirty: () => this.#dirty(),
            look: (flow) => lookOf(flow, flow.id, scene.theme),
            pointed: (time_ms, isDragging) => this.dispatchEvent(new CustomEvent("time", { detail: { time_ms, isDragging } })),
            zoom: (by) => this.zoom(by),
        };
        this.#scene = scene;
        const parts = element("div", this.root, null, "parts");
        const places = element("div", parts, null, "places"), lines = element("div", parts, null, "lines");
        this.#views = [
            new OperatingPoint(scene, places),
            new Pipe(scene, places),
            new Variables(scene, places),
            ...LINES.slice(0, 2).map((what) => new Timeline(scene, lines, what)),
            new Ribbons(scene, lines),
            ...LINES.slice(2, 4).map((what) => new Timeline(scene, lines, what)),
            new Fairness(scene, lines),
            ...LINES.slice(4).map((what) => new Timeline(scene, lines, what)),
        ];
        this.theme(theme);
        this.onPaper = (is) => () => this.#paper(is);
        this.listeners = [["beforeprint", this.onPaper(true)], ["afterprint", this.onPaper(false)]];
        for (const [name, call] of this.listeners) {
            addEventListener(name, call);
        }
    }

    // Shows this record: that of a whole run, or of its first part.
    show(record, context = {}) {
        this.#scene.run = new Run(record, context);
        this.#changed();
    }

    // Shows this moment, in all views.
    at(time_ms) {
        this.#scene.time_ms = time_ms;
        this.#follow();
        this.#dirty();
    }

    // Shows so much time around the moment: null for the whole run.
    span(span_ms) {
        this.#span_ms = span_ms;
        this.#changed();
    }

    // Makes the time that is shown longer or shorter.
    zoom(by) {
        const { from, to } = this.#scene.window;
        const span = Math.max((to - from) * by, 10);
        this.span(span < this.#scene.run?.duration_ms ? span : null);
    }

    theme(name) {
        this.#chosen = name;
        this.#scene.theme = themeOf(name);
        this.#scene.grounds = undefined;
        this.#changed();
    }

    // All views that are shown, as a picture in PNG.
    png() {
        return this.#fine(() => picture(this.root, this.#views, this.#scene.theme));
    }

    destroy() {
        cancelAnimationFrame(this.#frame);
        for (const [name, call] of this.listeners) {
            removeEventListener(name, call);
        }
        for (const view of this.#views) {
            view.destroy();
        }
        this.root.remove();
    }

    // The window follows the moment when it comes near an edge.
    #follow() {
        const { run, time_ms, window } = this.#scene;
        const duration = run?.duration_ms ?? 1;
        let next = { from: 0, to: duration };
        if (this.#span_ms !== null && this.#span_ms < duration) {
            const span = this.#span_ms;
            const isKept = window.to - window.from === span && time_ms >= window.from && time_ms <= window.from + 0.75 * span;
            const from = isKept ? window.from : time_ms - 0.75 * span;
            next = { from: Math.min(Math.max(from, 0), duration - span) };
            next.to = next.from + span;
        }
        if (next.from !== window.from || next.to !== window.to) {
            this.#scene.window = next;
            this.#version++;
        }
    }

    #changed() {
        this.#version++;
        this.#follow();
        this.#dirty();
    }

    #dirty() {
        this.#frame ??= requestAnimationFrame(() => {
            this.#frame = null;
            this.#draw();
        });
    }

    // Draws what has changed: of the views that are near the window, or of all.
    #draw(isAll = false) {
        const { run, scale } = this.#scene;
        if (run === null) {
            return;
        }
        const now = this.isOnPaper ? Math.max(devicePixelRatio, FINE) : devicePixelRatio;
        if (now !== scale) {
            this.#scene.scale = now;
            this.#scene.grounds = undefined;
        }
        for (const view of this.#views) {
            view.draw(this.#version, isAll);
        }
    }

    // On paper, the views are light and fine.
    #paper(is) {
        this.isOnPaper = is;
        this.#scene.theme = themeOf(is ? "light" : this.#chosen);
        this.#scene.grounds = undefined;
        this.#version++;
        this.#draw(is);
    }

    // Draws all views finely for a moment.
    #fine(use) {
        this.isOnPaper = true;
        this.#draw(true);
        const made = use();
        this.isOnPaper = false;
        this.#dirty();
        return made;
    }
}
