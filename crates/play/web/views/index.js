// The views of a run: pictures that move with its time.
//
//     const views = new Views(element, { theme: "light", reducedMotion: false });
//     views.show(record, { flows: [{ label, colour }], duration_ms });
//     views.at(time_ms);
//     views.addEventListener("time", ({ detail: { time_ms, isDragging } }) => …);
//
// `flows` has a name and a colour for each flow, in the order of their ids; both may be missing. `duration_ms` is
// the time that the whole run takes, while a part of it is there.

import { moment } from "./axis.js";
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
import { TimeWindow } from "./window.js";

// A picture for paper or for download has at least so many dots for each CSS pixel.
const FINE = 2;

// The moment stands still when it has not moved for so long.
const STILL_MS = 300;

export class Views extends EventTarget {
    #views;
    #scene;
    #version = 0;
    #frame = null;
    #chosen;
    #movedAt = -Infinity;
    #isPointed = false;
    #isFine = false;

    constructor(root, { theme = "light", reducedMotion = false } = {}) {
        super();
        this.root = element("div", root, null, "views");
        const scene = {
            time_ms: 0, run: null, reducedMotion, scale: devicePixelRatio, theme: themeOf(theme),
            dirty: () => this.#dirty(),
            look: (flow) => lookOf(flow, flow.id, scene.theme),
            pointed: (time_ms, isDragging) => this.#pointed(time_ms, isDragging),
        };
        this.#scene = scene;
        const parts = element("div", this.root, null, "parts");
        const places = element("div", parts, null, "places"), lines = element("div", parts, null, "lines");
        scene.window = new TimeWindow(lines, () => this.#changed());
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
        if (!this.#isPointed) {
            this.#movedAt = performance.now();
        }
        this.#follow();
        this.#dirty();
    }

    // Shows so much time around the moment in the pictures over time: null for the whole run.
    span(span_ms) {
        this.#scene.window.span(span_ms);
    }

    theme(name) {
        this.#chosen = name;
        this.#scene.theme = themeOf(name);
        this.#scene.grounds = undefined;
        this.#changed();
    }

    // All views that are shown, as a picture in PNG.
    png() {
        const { run: { summary }, time_ms, theme } = this.#scene;
        const heading = `${summary.scenario}, seed ${summary.seed}, at ${moment(time_ms, 2)}`;
        return this.#fine(() => picture(this.root, this.#views, theme, heading));
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

    // Tells where the user points. A pointer that only passes by does not interrupt what moves.
    #pointed(time_ms, isDragging) {
        if (isDragging || performance.now() - this.#movedAt > STILL_MS) {
            this.#isPointed = true;
            this.dispatchEvent(new CustomEvent("time", { detail: { time_ms, isDragging } }));
            this.#isPointed = false;
        }
    }

    #follow() {
        const { run, time_ms, window } = this.#scene;
        if (run && window.follow(time_ms, run.duration_ms)) {
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
            this.draw();
        });
    }

    // Draws what is due now, within the frame that the caller is in, and not in the next one.
    draw() {
        cancelAnimationFrame(this.#frame);
        this.#frame = null;
        this.#draw();
    }

    // Draws what has changed: of the views that are near the window, or of all. All are on paper.
    #draw(isAll = this.#scene.isOnPaper) {
        const { run, scale } = this.#scene;
        if (run === null) {
            return;
        }
        const now = this.#isFine ? Math.max(devicePixelRatio, FINE) : devicePixelRatio;
        if (now !== scale) {
            this.#scene.scale = now;
            this.#scene.grounds = undefined;
        }
        // Words come after all drawings: a canvas that is to write brings the style of a page up to date that has changed.
        const drawn = this.#views.filter((view) => view.draw(this.#version, isAll));
        for (const view of drawn) {
            view.say();
        }
    }

    // On paper, the views are light and fine.
    #paper(is) {
        this.#scene.isOnPaper = this.#isFine = is;
        this.#scene.theme = themeOf(is ? "light" : this.#chosen);
        this.#scene.grounds = undefined;
        this.#version++;
        this.#draw(is);
    }

    // Draws all views finely for a moment.
    #fine(use) {
        this.#isFine = true;
        this.#draw(true);
        const made = use();
        this.#isFine = false;
        this.#dirty();
        return made;
    }
}
