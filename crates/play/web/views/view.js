// A view: a figure with a caption, a drawing, and a table of its numbers.
//
// The drawing is a canvas of our own rather than the plot library of the reports. Half of the views are no plots over time and move
// sixty times a second, all views share one moment and one window of time, and a picture for download or for paper is the same
// drawing at another scale. Below lies what a record changes; above it, what the moment changes.

import { put } from "../dom.js";
import { Sight } from "./sight.js";
import { FONT } from "./theme.js";

// The numbers and the name for screen readers follow the moment shown at most so often.
const SAY_MS = 400;

export function element(tag, parent, text, className) {
    const made = document.createElement(tag);
    if (text != null) {
        made.textContent = text;
    }
    if (className) {
        made.className = className;
    }
    parent?.append(made);
    return made;
}

export class View {
    // `scene` is what all views share (index.js). Subclasses have `height(width)`, `moving(pen, size)`, `said()` and `table()`,
    // and may have `ground(pen, size)`, `unit()`, `isShown()` and `readout()`.
    constructor(scene, root, name, title) {
        this.scene = scene;
        this.title = title;
        this.figure = element("figure", root, null, `view view-${name}`);
        const caption = element("figcaption", this.figure);
        element("b", caption, title);
        this.unitBox = element("small", caption);
        this.#makeTable(caption);
        this.readoutBox = element("span", caption, null, "readout");
        this.stage = element("div", this.figure, null, "stage");
        this.below = element("canvas", this.stage);
        this.below.setAttribute("role", "img");
        this.above = element("canvas", this.stage, null, "above");
        this.above.setAttribute("aria-hidden", "true");
        this.figure.append(this.numbers);
        // To ask for the width while something changes would lay the page out each time.
        this.width = 0;
        this.observer = new ResizeObserver((entries) => {
            this.width = Math.round(entries.at(-1).contentRect.width);
            scene.dirty();
        });
        this.observer.observe(this.stage);
        this.sight = new Sight(this.figure, scene.dirty);
        this.saidAt = -Infinity;
        this.drawn = "";
    }

    unit() {
        return "";
    }

    isShown() {
        return true;
    }

    // Not every drawing has a ground: all of it may move.
    ground() {}

    // What stands beside the title: [text, colour] for each.
    readout() {
        return [];
    }

    // Draws what has changed: the ground if the record, the theme, the window or the size has, and what moves.
    // Returns whether the view is near the window, and was drawn.
    draw(version, isAll = false) {
        this.figure.hidden = !this.isShown();
        const { width } = this;
        if (this.figure.hidden || width === 0) {
            return false;
        }
        const height = this.height(width);
        const shape = `${width} / ${height}`;
        if (shape !== this.shape) {
            this.shape = this.stage.style.aspectRatio = shape;
        }
        if (!(this.sight.isNear || isAll)) {
            if (this.drawn !== "" && !this.drawn.startsWith(`${version} `)) {
                this.#forget();
            }
            return false;
        }
        const { scale } = this.scene;
        const drawn = `${version} ${width} ${height} ${scale}`;
        const size = { width, height };
        if (drawn !== this.drawn) {
            this.drawn = drawn;
            for (const canvas of [this.below, this.above]) {
                fit(canvas, Math.round(width * scale), Math.round(height * scale));
            }
            this.ground(pen(this.below, scale), size);
        }
        const above = pen(this.above, scale);
        above.clearRect(0, 0, width, height);
        // Chromium prints what is drawn then, and leaves other canvases empty.
        if (this.scene.isOnPaper) {
            this.ground(above, size);
        }
        this.moving(above, size);
        return true;
    }

    // What is out of sight does not show or tell of what was there before.
    #forget() {
        this.drawn = this.read = "";
        for (const canvas of [this.below, this.above]) {
            canvas.getContext("2d").clearRect(0, 0, canvas.width, canvas.height);
        }
        this.readoutBox.replaceChildren();
        this.below.setAttribute("aria-label", this.title);
        this.saidAt = -Infinity;
    }

    // Says what was drawn: beside the title, to screen readers, and in the table.
    say() {
        put(this.unitBox, this.unit());
        this.#read();
        this.#describe();
    }

    #read() {
        const parts = this.readout();
        const read = parts.flat().join();
        if (read !== this.read) {
            this.read = read;
            const { children } = this.readoutBox;
            while (children.length > parts.length) {
                this.readoutBox.lastChild.remove();
            }
            parts.forEach(([text, colour], place) => {
                const part = children[place] ?? element("span", this.readoutBox);
                put(part, text);
                part.style.color = colour;
            });
        }
    }

    #describe() {
        const now = performance.now();
        if (now - this.saidAt < SAY_MS) {
            this.later ??= setTimeout(() => {
                this.later = undefined;
                if (this.drawn !== "" && !this.figure.hidden) {
                    this.#describe();
                }
            }, SAY_MS);
            return;
        }
        this.saidAt = now;
        this.below.setAttribute("aria-label", `${this.title}, ${this.said()}`);
        if (!this.numbers.hidden) {
            this.#fillTable();
        }
    }

    #makeTable(caption) {
        this.button = element("button", caption, "numbers");
        this.button.type = "button";
        this.button.setAttribute("aria-label", `Numbers of ${this.title}`);
        this.numbers = element("div", null, null, "numbers");
        this.numbers.tabIndex = 0;
        this.numbers.setAttribute("role", "region");
        this.numbers.setAttribute("aria-label", `${this.title}: numbers`);
        const open = (is) => {
            this.numbers.hidden = !is;
            this.button.setAttribute("aria-expanded", is);
            if (is) {
                this.#fillTable();
            }
        };
        this.button.addEventListener("click", () => open(this.numbers.hidden));
        open(false);
    }

    #fillTable() {
        const { head, rows } = this.table();
        const table = element("table");
        element("caption", table, this.title);
        const top = element("tr", element("thead", table));
        for (const name of head) {
            element("th", top, name).scope = "col";
        }
        const body = element("tbody", table);
        for (const [first, ...others] of rows) {
            const row = element("tr", body);
            element("th", row, first).scope = "row";
            for (const cell of others) {
                element("td", row, cell);
            }
        }
        this.numbers.replaceChildren(table);
    }

    destroy() {
        this.observer.disconnect();
        this.sight.destroy();
        clearTimeout(this.later);
        this.figure.remove();
    }
}

// To set the size of a canvas, even to the same, makes its memory anew.
function fit(canvas, width, height) {
    if (canvas.width !== width || canvas.height !== height) {
        Object.assign(canvas, { width, height });
    }
}

// A pen that draws in CSS pixels.
function pen(canvas, scale) {
    const context = canvas.getContext("2d");
    context.setTransform(scale, 0, 0, scale, 0, 0);
    return context;
}

// Chooses the letters that a pen writes. A browser resolves a font whenever it is set, even to the same, which takes longer than to write.
export function letters(pen, size, weight = "") {
    const font = `${weight} ${size}px ${FONT}`.trim();
    if (pen.font !== font) {
        pen.font = font;
    }
}

export function write(pen, text, x, y, { colour, size = 11, align = "left", baseline = "alphabetic", weight = "", halo } = {}) {
    letters(pen, size, weight);
    pen.textAlign = align;
    pen.textBaseline = baseline;
    if (halo) {
        pen.strokeStyle = halo;
        pen.lineWidth = 3;
        pen.lineJoin = "round";
        pen.strokeText(text, x, y);
    }
    pen.fillStyle = colour;
    pen.fillText(text, x, y);
}

export function line(pen, points, { colour, width = 1, dash, alpha = 1 }) {
    pen.strokeStyle = colour;
    pen.lineWidth = width;
    if (dash) {
        pen.setLineDash(dash);
    }
    pen.globalAlpha = alpha;
    pen.beginPath();
    for (const [x, y] of points) {
        pen.lineTo(x, y);
    }
    pen.stroke();
    if (dash) {
        pen.setLineDash([]);
    }
    pen.globalAlpha = 1;
}

// The widths of texts by their size. Names are measured for each state of each picture, and there are few of them.
const widths = new Map();
const MOST_WIDTHS = 2000;

// The width of a text in letters of this size.
export function widthOf(pen, text, size) {
    const key = `${size} ${text}`;
    let width = widths.get(key);
    if (width === undefined) {
        letters(pen, size);
        ({ width } = pen.measureText(text));
        if (widths.size === MOST_WIDTHS) {
            widths.clear();
        }
        widths.set(key, width);
    }
    return width;
}

// The first letters of a text that are not wider than this.
export function fitting(pen, text, width, size = 10) {
    let first = text;
    while (first.length > 1 && widthOf(pen, first, size) > width) {
        first = first.slice(0, -1);
    }
    return first;
}
