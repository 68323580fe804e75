// Look-ups in ascending times.

// The number of times up to and including this one: the place after its row.
export function after(times, time, from = 0, to = times.length) {
    while (from < to) {
        const middle = (from + to) >>> 1;
        if (times[middle] <= time) {
            from = middle + 1;
        } else {
            to = middle;
        }
    }
    return from;
}

// So many rows without a value are looked at one by one.
const FEW = 100;

// The latest value at this time: that of the last row up to it that has one. NaN if there is none.
export function latest(times, values, time) {
    const last = after(times, time) - 1;
    for (let place = last; place >= 0; place--) {
        if (!Number.isNaN(values[place])) {
            return values[place];
        }
        if (last - place === FEW) {
            return filled(values)[place];
        }
    }
    return NaN;
}

const known = new WeakMap();

// The values, with the one before in place of each that is not there.
function filled(values) {
    if (!known.has(values)) {
        let before = NaN;
        known.set(values, values.map((value) => (before = Number.isNaN(value) ? before : value)));
    }
    return known.get(values);
}

// The value of a quantity that grows with the rows, between two of them in proportion to the time.
export function between(times, values, time) {
    const next = after(times, time);
    if (next === 0) {
        return values.length > 0 ? values[0] : NaN;
    }
    if (next === times.length) {
        return values[next - 1];
    }
    const [from, to] = [times[next - 1], times[next]];
    return values[next - 1] + ((values[next] - values[next - 1]) * (time - from)) / (to - from);
}
