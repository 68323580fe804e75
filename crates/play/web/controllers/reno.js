// Reno as Linux has it: event by event the same as the simulator's controller "reno". Sizes are in bytes, times in ns.

const SECOND = 1e9;
const NOMINAL_RTT = 1e6;
const MIN_MARGIN = 2e8;

const { max, min, floor, abs } = Math;

// A division of whole numbers, without the rounding of `/`.
const quotient = (dividend, divisor) => (dividend - (dividend % divisor)) / divisor;

export default class Reno {
    // The factor of the window after a loss: numerator and denominator.
    beta = [1, 2];
    wants_prr = true;
    responds_to_ecn = true;

    constructor(connection) {
        this.mss = connection.mss;
        this.cwnd = this.initial_cwnd = max(connection.initial_cwnd, 2 * this.mss);
        this.ssthresh = null;
        this.phase = "open";
        this.saved = null;
        // Bytes acknowledged since the window last grew (RFC 3465).
        this.credit = 0;
        this.srtt = null;
        this.variation = 0;
        this.last_sent = connection.now_ns;
        // The most in flight at once, since everything sent before was settled.
        this.sent = this.sent_at_most = this.most = 0;
    }

    // The state in records.
    get state() {
        if (["loss", "ecn", "repaired"].includes(this.phase)) {
            return "Recovery";
        }
        return this.is_slow_start ? "SlowStart" : "CongestionAvoidance";
    }

    get is_slow_start() {
        return this.ssthresh === null || this.cwnd < this.ssthresh;
    }

    // Grows the window in congestion avoidance: RFC 5681's packet in each round trip.
    grow(acked) {
        this.credit += acked;
        if (this.credit >= this.cwnd) {
            this.credit -= this.cwnd;
            this.cwnd += this.mss;
        }
    }

    on_ack(ack) {
        if (ack.rtt_ns !== null) {
            this.measure(ack.rtt_ns);
        }
        if (this.phase === "timeout") {
            this.phase = "repeating";
        }
        const is_used = ack.is_cwnd_limited || (this.is_slow_start && this.cwnd < 2 * this.most);
        if (ack.is_progress && is_used && this.state !== "Recovery") {
            const acked = ack.newly_acked;
            const growth = this.ssthresh === null ? acked : min(acked, max(this.ssthresh - this.cwnd, 0));
            this.cwnd += growth;
            if (acked > growth) {
                this.grow(acked - growth);
            }
        }
        return this.answer();
    }

    on_sent(now_ns, size, inflight) {
        this.last_sent = now_ns;
        this.sent += size;
        if (this.sent - inflight >= this.sent_at_most || inflight > this.most) {
            this.most = inflight;
            this.sent_at_most = this.sent;
        }
    }

    on_recovery(now_ns, change, inflight) {
        if (change === "loss" && this.phase === "ecn") {
            // The mark of this round trip has already reduced the window.
            this.saved = null;
            this.phase = "loss";
        } else if (["loss", "ecn", "repaired"].includes(change)) {
            this.cwnd = min(this.cwnd, this.reduce(change));
            this.phase = change;
        } else {
            if (change === "undone" && this.saved) {
                if (this.cwnd < this.saved.cwnd) {
                    Object.assign(this, this.saved);
                }
                this.saved = null;
            }
            this.phase = "open";
        }
        return this.answer();
    }

    on_timeout(now_ns, inflight) {
        if (this.phase === "open" || this.phase === "repeating") {
            this.reduce("loss");
        }
        this.credit = 0;
        this.cwnd = inflight + this.mss;
        this.phase = "timeout";
        return this.answer();
    }

    on_idle_restart(now_ns) {
        const rto = this.rto();
        let idle = now_ns - this.last_sent;
        if (idle > rto) {
            if (this.ssthresh !== null) {
                this.ssthresh = max(this.ssthresh, floor((this.cwnd * 3) / 4));
            }
            const least = min(this.initial_cwnd, this.cwnd);
            for (idle -= rto; idle > 0 && this.cwnd > least; idle -= rto) {
                this.cwnd = max(least, floor(floor(this.cwnd / 2) / this.mss) * this.mss);
            }
        }
        return this.answer();
    }

    // Lowers the threshold, and returns the window to go on with.
    reduce(cause) {
        const { cwnd, ssthresh, credit } = this;
        this.saved = { cwnd, ssthresh, credit };
        this.credit = 0;
        const [numerator, denominator] = this.beta;
        const reduced = floor((cwnd * numerator) / denominator);
        this.ssthresh = max(reduced, 2 * this.mss);
        return cause === "ecn" ? max(reduced, this.mss) : this.ssthresh;
    }

    // Updates RFC 6298's estimator.
    measure(rtt) {
        if (this.srtt === null) {
            this.srtt = rtt;
            this.variation = floor(rtt / 2);
            return;
        }
        this.variation += floor(abs(rtt - this.srtt) / 4) - floor(this.variation / 4);
        this.srtt += floor(rtt / 8) - floor(this.srtt / 8);
    }

    rto() {
        return this.srtt === null ? SECOND : this.srtt + max(4 * this.variation, MIN_MARGIN);
    }

    // The window, and the rate that spreads it over a round trip: twice as fast in slow start, as Linux paces.
    answer() {
        const is_near_the_end = this.ssthresh !== null && this.cwnd >= floor(this.ssthresh / 2);
        const paced = is_near_the_end ? floor((this.cwnd * 6) / 5) : this.cwnd * 2;
        const rate = quotient(paced * SECOND, this.srtt ?? NOMINAL_RTT);
        return [this.cwnd, max(rate, 1) * 8];
    }
}
