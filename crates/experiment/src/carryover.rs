//! A study by slots over the time since its arms were switched: the duration of the previous arm's effect.
//!
//! When a slot begins, connections of the arm before still send, and its queues are still there (the carryover effect
//! of switchback experiments). Slots are randomised one by one. So some slots of an arm follow a slot of another arm,
//! in proportion to the other arms' shares: with two equal arms, about half. The others follow a slot of the same arm.
//! A difference between the two is the carryover of the arm before. The plan's washout suffices if there is no
//! difference after it.

use std::collections::HashMap;

use serde::Serialize;
use units::Duration;

use crate::assignment::Unit;
use crate::effect::{DOUBT, Difference, Effect};
use crate::mean::Mean;
use crate::measure::Measure;
use crate::observation::{Observation, Scope};
use crate::plan::Plan;
use crate::tally::Tally;
use crate::timeline::MAX_UNIX_S;

/// The measures that are shown: those of paths, and the times of objects that wait in the queues of others.
pub const MEASURES: [Measure; 4] = [
    Measure::Throughput,
    Measure::Time10k,
    Measure::Resent,
    Measure::Rtt,
];

/// Without a washout, bins are as with a washout of a slot divided by this.
const SLOT_DIVISOR: f64 = 10.0;

/// The first bin ends at the washout divided by this.
const WASHOUT_DIVISOR: f64 = 4.0;

/// The maximum number of slots that one object is followed through.
const MAX_FOLLOWED_SLOTS: usize = 64;

/// The times of an observation.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct When {
    /// The index of the machine. Each has its own traffic.
    pub machine: usize,
    /// The time when its connection was set up, in seconds since 1970, if the connection is known.
    pub set_up: Option<f64>,
    /// The time when it began, in seconds since 1970.
    pub begun: f64,
    /// True if it is evaluated. It is not if its connection was set up in a washout.
    pub is_evaluated: bool,
}

/// A slot of a machine.
type Slot = (usize, u64);

/// A study by slots over the time since its arms were switched.
#[derive(Debug, Clone)]
pub struct Carryover {
    arms: usize,
    slot_s: f64,
    washout_s: f64,
    /// The ends of the bins, as seconds since the beginning of the slot.
    ends: Vec<f64>,
    /// The number of connections of each arm that were set up in a slot.
    set_up: HashMap<Slot, Vec<u64>>,
    /// The values in each bin, and behind the washout.
    bins: Vec<[Values; MEASURES.len()]>,
    /// The time that objects took in each bin of slots after a slot of another arm: of other arms, and of all.
    sending: Vec<[f64; 2]>,
}

/// The values of a measure in a bin.
#[derive(Debug, Clone)]
struct Values {
    /// The mean of each arm.
    means: Vec<Mean>,
    /// The values of each arm after a slot of the same arm, and then those after a slot of another arm.
    after: Tally,
}

/// The bins since the switch.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct Since {
    /// The length of a slot.
    pub slot_s: f64,
    /// The part of it that is not evaluated.
    pub washout_s: f64,
    /// The bins, in order of time.
    pub bins: Vec<SinceBin>,
    /// Everything that is evaluated, in one bin.
    pub behind: SinceBin,
    /// The number of intervals in evaluated bins.
    pub intervals: usize,
    /// The number of them that do not contain 0. Chance alone gives one in twenty when the study is over. Before, at
    /// one look, it gives at most one in 400: anytime-valid intervals reach at least 3.03 standard errors to each side.
    pub beyond: usize,
}

/// A bin.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct SinceBin {
    /// Its beginning, in seconds since the beginning of the slot.
    pub from_s: f64,
    /// Its end.
    pub to_s: f64,
    /// True if it is evaluated, or part of the washout.
    pub is_evaluated: bool,
    /// The share of objects' time that belongs to connections of other arms, in slots after a slot of another arm.
    pub of_others: Option<f64>,
    /// The values of each arm.
    pub arms: Vec<ArmSince>,
}

/// The values of an arm in a bin.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct ArmSince {
    /// Its controller.
    pub controller: String,
    /// The value of each measure.
    pub measures: Vec<ValueSince>,
}

/// The value of a measure in a bin.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct ValueSince {
    /// The measure.
    pub measure: Measure,
    /// The geometric mean in bit/s or seconds, or the share.
    pub value: Option<f64>,
    /// The number of observations.
    pub observations: u64,
    /// The effect of a slot of another arm before this one, against a slot of the same arm before it. Each interval is
    /// a 95 % interval by itself.
    pub carryover: Option<Effect>,
}

impl Carryover {
    /// An empty carryover. `None` if the plan's unit is no slot.
    pub fn new(plan: &Plan) -> Option<Carryover> {
        let Unit::Slot(slot) = plan.unit else {
            return None;
        };
        let arms = plan.arms.len();
        let ends = ends(slot, plan.washout);
        let values = || Values {
            means: vec![Mean::default(); arms],
            after: Tally::new(2 * arms),
        };
        Some(Carryover {
            arms,
            slot_s: slot.as_secs_f64(),
            washout_s: plan.washout.as_secs_f64(),
            set_up: HashMap::new(),
            bins: (0..=ends.len())
                .map(|_| std::array::from_fn(|_| values()))
                .collect(),
            sending: vec![[0.0; 2]; ends.len()],
            ends,
        })
    }

    /// Notes a connection. All connections are noted before any observation is added: they show which arm was in force.
    pub fn note(&mut self, machine: usize, set_up: f64, arm: usize) {
        let counts = self.set_up.entry((machine, self.slot(set_up)));
        if let Some(count) = counts.or_insert_with(|| vec![0; self.arms]).get_mut(arm) {
            *count += 1;
        }
    }

    /// Adds an observation.
    pub fn add(&mut self, of: &Observation, when: &When) {
        if of.arm >= self.arms {
            return;
        }
        if of.scope != Scope::Carrier && of.acknowledged > 0 {
            self.follow(of, when);
        }
        let Some(set_up) = when.set_up else { return };
        let slot = self.slot(set_up);
        let since = set_up - slot as f64 * self.slot_s;
        // Neither holds if the clock was set while the study ran.
        let is_in_place = self.in_force((when.machine, slot)) == Some(of.arm)
            && (since >= self.washout_s) == when.is_evaluated;
        if !is_in_place || since >= self.slot_s {
            return;
        }
        let bin = self.ends.partition_point(|end| *end <= since);
        let behind = when.is_evaluated.then_some(self.ends.len());
        let before = self.before((when.machine, slot));
        for bin in [bin].into_iter().chain(behind) {
            for (measure, values) in MEASURES.iter().zip(&mut self.bins[bin]) {
                let Some(sample) = measure.sample(of) else {
                    continue;
                };
                values.means[of.arm].add(sample);
                if let Some(before) = before {
                    let place = if before == of.arm { 0 } else { self.arms };
                    values.after.add(place + of.arm, of.unit, sample);
                }
            }
        }
    }

    /// Adds the time of an object to the bins in which it was sent.
    fn follow(&mut self, of: &Observation, when: &When) {
        let (first, end) = (self.slot(when.begun), when.begun + of.busy.as_secs_f64());
        for slot in (first..).take(MAX_FOLLOWED_SLOTS) {
            let begin = slot as f64 * self.slot_s;
            if begin >= end {
                break;
            }
            let slot = (when.machine, slot);
            let Some(arm) = self.in_force(slot) else {
                continue;
            };
            if self.before(slot).is_none_or(|before| before == arm) {
                continue;
            }
            let mut from = 0.0_f64;
            for (to, sending) in self.ends.iter().zip(&mut self.sending) {
                let there = to.min(end - begin) - from.max(when.begun - begin);
                from = *to;
                if there > 0.0 {
                    sending[0] += if of.arm == arm { 0.0 } else { there };
                    sending[1] += there;
                }
            }
        }
    }

    /// The number of the slot at this time.
    #[expect(
        clippy::cast_possible_truncation,
        clippy::cast_sign_loss,
        reason = "it saturates"
    )]
    fn slot(&self, unix_s: f64) -> u64 {
        (unix_s.min(MAX_UNIX_S as f64) / self.slot_s) as u64
    }

    /// The arm that was in force in a slot: that of most connections. `None` if there were none.
    fn in_force(&self, slot: Slot) -> Option<usize> {
        let counts = (0..).zip(self.set_up.get(&slot)?);
        let most = counts.filter(|(_, count)| **count > 0);
        most.max_by_key(|(_, count)| **count).map(|(arm, _)| arm)
    }

    /// The arm that was in force in the slot before.
    fn before(&self, (machine, slot): Slot) -> Option<usize> {
        self.in_force((machine, slot.checked_sub(1)?))
    }

    /// The bins. Their intervals are for a single look if the study is over, otherwise anytime-valid.
    pub fn since(&self, names: &[&str], is_over: bool) -> Since {
        let begins = [0.0].into_iter().chain(self.ends.iter().copied());
        let bins = begins.zip(&self.ends).enumerate();
        let bins = bins.map(|(place, (from_s, to_s))| {
            self.bin([from_s, *to_s], place, self.sending[place], names)
        });
        let bins: Vec<SinceBin> = bins.collect();
        let sending = bins.iter().zip(&self.sending);
        let sending = sending.filter(|(bin, _)| bin.is_evaluated);
        let sending = sending.fold([0.0; 2], |all, (_, of)| [all[0] + of[0], all[1] + of[1]]);
        let all = [self.washout_s, self.slot_s];
        let behind = self.bin(all, self.ends.len(), sending, names);
        let evaluated = bins.iter().filter(|bin| bin.is_evaluated);
        let values = evaluated.flat_map(|bin| bin.arms.iter().flat_map(|arm| &arm.measures));
        let intervals = values.filter_map(|value| value.carryover);
        let intervals: Vec<_> = intervals.map(|effect| effect.interval(is_over)).collect();
        Since {
            slot_s: self.slot_s,
            washout_s: self.washout_s,
            bins,
            behind,
            intervals: intervals.len(),
            beyond: intervals
                .iter()
                .filter(|interval| !interval.has(0.0))
                .count(),
        }
    }
}

impl Carryover {
    /// The values of a bin, or of all that is evaluated.
    fn bin(
        &self,
        [from_s, to_s]: [f64; 2],
        place: usize,
        [others, all]: [f64; 2],
        names: &[&str],
    ) -> SinceBin {
        let value = |arm: usize, (measure, values): (&Measure, &Values)| {
            let kind = measure.kind();
            let carryover = Difference::of(&values.after, [arm, self.arms + arm], kind);
            ValueSince {
                measure: *measure,
                value: values.means[arm].value(kind),
                observations: values.means[arm].count,
                carryover: carryover.map(|difference| difference.effect(DOUBT)),
            }
        };
        let arm = |(arm, name): (usize, &&str)| {
            let values = MEASURES.iter().zip(&self.bins[place]);
            ArmSince {
                controller: (*name).to_owned(),
                measures: values.map(|of| value(arm, of)).collect(),
            }
        };
        SinceBin {
            from_s,
            to_s,
            is_evaluated: from_s >= self.washout_s,
            of_others: (all > 0.0).then(|| others / all),
            arms: names.iter().enumerate().take(self.arms).map(arm).collect(),
        }
    }
}

/// The ends of the bins: a quarter, a half and the whole of the washout, and from there on twice the one before.
fn ends(slot: Duration, washout: Duration) -> Vec<f64> {
    let slot = slot.as_secs_f64();
    let washout = match washout.as_secs_f64() {
        0.0 => slot / SLOT_DIVISOR,
        some => some,
    };
    let doubled = std::iter::successors(Some(washout / WASHOUT_DIVISOR), |end| Some(end * 2.0));
    let within = doubled.take_while(|end| *end < slot);
    within.chain([slot]).collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::Key;

    const PLAN: &str = "name = 'a'\ncgroup = 'a'\nunit = 'slot'\nslot = '100s'\nwashout = '10s'\nduration = '24h'\nseed = 'x'\n\
        connections = { listen = [80] }\n\
        arm = [{ controller = 'cubic', share = '50%' }, { controller = 'bbr', share = '50%' }]\n";

    fn object(unit: u64, arm: usize, acknowledged: u64, busy: Duration) -> Observation {
        Observation {
            scope: Scope::Object,
            unit,
            arm,
            acknowledged,
            busy,
            packets: 0,
            resent: 0,
            rtt: None,
            groups: Vec::new(),
        }
    }

    /// An object that begins at once when its connection is set up.
    fn when(set_up: f64, is_evaluated: bool) -> When {
        When {
            machine: 0,
            set_up: Some(set_up),
            begun: set_up,
            is_evaluated,
        }
    }

    /// Objects of 4 MB each second, over 600 slots. For 4 s after a slot of another arm, they take twice as long. Each
    /// slot also begins an object 7 s before its end, which lasts until 3 s after it.
    fn study() -> Carryover {
        let plan = Plan::parse(PLAN).unwrap();
        let mut carryover = Carryover::new(&plan).unwrap();
        let key = Key::of_seed("x");
        let mut all = Vec::new();
        let mut before = None;
        for slot in 0..600_u64 {
            let at = |second: u64| (100 * slot + second) as f64;
            let unit = key.draw(plan.unit.subject(
                0,
                [0, 0, 0, 0].into(),
                Duration::from_secs(100 * slot),
            ));
            let arm = plan.shares().arm(unit);
            let is_after_other = before.replace(arm).is_some_and(|before| before != arm);
            for second in 0..100 {
                let is_slow = is_after_other && second < 4;
                let noise = unit.rotate_left(8) as u8;
                let millis = 900 + u64::from(noise) / 3 + if is_slow { 1000 } else { 0 };
                all.push((unit, arm, at(second), millis));
            }
            all.push((unit, arm, at(93), 10_000));
        }
        for (_, arm, set_up, _) in &all {
            carryover.note(0, *set_up, *arm);
        }
        for (unit, arm, set_up, millis) in all {
            let of = object(unit, arm, 4_000_000, Duration::from_millis(millis));
            let when = when(set_up, set_up % 100.0 >= 10.0);
            carryover.add(&of, &when);
            // A clock was set: the connection is evaluated though it should not be, or the reverse.
            let moved = When {
                is_evaluated: !when.is_evaluated,
                ..when
            };
            carryover.add(&of, &moved);
        }
        carryover
    }

    #[test]
    fn what_the_arm_before_has_left_shows_until_it_is_gone() {
        let since = study().since(&["cubic", "bbr"], true);
        let ends: Vec<f64> = since.bins.iter().map(|bin| bin.to_s).collect();
        assert_eq!(ends, [2.5, 5.0, 10.0, 20.0, 40.0, 80.0, 100.0]);
        let evaluated: Vec<bool> = since.bins.iter().map(|bin| bin.is_evaluated).collect();
        assert_eq!(evaluated, [false, false, false, true, true, true, true]);
        for arm in 0..2 {
            let change = |bin: usize| {
                let values = &since.bins[bin].arms[arm].measures[0];
                assert_eq!(values.measure, Measure::Throughput);
                values.carryover.unwrap()
            };
            // Twice the time or a little less, as 1000 ms are added to 900 to 985.
            assert!(
                (-0.53..-0.48).contains(&change(0).change),
                "{:?}",
                change(0)
            );
            assert!(change(0).once.high < -0.4 && change(1).once.high < -0.1);
            for bin in 2..ends.len() {
                assert!(change(bin).change.abs() < 0.02, "{bin}: {:?}", change(bin));
                assert!(change(bin).units.iter().all(|units| *units > 100));
            }
        }
        for arm in &since.behind.arms {
            let all = &arm.measures[0];
            assert!(
                all.carryover
                    .is_some_and(|effect| effect.change.abs() < 0.01)
            );
            let bins = since.bins.iter().filter(|bin| bin.is_evaluated);
            let bins = bins
                .flat_map(|bin| &bin.arms)
                .filter(|of| of.controller == arm.controller);
            let sum: u64 = bins.map(|arm| arm.measures[0].observations).sum();
            assert_eq!(all.observations, sum);
        }
        // Of other measures there is nothing.
        assert!(since.intervals <= 8 && since.beyond <= 2, "{since:?}");
        let of_others: Vec<f64> = since
            .bins
            .iter()
            .map(|bin| bin.of_others.unwrap())
            .collect();
        assert!(of_others[0] > 0.2 && of_others[1] > 0.0, "{of_others:?}");
        assert_eq!(of_others[2..], [0.0; 5]);
    }

    #[test]
    fn damaged_times_do_no_harm() {
        let plan = Plan::parse(PLAN).unwrap();
        let mut carryover = Carryover::new(&plan).unwrap();
        for set_up in [f64::NAN, f64::INFINITY, -1.0, 1e300] {
            carryover.note(0, set_up, 7);
            carryover.note(0, set_up, 0);
            for arm in [0, 7] {
                carryover.add(&object(1, arm, 1, Duration::MAX), &when(set_up, true));
            }
        }
        let since = carryover.since(&["cubic", "bbr"], false);
        assert_eq!((since.bins.len(), since.intervals), (7, 0));
    }

    #[test]
    fn bins_follow_the_washout() {
        let of = |slot, washout| ends(Duration::from_secs(slot), Duration::from_secs(washout));
        assert_eq!(of(100, 0), of(100, 10));
        assert_eq!(of(100, 90), [22.5, 45.0, 90.0, 100.0]);
        let plan = Plan::parse(&PLAN.replace("'slot'\nslot = '100s'\nwashout = '10s'", "'prefix'"));
        assert!(Carryover::new(&plan.unwrap()).is_none());
    }
}
