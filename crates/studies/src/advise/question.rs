//! What is asked, and how much is run for the answer.

use std::collections::HashMap;
use std::path::PathBuf;

use congestion::ControllerKind;
use units::{Duration, Rate};

use super::plan::{Sampled, Sampling};
use super::ranges::{Range, RangedPath};
use crate::runs::derive_seed;
use scenario::{Scenario, ScenarioError};

/// What is asked.
#[derive(Debug, Clone)]
pub struct Question {
    /// What is known of the path.
    pub path: RangedPath,
    /// The candidates.
    pub controllers: Vec<ControllerKind>,
    /// How many paths are sampled; as many as are worth the time if not given.
    pub paths: Option<usize>,
    /// How long each run is; as long as is worth the time if not given.
    pub duration: Option<Duration>,
    /// What all random choices derive from.
    pub seed: u64,
}

/// Seconds of a run, and sampled paths: the first that stay within the budget are taken. CUBIC needs some ten seconds from
/// one loss to the next on a path of 100 Mbit/s and 100 ms, and a mean of fewer than eight paths says little.
const LENGTHS: [(u64, usize); 10] = [
    (60, 24),
    (30, 24),
    (30, 16),
    (20, 12),
    (10, 12),
    (10, 8),
    (5, 8),
    (2, 8),
    (1, 8),
    (1, 4),
];

/// So many packets at most, unless even the shortest runs have more: some fifteen seconds on two processors.
const BUDGET: f64 = 81e6;

/// A run has so many round trips at least: what is over before Startup or slow start is says nothing.
const ROUND_TRIPS: u64 = 25;

const PACKET: f64 = 1500.0;

impl Question {
    /// The paths that are sampled, and how long each run is.
    ///
    /// Each range is cut into as many values as there are paths, and each path has one of them, in an order of its own for
    /// each range (Latin hypercube sampling; McKay, Beckman, Conover 1979). So few paths see all of every range.
    ///
    /// # Errors
    ///
    /// The path makes no sense at one of its values, or nothing passes there.
    pub fn sampling(&self) -> Result<Sampling, ScenarioError> {
        let ranges = self.path.ranges()?;
        let mut traces = Traces::default();
        let mut least = None;
        for (seconds, paths) in LENGTHS {
            let sampled = self.sampled(&ranges, self.paths.unwrap_or(paths), &mut traces)?;
            let longest = sampled.iter().map(|of| of.scenario.path.rtt).max();
            let shortest = longest.unwrap_or_default() * ROUND_TRIPS;
            let duration = self
                .duration
                .unwrap_or(Duration::from_secs(seconds).max(shortest));
            let sampling = Sampling {
                path: self.path.describe(),
                warmup: duration / 6,
                duration,
                ranges: ranges.clone(),
                sampled,
            };
            if self.packets(&sampling) <= BUDGET {
                return Ok(sampling);
            }
            least = Some(sampling);
        }
        Ok(least.unwrap_or_default())
    }

    fn sampled(
        &self,
        ranges: &[Range],
        count: usize,
        traces: &mut Traces,
    ) -> Result<Vec<Sampled>, ScenarioError> {
        let orders: Vec<Vec<usize>> = ranges
            .iter()
            .map(|range| self.order(&range.field, count))
            .collect();
        let sample = |path: usize| {
            let places: Vec<usize> = orders.iter().map(|order| order[path]).collect();
            let (values, scenario) = self.path.at(ranges, &places, count)?;
            let located = |error| self.path.located(error);
            scenario.path.check_open().map_err(located)?;
            Ok(Sampled {
                values,
                seed: derive_seed(self.seed, &[], path as u64),
                rate: traces.rate(&scenario).map_err(located)?,
                scenario,
            })
        };
        (0..count).map(sample).collect()
    }

    /// The numbers below `count` in an order that depends on the seed and on this name alone.
    fn order(&self, name: &str, count: usize) -> Vec<usize> {
        let mut order: Vec<usize> = (0..count).collect();
        order.sort_by_key(|place| derive_seed(self.seed, &[("range", name)], *place as u64));
        order
    }

    /// The most data packets that all runs can have.
    fn packets(&self, sampling: &Sampling) -> f64 {
        let rates = sampling.sampled.iter();
        let rates = rates.map(|of| of.rate.bytes_per_sec() as f64);
        let seconds = sampling.duration.as_secs_f64();
        let runs = sampling.cases(&self.controllers).len() as f64;
        rates.sum::<f64>() * seconds * runs / sampling.sampled.len().max(1) as f64 / PACKET
    }
}

/// The mean rates of the traces that were read.
#[derive(Default)]
struct Traces(HashMap<PathBuf, Rate>);

/// Over so long a time changes and bursts are taken.
const MINUTE: Duration = Duration::from_secs(60);

impl Traces {
    /// What the path carries at most, on average.
    fn rate(&mut self, scenario: &Scenario) -> Result<Rate, ScenarioError> {
        let link = &scenario.path.data;
        let admitted = link.admitted(Duration::ZERO, MINUTE);
        let admitted = admitted.map(|bytes| Rate::from_transfer(bytes, MINUTE));
        let of_trace = match &link.trace {
            None => None,
            Some(trace) => match self.0.get(trace) {
                Some(rate) => Some(*rate),
                None => {
                    let config = scenario.path.config()?;
                    let rate = config.forward.capacity.mean_rate().unwrap_or_default();
                    self.0.insert(trace.clone(), rate);
                    Some(rate)
                }
            },
        };
        let rates = [admitted, of_trace].into_iter().flatten();
        Ok(rates.min().unwrap_or_default())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn sampling(rate: &str, rtt: &str) -> Sampling {
        let mut path = RangedPath::unknown();
        path.set("path.rate", rate).unwrap();
        path.set("path.rtt", rtt).unwrap();
        path.complete();
        let question = Question {
            path,
            controllers: ControllerKind::ALL.to_vec(),
            paths: None,
            duration: None,
            seed: 1,
        };
        question.sampling().unwrap()
    }

    #[test]
    fn fast_paths_have_fewer_and_shorter_runs() {
        for (rate, rtt, seconds, paths) in [
            ("20mbit", "40ms", 60.0, 24),
            ("100mbit", "40ms", 30.0, 24),
            ("1mbit..500mbit", "10ms", 30.0, 24),
            ("1gbit", "10ms", 10.0, 8),
            ("10gbit", "100us", 1.0, 8),
            ("10gbit", "100ms", 2.5, 4),
        ] {
            let sampling = sampling(rate, rtt);
            let found = (sampling.duration.as_secs_f64(), sampling.sampled.len());
            assert_eq!(found, (seconds, paths), "{rate} {rtt}");
        }
    }

    #[test]
    fn a_path_that_loses_everything_is_refused() {
        let refused = |field: &str, text: &str| {
            let mut path = RangedPath::unknown();
            let known = [("path.rate", "9mbit"), ("path.rtt", "40ms"), (field, text)];
            for (field, text) in known {
                path.set(field, text).unwrap();
            }
            let question = Question {
                path,
                controllers: vec![ControllerKind::Reno],
                paths: Some(3),
                duration: None,
                seed: 1,
            };
            let error = question.sampling().unwrap_err();
            assert!(error.to_string().contains("nothing arrives"), "{error}");
            error.field
        };
        assert_eq!(refused("path.loss", "100%"), "path.loss");
        assert_eq!(refused("path.loss", "0..100%"), "path.loss");
        assert_eq!(refused("path.ack_loss", "100%"), "path.ack_loss");
        let absorbing = "kind=gilbert,p=1%,r=0";
        assert_eq!(refused("path.uplink", "loss=100%"), "path.uplink.loss");
        assert_eq!(refused("path.loss", absorbing), "path.loss");
    }
}
