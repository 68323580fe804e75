// What the views are told beside the record: names and colours of the flows, and the length.

import { named, read } from "./state/document.js";
import { parse } from "./state/quantity.js";

export function context(text, record, flows) {
    const until_ms = until(record) * 1000;
    const duration = parse("time", read(named(text, "")[0], "duration"))?.number;
    return { flows, duration_ms: duration === undefined ? until_ms : Math.max(duration * 1000, until_ms), until_ms };
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
