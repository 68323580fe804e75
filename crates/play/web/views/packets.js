// Where the packets of flows are between a bottleneck's buffer and their ACK. A record keeps no packets, but the times at which data
// were delivered, and a packet is where its ACK will come from: what is acknowledged within RTprop has left the bottleneck, and what
// is in flight beyond that waits in the buffer, in the order of its ACKs. With the buffer's discipline, this has nothing to do.

import { after } from "./search.js";

// The data of a flow in flight at a time, in pieces of `unit` bytes: calls `piece(acked_ms)` with the time of its ACK, ascending. An
// ACK for several packets tells when the last of them came; the others left the bottleneck one after another at its rate.
export function inFlight(flow, time_ms, unit, rate_bps, piece) {
    const { at } = flow, delivered = flow.column("delivered_bytes");
    const now = after(at, time_ms) - 1;
    if (now < 0) {
        return;
    }
    const last = delivered[now] + flow.inNetwork[now];
    for (let row = now + 1; row < at.length && delivered[row - 1] < last; row++) {
        const until = Math.min(delivered[row], last);
        for (let bytes = (Math.floor(delivered[row - 1] / unit) + 1) * unit; bytes <= until; bytes += unit) {
            piece(Math.max(at[row] - ((delivered[row] - bytes) * 8000) / rate_bps, at[row - 1], time_ms));
        }
    }
}

// The pieces of all flows: { waiting: [flow], moving: [{ flow, progress }] }. `waiting` has the flows of those that wait in the
// buffer, beginning with the one that leaves next. `progress` says how far the others have come from the bottleneck (0), by the
// receiver (0.5), to their ACK (1).
export function packets(flows, time_ms, { unit, rate_bps, rtprop_ms }) {
    const waiting = [], moving = [];
    for (const flow of flows) {
        inFlight(flow, time_ms, unit, rate_bps, (acked_ms) => {
            const left = acked_ms - time_ms;
            if (left > rtprop_ms) {
                waiting.push({ flow, acked_ms });
            } else {
                moving.push({ flow, progress: 1 - left / rtprop_ms });
            }
        });
    }
    waiting.sort((one, other) => one.acked_ms - other.acked_ms);
    return { waiting: waiting.map(({ flow }) => flow), moving };
}
