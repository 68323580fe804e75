//! Aggregation, in Startup too (BBR draft, "BBR.extra_acked").

use units::{Bytes, Rate, Time};

use crate::bbr::aggregation::Episode;
use crate::filter::WindowedMax;

/// The rounds before the present one that are remembered: ten in all (`BBR.ExtraAckedFilterLen`). The draft's filter
/// counts the present slot: with a length of two, that of the bandwidth has this cycle and the one before.
const ROUNDS_BEFORE: u64 = 9;
/// The same in Startup, where the rate doubles: the present round alone.
const STARTUP_ROUNDS_BEFORE: u64 = 0;

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
            filter: WindowedMax::new(STARTUP_ROUNDS_BEFORE),
        }
    }

    /// Sets the start of the episode after idle (`HandleRestartFromIdle`). What was acknowledged in it before the
    /// silence still counts, and is an excess from now on (see `docs/bbr3.md`).
    pub fn restart_clock(&mut self, now: Time) {
        self.interval.restart_clock(now);
    }

    /// `UpdateACKAggregation`.
    pub fn update(&mut self, acked: Acked) {
        let expected = |time| acked.bw.bytes_in(time);
        let extra = self.interval.on_ack(acked.now, acked.bytes, expected);
        self.filter.set_window(if acked.is_pipe_full {
            ROUNDS_BEFORE
        } else {
            STARTUP_ROUNDS_BEFORE
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
            for round in 1..rounds {
                extra.update(acked(100 * round, 1, round));
                assert_eq!(extra.get(), MSS * 10);
            }
            extra.update(acked(2_000, 1, rounds));
            assert_eq!(extra.get(), MSS, "a steady stream needs one packet's room");
        }
    }

    /// As much arrives as expected, so the initial excess persists; and what is acknowledged in the episode is an excess
    /// again after a silence, because only its start is set.
    #[test]
    fn an_excess_lasts_and_grows_with_each_silence() {
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
            extra.restart_clock(Time::ZERO + Duration::from_millis(from + 99));
            found
        };
        assert_eq!(after(1), MSS * 100);
        assert_eq!(after(101), MSS * 199);
        assert_eq!(after(201), MSS * 299);
    }
}
