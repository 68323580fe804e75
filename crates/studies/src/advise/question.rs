//! What is asked, and how much is run for the answer.

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
const LENGTHS: [(u64, usize); 6] = [(60, 24), (30, 24), (30, 16), (20, 12), (10, 12), (10, 8)];

/// So many packets at most, unless even the shortest runs have more: some fifteen seconds on two processors.
const BUDGET: f64 = 80e6;

const PACKET: f64 = 1500.0;

/// What a trace may carry, for the budget.
const OF_TRACE: Rate = Rate::from_bits_per_sec(20_000_000);

impl Question {
    /// The paths that are sampled, and how long each run is.
    ///
    /// Each range is cut into as many values as there are paths, and each path has one of them, in an order of its own for
    /// each range (Latin hypercube sampling; McKay, Beckman, Conover 1979). So few paths see all of every range.
    ///
    /// # Errors
    ///
    /// The path makes no sense at one of its values.
    pub fn sampling(&self) -> Result<Sampling, ScenarioError> {
        let ranges = self.path.ranges()?;
        let mut least = None;
        for (seconds, paths) in LENGTHS {
            let duration = self.duration.unwrap_or(Duration::from_secs(seconds));
            let sampled = self.sampled(&ranges, self.paths.unwrap_or(paths))?;
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

    fn sampled(&self, ranges: &[Range], count: usize) -> Result<Vec<Sampled>, ScenarioError> {
        let orders: Vec<Vec<usize>> = ranges
            .iter()
            .map(|range| self.order(&range.field, count))
            .collect();
        let sample = |path: usize| {
            let places: Vec<usize> = orders.iter().map(|order| order[path]).collect();
            let (values, scenario) = self.path.at(ranges, &places, count)?;
            Ok(Sampled {
                values,
                seed: derive_seed(self.seed, &[], path as u64),
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
        let rate = |scenario: &Scenario| {
            let rate = scenario.path.data.rate.unwrap_or(OF_TRACE);
            rate.bytes_per_sec() as f64
        };
        let rates = sampling.sampled.iter().map(|of| rate(&of.scenario));
        let seconds = sampling.duration.as_secs_f64();
        let runs = sampling.cases(&self.controllers).len() as f64;
        rates.sum::<f64>() * seconds * runs / sampling.sampled.len().max(1) as f64 / PACKET
    }
}
