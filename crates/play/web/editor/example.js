// The controller to begin with: additive increase, multiplicative decrease, and a pacing rate that follows the window.

export const example = `// Additive increase, multiplicative decrease, after Chiu and Jain (1989).
export default class Mine {
    constructor(connection) {
        this.mss = connection.mss;
        this.window = connection.initial_cwnd;
        this.rtt_ns = 100e6;
        this.state = "SlowStart";
    }

    // An ACK delivered data: returns a window in bytes, and a pacing rate in bit/s.
    on_ack(ack) {
        this.rtt_ns = ack.rtt_ns ?? this.rtt_ns;
        if (this.state === "SlowStart") {
            this.window += ack.newly_acked;
        } else {
            this.window += (this.mss * ack.newly_acked) / this.window;
        }
        return [this.window, (1.2 * 8 * this.window) / (this.rtt_ns / 1e9)];
    }

    // Recovery was entered, left or undone.
    on_recovery(now_ns, change, inflight) {
        if (change === "loss" || change === "ecn" || change === "repaired") {
            this.window = Math.max(2 * this.mss, this.window / 2);
            this.state = "CongestionAvoidance";
        }
    }

    // A retransmission timeout.
    on_timeout(now_ns, inflight) {
        this.window = 2 * this.mss;
        this.state = "SlowStart";
    }
}
`;
