//! Studies that run only the current BBR, and what they would show with the BBR of the publications' years.
//!
//! [`of_its_time`] is the plan of such a study with BBR of Linux 4.19. A [`Comparison`] has the findings of both: the
//! expectations of claims that one of them meets and the other does not, and how far the two BBRs are apart in each
//! study. [`section`] is a page of comparisons.

mod difference;
mod document;

pub use difference::{Comparison, Difference};
pub use document::{MARKS, section, table};

use std::sync::Arc;

use congestion::ControllerKind;
use scenario::{Bbr1Variant, Controller, FlowSpec};
use studies::runs::Plan;

/// The same runs with BBR of Linux 4.19, if BBR runs in the plan and is the current one in all of it.
pub fn of_its_time(plan: &Plan) -> Option<Plan> {
    let is_bbr = |flow: &FlowSpec| flow.controller == Controller::Ours(ControllerKind::Bbr1);
    let is_today = |flow: &FlowSpec| {
        flow.bbr1
            .is_none_or(|bbr1| bbr1.variant == Bbr1Variant::Linux)
    };
    let flows = || plan.points.iter().flat_map(|point| &point.scenario.flows);
    let mut of_bbr = flows().filter(|flow| is_bbr(flow)).peekable();
    if of_bbr.peek().is_none() || !of_bbr.all(is_today) {
        return None;
    }
    let mut other = plan.clone();
    let points = other.points.iter_mut().map(|point| &mut point.scenario);
    let scenarios = points.chain(other.runs.iter_mut().map(|run| &mut run.scenario));
    for flow in scenarios.flat_map(|scenario| &mut Arc::make_mut(scenario).flows) {
        flow.bbr1.get_or_insert_default().variant = Bbr1Variant::Linux419;
    }
    Some(other)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::study::{Length, Shelf, Source};

    #[test]
    fn studies_of_the_current_bbr_alone_are_found() {
        let plan = |name| {
            let source = Source::of_study(name, &Shelf::built_in("claims"), Length::Quick);
            source.unwrap().plan(lab::EngineKind::Sim).unwrap()
        };
        let today = plan("initial-window");
        let then = of_its_time(&today).expect("it runs the current BBR alone");
        let flows = then.runs.iter().flat_map(|run| &run.scenario.flows);
        let mut variants = flows.map(|flow| flow.bbr1.expect("set").variant);
        assert!(variants.all(|variant| variant == Bbr1Variant::Linux419));
        let seeds =
            |plan: &Plan| -> Vec<u64> { plan.runs.iter().map(|run| run.scenario.seed).collect() };
        assert_eq!(seeds(&then), seeds(&today));
        for (name, why) in [
            ("probe-rtt-alone", "runs both"),
            ("cubic-scaling", "has no BBR"),
        ] {
            assert!(of_its_time(&plan(name)).is_none(), "{name} {why}");
        }
    }
}
