"""Reno (RFC 5681) in Python: event by event the same as the simulator's controller ``reno``.

Read and change it: a subclass with another :meth:`Reno.grow` or another ``beta`` is a controller of
your own.

>>> class Gentle(Reno):
...     beta = (7, 10)
>>> record = fullpipe.run(scenario, set={"flow.0.controller": Gentle})
"""

from __future__ import annotations

from ._native import Ack, Connection

_SECOND = 1_000_000_000
_NOMINAL_RTT = 1_000_000
_INITIAL_RTO = _SECOND
_MIN_MARGIN = 200_000_000


class Reno:
    """One packet more in each round trip, half the window at each loss. Sizes are in bytes, times in ns."""

    beta = (1, 2)
    """The factor of the window after a loss: numerator and denominator."""
    wants_prr = True
    responds_to_ecn = True

    def __init__(self, connection: Connection) -> None:
        self.mss = connection.mss
        self.cwnd = self.initial_cwnd = max(connection.initial_cwnd, 2 * self.mss)
        self.ssthresh: int | None = None
        self.phase = "open"
        self.saved: tuple[int, int | None, int] | None = None
        # Bytes acknowledged since the window last grew (RFC 3465).
        self.credit = 0
        self.srtt: int | None = None
        self.variation = 0
        self.last_sent = connection.now_ns
        # The most in flight at once, since everything sent before was settled.
        self.sent = self.sent_at_most = self.most = 0

    @property
    def state(self) -> str:
        """The state in records."""
        if self.phase in ("loss", "ecn", "repaired"):
            return "Recovery"
        return "SlowStart" if self.is_slow_start else "CongestionAvoidance"

    @property
    def is_slow_start(self) -> bool:
        return self.ssthresh is None or self.cwnd < self.ssthresh

    def grow(self, acked: int) -> None:
        """Grows the window for ``acked`` bytes in congestion avoidance: RFC 5681's packet in each round trip."""
        self.credit += acked
        if self.credit >= self.cwnd:
            self.credit -= self.cwnd
            self.cwnd += self.mss

    def on_ack(self, ack: Ack) -> tuple[int, int]:
        if ack.rtt_ns is not None:
            self._measure(ack.rtt_ns)
        if self.phase == "timeout":
            self.phase = "repeating"
        is_used = ack.is_cwnd_limited or (self.is_slow_start and self.cwnd < 2 * self.most)
        if ack.is_progress and is_used and self.state != "Recovery":
            acked = ack.newly_acked
            if self.ssthresh is None:
                self.cwnd += acked
            else:
                growth = min(acked, max(self.ssthresh - self.cwnd, 0))
                self.cwnd += growth
                if acked > growth:
                    self.grow(acked - growth)
        return self._said()

    def on_sent(self, now_ns: int, size: int, inflight: int) -> None:
        self.last_sent = now_ns
        self.sent += size
        if self.sent - inflight >= self.sent_at_most or inflight > self.most:
            self.most, self.sent_at_most = inflight, self.sent

    def on_recovery(self, now_ns: int, change: str, inflight: int) -> tuple[int, int]:
        if change == "loss" and self.phase == "ecn":
            # The mark of this round trip has already reduced the window.
            self.saved, self.phase = None, "loss"
        elif change in ("loss", "ecn", "repaired"):
            self.cwnd = min(self.cwnd, self._reduce(change))
            self.phase = change
        else:
            if change == "undone" and self.saved is not None:
                cwnd, ssthresh, credit = self.saved
                if self.cwnd < cwnd:
                    self.cwnd, self.ssthresh, self.credit = cwnd, ssthresh, credit
                self.saved = None
            self.phase = "open"
        return self._said()

    def on_timeout(self, now_ns: int, inflight: int) -> tuple[int, int]:
        if self.phase in ("open", "repeating"):
            self._reduce("loss")
        self.credit = 0
        self.cwnd = inflight + self.mss
        self.phase = "timeout"
        return self._said()

    def on_idle_restart(self, now_ns: int) -> tuple[int, int]:
        idle, rto = now_ns - self.last_sent, self._rto()
        if idle > rto:
            if self.ssthresh is not None:
                self.ssthresh = max(self.ssthresh, self.cwnd * 3 // 4)
            least = min(self.initial_cwnd, self.cwnd)
            idle -= rto
            while idle > 0 and self.cwnd > least:
                self.cwnd = max(least, self.cwnd // 2 // self.mss * self.mss)
                idle -= rto
        return self._said()

    def _reduce(self, cause: str) -> int:
        """Lowers the threshold, and returns the window to go on with."""
        self.saved = (self.cwnd, self.ssthresh, self.credit)
        self.credit = 0
        numerator, denominator = self.beta
        reduced = self.cwnd * numerator // denominator
        self.ssthresh = max(reduced, 2 * self.mss)
        return max(reduced, self.mss) if cause == "ecn" else self.ssthresh

    def _measure(self, rtt: int) -> None:
        """Updates RFC 6298's estimator."""
        if self.srtt is None:
            self.srtt, self.variation = rtt, rtt // 2
            return
        deviation = abs(rtt - self.srtt)
        self.variation += (deviation >> 2) - (self.variation >> 2)
        self.srtt += (rtt >> 3) - (self.srtt >> 3)

    def _rto(self) -> int:
        if self.srtt is None:
            return _INITIAL_RTO
        return self.srtt + max(4 * self.variation, _MIN_MARGIN)

    def _said(self) -> tuple[int, int]:
        """Returns the window, and the rate that spreads it over a round trip: twice as fast in slow start, as Linux paces."""
        is_near_the_end = self.ssthresh is not None and self.cwnd >= self.ssthresh // 2
        paced = self.cwnd * 6 // 5 if is_near_the_end else self.cwnd * 2
        rate = paced * _SECOND // (self.srtt or _NOMINAL_RTT)
        return self.cwnd, max(rate, 1) * 8
