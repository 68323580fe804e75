//! Dips in the data in flight, by which a flow measures RTprop: it reduces its data in flight, and restores it at once.
//! BBRv1 does so every ten seconds, down to four packets (paper, "Estimating RTprop"). BBRv3 does so every five
//! seconds, down to half of the BDP (draft-ietf-ccwg-bbr, "ProbeRTT"). Losses do not matter here: they do not stop the
//! dips, and they do not look like dips, because a loss-based controller restores its window slowly.

use tables::statistics::median;
use units::{Duration, Time};

/// The level before a dip is the median of this many rounds.
const ROUNDS_BEFORE: usize = 8;

/// A dip from fewer packets than this cannot be seen.
const MIN_PACKETS_BEFORE: f64 = 6.0;

/// A dip goes below this share of the level before.
const MAX_SHARE_DOWN: f64 = 0.6;

/// After a dip, the data in flight returns to this share of the level before.
const MIN_SHARE_BACK: f64 = 0.75;

/// A dip returns within this time: 200 ms, and the rounds before and after. If rounds are long, it returns within four
/// rounds.
const MAX_DIP: Duration = Duration::from_millis(1_200);
const MAX_DIP_OF_LONG_ROUNDS: usize = 4;

/// The most rounds that a dip may take.
const MAX_DIP_ROUNDS: usize = 400;

/// The depth of BBRv1's dip, in packets: four, and one more that was on its way. A dip below `MAX_SHARE_DEEP` of the level
/// before, half of what BBRv3 keeps, counts too.
const BBR1_DIP_PACKETS: f64 = 5.0;
const MAX_SHARE_DEEP: f64 = 0.25;

/// The time between the starts of two dips, in seconds: from the interval less a round, to the interval with the dip's
/// own length.
const EVERY_FIVE: [f64; 2] = [4.8, 5.7];
const EVERY_TEN: [f64; 2] = [9.7, 10.9];

/// The share of the due dips that a capture shows. Losses hide the others.
const SEEN_OF_FIVE: f64 = 0.6;
const SEEN_OF_TEN: f64 = 0.7;

/// The bounds on the share of due dips that occur by chance. The lower bound is there because a few dips do not tell
/// how often they occur. The upper bound keeps each met dip from being a sign against the controller.
const CHANCE: [f64; 2] = [0.06, SEEN_OF_FIVE];

/// The dips of a flow, compared with those that a controller would make.
#[derive(Debug, Clone, Copy)]
pub struct Schedule {
    /// Dips that occurred when one was due.
    pub met: usize,
    /// The number of times at which a dip was due.
    pub due: usize,
    /// The share of due dips that would occur by chance, given the number of dips.
    chance: f64,
    /// The share of due dips that the controller would show.
    seen: f64,
}

impl Schedule {
    /// A dip is met by chance if another dip began in a window of this `width`, in seconds, before it. There are this
    /// many `dips` in this `span`.
    fn new(met: usize, due: usize, dips: usize, seen: f64, width: f64, span: f64) -> Schedule {
        let due = due.max(met.min(1));
        let often = dips as f64 / span.max(1.0);
        let chance = 1.0 - (-width * often).exp();
        // Each dip has its chance, and there may be more dips than due times.
        let chance = chance * (dips as f64 / due.max(1) as f64).max(1.0);
        Schedule {
            met: met.min(due),
            due,
            chance: chance.clamp(CHANCE[0], CHANCE[1]),
            seen,
        }
    }

    /// The log-likelihood ratio of the controller against chance.
    pub fn weight(&self) -> f64 {
        let missed = (self.due - self.met) as f64;
        self.met as f64 * (self.seen / self.chance).ln()
            + missed * ((1.0 - self.seen) / (1.0 - self.chance)).ln()
    }
}

/// The dips of a flow.
#[derive(Debug, Clone, Copy)]
pub struct Probes {
    /// The number of dips.
    pub dips: usize,
    /// The dips as BBRv1 would make them.
    pub every_ten: Schedule,
    /// The dips as BBRv3 would make them.
    pub every_five: Schedule,
}

impl Probes {
    /// The number of dips that occurred when one was due.
    pub fn met(&self) -> usize {
        self.every_ten.met + self.every_five.met
    }

    /// Finds the dips in rounds. Each round has its start, and the most packets in flight.
    pub fn of(rounds: &[(Time, f64)]) -> Probes {
        let dips = dips(rounds);
        let begin = rounds.first().map_or(Time::ZERO, |(at, _)| *at);
        let seconds = |at: Time| at.since(begin).as_secs_f64();
        let span = rounds.last().map_or(0.0, |(at, _)| seconds(*at));
        // The first dip is due after the first RTT.
        let starts = |of: &dyn Fn(&&Dip) -> bool| -> Vec<f64> {
            let later = dips.iter().filter(of).map(|dip| seconds(dip.at));
            std::iter::once(0.0).chain(later).collect()
        };
        let all = starts(&|_| true);
        let deep = starts(&|dip| dip.is_deep());
        let is_in = |gap: f64, [least, most]: [f64; 2]| gap >= least && gap <= most;
        // BBRv1 makes no other deep dip in between.
        let is_next =
            |pair: &&[f64]| matches!(pair, [first, next] if is_in(next - first, EVERY_TEN));
        let tens = deep.windows(2).filter(is_next).count();
        // With BBRv3, a dip in between may have been missed.
        let is_due = |dip: &&Dip| {
            let at = seconds(dip.at);
            let mut gaps = all.iter().map(|start| at - start);
            gaps.any(|gap| is_in(gap, EVERY_FIVE) || !dip.is_deep() && is_in(gap, EVERY_TEN))
        };
        let fives = dips.iter().filter(is_due).count();
        let due = |[least, most]: [f64; 2]| ((span - 0.3) / f64::midpoint(least, most)) as usize;
        let width = |[least, most]: [f64; 2]| most - least;
        let deep = deep.len() - 1;
        Probes {
            dips: dips.len(),
            every_ten: Schedule::new(
                tens,
                due(EVERY_TEN),
                deep,
                SEEN_OF_TEN,
                width(EVERY_TEN),
                span,
            ),
            every_five: Schedule::new(
                fives,
                due(EVERY_FIVE),
                dips.len(),
                SEEN_OF_FIVE,
                width(EVERY_FIVE) + width(EVERY_TEN),
                span,
            ),
        }
    }
}

/// A drop of the data in flight that was restored at once.
struct Dip {
    at: Time,
    /// The least data in flight during the dip, and the level before, in packets.
    least: f64,
    before: f64,
}

impl Dip {
    fn is_deep(&self) -> bool {
        self.least <= BBR1_DIP_PACKETS || self.least < MAX_SHARE_DEEP * self.before
    }
}

fn dips(rounds: &[(Time, f64)]) -> Vec<Dip> {
    let mut dips: Vec<Dip> = Vec::new();
    for (index, (at, most)) in rounds.iter().enumerate().skip(ROUNDS_BEFORE) {
        // A lower round belongs to the same dip.
        if let Some(dip) = dips.last_mut()
            && at.since(dip.at) < Duration::from_secs(1)
        {
            dip.least = dip.least.min(*most);
            continue;
        }
        let before = rounds[index - ROUNDS_BEFORE..index].iter();
        let Some(before) = median(before.map(|(_, most)| *most)) else {
            continue;
        };
        let after = rounds[index + 1..].iter().take(MAX_DIP_ROUNDS).enumerate();
        let mut soon = after.take_while(|(later, (then, _))| {
            *later < MAX_DIP_OF_LONG_ROUNDS || then.since(*at) <= MAX_DIP
        });
        if before >= MIN_PACKETS_BEFORE
            && *most <= MAX_SHARE_DOWN * before
            && soon.any(|(_, (_, most))| *most >= MIN_SHARE_BACK * before)
        {
            dips.push(Dip {
                at: *at,
                least: *most,
                before,
            });
        }
    }
    dips
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Rounds of 50 ms for 25 s; `packets` gives the packets in flight of each round.
    fn probes(packets: impl Fn(u64) -> f64) -> Probes {
        let at = |round: u64| Time::ZERO + Duration::from_millis(50 * round);
        let rounds: Vec<(Time, f64)> = (0..500).map(|round| (at(round), packets(round))).collect();
        Probes::of(&rounds)
    }

    /// In every `every` rounds, four have `down` packets in flight. In between, every third round has lost packets.
    fn dipping(every: u64, down: f64) -> Probes {
        probes(|round| match round % every {
            0..4 if round >= every => down,
            of if of % 3 == 0 => 31.0,
            _ => 40.0,
        })
    }

    #[test]
    fn half_of_the_bdp_every_five_seconds_is_bbrv3() {
        let found = dipping(103, 18.0);
        assert_eq!(
            (found.dips, found.every_five.met, found.every_five.due),
            (4, 4, 4)
        );
        assert!(found.every_five.weight() > found.every_ten.weight() + 5.0);
        // Four packets may be half of a small BDP, too.
        let found = dipping(103, 4.0);
        assert_eq!((found.every_five.met, found.every_ten.met), (4, 0));
    }

    #[test]
    fn four_packets_every_ten_seconds_are_bbrv1() {
        let found = dipping(204, 4.0);
        assert_eq!(
            (found.dips, found.every_ten.met, found.every_ten.due),
            (2, 2, 2)
        );
        assert_eq!(found.every_five.met, 0);
        assert!(found.every_ten.weight() > found.every_five.weight() + 5.0);
    }

    /// Sixty seconds of rounds. Dips to half begin at random, at this average rate per second.
    fn by_chance(seed: u64, often: f64) -> Probes {
        let mut state = seed;
        let mut left = 0;
        let mut packets = |_| {
            state = state
                .wrapping_mul(6364136223846793005)
                .wrapping_add(1442695040888963407);
            if left == 0 && ((state >> 33) as f64) < often * 0.05 * (1u64 << 31) as f64 {
                left = 4;
            }
            let is_down = left > 0;
            left -= u64::from(is_down);
            if is_down { 18.0 } else { 40.0 }
        };
        let at = |round: u64| Time::ZERO + Duration::from_millis(50 * round);
        let rounds: Vec<(Time, f64)> = (0..1200).map(|round| (at(round), packets(round))).collect();
        Probes::of(&rounds)
    }

    #[test]
    fn dips_by_chance_are_taken_for_probes_as_seldom_as_the_weight_says() {
        for often in [0.1, 0.2, 0.3, 0.5] {
            let weights = (1..=400).map(|seed| by_chance(seed, often).every_five.weight());
            let weights: Vec<f64> = weights.collect();
            // A weight that says "twenty times as likely" may be wrong in one case of twenty at most.
            let sure = weights
                .iter()
                .filter(|weight| **weight > 20f64.ln())
                .count();
            let mean = weights.iter().sum::<f64>() / 400.0;
            assert!(
                sure <= 20 && mean < 0.5,
                "{often}/s: {sure} of 400, {mean:.2} on average"
            );
        }
    }

    #[test]
    fn halves_that_come_back_slowly_are_no_dips_and_many_dips_show_nothing() {
        let reno = probes(|round| 100.0 + (round % 100) as f64);
        assert_eq!(reno.dips, 0);
        let often = dipping(21, 18.0);
        assert!(often.dips > 15);
        assert!(often.every_five.weight() < 1.0);
    }
}
