//! Changes of a link at given times.

use units::{ConfigError, Duration, Rate, Time};

use crate::mtu::Mtu;

/// At a given time, the link gets another rate, delay or MTU, or several of them.
///
/// A packet in transmission keeps the part that is already on the wire; the rest goes at the new rate. A new delay
/// holds for packets that leave the bottleneck after the change. Packets already in flight keep theirs. After a shorter
/// delay, packets behind them wait rather than overtake.
///
/// A rate of zero is an outage: the packet in transmission stops, and nothing leaves the bottleneck until a later
/// change sets a rate. Packets that come meanwhile wait in the buffer, or are dropped if it is full.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct Change {
    /// The time of the change.
    pub at: Time,
    /// The bottleneck's new rate, if it changes; zero for an outage.
    pub rate: Option<Rate>,
    /// The new propagation delay, if it changes.
    pub delay: Option<Duration>,
    /// The new MTU, if it changes, for packets that enter from then on.
    pub mtu: Option<Mtu>,
}

pub(crate) fn validate(changes: &[Change], traced: bool) -> Result<(), ConfigError> {
    let mut previous = Time::ZERO;
    for (index, change) in changes.iter().enumerate() {
        let error = |key: &str, text: &'static str| {
            Err(ConfigError::new(format!("change[{index}]{key}"), text))
        };
        if change.at < previous {
            return error(
                ".at",
                "is before the change above it; list changes in the order of their times",
            );
        }
        if change.rate.is_none() && change.delay.is_none() && change.mtu.is_none() {
            return error("", "changes nothing; give it a `rate`, a delay or an `mtu`");
        }
        if change.rate.is_some() && traced {
            return error(
                ".rate",
                "cannot be combined with a `trace`, which sets the rate; leave one of the two out",
            );
        }
        previous = change.at;
    }
    Ok(())
}
