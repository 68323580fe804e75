// What the views are told beside the record: names and colours of the flows, the bottleneck with its changes, and the length.

import { blocks, named, read } from "./state/document.js";
import { parse } from "./state/quantity.js";

export function context(text, record, flows) {
    const until_ms = until(record) * 1000;
    const duration = parse("time", read(named(text, "")[0], "duration"))?.number;
    const { path } = record.summary;
    return {
        flows,
        path: { rate_bps: path.rate_bps, rtprop_ms: path.rtprop_ms, buffer_bytes: path.buffer_bytes, changes: changes(text) },
        duration_ms: duration === undefined ? until_ms : Math.max(duration * 1000, until_ms),
        until_ms,
    };
}

// The changes of the first link, whose record is the summary's `path`.
function changes(text) {
    const all = blocks(text);
    const first = all.findIndex(({ name }) => name === "path" || name === "link");
    const own = [];
    for (const block of all.slice(first + 1)) {
        if (!block.name.endsWith(".change")) {
            break;
        }
        const of = (kind, key) => parse(kind, read(block, key))?.number;
        const rtt = of("time", "rtt");
        own.push({ at_ms: (of("time", "at") ?? 0) * 1000, rate_bps: of("rate", "rate"), rtprop_ms: rtt === undefined ? undefined : rtt * 1000 });
    }
    return own;
}

// The end of what is recorded, in seconds.
function until(record) {
    const { at_s: queue = [] } = record.queue;
    const { at_s: samples } = record.samples;
    let last = queue.length > 0 ? queue[queue.length - 1] : 0;
    // The samples of each flow are in the order of time, and its last one is the latest.
    for (let row = 0; row < samples.length; row++) {
        last = samples[row] > last ? samples[row] : last;
    }
    return last;
}
