//! Demand: a cell that grants a subscriber a rate for its waiting packets.

use serde::{Deserialize, Serialize};
use units::{Bytes, ConfigError, Duration, Rate, Time};

use crate::capacity::Capacity;
use crate::line::Line;

/// A cell that grants a subscriber more rate when more of its packets wait ("Cellular systems adapt per-subscriber
/// bandwidth based partly on a demand estimate that uses the queue of packets destined for the subscriber", BBR paper, on
/// mobile cellular).
///
/// At whole multiples of `interval` (counted from [`Time::ZERO`]), the scheduler learns the length of the subscriber's
/// queue. LTE's scheduler learns it from its downlink queues (Small Cell Forum, "LTE MAC Scheduler Interface",
/// `SCHED_DL_RLC_BUFFER_REQ`) and from the buffer status reports of the uplink (3GPP TS 36.321, 5.4.5). Until the next
/// multiple, it grants the rate that empties the queue within `within`. The grant is never below `least`, and never
/// above the link's rate, which is the share that the channel and the other subscribers leave. A packet in transmission
/// counts as a whole.
///
/// The cell therefore acts as a first-order filter: the output follows the input with a time constant of `within`. A
/// subscriber that wants to keep a rate needs a queue of that rate × `within`. All packets on the link belong to one
/// subscriber.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(
    deny_unknown_fields,
    expecting = "a table such as { within = \"20ms\", least = \"500kbit\" }"
)]
pub struct Demand {
    /// The interval at which the cell reads the queue's length.
    #[serde(default = "radio_frame")]
    pub interval: Duration,
    /// The time in which the cell aims to empty the queue. A longer time needs a longer queue for the same rate.
    pub within: Duration,
    /// The minimum grant, for the first packets after a pause, before the cell reads the queue again. If the link
    /// itself is slower, the link's rate.
    pub least: Rate,
}

/// The default interval: a radio frame of LTE (3GPP TS 36.211, 4).
const fn radio_frame() -> Duration {
    Duration::from_millis(10)
}

impl Demand {
    /// Checks the values for a link with this capacity.
    pub(crate) fn validate_on(&self, capacity: &Capacity) -> Result<(), ConfigError> {
        let (field, problem) = match capacity {
            Capacity::Rate(rate) if *rate < self.least => (
                "demand.least",
                "is above the link's `rate`, which is the most; give a lower one",
            ),
            Capacity::Rate(_) => return Ok(()),
            Capacity::Trace(_) => (
                "demand",
                "cannot be combined with a `trace`, which sets the rate; leave one of the two out",
            ),
            Capacity::Unlimited => (
                "demand",
                "needs a `rate`, the most that the cell can give; give one",
            ),
        };
        Err(ConfigError::new(field, problem))
    }

    pub(crate) fn validate(&self) -> Result<(), ConfigError> {
        let wrong = |field: &'static str, problem| Err(ConfigError::new(field, problem));
        if self.interval.is_zero() {
            return wrong(
                "demand.interval",
                "is zero: the cell would never stop looking; give a duration such as 10ms",
            );
        }
        if self.within.is_zero() {
            return wrong(
                "demand.within",
                "is zero, and all would be granted at once; give a duration such as 20ms, or leave `demand` out",
            );
        }
        if self.least.is_zero() {
            return wrong(
                "demand.least",
                "is zero: the first packet would not move; give a rate such as 500kbit",
            );
        }
        Ok(())
    }
}

/// A line at the granted rate.
#[derive(Debug, Clone)]
pub(crate) struct Cell {
    demand: Demand,
    line: Line,
    /// The link's own rate.
    most: Rate,
    /// The rate that the subscriber needs, at the cell's last update.
    needed: Rate,
    /// The time of the next update. Updates without arrivals or departures are left out, since they change nothing.
    look: Option<Time>,
}

impl Cell {
    pub(crate) fn new(demand: Demand, most: Rate) -> Cell {
        Cell {
            demand,
            line: Line::new(granted(&demand, most, Rate::ZERO), Time::ZERO),
            most,
            needed: Rate::ZERO,
            look: None,
        }
    }

    pub(crate) fn line(&self) -> &Line {
        &self.line
    }

    pub(crate) fn line_mut(&mut self) -> &mut Line {
        &mut self.line
    }

    /// The time of the next update.
    pub(crate) fn next_look(&self) -> Option<Time> {
        self.look
    }

    /// Records an arrival or a departure at `now`, which the cell learns at the next whole multiple of its interval.
    pub(crate) fn backlog_changes(&mut self, now: Time) {
        if self.look.is_none() {
            let interval = self.demand.interval.as_nanos();
            let since = now.as_nanos().checked_rem(interval).unwrap_or(0);
            self.look = Some(now + Duration::from_nanos(interval - since));
        }
    }

    /// Updates the grant, with `backlog` waiting or in transmission.
    pub(crate) fn look(&mut self, backlog: Bytes) {
        if let Some(now) = self.look.take() {
            self.needed = Rate::from_transfer(backlog, self.demand.within);
            self.grant(now);
        }
    }

    pub(crate) fn change_rate(&mut self, at: Time, most: Rate) {
        self.most = most;
        self.grant(at);
    }

    fn grant(&mut self, now: Time) {
        let rate = granted(&self.demand, self.most, self.needed);
        self.line.change_rate(now, rate);
    }
}

fn granted(demand: &Demand, most: Rate, needed: Rate) -> Rate {
    needed.max(demand.least).min(most)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn at(millis: u64) -> Time {
        Time::ZERO + Duration::from_millis(millis)
    }

    fn cell() -> Cell {
        let demand = Demand {
            interval: Duration::from_millis(10),
            within: Duration::from_millis(20),
            least: Rate::from_bytes_per_sec(50_000),
        };
        Cell::new(demand, Rate::from_bytes_per_sec(1_000_000))
    }

    /// The time that 1000 bytes take from `now` on, in microseconds.
    fn micros(cell: &Cell, now: Time) -> u64 {
        let mut line = cell.line().clone();
        line.wake(now);
        line.carry(Bytes::new(1_000)).since(now).as_nanos() / 1_000
    }

    fn looks(cell: &mut Cell, backlog: u64) -> u64 {
        let now = cell.next_look().expect("something changed");
        cell.look(Bytes::new(backlog));
        assert_eq!(cell.next_look(), None);
        micros(cell, now)
    }

    #[test]
    fn what_waits_is_to_be_gone_in_time() {
        let mut cell = cell();
        assert_eq!(micros(&cell, at(0)), 20_000, "the least");
        cell.backlog_changes(at(3));
        // 10 kB within 20 ms: 500 kB/s.
        assert_eq!(looks(&mut cell, 10_000), 2_000);
        cell.backlog_changes(at(13));
        assert_eq!(looks(&mut cell, 20_000), 1_000);
        cell.backlog_changes(at(23));
        assert_eq!(looks(&mut cell, 1 << 40), 1_000, "the link's rate");
        cell.backlog_changes(at(33));
        assert_eq!(looks(&mut cell, 0), 20_000, "the least");
    }

    #[test]
    fn it_looks_at_whole_multiples() {
        let mut cell = cell();
        assert_eq!(cell.next_look(), None);
        cell.backlog_changes(at(10));
        cell.backlog_changes(at(12));
        assert_eq!(cell.next_look(), Some(at(20)));
        cell.look(Bytes::ZERO);
        cell.backlog_changes(Time::MAX);
        assert_eq!(cell.next_look(), Some(Time::MAX));
    }

    #[test]
    fn the_links_own_rate_is_the_most() {
        let mut cell = cell();
        cell.backlog_changes(at(0));
        looks(&mut cell, 20_000);
        cell.change_rate(at(10), Rate::from_bytes_per_sec(200_000));
        assert_eq!(micros(&cell, at(10)), 5_000);
        cell.change_rate(at(11), Rate::from_bytes_per_sec(10_000));
        assert_eq!(micros(&cell, at(11)), 100_000, "less than the least");
        cell.change_rate(at(12), Rate::MAX);
        assert_eq!(micros(&cell, at(12)), 1_000, "the demand of before");
    }
}
