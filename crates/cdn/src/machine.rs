//! Checks whether the machine kept up with a CDN in real time. If it did not, the results are invalid.

use std::num::NonZero;

use record::Validity;
use serde::Serialize;
use tables::numbers::percent;

/// The share of a second above which the processors count as full: servers and clients then wait for a processor,
/// which is not a property of a path.
pub const FULL_SHARE: f64 = 0.95;

/// The greatest share of such seconds while downloads begin. A mean does not show them. For example, processors were
/// busy for at most 86 % of a pass, but small objects within a site took thirteen times as long in one pass as in
/// another with the same controller. The cause was a few seconds in which many large downloads coincided. The bound is
/// chosen and not measured.
pub const MAX_FULL_SECONDS: f64 = 0.01;

/// The greatest load average per processor before the first pass. A greater load means that other programs are working.
/// They could slow one pass but not another, which would look like an effect. The bound is chosen and not measured. It
/// is not lower because the load average still contains the previous command.
pub const MAX_LOAD: f64 = 0.5;

/// The load average per processor. `None` if the system does not tell it.
pub fn load() -> Option<f64> {
    let processors = std::thread::available_parallelism().map_or(1, NonZero::get);
    linux::machine::load().map(|load| load / processors as f64)
}

/// The reason not to begin a run at this load. `None` if there is none.
pub fn busy(load: Option<f64>) -> Option<String> {
    let load = load.filter(|load| *load > MAX_LOAD)?;
    Some(format!(
        "the load average per processor is {load:.2} (at most {MAX_LOAD:.2}), so the results would not be trusted; end other programs, and \
         wait until it is lower"
    ))
}

/// The state of the machine.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct Machine {
    /// The state in each pass.
    pub passes: Vec<OfPass>,
    /// The load average per processor before the first pass. `None` if the system does not tell it.
    pub load: Option<f64>,
    /// True if all values are within their bounds.
    #[serde(rename = "trusted")]
    pub is_trusted: bool,
    /// The values outside their bounds, in a sentence each.
    pub reason: Option<String>,
}

/// The state of the machine in a pass.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct OfPass {
    /// The name of the choice in force.
    pub name: String,
    /// The validity of the emulated paths.
    pub validity: Validity,
    /// The share of the time in which processors were busy while downloads began. `None` if the system does not tell
    /// it.
    pub busy_share: Option<f64>,
    /// The share of the seconds in which processors were busy for more than [`FULL_SHARE`]. `None` if the system does
    /// not tell it.
    pub full_share: Option<f64>,
}

impl OfPass {
    /// The values that are outside their bounds.
    fn reasons(&self) -> impl Iterator<Item = String> {
        let full = self.full_share.filter(|share| *share > MAX_FULL_SECONDS);
        let full = full.map(|share| {
            let most = percent(MAX_FULL_SECONDS);
            format!(
                "the processors were fully busy in {} of the seconds (at most {most})",
                percent(share)
            )
        });
        let late = self.validity.reason.clone();
        let all = late.into_iter().chain(full);
        all.map(|reason| format!("In the pass \"{}\", {reason}.", self.name))
    }
}

impl Machine {
    /// The state in these passes, and the load before the first one.
    pub fn of(passes: Vec<OfPass>, load: Option<f64>) -> Machine {
        let before = load.filter(|load| *load > MAX_LOAD).map(|load| {
            format!("The load average per processor was {load:.2} before the first pass (at most {MAX_LOAD:.2}).")
        });
        let mut reasons: Vec<String> = before.into_iter().collect();
        reasons.extend(passes.iter().flat_map(OfPass::reasons));
        Machine {
            load,
            is_trusted: reasons.is_empty(),
            reason: (!reasons.is_empty()).then(|| reasons.join(" ")),
            passes,
        }
    }

    /// A warning in one line, if the results cannot be trusted.
    pub fn warning(&self) -> Option<String> {
        let reason = self.reason.as_ref()?;
        Some(format!(
            "Not to be trusted. {reason} Therefore no results are shown. Run the command again on an idle machine."
        ))
    }

    /// The values and their bounds in words.
    pub fn words(&self) -> String {
        let most = |of: fn(&OfPass) -> Option<f64>| {
            let of_passes = self.passes.iter().filter_map(of).reduce(f64::max);
            of_passes.map_or("an unknown share".to_owned(), percent)
        };
        let load = self
            .load
            .map_or("unknown".to_owned(), |load| format!("{load:.2}"));
        format!(
            "The machine was more than 1 ms late for at most {} of a pass's packets. Its processors were busy for at most {} of a pass, and \
             fully busy in at most {} of its seconds. The load average per processor was {load} before the first pass.",
            most(|pass| pass.validity.late_share),
            most(|pass| pass.busy_share),
            most(|pass| pass.full_share)
        )
    }
}

#[cfg(test)]
mod tests {
    use record::PathSummary;

    use super::*;

    /// A pass with this many late packets of 10,000, and this share of full seconds.
    fn pass(late: u64, full_share: f64) -> OfPass {
        let mut path = PathSummary::default();
        path.released_packets = Some(10_000);
        path.late_packets = Some(late);
        path.lateness_mean_ms = Some(0.05);
        path.overflows = Some(0);
        OfPass {
            name: "bbr".to_owned(),
            validity: Validity::at(10.0, [&path].into_iter()),
            busy_share: Some(0.7),
            full_share: Some(full_share),
        }
    }

    #[test]
    fn on_a_busy_machine_no_run_begins() {
        assert_eq!(busy(None).or(busy(Some(MAX_LOAD))), None);
        let line = busy(Some(0.51)).expect("a reason");
        assert!(line.contains("is 0.51 (at most 0.50)"), "{line}");
    }

    #[test]
    fn a_machine_that_kept_up_is_trusted_and_each_bound_has_its_reason() {
        let fine = Machine::of(vec![pass(50, 0.0), pass(60, 0.01)], Some(0.1));
        assert_eq!((fine.is_trusted, fine.warning()), (true, None));
        let words = fine.words();
        for part in [
            "0.6 % of a pass",
            "70.0 % of a pass",
            "1.0 % of its seconds",
            "was 0.10 before",
        ] {
            assert!(words.contains(part), "{words}");
        }
        // Unknown values are accepted.
        assert!(Machine::of(Vec::new(), None).is_trusted);
        for (passes, load, part) in [
            (
                vec![pass(50, 0.0), pass(900, 0.0)],
                0.1,
                "In the pass \"bbr\", the machine was more than 1 ms late for 9.0 %",
            ),
            (
                vec![pass(50, 0.02)],
                0.1,
                "fully busy in 2.0 % of the seconds",
            ),
            (vec![pass(50, 0.0)], 1.3, "was 1.30 before the first pass"),
        ] {
            let machine = Machine::of(passes, Some(load));
            let line = machine.warning().expect("a reason");
            assert!(!machine.is_trusted && line.contains(part), "{line}");
            assert!(line.starts_with("Not to be trusted. ") && !line.contains('\n'));
        }
    }
}
