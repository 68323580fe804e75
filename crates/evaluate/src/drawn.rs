//! The drawn paths: a published set, the same for every controller.
//!
//! The paths are an additive recurrence in nine dimensions (Roberts, "The Unreasonable Effectiveness of Quasirandom
//! Sequences", 2018: the R-sequence). It covers all ranges evenly, and its first paths do, too: a quick evaluation takes the
//! first ones. Nobody picks a path.
//!
//! | quantity | range | spread |
//! | --- | --- | --- |
//! | rate | 0.5 Mbit/s to 10 Gbit/s | logarithmic |
//! | RTprop | 0.1 to 600 ms | logarithmic |
//! | buffer | 0.1 to 32 BDP, at least 4 packets | logarithmic |
//! | random loss | none on half of the paths, else 0.001 to 2 % | logarithmic |
//! | jitter | none on half of the paths, else up to a quarter of RTprop | even |
//! | ACKs held back | none on 7 of 10 paths, else for 1 to 20 ms | logarithmic |
//! | reordering | none on 8 of 10 paths, else 0.1 to 5 % of the packets, by a quarter of RTprop | logarithmic |
//! | neighbours | 1 to 4 | even |
//! | time between the starts of neighbours | none to 10 RTprops | even |
//!
//! A path whose BDP is more than [`MOST_BDP_PACKETS`] is passed over: it would take as long as all others. So 10 Gbit/s
//! appears with up to 60 ms.
//!
//! A run takes [`ROUNDS`] round trips, or up to 10 s where so much time costs at most [`CHEAP_PACKETS`]. The first third is
//! not measured.

use path::{Aggregation, Distribution, Jitter, Loss, Reorder};
use scenario::{BufferSpec, LinkSpec, PathSpec, Scenario};
use units::{Duration, Rate, Ratio};

/// The number of drawn paths.
pub const PATHS: usize = 300;

/// The largest BDP in packets.
pub const MOST_BDP_PACKETS: f64 = 50_000.0;

/// The least number of round trips of a run.
pub const ROUNDS: u64 = 60;

/// The packets that a run may take to be longer than [`ROUNDS`].
pub const CHEAP_PACKETS: f64 = 60_000.0;

/// A packet of Ethernet, in bits.
const PACKET_BITS: f64 = 1514.0 * 8.0;

const DIMENSIONS: usize = 9;

/// A drawn path, and what shares it.
#[derive(Debug, Clone, PartialEq)]
pub struct Drawn {
    /// The path.
    pub path: PathSpec,
    /// The number of neighbours, in experiments that have some.
    pub neighbours: u64,
    /// The time between their starts.
    pub stagger: Duration,
    /// The length of a run.
    pub duration: Duration,
}

/// The drawn paths, in their order.
pub fn paths() -> impl Iterator<Item = Drawn> {
    points().filter_map(|point| Drawn::at(&point)).take(PATHS)
}

/// The R-sequence: multiples of the inverse powers of the root of x^(d+1) = x + 1, without their whole parts.
fn points() -> impl Iterator<Item = [f64; DIMENSIONS]> {
    let mut root = 2.0_f64;
    for _ in 0..64 {
        root = (1.0 + root).powf(1.0 / (DIMENSIONS + 1) as f64);
    }
    (1_u32..).map(move |index| {
        std::array::from_fn(|place| {
            let step = root.recip().powi(place as i32 + 1);
            (0.5 + f64::from(index) * step).fract()
        })
    })
}

/// The value at this share of a logarithmic range, with three digits.
fn log(share: f64, from: f64, to: f64) -> f64 {
    let value = from * (to / from).powf(share);
    let digits = 10_f64.powf(2.0 - value.log10().floor());
    (value * digits).round() / digits
}

/// The share within the part above `none`, if it is there.
fn above(share: f64, none: f64) -> Option<f64> {
    (share >= none).then(|| (share - none) / (1.0 - none))
}

fn millis(ms: f64) -> Duration {
    Duration::from_nanos((ms * 1e6).round() as u64)
}

fn share(of: f64) -> Ratio {
    Ratio::new((of * 1e6).round() as u32, 1_000_000)
}

impl Drawn {
    fn at(point: &[f64; DIMENSIONS]) -> Option<Drawn> {
        let [
            rate,
            rtt,
            buffer,
            loss,
            jitter,
            held,
            late,
            neighbours,
            stagger,
        ] = *point;
        let (rate, rtt_ms) = (log(rate, 0.5e6, 10e9), log(rtt, 0.1, 600.0));
        let bdp_packets = rate * rtt_ms / 1e3 / PACKET_BITS;
        if bdp_packets > MOST_BDP_PACKETS {
            return None;
        }
        let rtt = millis(rtt_ms);
        let packets = (bdp_packets * log(buffer, 0.1, 32.0)).round().max(4.0) as u64;
        let mut data = LinkSpec {
            rate: Some(Rate::from_bits_per_sec(rate as u64)),
            buffer: Some(BufferSpec::Packets(packets)),
            ..LinkSpec::default()
        };
        let effects = &mut data.effects;
        if let Some(loss) = above(loss, 0.5) {
            effects.loss = Loss::Independent(share(log(loss, 1e-5, 0.02)));
        }
        if let Some(jitter) = above(jitter, 0.5) {
            effects.jitter = Some(Jitter {
                up_to: millis(rtt_ms / 4.0 * jitter),
                reorders: false,
                distribution: Distribution::default(),
            });
        }
        if let Some(late) = above(late, 0.8) {
            effects.reorder = Some(Reorder {
                share: share(log(late, 0.001, 0.05)),
                by: millis(rtt_ms / 4.0),
            });
        }
        let mut path = PathSpec {
            rtt,
            data,
            ..PathSpec::default()
        };
        if let Some(held) = above(held, 0.7) {
            path.aggregation = Some(Aggregation {
                interval: millis(log(held, 1.0, 20.0)),
            });
        }
        let long_s = (CHEAP_PACKETS * PACKET_BITS / rate).min(10.0);
        Some(Drawn {
            path,
            neighbours: 1 + (neighbours * 4.0) as u64,
            stagger: millis(rtt_ms * 10.0 * stagger),
            duration: (rtt * ROUNDS).max(millis(long_s * 1e3)),
        })
    }

    /// The scenario over this path. Its last group of flows is the neighbours, if it has several groups.
    pub(crate) fn over(&self, template: &Scenario) -> Scenario {
        let mut scenario = Scenario {
            path: self.path.clone(),
            duration: Some(self.duration),
            warmup: self.duration / 3,
            ..template.clone()
        };
        if let [_, .., last] = &mut scenario.flows[..] {
            last.count = self.neighbours;
            last.stagger = self.stagger;
        }
        scenario
    }

    /// The path in words.
    pub(crate) fn words(&self) -> String {
        let data = &self.path.data;
        let rate = data.rate.unwrap_or_default();
        format!("{rate}, {}", self.path.rtt)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_paths_cover_their_ranges_evenly() {
        let drawn: Vec<Drawn> = paths().collect();
        assert_eq!(drawn.len(), PATHS);
        let slow = |one: &&Drawn| one.path.data.rate < Some(Rate::from_bits_per_sec(70_000_000));
        let lossy = |one: &&Drawn| one.path.data.effects.loss != Loss::default();
        let slow = drawn.iter().filter(slow).count();
        let lossy = drawn.iter().filter(lossy).count();
        // The fast paths with long delays are passed over.
        assert!((140..=190).contains(&slow), "{slow}");
        assert!((140..=160).contains(&lossy), "{lossy}");
        for one in &drawn {
            one.path.check().unwrap();
        }
        assert_eq!(paths().next(), drawn.first().cloned());
    }
}
