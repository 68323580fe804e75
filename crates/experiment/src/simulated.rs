//! Simulated studies whose truth is known, for the proof of the statistics.
//!
//! The model has the properties that make careless intervals wrong. Units have a few connections or hundreds (Pareto).
//! Networks differ more than controllers do, and neighbours are alike. Sizes and stalls have heavy tails, and
//! congestion lasts from one slot to the next. No parameter was fitted to data.

use rand_xoshiro::Xoshiro256PlusPlus;
use rand_xoshiro::rand_core::{Rng, SeedableRng};
use units::Duration;

use crate::assignment::{Key, Shares};
use crate::measure::LARGE_BYTES;
use crate::observation::{Observation, Scope};

/// The base RTT of a median network, in seconds.
const MEDIAN_RTT_S: f64 = 0.04;

/// The median throughput, in bytes per second.
const MEDIAN_BYTES_PER_S: f64 = 2.5e6;

/// The payload of a packet, in bytes.
const PACKET_BYTES: f64 = 1448.0;

const INITIAL_WINDOW_BYTES: f64 = 10.0 * PACKET_BYTES;

/// The kind and the number of randomised units.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Units {
    /// Connections, each from a network of its own.
    Connections(usize),
    /// Client networks with 1 to 300 connections.
    Prefixes(usize),
    /// Slots with 1 to some tens of connections each, and lasting congestion.
    Slots(usize),
}

/// A kind of studies.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Model {
    /// The units of randomisation.
    pub units: Units,
    /// The relative change of the second arm's rate: 0.08 is 8 %.
    pub effect: f64,
    /// The standard deviation between units of the effect's logarithm.
    pub spread: f64,
    /// The networks that units belong to in turn. None: all units are alike, and in no group.
    pub networks: &'static [Kind],
}

/// A kind of networks, which is a group of its units.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Kind {
    /// The number of its autonomous system.
    pub system: u32,
    /// The logarithm of the ratio of its rate to the median rate.
    pub rate: f64,
    /// The ratio of its effect to the model's.
    pub effect: f64,
}

/// Three networks that differ far more than the arms do. With an effect of 8 %, one is not helped, another one carries
/// a sixth of that share more, and the slow one carries five times more.
pub const NETWORKS: [Kind; 3] = [
    Kind {
        system: 64501,
        rate: 2.5,
        effect: 0.0,
    },
    Kind {
        system: 64502,
        rate: -2.0,
        effect: 60.0,
    },
    Kind {
        system: 64503,
        rate: 4.5,
        effect: 2.5,
    },
];

impl Kind {
    fn group(&self) -> String {
        format!("AS{}", self.system)
    }
}

/// Random numbers of several distributions.
pub(crate) struct Draws(pub(crate) Xoshiro256PlusPlus);

impl Draws {
    /// Uniform between 0 and 1, both excluded.
    fn uniform(&mut self) -> f64 {
        ((self.0.next_u64() >> 11) as f64 + 0.5) / (1_u64 << 53) as f64
    }

    /// Standard normal (Box and Muller).
    pub(crate) fn normal(&mut self) -> f64 {
        let radius = (-2.0 * self.uniform().ln()).sqrt();
        radius * (std::f64::consts::TAU * self.uniform()).cos()
    }

    /// Pareto with minimum 1 and this exponent.
    fn pareto(&mut self, exponent: f64) -> f64 {
        self.uniform().powf(-1.0 / exponent)
    }

    /// A size in bytes: pages and images, and one in three is a video or a download.
    fn size(&mut self) -> f64 {
        if self.uniform() < 0.35 {
            (1e6 * self.pareto(0.8)).min(5e8)
        } else {
            (6e4 * (1.5 * self.normal()).exp()).clamp(200.0, 1e8)
        }
    }
}

/// The common properties of a unit's connections.
struct Network {
    unit: u64,
    arm: usize,
    rate: f64,
    rtt: f64,
    loss: f64,
    groups: Vec<String>,
}

impl Network {
    /// The network with an arm. The second arm has this effect on its rate.
    fn helped(self, arm: usize, effect: f64) -> Network {
        let by = if arm == 1 { 1.0 + effect } else { 1.0 };
        Network {
            arm,
            rate: self.rate * by,
            ..self
        }
    }

    /// The network with the rate and the effect of its kind, in place of the model's effect.
    fn of_kind(&self, kind: &Kind, effect: f64) -> Network {
        let of_model = if self.arm == 1 { 1.0 + effect } else { 1.0 };
        let of_kind = if self.arm == 1 {
            1.0 + effect * kind.effect
        } else {
            1.0
        };
        Network {
            rate: self.rate * kind.rate.exp() * of_kind / of_model,
            groups: vec![kind.group()],
            ..*self
        }
    }
}

impl Model {
    /// Studies with the same effect for each unit.
    pub fn new(units: Units, effect: f64) -> Model {
        Model {
            units,
            effect,
            spread: 0.0,
            networks: &[],
        }
    }

    /// The true effect on the throughput of large objects in this study: the mean of the networks' effects, in
    /// logarithms, weighted by their shares of such objects.
    pub fn truth(&self, study: &[Observation]) -> f64 {
        if self.networks.is_empty() {
            return self.effect;
        }
        let large = || study.iter().filter(|of| of.acknowledged >= LARGE_BYTES);
        let each = large().filter_map(|of| {
            let name = of.groups.first()?;
            let kind = self.networks.iter().find(|kind| *name == kind.group())?;
            Some((self.effect * kind.effect).ln_1p())
        });
        (each.sum::<f64>() / large().count() as f64).exp_m1()
    }

    /// One study: its connections in order of time.
    pub fn study(&self, seed: u64) -> Vec<Observation> {
        self.drawn(seed, None)
    }

    /// One slot of a policy. The given share of units explores and gets the second arm. Units keep their properties and
    /// their number of connections from slot to slot. Each slot has its own connections and its own explorers. The
    /// effect is the same for each unit.
    pub fn explored(&self, seed: u64, slot: u64, explore: f64) -> Vec<Observation> {
        let [seed_of_slot, _] = Key::of_seed(&format!("slot {slot} of {seed}")).words();
        let draws = Draws(Xoshiro256PlusPlus::seed_from_u64(seed_of_slot));
        let shares = Shares::of(&[1.0 - explore, explore]);
        self.drawn(seed, Some((slot, shares, draws)))
    }

    /// The seed decides the units, and their connections unless a slot has a seed, which also draws arms anew.
    fn drawn(&self, seed: u64, mut slot: Option<(u64, Shares, Draws)>) -> Vec<Observation> {
        let mut draws = Draws(Xoshiro256PlusPlus::seed_from_u64(seed));
        let key = Key::of_seed(&format!("simulated {seed}"));
        let halves = Shares::of(&[0.5, 0.5]);
        let (count, most, kind) = match self.units {
            Units::Connections(count) => (count, 1.0, 0),
            Units::Prefixes(count) => (count, 300.0, 1),
            Units::Slots(count) => (count, 60.0, 2),
        };
        let mut congestion = 0.0;
        let mut all: Vec<(f64, Observation)> = Vec::new();
        for number in 0..count as u64 {
            let (place, shares) = match &slot {
                Some((slot, shares, _)) => (*slot, shares),
                None => (0, &halves),
            };
            let unit = key.draw([kind, number, 0, place]);
            let arm = shares.arm(unit);
            congestion = 0.8 * congestion + 0.2 * draws.normal();
            let network = match &slot {
                // A unit's properties do not depend on its arm.
                Some(_) => self
                    .network(unit, 0, congestion, &mut draws)
                    .helped(arm, self.effect),
                None => self.network(unit, arm, congestion, &mut draws),
            };
            let connections = match self.units {
                Units::Connections(_) => 1.0,
                Units::Prefixes(_) => draws.pareto(1.2).min(most),
                Units::Slots(_) => (12.0 * draws.pareto(3.0)).min(most),
            };
            // A client network is there all the time, but a slot only once.
            let draws = slot.as_mut().map_or(&mut draws, |(_, _, draws)| draws);
            for place in 0..connections as u64 {
                let at = match self.units {
                    Units::Prefixes(_) => draws.uniform(),
                    _ => number as f64,
                };
                // Within a slot, connections are from networks in turn.
                let turn = if matches!(self.units, Units::Slots(_)) {
                    place
                } else {
                    number
                };
                let kind = self
                    .networks
                    .get(turn as usize % self.networks.len().max(1));
                let network = match kind {
                    Some(kind) => &network.of_kind(kind, self.effect),
                    None => &network,
                };
                all.push((at, self.connection(network, draws)));
            }
        }
        all.sort_by(|one, other| one.0.total_cmp(&other.0));
        all.into_iter().map(|(_, of)| of).collect()
    }

    fn network(&self, unit: u64, arm: usize, congestion: f64, draws: &mut Draws) -> Network {
        let helped = if arm == 1 {
            self.effect.ln_1p() + self.spread * draws.normal()
        } else {
            0.0
        };
        let (between, shared) = match self.units {
            Units::Slots(_) => (0.1, congestion),
            _ => (0.8, 0.0),
        };
        Network {
            unit,
            arm,
            rate: MEDIAN_BYTES_PER_S * (between * draws.normal() - shared + helped).exp(),
            rtt: MEDIAN_RTT_S * (0.6 * draws.normal()).exp(),
            loss: (0.002 * (1.2 * draws.normal()).exp()).min(0.3),
            groups: Vec::new(),
        }
    }

    #[expect(
        clippy::cast_possible_truncation,
        clippy::cast_sign_loss,
        reason = "sizes and times of sane networks"
    )]
    fn connection(&self, network: &Network, draws: &mut Draws) -> Observation {
        // Within a slot, each connection is from another network.
        let own = match self.units {
            Units::Slots(_) => 0.8,
            _ => 0.4,
        };
        let mut rate = network.rate * (own * draws.normal()).exp();
        if draws.uniform() < 0.03 {
            rate /= draws.pareto(1.5).min(50.0);
        }
        let size = draws.size();
        // Slow start takes rounds, and the rest of a small object takes its size over the rate. Large objects depend
        // only on the rate, which is the truth to be found.
        let rounds = (1.0 + size / INITIAL_WINDOW_BYTES).log2().ceil();
        let busy = if size < 3e6 {
            rounds * network.rtt + size / rate
        } else {
            size / rate
        };
        let packets = (size / PACKET_BYTES).ceil();
        let resent = (packets * network.loss * (0.5 * draws.normal()).exp()).min(packets);
        Observation {
            scope: Scope::Connection,
            unit: network.unit,
            arm: network.arm,
            acknowledged: size as u64,
            busy: Duration::from_nanos((busy * 1e9) as u64),
            packets: packets as u64,
            resent: resent as u64,
            rtt: Some(Duration::from_nanos(
                (network.rtt * (0.3 * draws.normal().abs()).exp() * 1e9) as u64,
            )),
            groups: network.groups.clone(),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn units_stay_from_slot_to_slot_and_explorers_do_not() {
        let model = Model::new(Units::Prefixes(400), 0.0);
        let (one, other) = (model.explored(7, 1, 0.2), model.explored(7, 2, 0.2));
        assert_eq!(one, model.explored(7, 1, 0.2));
        // Equally many connections, from units with the same rates on average.
        assert_eq!(one.len(), other.len());
        let exploring = |of: &[Observation]| {
            let of = of.iter().filter(|of| of.arm == 1).map(|of| of.unit);
            of.collect::<std::collections::BTreeSet<u64>>()
        };
        let (one, other) = (exploring(&one), exploring(&other));
        // 80, within five standard deviations of 8. A unit has another draw in each slot.
        assert!((40..120).contains(&one.len()), "{}", one.len());
        assert!(one.is_disjoint(&other));
    }
}
