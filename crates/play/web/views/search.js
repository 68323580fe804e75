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

// The latest value at this time: that of the last row up to it that has one. NaN if there is none.
export function latest(times, values, time) {
    for (let place = after(times, time) - 1; place >= 0; place--) {
        if (!Number.isNaN(values[place])) {
            return values[place];
        }
    }
    return NaN;
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
