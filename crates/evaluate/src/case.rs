//! What is run: the cases, and the controllers of each.

use std::fmt;
use std::sync::Arc;

use congestion::ControllerKind;
use lab::EngineKind;
use scenario::Scenario;
use tables::numbers;

use crate::criteria::Criteria;
use crate::drawn;

/// The controllers that run beside the subject, in its place and on the same seeds. Beside a controller of the kernel, those
/// that the kernel has.
pub const REFERENCES: [ControllerKind; 4] = [
    ControllerKind::Cubic,
    ControllerKind::Reno,
    ControllerKind::Bbr1,
    ControllerKind::Bbr3,
];

/// How much is run.
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
}

/// `4 seeds and 12 drawn paths`.
impl fmt::Display for Extent {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}", numbers::count(self.seeds, "seed"))?;
        match self.paths {
            0 => Ok(()),
            paths => write!(f, " and {}", numbers::count(paths as u64, "drawn path")),
        }
    }
}

/// One scenario with one seed: every controller runs it.
#[derive(Debug)]
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
#[derive(Debug)]
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
