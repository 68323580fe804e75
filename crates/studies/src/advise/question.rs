//! What is asked, and how much is run for the answer.

use std::collections::HashMap;
use std::collections::hash_map::Entry;
use std::path::PathBuf;

use congestion::ControllerKind;
use units::{Duration, Rate};

use super::horizon::horizon;
use super::plan::{PACKET, PAYLOAD, Sampled, Sampling};
use super::ranges::{Range, RangedPath};
use crate::runs::derive_seed;
use scenario::{Reason, Scenario, ScenarioError};

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
/// one loss to the next on a path of 100 Mbit/s and 100 ms.
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

/// So many steps at most, unless even the shortest runs have more: some fifteen seconds on two processors.
const BUDGET: f64 = 36e6;

/// A packet is a step, and a burst of packets two more: a host hands down a millisecond of its rate at a time (TSO autosizing).
const STEPS_OF_BURST: f64 = 2.0;
const BURST_SECONDS: f64 = 1e-3;

/// So many packets at most where nobody asked for more: minutes. And where somebody did, by the number of paths or the length of
/// runs: two days.
const MOST: f64 = 640e6;
const MOST_ASKED: f64 = 1e12;

/// So many paths at most: more say no more of a path, and their plan alone would fill the memory.
pub const MOST_PATHS: usize = 1000;

/// A mean of fewer paths says little.
const FEW: usize = 8;

/// A run has so many round trips at least: what is over before Startup or slow start is says nothing.
const ROUND_TRIPS: u64 = 25;

impl Question {
    /// The paths that are sampled, and how long each run is.
    ///
    /// Each range is cut into as many values as there are paths, and each path has one of them, in an order of its own for
    /// each range (Latin hypercube sampling; McKay, Beckman, Conover 1979). So few paths see all of every range.
    ///
    /// Runs that show CUBIC's return on fewer paths are better than shorter runs on more.
    ///
    /// # Errors
    ///
    /// More paths are asked for than say anything, the path makes no sense at one of its values, nothing passes there, or so
    /// much does that nobody could wait for it.
    pub fn sampling(&self) -> Result<Sampling, ScenarioError> {
        if let Some(paths) = self.paths.filter(|paths| *paths > MOST_PATHS) {
            let reason = format!("{paths} are more than {MOST_PATHS}; give less");
            return Err(ScenarioError::new("paths", reason));
        }
        let ranges = self.path.ranges()?;
        let mut traces = Traces::default();
        let (mut least, mut of_count) = (None, HashMap::new());
        for is_long in [true, false] {
            for (seconds, paths) in LENGTHS {
                let sampled = match of_count.entry(self.paths.unwrap_or(paths)) {
                    Entry::Occupied(known) => known.into_mut(),
                    Entry::Vacant(none) => {
                        let count = *none.key();
                        none.insert(self.sampled(&ranges, count, &mut traces)?)
                    }
                };
                let longest = sampled.iter().map(|of| of.scenario.path.rtt).max();
                let mut shortest = longest.unwrap_or_default() * ROUND_TRIPS;
                if is_long {
                    shortest = shortest.max(horizon(sampled));
                }
                let change = last_change(sampled);
                self.reaches(change)?;
                shortest = shortest.max(change * 2);
                let duration = self
                    .duration
                    .unwrap_or(Duration::from_secs(seconds).max(shortest));
                let sampling = Sampling {
                    path: self.path.describe(),
                    warmup: duration / 6,
                    duration,
                    ranges: ranges.clone(),
                    sampled: sampled.clone(),
                    packets: 0.0,
                    steps: 0.0,
                };
                let sampling = self.counted(sampling);
                if sampling.steps <= BUDGET && (!is_long || paths >= FEW) {
                    return Ok(sampling);
                }
                least = Some(sampling);
            }
        }
        let least = least.unwrap_or_default();
        self.bounded(&least)?;
        Ok(least)
    }

    /// # Errors
    ///
    /// The runs end before the path changes so late.
    fn reaches(&self, change: Duration) -> Result<(), ScenarioError> {
        match self.duration {
            Some(duration) if change >= duration => {
                let reason = Reason::of(change).words(format!(
                    " is not within runs of {duration}; give longer runs"
                ));
                Err(ScenarioError::new("path.change", reason))
            }
            _ => Ok(()),
        }
    }

    /// # Errors
    ///
    /// The runs have more packets than anybody wants to wait for.
    fn bounded(&self, sampling: &Sampling) -> Result<(), ScenarioError> {
        let is_asked = self.paths.is_some() || self.duration.is_some();
        let most = if is_asked { MOST_ASKED } else { MOST };
        if sampling.packets <= most {
            return Ok(());
        }
        let Sampling {
            duration, packets, ..
        } = sampling;
        let field = self.path.capacity();
        let why = format!(
            "runs of {duration} would have {packets:.1e} packets in all, more than {most:.1e}"
        );
        let fix = if is_asked {
            "ask for fewer paths or shorter runs, or give a lower rate"
        } else {
            "give a lower rate or a shorter RTprop, or ask for a number of paths and a duration"
        };
        Err(ScenarioError::new(field, format!("{why}; {fix}")))
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
        let all: Vec<Vec<String>> = ranges.iter().map(|range| range.values(count)).collect();
        let sample = |path: usize| {
            let value = |((range, values), order): ((&Range, &Vec<String>), &Vec<usize>)| {
                // One path has the range's beginning.
                let value = values.get(order[path]).unwrap_or(&range.from);
                value.clone()
            };
            let values: Vec<String> = ranges.iter().zip(&all).zip(&orders).map(value).collect();
            let scenario = self.path.at(ranges, &values)?;
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

    /// With the most data packets that all runs can have, and the steps of these.
    fn counted(&self, mut sampling: Sampling) -> Sampling {
        let runs = sampling.cases(&self.controllers).len() as f64;
        let paths = sampling.sampled.len().max(1) as f64;
        let seconds = sampling.duration.as_secs_f64() * runs / paths;
        for of in &sampling.sampled {
            let rate = of.packet_rate();
            sampling.packets += rate * seconds;
            sampling.steps += (rate + rate.min(1.0 / BURST_SECONDS) * STEPS_OF_BURST) * seconds;
        }
        sampling
    }
}

/// When the last of the paths changes for the last time.
fn last_change(sampled: &[Sampled]) -> Duration {
    let paths = sampled.iter().map(|of| &of.scenario.path);
    let changes = paths.flat_map(|path| path.data.changes.iter().chain(&path.uplink.changes));
    changes.map(|change| change.at).max().unwrap_or_default()
}

impl Sampled {
    /// The most packets a second.
    fn packet_rate(&self) -> f64 {
        let mss = self.scenario.host.mss;
        let packet = mss.map_or(PACKET, |mss| mss as f64 + (PACKET - PAYLOAD));
        self.rate.bytes_per_sec() as f64 / packet
    }
}

impl Sampling {
    /// Whether it takes longer than is usual.
    pub(super) fn is_much(&self) -> bool {
        self.steps > BUDGET
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

    fn question(options: &[(&str, &str)]) -> Question {
        let mut path = RangedPath::unknown();
        for (field, text) in options {
            path.set(field, text).unwrap();
        }
        path.complete();
        Question {
            path,
            controllers: ControllerKind::ALL.to_vec(),
            paths: None,
            duration: None,
            seed: 1,
        }
    }

    #[test]
    fn fast_paths_have_fewer_and_shorter_runs() {
        for (rate, rtt, seconds, paths) in [
            ("5mbit", "40ms", 60.0, 24),
            ("20mbit", "40ms", 30.0, 24),
            ("100mbit", "40ms", 27.0, 8),
            ("100mbit", "100ms", 36.0, 8),
            ("1mbit..500mbit", "10ms", 20.0, 12),
            ("1gbit", "10ms", 2.0, 8),
            ("10gbit", "100us", 1.0, 4),
            ("10gbit", "100ms", 2.5, 4),
        ] {
            let question = question(&[("path.rate", rate), ("path.rtt", rtt)]);
            let sampling = question.sampling().unwrap();
            let found = (sampling.duration.as_secs_f64(), sampling.sampled.len());
            assert_eq!(found, (seconds, paths), "{rate} {rtt}");
        }
    }

    #[test]
    fn runs_that_nobody_could_wait_for_are_refused() {
        for (rate, rtt) in [
            ("400gbit", "100ms"),
            ("10gbit", "20s"),
            ("1mbit", "1000h"),
            ("99999tbit", "1us"),
        ] {
            let mut question = question(&[("path.rate", rate), ("path.rtt", rtt)]);
            let error = question.sampling().unwrap_err();
            assert_eq!(error.field, "path.rate");
            assert!(
                error.to_string().contains("give a lower rate or a shorter"),
                "{error}"
            );
            question.duration = Some(Duration::from_millis(1));
            question.paths = Some(1);
            let asked = question.sampling();
            assert!(asked.is_ok_and(|it| it.packets <= MOST_ASKED), "{rate}");
        }
        let mut endless = question(&[("path.rate", "100gbit"), ("path.rtt", "10ms")]);
        (endless.duration, endless.paths) = (Some(Duration::MAX), Some(1000));
        let error = endless.sampling().unwrap_err().to_string();
        assert!(error.contains("ask for fewer paths"), "{error}");
        for paths in [MOST_PATHS + 1, 1 << 62, usize::MAX] {
            endless.paths = Some(paths);
            let error = endless.sampling().unwrap_err();
            assert_eq!(error.field, "paths");
            assert!(error.to_string().contains("give less"), "{error}");
        }
    }

    #[test]
    fn long_is_what_cubic_needs_to_come_back_twice() {
        for (options, seconds) in [
            // K of 10.8 s: 1667 packets, of which 30 % are lost.
            (&["100mbit", "100ms", "1bdp"][..], 22),
            (&["10mbit", "40ms", "1bdp"], 10),
            // One loss in a hundred leaves CUBIC no window that takes longer.
            (&["1gbit", "100ms", "1bdp", "1%"], 10),
            (&["1gbit", "100ms", "1bdp"], 47),
        ] {
            let fields = ["path.rate", "path.rtt", "path.buffer", "path.loss"];
            let options: Vec<_> = fields.into_iter().zip(options.iter().copied()).collect();
            let sampling = question(&options).sampling().unwrap();
            assert_eq!(
                sampling.horizon(),
                Duration::from_secs(seconds),
                "{options:?}"
            );
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
