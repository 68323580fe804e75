//! What links let through.

use path::LossAt;
use units::Duration;

use super::flow::FlowSpec;
use super::link_spec::LinkSpec;
use super::scenario::Scenario;

impl Scenario {
    /// The goodput in bits per second that a flow could have between two times if it were alone, as the links on its way
    /// limit it: the narrowest one's rate, or its policer's, less what is lost at random behind it, times the payload's share
    /// of a packet. What is lost before the first bottleneck takes nothing from it. `None` if no link on the way limits it,
    /// or one has a trace.
    pub fn limit(
        &self,
        flow: &FlowSpec,
        from: Duration,
        to: Duration,
        payload_share: f64,
    ) -> Option<f64> {
        let span = to.saturating_sub(from).as_secs_f64();
        let links = self.crossed(flow).map(|(_, hop)| {
            let link = if flow.reverse {
                hop.acks()
            } else {
                hop.data.clone()
            };
            let admitted = link.admitted(from, to);
            let (before, behind) = (link.passed_before(), link.passed_behind());
            (link.trace.is_some(), before, admitted, behind)
        });
        let mut links: Vec<_> = links.collect();
        if flow.reverse {
            links.reverse();
        }
        if links.iter().any(|(has_trace, ..)| *has_trace) || span == 0.0 {
            return None;
        }
        let narrowest = links.iter().fold(None, |before: Option<f64>, link| {
            let (_, entering, admitted, leaving) = link;
            let before = before.map(|before| before * entering);
            let admitted = admitted.map(|bytes| bytes.get() as f64 * 8.0 / span);
            let through = match (before, admitted) {
                (Some(before), Some(admitted)) => Some(before.min(admitted)),
                (before, admitted) => before.or(admitted),
            };
            through.map(|through| through * leaving)
        });
        narrowest
            .map(|through| through * payload_share)
            .filter(|limit| *limit > 0.0)
    }
}

impl LinkSpec {
    /// The share of packets that random loss before the bottleneck lets through.
    pub fn passed_before(&self) -> f64 {
        match self.effects.loss_at {
            LossAt::Entry => 1.0 - self.effects.loss.mean(),
            LossAt::Exit => 1.0,
        }
    }

    /// The share of packets that random loss behind the bottleneck lets through.
    pub fn passed_behind(&self) -> f64 {
        match self.effects.loss_at {
            LossAt::Entry => 1.0,
            LossAt::Exit => 1.0 - self.effects.loss.mean(),
        }
    }
}
