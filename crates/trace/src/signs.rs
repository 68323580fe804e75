//! The signs of a flow's controller in its course.

use connection::{Flow, Round};
use tables::statistics;
use units::Time;

use crate::probes::Probes;

/// The rounds of the initial growth, in which all controllers are much the same.
const FIRST_ROUNDS: usize = 8;

/// With a smaller window, in packets, the size of a cut cannot be told.
const MIN_CUT_PACKETS: f64 = 3.5;

/// A smaller change, in packets, is due to the timing of acknowledgements.
const NOISE_PACKETS: f64 = 1.5;

/// The signs by which controllers are told apart. An unknown value is NaN.
#[derive(Debug, Clone, Copy)]
pub struct Signs {
    /// Rounds that neither the application nor the receiver limited.
    pub rounds: usize,
    /// The dips of the data in flight that were restored at once.
    pub probes: Probes,
    /// Recoveries, and reductions after ECN marks, whose beginning and end were captured.
    pub cuts: usize,
    /// The median share of the data in flight that was left after a recovery.
    pub cut_share: f64,
    /// Pairs of consecutive rounds without a loss.
    pub steps: usize,
    /// The median growth of the data in flight from the first round of such a pair to the second, in packets.
    pub growth: f64,
    /// The share of these pairs in which the data in flight shrank.
    pub shrinks: f64,
    /// The median data in flight, as a share of the path's BDP. The BDP is known only if the flow filled the pipe.
    pub of_bdp: f64,
    /// The data in flight, in packets, times the square root of the recoveries and reductions per packet: about 1.2 for Reno (Mathis et
    /// al., "The Macroscopic Behavior of the TCP Congestion Avoidance Algorithm", 1997).
    pub mathis: f64,
    /// The share of lost packets.
    pub lost: f64,
}

impl Signs {
    /// The signs of a flow. `is_at_sender` says that the capture was taken at its sender.
    pub fn of(flow: &Flow, is_at_sender: bool) -> Signs {
        let mss = flow.mss() as f64;
        let packets = |round: &Round| round.most().get() as f64 / mss;
        let rounds = free(flow.rounds.done());
        let later = rounds.get(FIRST_ROUNDS..).unwrap_or_default();
        let steps: Vec<f64> = clean(later)
            .map(|[_, (_, second), (_, third)]| packets(third) - packets(second))
            .collect();
        let shrinks = steps.iter().filter(|step| **step < -NOISE_PACKETS).count();
        let course = rounds.iter().map(|(_, one)| (one.at, packets(one)));
        let course: Vec<(Time, f64)> = course.collect();
        let cuts = if is_at_sender {
            cuts_of_recoveries(flow, mss)
        } else {
            cuts_of_rounds(later, packets)
        };
        let windows: Vec<f64> = later.iter().map(|(_, one)| packets(one)).collect();
        let window = median(&windows);
        let sent = flow.totals.packets.max(1) as f64;
        let cuts_in_all = flow.recovery.recoveries.count + flow.recovery.recoveries.reductions;
        let bdp = flow
            .model
            .bdp()
            .filter(|_| flow.model.is_filled())
            .map_or(f64::NAN, |bdp| bdp.get() as f64 / mss);
        Signs {
            rounds: rounds.len(),
            probes: Probes::of(&course),
            cuts: cuts.len(),
            cut_share: median(&cuts),
            steps: steps.len(),
            growth: median(&steps),
            shrinks: shrinks as f64 / steps.len() as f64,
            of_bdp: window / bdp,
            mathis: window * (cuts_in_all as f64 / sent).sqrt(),
            lost: (flow.recovery.repeats.lost() + flow.lost_before()) as f64 / sent,
        }
    }
}

/// The median; NaN if there are no values.
fn median(values: &[f64]) -> f64 {
    statistics::median(values.iter().copied()).unwrap_or(f64::NAN)
}

/// A round and its number.
type Numbered = (usize, Round);

/// The rounds that neither the application nor the receiver limited.
fn free(rounds: &[Round]) -> Vec<Numbered> {
    let all = rounds.iter().copied().enumerate();
    let free = all.filter(|(_, round)| !round.is_held && !round.most().is_zero());
    free.collect()
}

/// Each three consecutive rounds without a loss.
fn clean(rounds: &[Numbered]) -> impl Iterator<Item = &[Numbered; 3]> {
    let threes = rounds.windows(3).filter_map(|three| three.first_chunk());
    threes.filter(|three: &&[Numbered; 3]| {
        three[2].0 == three[0].0 + 2 && three.iter().all(|(_, round)| round.repeats == 0)
    })
}

/// For each recovery, the data in flight after it as a share of the data in flight before it.
fn cuts_of_recoveries(flow: &Flow, mss: f64) -> Vec<f64> {
    let cuts = flow.recovery.recoveries.cuts().iter();
    let shares = cuts.filter_map(|cut| {
        let (before, after) = (cut.before.get() as f64, cut.after.get() as f64);
        (before > MIN_CUT_PACKETS * mss).then(|| after / before)
    });
    shares.collect()
}

/// The same from rounds, for captures away from the sender.
fn cuts_of_rounds(rounds: &[Numbered], packets: impl Fn(&Round) -> f64) -> Vec<f64> {
    let mut cuts = Vec::new();
    let mut before = None;
    let mut has_lost = false;
    for two in rounds.windows(2) {
        let [(number, first), (next, second)] = two else {
            continue;
        };
        if *next != number + 1 {
            (before, has_lost) = (None, false);
            continue;
        }
        match (first.repeats > 0, second.repeats > 0) {
            (false, true) => {
                before.get_or_insert(packets(first));
                has_lost = true;
            }
            (false, false) if has_lost => {
                if let Some(before) = before.take()
                    && before > MIN_CUT_PACKETS
                {
                    cuts.push(packets(second) / before);
                }
                has_lost = false;
            }
            _ => {}
        }
    }
    cuts
}

#[cfg(test)]
mod tests {
    use units::Bytes;

    use super::*;
    use connection::Rounds;
    use connection::memory::Room;

    /// Rounds with these numbers of one-byte packets. `None` is a round that the application limited. With `has_losses`, the
    /// second round has a loss.
    fn rounds(packets: &[Option<u64>], has_losses: bool) -> Vec<Numbered> {
        let mut rounds = Rounds::new(Time::ZERO);
        for (number, packets) in packets.iter().enumerate() {
            match packets {
                Some(packets) => rounds.on_flight(Bytes::new(*packets)),
                None => rounds.on_hold(),
            }
            if has_losses && number == 1 {
                rounds.on_repeat();
            }
            rounds.begin(Time::ZERO, Room::Plenty);
        }
        free(rounds.done())
    }

    #[test]
    fn rounds_with_a_pause_between_them_are_not_consecutive() {
        let row = [10, 11, 12, 13].map(Some);
        assert_eq!(clean(&rounds(&row, false)).count(), 2);
        let pause = [Some(10), Some(11), None, Some(30), Some(31)];
        assert_eq!(clean(&rounds(&pause, false)).count(), 0);
        let packets = |round: &Round| round.most().get() as f64;
        let cut = [10, 10, 5, 5].map(Some);
        assert_eq!(cuts_of_rounds(&rounds(&cut, true), packets), [0.5]);
        let pause = [Some(10), Some(10), None, Some(5), Some(5)];
        assert!(cuts_of_rounds(&rounds(&pause, true), packets).is_empty());
    }
}
