//! Aggregation, in Startup too (BBR draft, "BBR.extra_acked").

use units::{Bytes, Rate, Time};

use crate::bbr::aggregation::Episode;
use crate::filter::WindowedMax;

/// The rounds for which a maximum is remembered (`BBR.ExtraAckedFilterLen`).
const WINDOW_ROUNDS: u64 = 10;
/// The same in Startup, where the rate doubles.
const STARTUP_ROUNDS: u64 = 1;

#[derive(Debug, Clone)]
pub struct ExtraAcked {
    interval: Episode,
    filter: WindowedMax<Bytes, u64>,
}

/// The inputs of an update.
#[derive(Debug, Clone, Copy)]
pub struct Acked {
    pub now: Time,
    pub bytes: Bytes,
    pub bw: Rate,
    pub cwnd: Bytes,
    pub round: u64,
    pub is_pipe_full: bool,
}

impl ExtraAcked {
    pub fn new(now: Time) -> ExtraAcked {
        ExtraAcked {
            interval: Episode::new(now),
            filter: WindowedMax::new(STARTUP_ROUNDS),
        }
    }

    /// Restarts after silence or ProbeRTT. Otherwise an excess would last as long as the link is never idle, and
    /// earlier bytes would count as an excess after a silence (see `docs/bbr3.md`).
    pub fn begin_anew(&mut self, now: Time) {
        self.interval = Episode::new(now);
    }

    /// `UpdateACKAggregation`.
    pub fn update(&mut self, acked: Acked) {
        let expected = |time| acked.bw.bytes_in(time);
        let extra = self.interval.on_ack(acked.now, acked.bytes, expected);
        self.filter.set_window(if acked.is_pipe_full {
            WINDOW_ROUNDS
        } else {
            STARTUP_ROUNDS
        });
        self.filter.update(acked.round, extra.min(acked.cwnd));
    }

    pub fn get(&self) -> Bytes {
        self.filter.get().unwrap_or(Bytes::ZERO)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use units::Duration;

    const MSS: Bytes = Bytes::new(1_000);

    #[test]
    fn bursts_need_the_room_of_a_burst_for_ten_rounds_or_one() {
        for (is_pipe_full, rounds) in [(true, 10), (false, 1)] {
            let mut extra = ExtraAcked::new(Time::ZERO);
            let acked = |ms: u64, packets, round| Acked {
                now: Time::ZERO + Duration::from_millis(ms),
                bytes: MSS * packets,
                bw: Rate::from_bytes_per_sec(1_000_000),
                cwnd: MSS * 1_000,
                round,
                is_pipe_full,
            };
            extra.update(acked(10, 10, 0));
            assert_eq!(extra.get(), MSS * 10);
            for round in 1..=rounds {
                extra.update(acked(100 * round, 1, round));
                assert_eq!(extra.get(), MSS * 10);
            }
            extra.update(acked(2_000, 1, rounds + 1));
            assert_eq!(extra.get(), MSS, "a steady stream needs one packet's room");
        }
    }

    /// As much arrives as expected, so the initial excess would persist.
    #[test]
    fn an_excess_is_over_when_it_begins_anew() {
        let mut extra = ExtraAcked::new(Time::ZERO);
        let mut after = |from: u64| {
            for ms in from..from + 100 {
                extra.update(Acked {
                    now: Time::ZERO + Duration::from_millis(ms),
                    bytes: if ms == 1 { MSS * 100 } else { MSS },
                    bw: Rate::from_bytes_per_sec(1_000_000),
                    cwnd: MSS * 1_000,
                    round: ms,
                    is_pipe_full: true,
                });
            }
            let found = extra.get();
            extra.begin_anew(Time::ZERO + Duration::from_millis(from + 99));
            found
        };
        assert_eq!(after(1), MSS * 100);
        assert_eq!(after(101), MSS);
    }
}
