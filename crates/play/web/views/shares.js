// What each flow gets of the path, over time, and how even that is.
//
// A share is the part of all delivered data that a flow delivered in an interval of 200 ms, as long as a ProbeRTT, or shorter in short
// runs and longer in long ones. A flow with a connection for each object has no count of its own in the samples; with such a flow,
// the shares are those of the record's table of throughput.

import { between } from "./search.js";

const INTERVAL_MS = 200, LEAST_INTERVALS = 50, MOST_INTERVALS = 400;
// A record has at most so many intervals of a flow.
const MOST_RECORDED = 4096;

// The ends of intervals, and for each flow what it delivered in them.
export function deliveries(run) {
    return run.flows.some((flow) => falls(flow.column("delivered_bytes"))) ? ofThroughput(run) : ofSamples(run);
}

function ofSamples(run) {
    const all = Math.min(Math.max(Math.floor(run.duration_ms / INTERVAL_MS), LEAST_INTERVALS), MOST_INTERVALS);
    const interval = run.duration_ms / all;
    const count = Math.max(Math.floor(run.now_ms / interval + 1e-6), 1);
    const ends = Float64Array.from({ length: count }, (_, place) => (place + 1) * interval);
    const delivered = run.flows.map(({ at, ...flow }, place) => {
        const bytes = run.flows[place].column("delivered_bytes");
        const until = (time) => (time < at[0] ? 0 : between(at, bytes, time) || 0);
        return ends.map((end) => Math.max(until(end) - until(end - interval), 0));
    });
    return { interval, ends, delivered };
}

function ofThroughput(run) {
    const { flow = [], from_s = [], interval_s = [], delivered_bytes = [] } = run.throughput;
    const interval = (interval_s[0] ?? 1) * 1000;
    const count = Math.max(Math.min(Math.floor(run.now_ms / interval) || 0, flow.length, MOST_RECORDED), 1);
    const ends = Float64Array.from({ length: count }, (_, place) => (place + 1) * interval);
    const places = new Map(run.flows.map(({ id }, place) => [id, place]));
    const delivered = run.flows.map(() => new Float64Array(count));
    for (let row = 0; row < flow.length; row++) {
        const at = Math.round((from_s[row] * 1000) / interval);
        if (at < count && places.has(flow[row])) {
            delivered[places.get(flow[row])][at] = delivered_bytes[row];
        }
    }
    return { interval, ends, delivered };
}

function falls(values) {
    for (let row = 1; row < values.length; row++) {
        if (values[row] < values[row - 1]) {
            return true;
        }
    }
    return false;
}

// Jain's index of each interval, (Σx)² / (n Σx²), of the flows that live through all of it and are not limited by
// their application for most of it; NaN with fewer than two.
export function jain(run, { interval, ends, delivered }) {
    return ends.map((end, place) => {
        let count = 0, sum = 0, squares = 0;
        run.flows.forEach((flow, own) => {
            if (flow.lives(end - interval) && flow.lives(end) && !(idle(flow, end - interval, end) > interval / 2)) {
                const bytes = delivered[own][place];
                count += 1;
                sum += bytes;
                squares += bytes * bytes;
            }
        });
        return count > 1 && squares > 0 ? (sum * sum) / (count * squares) : NaN;
    });
}

// The stretches of numbers between those that are NaN: [first, last] for each.
export function known(numbers) {
    const stretches = [];
    numbers.forEach((number, place) => {
        if (Number.isNaN(number)) {
            return;
        }
        const latest = stretches.at(-1);
        if (latest?.[1] === place - 1) {
            latest[1] = place;
        } else {
            stretches.push([place, place]);
        }
    });
    return stretches;
}

// How long the application has limited a flow between two times.
function idle(flow, from, to) {
    const limited = flow.column("app_limited_s");
    return (between(flow.at, limited, to) - between(flow.at, limited, from)) * 1000;
}
