//! The capacity of links for flows.

use path::LossAt;
use units::{Bytes, Duration};

use super::course::Transmitted;
use super::link_spec::LinkSpec;
use super::network::Network;

/// The capacity of a scenario's links. It is computed once for all flows.
#[derive(Debug, Clone)]
pub struct Limits<'s> {
    network: &'s Network<'s>,
    /// Both directions of each link: of data, and of ACKs.
    links: Vec<[Link; 2]>,
}

/// The capacity of one link.
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
    /// Computes the limits of the network.
    pub fn of(network: &'s Network<'s>) -> Limits<'s> {
        let links = network.links().iter();
        let links = links.map(|link| [link.data.clone(), link.acks()].map(Link::new));
        Limits {
            links: links.collect(),
            network,
        }
    }

    /// The links and the routes over them.
    pub fn network(&self) -> &'s Network<'s> {
        self.network
    }

    /// The goodput in bits per second that a flow of a group could have between two times if it were alone, by the links
    /// on its route: the lowest rate of a link or its policer, without random losses behind it and damaged packets of any link,
    /// times the payload's share of a packet. Losses before the first bottleneck use none of its rate. A damaged packet
    /// uses every later link, since its receiver discards it. `None` if no link on the route limits it, or one has a
    /// trace.
    pub fn goodput(
        &self,
        group: usize,
        from: Duration,
        to: Duration,
        payload_share: f64,
    ) -> Option<f64> {
        let span = to.saturating_sub(from).as_secs_f64();
        let crossings = self.network.route(group).there.iter();
        let links =
            crossings.map(|crossing| &self.links[crossing.link][usize::from(crossing.is_back)]);
        let links: Vec<&Link> = links.collect();
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
        let whole: f64 = links.iter().map(|link| link.spec.undamaged()).product();
        narrowest
            .map(|through| through * whole * payload_share)
            .filter(|limit| *limit > 0.0)
    }
}

impl LinkSpec {
    /// The share of packets that survive random loss before the bottleneck.
    pub fn passed_before(&self) -> f64 {
        match self.effects.loss_at {
            LossAt::Entry => 1.0 - self.effects.loss.mean(),
            LossAt::Exit => 1.0,
        }
    }

    /// The share of packets that survive random loss behind the bottleneck.
    pub fn passed_behind(&self) -> f64 {
        match self.effects.loss_at {
            LossAt::Entry => 1.0,
            LossAt::Exit => 1.0 - self.effects.loss.mean(),
        }
    }

    /// The share of packets that are not corrupted.
    pub fn undamaged(&self) -> f64 {
        1.0 - self.effects.corruption.as_f64()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::Scenario;

    #[test]
    fn a_damaged_packet_takes_its_time_on_every_later_link() {
        for (path, next, expected) in [
            (
                "rate = '100mbit', corruption = '10%'",
                "rate = '10mbit'",
                9e6,
            ),
            (
                "rate = '10mbit', corruption = '10%'",
                "rate = '9.5mbit'",
                8.55e6,
            ),
            (
                "rate = '10mbit'",
                "rate = '9.5mbit', corruption = '10%'",
                8.55e6,
            ),
            (
                "rate = '10mbit', corruption = '10%'",
                "rate = '99mbit', corruption = '10%'",
                8.1e6,
            ),
        ] {
            let text = format!(
                "name = 'x'\nduration = '9s'\npath = {{ {path}, next = [{{ {next} }}] }}\n\
                 [[flow]]\ncontroller = 'bbr1'\n"
            );
            let scenario: Scenario = text.parse().expect("a scenario");
            let share = 1448.0 / 1500.0;
            let (from, to) = (Duration::ZERO, Duration::from_secs(9));
            let network = scenario.network();
            let limits = Limits::of(&network);
            let limit = limits.goodput(0, from, to, share);
            let limit = limit.expect("a limit");
            assert!(
                (limit - expected * share).abs() < 2.0,
                "{path} {next}: {limit}"
            );
        }
    }
}
