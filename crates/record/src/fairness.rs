//! The evenness of flows that share a path: over their lifetimes, by second, and the time until they are even.

use std::ops::Range;

use serde::{Deserialize, Serialize};
use units::{Bytes, Duration, Rate};

use super::flow::FlowRecord;
use super::millionths::optional_millionths;
use tables::statistics::{Sorted, mean};

/// The evenness of flows that share a path.
#[derive(Debug, Clone, Copy, PartialEq, Default, Serialize, Deserialize)]
#[serde(default)]
pub struct Fairness {
    /// Jain's index of the goodputs, each over its flow's life; null if nothing was delivered.
    #[serde(serialize_with = "optional_millionths")]
    pub jain: Option<f64>,
    /// Jain's index of each second with two or more flows that lived through all of it.
    pub jain_per_s: JainPerSecond,
    /// Jain's index of each second after the convergence.
    pub jain_per_s_converged: JainPerSecond,
    /// The time from the start of the last flow until the flows were even for ten seconds: Jain's index of their
    /// deliveries in any five of these seconds is at least 0.95. They may be uneven again later. Null if that never
    /// happened, or if there are fewer than two flows.
    #[serde(serialize_with = "optional_millionths")]
    pub even_s: Option<f64>,
    /// The time from the start of the last flow until the flows had converged. That is the first whole second after
    /// which, until the first of the flows ends, Jain's index of their deliveries in any 5 seconds is at least 0.95.
    /// Null if there is none, if it lasted for less than 10 seconds, or if there are fewer than two flows.
    #[serde(serialize_with = "optional_millionths")]
    pub convergence_s: Option<f64>,
}

/// The sliding window of the convergence time, in seconds: longer than a cycle of BBR's gains on any usual path, and
/// longer than ProbeRTT.
const WINDOW_S: u64 = 5;
/// The time for which flows must stay converged, in seconds: a period of ProbeRTT.
const MIN_CONVERGED_S: u64 = 10;
/// The minimum of Jain's index for flows that have converged.
const MIN_CONVERGED_JAIN: f64 = 0.95;

/// Jain's index of each second.
#[derive(Debug, Clone, Copy, PartialEq, Default, Serialize, Deserialize)]
#[serde(default)]
pub struct JainPerSecond {
    /// The number of seconds (in runs longer than an hour: of intervals).
    pub seconds: u64,
    /// The least fair second.
    #[serde(serialize_with = "optional_millionths")]
    pub min: Option<f64>,
    /// 5th percentile.
    #[serde(serialize_with = "optional_millionths")]
    pub p5: Option<f64>,
    /// Median.
    #[serde(serialize_with = "optional_millionths")]
    pub p50: Option<f64>,
    /// Mean.
    #[serde(serialize_with = "optional_millionths")]
    pub mean: Option<f64>,
}

impl JainPerSecond {
    fn of(indices: Vec<f64>) -> JainPerSecond {
        let sorted: Sorted = indices.into_iter().collect();
        JainPerSecond {
            seconds: sorted.values().len() as u64,
            min: sorted.min(),
            p5: sorted.quantile(0.05),
            p50: sorted.quantile(0.5),
            mean: mean(sorted.values()),
        }
    }
}

/// Jain's index of fairness, (Σx)² / (n Σx²): 1 if all shares are equal, 1/n if one has everything, `None` if all are
/// zero (R. Jain, D. Chiu, W. Hawe, "A Quantitative Measure of Fairness and Discrimination for Resource Allocation in
/// Shared Computer Systems", 1984).
pub fn jain_index(shares: impl IntoIterator<Item = f64>) -> Option<f64> {
    let (mut count, mut sum, mut squares) = (0.0, 0.0, 0.0);
    for share in shares {
        count += 1.0;
        sum += share;
        squares += share * share;
    }
    (squares > 0.0).then(|| sum * sum / (count * squares))
}

impl Fairness {
    /// The fairness of a run that ended at `end`, without the seconds of the warmup. `goodputs` and `flows` are of
    /// the same flows.
    pub(super) fn of(
        goodputs: impl IntoIterator<Item = f64>,
        flows: &[FlowRecord],
        warmup: Duration,
        end: Duration,
    ) -> Fairness {
        let lifetimes = Lifetimes::new(flows, warmup, end);
        let (even, converged) = lifetimes.convergence();
        Fairness {
            jain: jain_index(goodputs),
            jain_per_s: lifetimes.jain_from(lifetimes.first),
            jain_per_s_converged: converged
                .map(|converged| lifetimes.jain_from(converged.interval))
                .unwrap_or_default(),
            even_s: even.map(|even| even.after.as_secs_f64()),
            convergence_s: converged.map(|converged| converged.after.as_secs_f64()),
        }
    }
}

/// The deliveries of several flows while all of them lived.
#[derive(Debug, Clone, PartialEq)]
pub struct WhileAllLive {
    /// The start of that time, a whole second.
    pub from: Duration,
    /// The end of that time, also a whole second.
    pub to: Duration,
    /// The goodput of each flow in that time, in the order of the flows.
    pub goodputs: Vec<Rate>,
}

impl WhileAllLive {
    /// The deliveries of flows in a run that ended at `end`; `None` if there is no whole second after the warmup in
    /// which all live.
    pub(super) fn of(
        flows: &[FlowRecord],
        warmup: Duration,
        end: Duration,
    ) -> Option<WhileAllLive> {
        let lifetimes = Lifetimes::new(flows, warmup, end);
        let common = lifetimes.common().filter(|common| !common.is_empty())?;
        let (from, to) = (
            lifetimes.interval * common.start,
            lifetimes.interval * common.end,
        );
        let goodput = |life: &Lifetime<'_>| {
            let bytes = common.clone().map(|at| lifetimes.delivered(life, at)).sum();
            Rate::from_transfer(Bytes::new(bytes), to.saturating_sub(from))
        };
        Some(WhileAllLive {
            from,
            to,
            goodputs: lifetimes.flows.iter().map(goodput).collect(),
        })
    }
}

/// The flows, with their lifetimes in intervals of throughput.
struct Lifetimes<'f> {
    flows: Vec<Lifetime<'f>>,
    interval: Duration,
    /// The first interval after the warmup.
    first: u64,
    /// The first interval that is not complete.
    last: u64,
}

/// A flow, the first interval that it lived through, and the first that it did not.
struct Lifetime<'f> {
    flow: &'f FlowRecord,
    from: u64,
    until: u64,
}

#[derive(Clone, Copy)]
struct Convergence {
    /// The first converged interval.
    interval: u64,
    after: Duration,
}

impl<'f> Lifetimes<'f> {
    fn new(flows: &'f [FlowRecord], warmup: Duration, end: Duration) -> Lifetimes<'f> {
        let intervals = flows.iter().map(|flow| flow.throughput.interval());
        let interval = intervals.max().unwrap_or(Duration::from_secs(1));
        let whole = |at: Duration| at.as_nanos() / interval.as_nanos();
        let started = |at: Duration| at.as_nanos().div_ceil(interval.as_nanos());
        let flows = flows.iter().map(|flow| Lifetime {
            flow,
            from: started(flow.start),
            until: whole(flow.completed.unwrap_or(end)),
        });
        Lifetimes {
            flows: flows.collect(),
            interval,
            first: started(warmup),
            last: whole(end),
        }
    }

    /// The bytes that a flow delivered in an interval.
    fn delivered(&self, life: &Lifetime<'_>, interval: u64) -> u64 {
        let throughput = &life.flow.throughput;
        // A flow that delivered nothing late in a long run has shorter intervals than the others. Both are powers of
        // two of a second.
        let parts = self.interval.as_nanos() / throughput.interval().as_nanos();
        let parts = interval * parts..(interval + 1) * parts;
        let bytes = parts.map(|part| usize::try_from(part).map_or(0, |part| throughput.at(part)));
        bytes.sum()
    }

    /// Jain's index of each interval from this one on.
    fn jain_from(&self, from: u64) -> JainPerSecond {
        let indices = (from..self.last).filter_map(|interval| {
            let live = self
                .flows
                .iter()
                .filter(|life| life.from <= interval && interval < life.until);
            let shares: Vec<f64> = live
                .map(|life| self.delivered(life, interval) as f64)
                .collect();
            jain_index(shares.iter().copied()).filter(|_| shares.len() > 1)
        });
        JainPerSecond::of(indices.collect())
    }

    /// The intervals after the warmup that all flows lived through; possibly none.
    fn common(&self) -> Option<Range<u64>> {
        let from = self.flows.iter().map(|life| life.from).max()?;
        let until = self.flows.iter().map(|life| life.until).min()?;
        Some(from.max(self.first)..until)
    }

    /// The time from which all flows were first even for a while, and the time from which they were even until the end.
    fn convergence(&self) -> (Option<Convergence>, Option<Convergence>) {
        let start = self.flows.iter().map(|life| life.flow.start).max();
        let (Some(start), Some(common), 2..) = (start, self.common(), self.flows.len()) else {
            return (None, None);
        };
        let seconds = self.interval.as_nanos() / 1_000_000_000;
        let (window, held) = (
            WINDOW_S.div_ceil(seconds),
            MIN_CONVERGED_S.div_ceil(seconds),
        );
        let is_fair = |first: u64| {
            let shares = self.flows.iter().map(|life| {
                let intervals = first..first + window;
                intervals
                    .map(|at| self.delivered(life, at) as f64)
                    .sum::<f64>()
            });
            jain_index(shares).is_some_and(|index| index >= MIN_CONVERGED_JAIN)
        };
        let windows = common.start..(common.end + 1).saturating_sub(window);
        let (mut first, mut since) = (None, None);
        for end in windows.map(|from| from + window) {
            let from = end - window;
            since = is_fair(from).then(|| since.unwrap_or(from));
            first = first.or(since.filter(|since| end - since >= held));
        }
        let lasting = since.filter(|since| common.end - since >= held);
        let after = |interval| Convergence {
            interval,
            after: (self.interval * interval).saturating_sub(start),
        };
        (first.map(after), lasting.map(after))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::throughput::Throughput;
    use congestion::ControllerKind;
    use units::Bytes;

    /// A flow that starts at a second and delivers these bytes in each of the next ones.
    fn flow(start: u64, bytes: &[u64]) -> FlowRecord {
        let mut throughput = Throughput::default();
        let mut total = Bytes::ZERO;
        for (second, bytes) in (start..).zip(bytes) {
            total += Bytes::new(*bytes);
            throughput.note(Duration::from_secs(second + 1), total);
        }
        FlowRecord {
            id: 0,
            controller: ControllerKind::Bbr1.into(),
            start: Duration::from_secs(start),
            completed: None,
            throughput,
            samples: Vec::new(),
        }
    }

    fn fairness(flows: &[FlowRecord], end: u64) -> Fairness {
        Fairness::of([], flows, Duration::ZERO, Duration::from_secs(end))
    }

    #[test]
    fn jain() {
        assert_eq!(jain_index([5.0, 5.0, 5.0]), Some(1.0));
        assert_eq!(jain_index([7.0, 0.0]), Some(0.5));
        assert_eq!(jain_index([0.0, 0.0]), None);
        assert_eq!(jain_index([]), None);
    }

    #[test]
    fn seconds_count_from_the_second_flow_on() {
        let flows = [flow(0, &[90; 20]), flow(4, &[90; 16])];
        let seen = fairness(&flows, 20);
        assert_eq!(seen.jain_per_s.seconds, 16);
        assert_eq!(
            (seen.jain_per_s.min, seen.jain_per_s.p50),
            (Some(1.0), Some(1.0))
        );
        assert_eq!(seen.convergence_s, Some(0.0));
        assert_eq!(seen.jain_per_s_converged.seconds, 16);
        // A second flow that lifetimes for less than a whole second changes nothing.
        let mut short = flow(0, &[90]);
        short.completed = Some(Duration::from_millis(900));
        let seen = fairness(&[flow(0, &[90; 20]), short], 20);
        assert_eq!(seen.jain_per_s.seconds, 0);
        assert_eq!(seen.jain_per_s.p50, None);
    }

    #[test]
    fn convergence_is_from_the_last_start_to_the_last_unfair_window() {
        // From second 10 on both deliver 50; until then the second flow, which starts at 4, delivers nothing.
        let first = [vec![100; 10], vec![50; 20]].concat();
        let second = [vec![0; 6], vec![50; 20]].concat();
        let seen = fairness(&[flow(0, &first), flow(4, &second)], 30);
        // In 5 s, 4 : 6 has an index of 0.96, and 3 : 7 one of 0.86: one second of the window may be unfair.
        let window = jain_index([300.0, 200.0]).unwrap();
        assert!(
            window > MIN_CONVERGED_JAIN && jain_index([350.0, 150.0]).unwrap() < MIN_CONVERGED_JAIN
        );
        assert_eq!(seen.convergence_s, Some(5.0));
        assert_eq!(seen.jain_per_s_converged.seconds, 21);
        assert_eq!(seen.jain_per_s_converged.min, Some(0.5));
        assert_eq!(seen.jain_per_s_converged.p50, Some(1.0));
        assert_eq!(
            (seen.jain_per_s.seconds, seen.jain_per_s.p5),
            (26, Some(0.5))
        );
    }

    #[test]
    fn what_does_not_last_is_no_convergence() {
        let even = [vec![100; 10], vec![50; 9]].concat();
        let late = [vec![1; 10], vec![50; 9]].concat();
        assert_eq!(
            fairness(&[flow(0, &even), flow(0, &late)], 19).convergence_s,
            Some(9.0)
        );
        assert_eq!(
            fairness(&[flow(0, &even), flow(0, &late)], 18).convergence_s,
            None
        );
        assert_eq!(fairness(&[flow(0, &even)], 19).convergence_s, None);
        assert_eq!(fairness(&[], 19), Fairness::default());
    }

    #[test]
    fn what_was_even_for_a_while_may_be_uneven_again() {
        let one = [vec![100; 3], vec![50; 12], vec![100; 15], vec![50; 20]].concat();
        let other = [vec![1; 3], vec![50; 12], vec![1; 15], vec![50; 20]].concat();
        let seen = |end| fairness(&[flow(0, &one), flow(0, &other)], end);
        assert_eq!((seen(11).even_s, seen(11).convergence_s), (None, None));
        assert_eq!(
            (seen(15).even_s, seen(15).convergence_s),
            (Some(2.0), Some(2.0))
        );
        assert_eq!((seen(30).even_s, seen(30).convergence_s), (Some(2.0), None));
        assert_eq!(
            (seen(50).even_s, seen(50).convergence_s),
            (Some(2.0), Some(29.0))
        );
    }

    #[test]
    fn flows_of_long_runs_have_intervals_of_different_length() {
        let mut long = flow(0, &[]);
        let mut short = flow(0, &[]);
        for second in 0..5_000u64 {
            let total = Bytes::new((second + 1) * 10);
            long.throughput.note(Duration::from_secs(second + 1), total);
            if second < 4_000 {
                short
                    .throughput
                    .note(Duration::from_secs(second + 1), total);
            }
        }
        assert_ne!(long.throughput.interval(), short.throughput.interval());
        let seen = fairness(&[long, short], 5_000);
        assert_eq!(seen.jain_per_s.seconds, 2_500);
        assert_eq!(seen.jain_per_s.p50, Some(1.0));
        assert_eq!(seen.jain_per_s.min, Some(0.5));
    }
}
