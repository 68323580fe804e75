// Where the packets of flows are between a bottleneck's buffer and their ACK. A record keeps no packets, but the times at which data
// were delivered, and a packet is where its ACK will come from: what is acknowledged within its flow's RTprop has left the bottleneck,
// and what is in flight beyond that waits in the buffer, in the order in which it leaves, whatever the buffer's discipline is.
//
// What is acknowledged after the end of the record is expected: at the bottleneck's rate, of which each flow has its share of what is
// in flight then, and in turns.

import { after } from "./search.js";

// A picture has no place for more pieces than these.
const MOST_PIECES = 10_000;

// The data of a flow in flight at a time, in pieces of `unit` bytes: calls `piece(acked_ms, isExpected)` with the time of its ACK,
// ascending. An ACK for several packets tells when the last of them came; the others left the bottleneck one after another at its
// rate. After the end of the record, the flow is expected to have this rate. There are at most `most` pieces.
export function inFlight(flow, time_ms, { unit, rate_bps, expected_bps, turn, most }, piece) {
    const { at } = flow, delivered = flow.column("delivered_bytes");
    const now = after(at, time_ms) - 1;
    if (now < 0 || !flow.isAlive(time_ms)) {
        return;
    }
    const last = delivered[now] + flow.inNetwork[now];
    let left = most;
    const pieces = (begin, end, acked_ms, isExpected) => {
        for (let bytes = (Math.floor(begin / unit) + 1) * unit; bytes <= end && left > 0; bytes += unit) {
            piece(acked_ms(bytes), isExpected);
            left -= 1;
        }
    };
    // In an outage, none follows another.
    const spacing = rate_bps > 0 ? 8000 / rate_bps : 0;
    let row = now + 1;
    for (; row < at.length && delivered[row - 1] < last; row++) {
        const [acked, earliest, bytes] = [at[row], Math.max(at[row - 1], time_ms), delivered[row]];
        pieces(delivered[row - 1], Math.min(bytes, last), (own) => Math.max(acked - spacing * (bytes - own), earliest), false);
    }
    // The first piece began with data that are acknowledged.
    const known = Math.floor(delivered[row - 1] / unit) * unit, end = Math.max(at[row - 1], time_ms);
    pieces(known, last, (own) => end + ((own - known - unit * turn) * 8000) / expected_bps, true);
}

// The pieces of all flows: { waiting: [{ flow, isExpected }], moving: [{ flow, isExpected, progress }] }. `waiting` has those that
// wait in the buffer, beginning with the one that leaves next. `progress` says how far the others have come from the bottleneck (0),
// by the receiver (0.5), to their ACK (1). `rtpropOf(flow)` is a flow's RTprop.
export function packets(flows, time_ms, { unit, rate_bps, rtpropOf }) {
    const waiting = [], moving = [];
    const atEnd = flows.map((flow) => (flow.isAlive(Infinity) ? flow.inNetwork.at(-1) || 0 : 0));
    const all = atEnd.reduce((sum, bytes) => sum + bytes, 0);
    flows.forEach((flow, place) => {
        const rtprop_ms = rtpropOf(flow);
        const expected_bps = (rate_bps * atEnd[place]) / all;
        const rest = { turn: place / flows.length, most: MOST_PIECES - waiting.length - moving.length };
        inFlight(flow, time_ms, { unit, rate_bps, expected_bps, ...rest }, (acked_ms, isExpected) => {
            const left = acked_ms - time_ms;
            if (left > rtprop_ms) {
                waiting.push({ flow, isExpected, left: left - rtprop_ms });
            } else {
                moving.push({ flow, isExpected, progress: 1 - left / rtprop_ms });
            }
        });
    });
    waiting.sort((one, other) => one.left - other.left);
    return { waiting, moving };
}
