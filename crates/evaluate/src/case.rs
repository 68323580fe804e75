//! What is run: the cases, and the controllers of each.

use std::fmt;
use std::sync::Arc;

use congestion::ControllerKind;
use lab::EngineKind;
use scenario::Scenario;
use tables::numbers;

use crate::criteria::{Criteria, Experiment};
use crate::drawn;

/// The controllers that run beside the subject, in its place and on the same seeds. Beside a controller of the kernel, those
/// that the kernel has.
pub const REFERENCES: [ControllerKind; 4] = [
    ControllerKind::Cubic,
    ControllerKind::Reno,
    ControllerKind::Bbr1,
    ControllerKind::Bbr3,
];

/// How much is run. What is not run counts none.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Extent {
    /// The seeds of each experiment with a path of its own.
    pub seeds: u64,
    /// The number of drawn paths.
    pub paths: usize,
}

impl Extent {
    /// For a first look. Four seeds hide rare cases.
    pub const QUICK: Extent = Extent {
        seeds: 4,
        paths: 12,
    };

    /// For a controller of the kernel, in real time: a run takes as long as its scenario.
    pub const LIVE: Extent = Extent { seeds: 3, paths: 0 };

    /// For a judgement: 60 seeds, of which the worst can be called a worst case, and all drawn paths.
    pub const WHOLE: Extent = Extent {
        seeds: 60,
        paths: drawn::PATHS,
    };

    /// What these experiments take of it.
    pub(crate) fn of(self, experiments: &[Experiment]) -> Extent {
        let has = |drawn: bool| experiments.iter().any(|one| one.drawn == drawn);
        Extent {
            seeds: if has(false) { self.seeds } else { 0 },
            paths: if has(true) { self.paths } else { 0 },
        }
    }

    /// Whether all that both have run is the same.
    pub fn is_like(self, other: Extent) -> bool {
        let is_like = |one: u64, other: u64| one == other || one == 0 || other == 0;
        is_like(self.seeds, other.seeds) && is_like(self.paths as u64, other.paths as u64)
    }
}

/// `4 seeds and 12 drawn paths`.
impl fmt::Display for Extent {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let seeds = numbers::count(self.seeds, "seed");
        let paths = numbers::count(self.paths as u64, "drawn path");
        match (self.seeds, self.paths) {
            (_, 0) => write!(f, "{seeds}"),
            (0, _) => write!(f, "{paths}"),
            _ => write!(f, "{seeds} and {paths}"),
        }
    }
}

/// One scenario with one seed: every controller runs it.
#[derive(Debug, Clone)]
pub(crate) struct Case {
    /// The index of its experiment.
    pub experiment: usize,
    /// Its seed, or its drawn path, in words.
    pub name: String,
    /// The scenario with the subject.
    pub scenario: Arc<Scenario>,
    /// The run of the subject, and of each reference.
    pub runs: Vec<usize>,
}

/// What is run, and for which controller.
#[derive(Debug, Clone)]
pub(crate) struct Planned {
    pub criteria: Criteria,
    pub extent: Extent,
    /// The subject's controller.
    pub controller: String,
    /// The engine of the runs.
    pub engine: EngineKind,
    /// The controllers that run in the subject's place.
    pub references: Vec<ControllerKind>,
    pub cases: Vec<Case>,
}
