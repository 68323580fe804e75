//! What links let through.

use path::LossAt;
use units::{Bytes, Duration};

use super::course::Transmitted;
use super::flow::FlowSpec;
use super::link_spec::LinkSpec;
use super::scenario::Scenario;

/// What the links of a scenario let through. Made once for all its flows.
#[derive(Debug, Clone)]
pub struct Limits<'s> {
    scenario: &'s Scenario,
    /// Both directions of each hop: of data, and of ACKs.
    hops: Vec<[Link; 2]>,
}

/// What one link lets through.
#[derive(Debug, Clone)]
struct Link {
    spec: LinkSpec,
    transmitted: Option<Transmitted>,
}

impl Link {
    fn new(spec: LinkSpec) -> Link {
        Link {
            transmitted: spec.transmitted(),
            spec,
        }
    }

    /// As [`LinkSpec::admitted`].
    fn admitted(&self, from: Duration, to: Duration) -> Option<Bytes> {
        let transmitted = self.transmitted.as_ref();
        let transmitted = transmitted.map(|transmitted| transmitted.between(from, to));
        let policed = self.spec.policed(to.saturating_sub(from));
        [transmitted, policed].into_iter().flatten().min()
    }
}

impl<'s> Limits<'s> {
    /// Those of the scenario.
    pub fn of(scenario: &'s Scenario) -> Limits<'s> {
        let hops = scenario.hops();
        let links = hops.map(|hop| [hop.data.clone(), hop.acks()].map(Link::new));
        Limits {
            hops: links.collect(),
            scenario,
        }
    }

    /// The scenario.
    pub fn scenario(&self) -> &'s Scenario {
        self.scenario
    }

    /// The goodput in bits per second that a flow could have between two times if it were alone, as the links on its way
    /// limit it: the narrowest one's rate, or its policer's, less what is lost at random or damaged behind it, times the payload's share
    /// of a packet. What is lost before the first bottleneck takes nothing from it. `None` if no link on the way limits it,
    /// or one has a trace.
    pub fn goodput(
        &self,
        flow: &FlowSpec,
        from: Duration,
        to: Duration,
        payload_share: f64,
    ) -> Option<f64> {
        let span = to.saturating_sub(from).as_secs_f64();
        let crossed = self.scenario.crossed(flow);
        let links = crossed.filter_map(|(hop, _)| {
            let [data, acks] = self.hops.get(hop)?;
            Some(if flow.reverse { acks } else { data })
        });
        let mut links: Vec<&Link> = links.collect();
        if flow.reverse {
            links.reverse();
        }
        if links.iter().any(|link| link.spec.trace.is_some()) || span == 0.0 {
            return None;
        }
        let narrowest = links.iter().fold(None, |before: Option<f64>, link| {
            let before = before.map(|before| before * link.spec.passed_before());
            let admitted = link.admitted(from, to);
            let admitted = admitted.map(|bytes| bytes.get() as f64 * 8.0 / span);
            let through = match (before, admitted) {
                (Some(before), Some(admitted)) => Some(before.min(admitted)),
                (before, admitted) => before.or(admitted),
            };
            through.map(|through| through * link.spec.passed_behind())
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

    /// The share of packets that random loss and corruption behind the bottleneck let through.
    pub fn passed_behind(&self) -> f64 {
        let whole = 1.0 - self.effects.corruption.as_f64();
        match self.effects.loss_at {
            LossAt::Entry => whole,
            LossAt::Exit => whole * (1.0 - self.effects.loss.mean()),
        }
    }
}
