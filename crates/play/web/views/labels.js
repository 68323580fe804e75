// Names at the curves of a picture: each where its curve is apart from all others, as far to the right as there is room. A name that
// has no such place is left out, as those of curves that lie on each other.

import { widthOf, write } from "./view.js";

export const SIZE = 11;

// The picture is looked at in columns of so many pixels.
const COLUMN = 6;
// Between a name and its curve, and on either side of it.
const GAP = 4;
// Names end before this part of the width: the line of the moment stands behind it when a run is first shown.
export const END = 0.94;

export class Labels {
    #area;
    #taken = [];
    #curves = new Map();

    // `area` is the place of the curves: { left, right, top, bottom }.
    constructor(area) {
        this.#area = area;
        this.count = Math.max(Math.ceil((area.right - area.left) / COLUMN), 0);
    }

    // Takes note of a part of a curve, from one point to another.
    note(curve, [fromX, fromY], [toX, toY]) {
        const heights = this.#heights(curve);
        const [low, high] = fromY < toY ? [fromY, toY] : [toY, fromY];
        const last = Math.min(this.#column(toX), this.count - 1);
        for (let column = Math.max(this.#column(fromX), 0); column <= last; column++) {
            heights.top[column] = Math.min(heights.top[column], low);
            heights.bottom[column] = Math.max(heights.bottom[column], high);
        }
    }

    // Leaves this box free of names.
    take(box) {
        this.#taken.push(box);
    }

    // The box, moved to the left of those with which it overlaps.
    free(box) {
        const other = this.#taken.find((taken) => overlap(box, taken));
        const by = other ? box.right - other.left + 2 * GAP : 0;
        return other ? this.free({ ...box, left: box.left - by, right: box.right - by }) : box;
    }

    // Writes the name of a curve, if there is a place for it.
    name(pen, curve, text, look) {
        const wide = widthOf(pen, text, SIZE) + 2 * GAP;
        const span = Math.ceil(wide / COLUMN);
        for (let from = Math.floor(this.count * END) - span; from >= 0; from--) {
            const box = this.#beside(curve, from, span, wide);
            if (box) {
                this.take(box);
                write(pen, text, box.left + GAP, box.bottom - GAP, { ...look, size: SIZE });
                return;
            }
        }
    }

    // A free box above or below a curve, over all of these columns.
    #beside(curve, from, span, wide) {
        const [top, bottom] = this.#range(curve, from, span);
        if (top === null) {
            return null;
        }
        const left = this.#area.left + from * COLUMN;
        const tall = SIZE + GAP;
        const above = { left, right: left + wide, top: top - tall, bottom: top };
        const below = { left, right: left + wide, top: bottom, bottom: bottom + tall + GAP };
        const isApart = (low, high) => [...this.#curves.keys()].every((other) => other === curve || !this.#meets(other, from, span, low, high));
        const isFree = (box) =>
            box.top >= this.#area.top && box.bottom <= this.#area.bottom && !this.#taken.some((other) => overlap(box, other)) &&
            isApart(Math.min(box.top, top), Math.max(box.bottom, bottom));
        return [above, below].find(isFree) ?? null;
    }

    // Whether a curve is between two heights in one of these columns.
    #meets(curve, from, span, low, high) {
        const heights = this.#heights(curve);
        for (let column = from; column < from + span; column++) {
            if (heights.top[column] < high && heights.bottom[column] > low) {
                return true;
            }
        }
        return false;
    }

    // The heights between which a curve is in these columns; nulls if it is not in all of them.
    #range(curve, from, span) {
        const heights = this.#heights(curve);
        let top = Infinity, bottom = -Infinity;
        for (let column = from; column < from + span; column++) {
            if (heights.top[column] > heights.bottom[column]) {
                return [null, null];
            }
            top = Math.min(top, heights.top[column]);
            bottom = Math.max(bottom, heights.bottom[column]);
        }
        return [top, bottom];
    }

    #column(x) {
        return Math.floor((x - this.#area.left) / COLUMN);
    }

    #heights(curve) {
        if (!this.#curves.has(curve)) {
            const { count } = this;
            this.#curves.set(curve, { top: new Float64Array(count).fill(Infinity), bottom: new Float64Array(count).fill(-Infinity) });
        }
        return this.#curves.get(curve);
    }
}

function overlap(one, other) {
    return one.left < other.right && other.left < one.right && one.top < other.bottom && other.top < one.bottom;
}
