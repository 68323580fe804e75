//! Networks of the usual shapes.

use std::ops::RangeInclusive;

use congestion::{Duration, Time};
use path::PathConfig;

use crate::config::{Config, FlowConfig, HostConfig};

/// One shared path: every flow goes from host 0 over link 0 and back over link 1, the defaults of
/// [`FlowConfig::new`](crate::FlowConfig::new). A [`reversed`](FlowConfig::reversed) flow sends in the other direction.
///
/// ```text
///  sender 1 ── access ──┐                            ┌── receiver 1
///  sender 2 ── access ──┼──► link 0: the bottleneck ─┼── receiver 2
///  sender 3 ── access ──┘◄── link 1: the way back ◄──┘── receiver 3
/// ```
///
/// The configuration has no end, and its seed is zero.
pub fn dumbbell<C>(path: PathConfig, flows: Vec<FlowConfig<C>>) -> Config<C> {
    parking_lot([path], flows)
}

/// Several bottlenecks in a row: hop i is link 2i in one direction and link 2i + 1 in the other.
/// [`FlowConfig::across`] selects the hops that a flow crosses.
///
/// The configuration has no end, and its seed is zero.
pub fn parking_lot<C>(
    hops: impl IntoIterator<Item = PathConfig>,
    flows: Vec<FlowConfig<C>>,
) -> Config<C> {
    Config {
        seed: 0,
        links: hops
            .into_iter()
            .flat_map(|hop| [hop.forward, hop.reverse])
            .collect(),
        hosts: vec![HostConfig::default()],
        flows,
        end: None,
    }
}

impl<C> FlowConfig<C> {
    /// Routes the flow over these hops of a [`parking_lot`], the first of them first, and back the same way.
    #[must_use]
    pub fn across(mut self, hops: RangeInclusive<usize>) -> FlowConfig<C> {
        self.forward.links = hops.clone().map(|hop| hop * 2).collect();
        self.backward.links = hops.rev().map(|hop| hop * 2 + 1).collect();
        self
    }

    /// Adds a propagation delay of its own, half of it in each direction.
    #[must_use]
    pub fn with_access(mut self, rtt: Duration) -> FlowConfig<C> {
        self.forward.access = rtt / 2;
        self.backward.access = rtt.saturating_sub(rtt / 2);
        self
    }

    /// Sets the start.
    #[must_use]
    pub fn starting(mut self, start: Time) -> FlowConfig<C> {
        self.start = start;
        self
    }
}

#[cfg(test)]
mod tests {
    use congestion::ControllerKind;

    use super::*;
    use crate::config::Route;

    #[test]
    fn a_flow_comes_back_the_way_it_went() {
        let flow = FlowConfig::new(ControllerKind::Reno).across(1..=3);
        assert_eq!(flow.forward, Route::over([2, 4, 6]));
        assert_eq!(flow.backward, Route::over([7, 5, 3]));
        let first = FlowConfig::new(ControllerKind::Reno).across(0..=0);
        assert_eq!(first.forward, FlowConfig::new(ControllerKind::Reno).forward);
        assert_eq!(
            first.backward,
            FlowConfig::new(ControllerKind::Reno).backward
        );
    }
}
