//! Guards, which stop a study early.

use crate::effect::Effect;
use crate::findings::Measured;
use crate::plan::{Guard, Plan};
use crate::verdict::{change, range};

impl Guard {
    /// True if the effect is worse than the guard allows, by the anytime-valid interval.
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

/// The first broken guard, in words. The intervals are corrected for the number of arms, so that a study with several
/// arms is no more likely to stop by a false alarm.
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

    /// An effect with this interval at any time. For a single look, it is almost certain.
    fn effect(low: f64, high: f64) -> Effect {
        let change = f64::midpoint(low, high);
        Effect {
            change,
            once: Interval {
                low: change - 0.001,
                high: change + 0.001,
            },
            always: Interval { low, high },
            p: 0.0,
            p_always: 0.0,
            units: [100; 2],
            connections: [100; 2],
        }
    }

    /// A plan with two equal arms and this guard.
    fn guarded(guard: &str) -> Plan {
        planned(&["cubic", "reno"], guard)
    }

    fn planned(arms: &[&str], guards: &str) -> Plan {
        let arms = arms.iter();
        let arms = arms.map(|name| format!("{{ controller = \"{name}\", share = \"1%\" }}"));
        let arms = arms.collect::<Vec<_>>().join(", ");
        let text = format!(
            "name = \"a\"\ncgroup = \"a\"\nunit = \"prefix\"\nduration = \"1h\"\nconnections = {{ listen = [80] }}\n\
             arm = [{arms}]\nguard = [{guards}]\n"
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

    #[test]
    fn a_study_at_the_limit_is_seldom_stopped_however_often_one_looks() {
        // The second arm is exactly as much worse as the guard allows: a fifth less throughput, or a quarter more RTT.
        for (measure, effect) in [("throughput", -0.2), ("rtt", 0.0)] {
            let plan = guarded(&format!("{{ measure = \"{measure}\", worse = \"25%\" }}"));
            let is_stopped = |seed: &u64| {
                let mut measured = Measured::new(2);
                let study = Model::new(Units::Connections(2000), effect).study(*seed);
                study.chunks(study.len().div_ceil(50)).any(|part| {
                    for of in part {
                        let longer = if of.arm == 1 { 5 } else { 4 };
                        let rtt = of.rtt.map(|rtt| rtt * longer / 4);
                        measured.add(&Observation { rtt, ..of.clone() });
                    }
                    broken(&plan, &measured).is_some()
                })
            };
            let stopped = (0..200).filter(is_stopped).count();
            assert!(stopped <= 10, "{measure}: {stopped} of 200");
        }
    }

    #[test]
    fn each_guard_holds_for_each_arm() {
        let guards = ["throughput", "resent"]
            .map(|measure| format!("{{ measure = \"{measure}\", worse = \"25%\" }}"));
        let plan = planned(&["cubic", "reno", "bbr"], &guards.join(", "));
        for (arm, name) in [(1, "reno"), (2, "bbr")] {
            let mut measured = Measured::new(3);
            for of in Model::new(Units::Connections(3000), 0.0).study(1) {
                let is_worse = (of.unit >> 62) as usize == arm;
                let resent = of.packets / if is_worse { 5 } else { 50 };
                measured.add(&Observation {
                    arm: ((of.unit >> 62) as usize).min(2),
                    resent,
                    ..of
                });
            }
            let why = broken(&plan, &measured).expect("ten times as many");
            let part = format!("retransmitted packets of {name} against cubic");
            assert!(why.contains(&part), "{why}");
        }
    }
}
