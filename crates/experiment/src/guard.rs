//! Guards, which stop a study early.

use crate::effect::Effect;
use crate::findings::Measured;
use crate::plan::{Guard, Plan};
use crate::verdict::{change, range};

impl Guard {
    /// Whether the effect is worse than the guard allows, by the anytime-valid interval.
    pub fn is_broken(&self, effect: &Effect) -> bool {
        let worse = self.worse.as_f64();
        match self.measure.is_more_better() {
            // If more is better, the guard compares the first arm with this one: the first arm has more by this factor.
            Some(true) => effect.always.high < 1.0 / (1.0 + worse) - 1.0,
            Some(false) => effect.always.low > worse,
            None => false,
        }
    }
}

/// The first broken guard, in words. The intervals are corrected for the number of arms, so that a study with several arms
/// is no more likely to stop by a false alarm.
pub fn broken(plan: &Plan, measured: &Measured) -> Option<String> {
    let names = plan.names();
    (1..names.len()).find_map(|arm| {
        plan.guards.iter().find_map(|guard| {
            let effect = measured.effect(arm, guard.measure)?;
            guard.is_broken(&effect).then(|| {
                format!(
                    "guard: {} of {} against {}: {} (95 % interval at any time {}); the limit is {} worse",
                    guard.measure.title(),
                    names[arm],
                    names[0],
                    change(effect.change),
                    range(effect.always),
                    guard.worse
                )
            })
        })
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::effect::Interval;
    use crate::measure::Measure;
    use crate::observation::{Observation, Scope};
    use crate::simulated::{Model, Units};

    fn effect(low: f64, high: f64) -> Effect {
        let interval = Interval { low, high };
        Effect {
            change: f64::midpoint(low, high),
            once: interval,
            always: interval,
            p: 0.0,
            p_always: 0.0,
            units: [100; 2],
            connections: [100; 2],
        }
    }

    /// A plan with two equal arms and this guard.
    fn guarded(guard: &str) -> Plan {
        let text = format!(
            "name = \"a\"\ncgroup = \"a\"\nunit = \"prefix\"\nduration = \"1h\"\nconnections = {{ listen = [80] }}\n\
             arm = [{{ controller = \"cubic\", share = \"50%\" }}, {{ controller = \"reno\", share = \"50%\" }}]\n\
             guard = [{guard}]\n"
        );
        Plan::parse(&text).unwrap()
    }

    #[test]
    fn a_guard_breaks_when_worse_is_certain() {
        let guard = |measure| Guard {
            measure,
            worse: "25%".parse().unwrap(),
        };
        let resent = guard(Measure::Resent);
        assert!(resent.is_broken(&effect(0.26, 0.9)) && !resent.is_broken(&effect(0.24, 0.9)));
        assert!(!resent.is_broken(&effect(-0.9, -0.3)));
        // A quarter more than this arm's value: a fifth less than the first arm's.
        let throughput = guard(Measure::Throughput);
        assert!(throughput.is_broken(&effect(-0.5, -0.21)));
        assert!(
            !throughput.is_broken(&effect(-0.5, -0.19)) && !throughput.is_broken(&effect(0.3, 0.9))
        );
    }

    #[test]
    fn a_guard_breaks_where_an_arm_has_objects_cut_short() {
        let plan = guarded("{ measure = \"unfinished\", worse = \"50%\" }");
        // One object in this many is cut short.
        let study = |cut: [u64; 2]| {
            let mut measured = Measured::new(2);
            let all = Model::new(Units::Prefixes(600), 0.0).study(1);
            for (number, of) in (0..).zip(all) {
                let is_cut = number % cut[of.arm] == 0;
                let scope = if is_cut { Scope::Part } else { Scope::Object };
                measured.add(&Observation { scope, ..of });
            }
            broken(&plan, &measured)
        };
        let why = study([20, 5]).expect("four times as many");
        assert!(why.contains("objects cut short of reno"), "{why}");
        assert_eq!(study([20, 20]), None);
    }

    #[test]
    fn a_guard_breaks_where_the_first_arm_has_nothing_of_what_is_worse() {
        let plan = guarded("{ measure = \"resent\", worse = \"100%\" }");
        let study = |worse: u64| {
            let mut measured = Measured::new(2);
            for of in Model::new(Units::Prefixes(600), 0.0).study(1) {
                let resent = if of.arm == 1 { of.packets / worse } else { 0 };
                measured.add(&Observation { resent, ..of });
            }
            broken(&plan, &measured)
        };
        let why = study(5).expect("a fifth against nothing");
        assert!(why.contains("retransmitted packets of reno"), "{why}");
        assert_eq!(study(u64::MAX), None);
    }
}
