// The path of a run over time: what the simulator says of the scenario's links and flows, for the first link.

import { measure } from "./axis.js";
import { after } from "./search.js";

export class Path {
    #times;
    #states;
    #rtprops;
    #different;

    // `links` and `rtprops_ms` are a record's `path`, and `payload_share` is the share of payload in what a link transmits.
    constructor({ links = [], rtprops_ms = [] } = {}, payload_share = 1) {
        const { rate_bps, rtprop_ms, buffer_bytes, policer_bps, changes = [] } = links[0] ?? {};
        this.rate_bps = rate_bps ?? NaN;
        this.rtprop_ms = rtprop_ms ?? NaN;
        this.buffer_bytes = buffer_bytes ?? Infinity;
        this.policer_bps = policer_bps ?? Infinity;
        this.payload_share = payload_share;
        this.#times = changes.map(({ at_ms }) => at_ms);
        this.#states = [{ rate_bps: this.rate_bps, rtprop_ms: this.rtprop_ms }];
        for (const { rate_bps, rtprop_ms } of changes) {
            const before = this.#states.at(-1);
            this.#states.push({ rate_bps: rate_bps ?? before.rate_bps, rtprop_ms: rtprop_ms ?? before.rtprop_ms });
        }
        this.#rtprops = rtprops_ms;
        this.#different = [...new Set(rtprops_ms)].sort((one, other) => one - other);
        this.fastest_bps = this.#states.reduce((most, { rate_bps }) => Math.max(most, rate_bps), -Infinity);
        this.isOneRtprop = this.#different.length <= 1;
    }

    // The link at a moment: at its start, and after each of its changes until then.
    #link(time_ms) {
        return this.#states[after(this.#times, time_ms)];
    }

    // The path at a moment. `rtprop_ms` is that of the flows, if all have the same.
    at(time_ms) {
        let { rate_bps, rtprop_ms } = this.#link(time_ms);
        if (this.isOneRtprop && this.#rtprops.length > 0) {
            rtprop_ms += this.#rtprops[0] - this.rtprop_ms;
        }
        const { buffer_bytes, policer_bps } = this;
        return { rate_bps, rtprop_ms, buffer_bytes, policer_bps, bdp_bytes: (rate_bps / 8) * (rtprop_ms / 1000) };
    }

    // What of it is payload, as senders count it.
    payloadAt(time_ms) {
        const { rtprop_ms, ...sizes } = this.at(time_ms);
        for (const name of Object.keys(sizes)) {
            sizes[name] *= this.payload_share;
        }
        return { rtprop_ms, ...sizes };
    }

    // The RTprop of a flow. A change of the path's RTprop changes that of each flow by as much.
    rtpropOf(id, time_ms) {
        const path_ms = this.#link(time_ms).rtprop_ms;
        const own = this.#rtprops[id];
        return own === undefined ? path_ms : own + path_ms - this.rtprop_ms;
    }

    // The flows' different RTprops, ascending.
    rtpropsAt(time_ms) {
        const path_ms = this.#link(time_ms).rtprop_ms;
        return this.#different.length > 0 ? this.#different.map((own) => own + path_ms - this.rtprop_ms) : [path_ms];
    }

    // The values at the start and from each change on: [time, value] for each.
    steps(value) {
        return [0, ...this.#times].map((time) => [time, value(time)]);
    }

    // Whether the policer lets less through than the link at this moment.
    isPoliced(time_ms) {
        return this.policer_bps < this.at(time_ms).rate_bps;
    }

    // Why the path has no BDP, and so no curves of the operating point, at a moment; null if it has.
    withoutBdp(time_ms) {
        if (this.at(time_ms).rate_bps === 0) {
            return "an outage: the path carries nothing";
        }
        if (!this.isOneRtprop) {
            return "without curves: no BDP is that of flows with different RTprops";
        }
        if (this.isPoliced(time_ms)) {
            return `without curves: a policer of ${measure(this.policer_bps, "bit/s")} lets nothing wait`;
        }
        return null;
    }
}
