//! The question, and the amount of simulation for its answer.

use std::collections::HashMap;
use std::collections::hash_map::Entry;
use std::path::PathBuf;

use congestion::ControllerKind;
use units::{Duration, Rate};

use super::horizon::horizon;
use super::plan::{PACKET, PAYLOAD, Sampled, Sampling};
use super::ranges::{Range, RangedPath};
use super::seed::derive as derive_seed;
use document::{DocumentError, Reason};
use scenario::Scenario;

/// A question about the best controller for a path.
#[derive(Debug, Clone)]
pub struct Question {
    /// The known properties of the path.
    pub path: RangedPath,
    /// The candidates.
    pub controllers: Vec<ControllerKind>,
    /// The number of sampled paths. By default as many as the budget allows.
    pub paths: Option<usize>,
    /// The duration of each run. By default as long as the budget allows.
    pub duration: Option<Duration>,
    /// The seed from which all random choices derive.
    pub seed: u64,
}

/// Pairs of run seconds and sampled paths. The first pair within the budget is taken. CUBIC needs some ten seconds from
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

/// The most steps, unless even the shortest runs have more. They take some fifteen seconds on two processors.
const MAX_STEPS: f64 = 36e6;

/// The steps of a burst of packets beyond one for each packet. A host hands down a millisecond of its rate at a time
/// (TSO autosizing).
const STEPS_OF_BURST: f64 = 2.0;
const BURST_SECONDS: f64 = 1e-3;

/// The most packets by default (minutes of simulation), and if the number of paths or the duration was given (two
/// days).
const MAX_PACKETS: f64 = 640e6;
const MAX_PACKETS_ASKED: f64 = 1e12;

/// The most paths. More say no more of a path, and their plan alone would fill the memory.
pub const MOST_PATHS: usize = 1000;

/// The fewest paths whose mean is meaningful.
const MIN_PATHS: usize = 8;

/// The least round trips of a run. A shorter one ends before Startup or slow start does.
const MIN_ROUND_TRIPS: u64 = 25;

impl Question {
    /// The sampled paths, and the duration of each run.
    ///
    /// Each range is cut into as many values as there are paths, and each path has one of them, in a separate random
    /// order for each range (Latin hypercube sampling; McKay, Beckman, Conover 1979). Thus few paths cover all of every
    /// range.
    ///
    /// Longer runs that show CUBIC's return are preferred to more paths.
    ///
    /// # Errors
    ///
    /// More paths are asked for than [`MOST_PATHS`], the path is invalid at one of its values, nothing passes through
    /// it, or the runs have too many packets.
    pub fn sampling(&self) -> Result<Sampling, DocumentError> {
        if let Some(paths) = self.paths.filter(|paths| *paths > MOST_PATHS) {
            let reason = format!("{paths} are more than {MOST_PATHS}; give less");
            return Err(DocumentError::new("paths", reason));
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
                let mut shortest = longest.unwrap_or_default() * MIN_ROUND_TRIPS;
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
                if sampling.steps <= MAX_STEPS && (!is_long || paths >= MIN_PATHS) {
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
    /// The runs end before the last change of the path.
    fn reaches(&self, change: Duration) -> Result<(), DocumentError> {
        match self.duration {
            Some(duration) if change >= duration => {
                let reason = Reason::of(change).words(format!(
                    " is not within runs of {duration}; give longer runs"
                ));
                Err(DocumentError::new("path.change", reason))
            }
            _ => Ok(()),
        }
    }

    /// # Errors
    ///
    /// The runs have more packets than the limit.
    fn bounded(&self, sampling: &Sampling) -> Result<(), DocumentError> {
        let is_asked = self.paths.is_some() || self.duration.is_some();
        let most = if is_asked {
            MAX_PACKETS_ASKED
        } else {
            MAX_PACKETS
        };
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
        Err(DocumentError::new(field, format!("{why}; {fix}")))
    }

    fn sampled(
        &self,
        ranges: &[Range],
        count: usize,
        traces: &mut Traces,
    ) -> Result<Vec<Sampled>, DocumentError> {
        let orders: Vec<Vec<usize>> = ranges
            .iter()
            .map(|range| self.order(&range.field, count))
            .collect();
        let all: Vec<Vec<String>> = ranges.iter().map(|range| range.values(count)).collect();
        let sample = |path: usize| {
            let value = |((range, values), order): ((&Range, &Vec<String>), &Vec<usize>)| {
                // A single path has the beginning of the range.
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

    /// The numbers below `count`, in an order that depends only on the seed and this name.
    fn order(&self, name: &str, count: usize) -> Vec<usize> {
        let mut order: Vec<usize> = (0..count).collect();
        order.sort_by_key(|place| derive_seed(self.seed, &[("range", name)], *place as u64));
        order
    }

    /// Adds the most data packets of all runs, and their steps.
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

/// The time of the last change of any path.
fn last_change(sampled: &[Sampled]) -> Duration {
    let paths = sampled.iter().map(|of| &of.scenario.path);
    let changes = paths.flat_map(|path| path.data.changes.iter().chain(&path.uplink.changes));
    changes.map(|change| change.at).max().unwrap_or_default()
}

impl Sampled {
    /// The most packets in a second.
    fn packet_rate(&self) -> f64 {
        let mss = self.scenario.host.mss;
        let packet = mss.map_or(PACKET, |mss| mss as f64 + (PACKET - PAYLOAD));
        self.rate.bytes_per_sec() as f64 / packet
    }
}

impl Sampling {
    /// Whether the runs cost more than the budget.
    pub(crate) fn is_much(&self) -> bool {
        self.steps > MAX_STEPS
    }
}

/// The mean rates of the traces that were read.
#[derive(Default)]
struct Traces(HashMap<PathBuf, Rate>);

/// The time over which changes and bursts are averaged.
const AVERAGING_TIME: Duration = Duration::from_secs(60);

impl Traces {
    /// The highest average rate that the path carries.
    fn rate(&mut self, scenario: &Scenario) -> Result<Rate, DocumentError> {
        let link = &scenario.path.data;
        let admitted = link.admitted(Duration::ZERO, AVERAGING_TIME);
        let admitted = admitted.map(|bytes| Rate::from_transfer(bytes, AVERAGING_TIME));
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
            controllers: vec![
                ControllerKind::Bbr3,
                ControllerKind::Bbr1,
                ControllerKind::Cubic,
                ControllerKind::Reno,
            ],
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
            assert!(
                asked.is_ok_and(|it| it.packets <= MAX_PACKETS_ASKED),
                "{rate}"
            );
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
