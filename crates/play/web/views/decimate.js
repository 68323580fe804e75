// A curve of many rows for few pixels. Of all rows of a column of pixels, the first, the lowest, the highest and the last draw the
// same picture as all of them: M4 (Jugel et al., "M4: A Visualization-Oriented Time Series Data Aggregation", VLDB 2014).

import { after } from "./search.js";

// Calls `point(time, value)` for the rows to draw, in the order of their times: those between `from` and `to`, with one neighbour on
// either side, so that the curve reaches the edges. Rows without a value are left out.
export function decimate(times, values, from, to, columns, point) {
    const first = Math.max(after(times, from) - 1, 0);
    const end = Math.min(after(times, to) + 1, times.length);
    if (end - first <= 4 * columns) {
        for (let row = first; row < end; row++) {
            if (!Number.isNaN(values[row])) {
                point(times[row], values[row]);
            }
        }
        return;
    }
    const perTime = columns / (to - from);
    let column = -Infinity, opens = -1, low = -1, high = -1, closes = -1;
    const flush = () => {
        if (opens < 0) {
            return;
        }
        const between = low < high ? [low, high] : [high, low];
        let last = -1;
        for (const row of [opens, ...between, closes]) {
            if (row !== last) {
                point(times[row], values[row]);
                last = row;
            }
        }
    };
    for (let row = first; row < end; row++) {
        const value = values[row];
        if (Number.isNaN(value)) {
            continue;
        }
        const own = Math.floor((times[row] - from) * perTime);
        if (own !== column) {
            flush();
            column = own;
            opens = low = high = row;
        }
        if (value < values[low]) {
            low = row;
        }
        if (value > values[high]) {
            high = row;
        }
        closes = row;
    }
    flush();
}

// The highest value between two times, with the neighbours outside; NaN if there is none.
export function highest(times, values, from, to) {
    const end = Math.min(after(times, to) + 1, times.length);
    let most = NaN;
    for (let row = Math.max(after(times, from) - 1, 0); row < end; row++) {
        if (!(values[row] <= most) && !Number.isNaN(values[row])) {
            most = values[row];
        }
    }
    return most;
}
