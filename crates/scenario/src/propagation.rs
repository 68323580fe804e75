//! How the propagation delays of paths and flows go together.
//!
//! A path's `rtt` is the RTprop of the flows that do not give one of their own. What all flows have in common is the
//! delay of the links; the rest is each flow's own way to the first link, its access. If every flow's RTprop is at least
//! that of the hops it crosses, links have the delays that the path says. If one's is shorter, all links are shorter in
//! the same proportion, and the other flows' access is longer instead: nobody's RTprop changes.

use units::Duration;

use super::error::ScenarioError;
use super::{FlowSpec, PathSpec, Scenario};

impl Scenario {
    /// The hops, the first one first: `[path]`, then every `[[path.next]]`.
    pub fn hops(&self) -> impl Iterator<Item = &PathSpec> + Clone {
        std::iter::once(&self.path).chain(&self.next)
    }

    /// The hops that a flow crosses, with their places.
    pub fn crossed(&self, flow: &FlowSpec) -> impl Iterator<Item = (usize, &PathSpec)> + Clone {
        let hops = flow.hops;
        let hops_and_places = self.hops().enumerate();
        hops_and_places
            .filter(move |(place, _)| hops.is_none_or(|hops| hops.range().contains(place)))
    }

    /// A flow's RTprop at the start: its own, or that of the hops it crosses.
    pub fn rtprop(&self, flow: &FlowSpec) -> Duration {
        flow.rtt.unwrap_or_else(|| self.crossed_rtt(flow))
    }

    /// The delays that links have, both ways together, one for each hop.
    pub fn link_delays(&self) -> Vec<Duration> {
        // The greatest reduction that any flow needs, as a fraction.
        let mut factor = (1, 1);
        for flow in &self.flows {
            let (own, crossed) = (self.rtprop(flow), self.crossed_rtt(flow));
            let (own, crossed) = (u128::from(own.as_nanos()), u128::from(crossed.as_nanos()));
            if own * factor.1 < factor.0 * crossed {
                factor = (own, crossed);
            }
        }
        let reduced = |rtt: Duration| {
            let nanos = u128::from(rtt.as_nanos()) * factor.0 / factor.1;
            Duration::from_nanos(u64::try_from(nanos).unwrap_or(u64::MAX))
        };
        self.hops().map(|hop| reduced(hop.rtt)).collect()
    }

    /// What of a flow's RTprop is not in the links that it crosses.
    pub fn access_delay(&self, flow: &FlowSpec, link_delays: &[Duration]) -> Duration {
        let shared = self
            .crossed(flow)
            .filter_map(|(place, _)| link_delays.get(place))
            .fold(Duration::ZERO, |sum, delay| sum + *delay);
        self.rtprop(flow).saturating_sub(shared)
    }

    fn crossed_rtt(&self, flow: &FlowSpec) -> Duration {
        self.crossed(flow)
            .fold(Duration::ZERO, |sum, (_, hop)| sum + hop.rtt)
    }

    /// Whether flows cross hops that there are, and paths change their RTprop by no more than links have.
    pub(super) fn check_delays(&self) -> Result<(), ScenarioError> {
        let last = self.next.len();
        for (index, flow) in self.flows.iter().enumerate() {
            if let Some(hops) = flow.hops
                && hops.last() > last
            {
                let reason = format!("there is no hop {}; the last is {last}", hops.last());
                return Err(self.flow_error(index, "hops", &reason));
            }
        }
        for ((place, hop), delay) in self.hops().enumerate().zip(self.link_delays()) {
            for (index, change) in hop.data.changes.iter().enumerate() {
                let shorter = change.rtt.map(|rtt| hop.rtt.saturating_sub(rtt));
                if shorter.is_some_and(|shorter| shorter > delay) {
                    let field = format!("change[{index}].rtt");
                    let reason = format!(
                        "shortens the way by more than the {delay} that all flows share; give a longer one, or flows \
                         longer RTTs"
                    );
                    return Err(ScenarioError::new(field, reason).within(&hop_name(place)));
                }
            }
        }
        Ok(())
    }

    /// The error that `field` of a group of flows has `reason`.
    pub fn flow_error(&self, index: usize, field: &str, reason: &str) -> ScenarioError {
        let error = ScenarioError::new(field, reason);
        match self.flows.len() {
            1 => error.within("flow"),
            _ => error.item(index).within("flow"),
        }
    }
}

/// What a hop is called in errors.
pub(super) fn hop_name(place: usize) -> String {
    match place.checked_sub(1) {
        None => "path".to_string(),
        Some(next) => format!("path.next[{next}]"),
    }
}

impl PathSpec {
    /// The same path with links of this delay, both ways together. Its buffer and its changes mean what they did.
    pub fn with_link_delay(&self, delay: Duration) -> PathSpec {
        let mut path = self.clone();
        let fixed = |buffer, bytes: Option<units::Bytes>| match (buffer, bytes) {
            (Some(super::BufferSpec::Bdp { .. }), Some(bytes)) => {
                Some(super::BufferSpec::Bytes(bytes))
            }
            _ => buffer,
        };
        path.data.buffer = fixed(self.data.buffer, self.buffer_bytes());
        path.uplink.buffer = fixed(self.uplink.buffer, self.uplink.buffer_bytes(self.rtt));
        path.rtt = delay;
        for change in &mut path.data.changes {
            change.rtt = change.rtt.map(|rtt| (delay + rtt).saturating_sub(self.rtt));
        }
        path
    }
}
