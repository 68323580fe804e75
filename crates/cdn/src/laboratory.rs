//! All that can happen: each line with each arm, over the same path and with the same objects at the same times.

use std::net::IpAddr;
use std::path::Path;

use emulator::tunnel::TunnelError;
use fleet::steer::SteerError;
use fleet::study::{DataError, Given, GroupError, StudyError};
use fleet::{Systems, SystemsError};
use lab::{EngineError, EngineKind};
use scenario::{ScenarioError, regular};
use studies::runs::{Batch, BatchError, Findings, Plan};

use crate::line::{Line, When};
use crate::observed;
use crate::spec::Spec;

/// So often lines are drawn that the study has not seen, to see what its policy is worth.
pub(crate) const FRESH: u64 = 3;

/// Why there is no result.
#[derive(Debug, thiserror::Error)]
pub enum LabError {
    /// What the text says makes no sense.
    #[error(transparent)]
    Spec(#[from] ScenarioError),
    /// A line's scenario cannot be run.
    #[error(transparent)]
    Batch(#[from] BatchError),
    /// Runs have failed, or were cancelled.
    #[error("{missing} of {all} lines have no result{}", why.as_deref().map(|why| format!(": {why}")).unwrap_or_default())]
    Missing {
        /// So many.
        missing: usize,
        /// Of so many.
        all: usize,
        /// Why the first one failed.
        why: Option<String>,
    },
    /// The study's data cannot be written.
    #[error(transparent)]
    Study(#[from] StudyError),
    /// Or cannot be read back.
    #[error(transparent)]
    Data(#[from] DataError),
    /// The table of systems cannot be read back.
    #[error(transparent)]
    Systems(#[from] SystemsError),
    /// The study makes no policy.
    #[error("the study makes no policy: {0}")]
    NoPolicy(String),
    /// Something cannot be in real time.
    #[error(transparent)]
    Engine(#[from] EngineError),
    /// What the machine lacks for real time.
    #[error("{0}")]
    Lacking(String),
    /// Namespaces, and commands in them.
    #[error(transparent)]
    Linux(#[from] linux::Error),
    /// The paths.
    #[error(transparent)]
    Tunnel(#[from] TunnelError),
    /// Nginx does not serve.
    #[error("nginx does not listen; {0} may say why")]
    Server(String),
    /// What else crosses a line.
    #[error("the background of {client}: {error}")]
    Background {
        /// Whose line.
        client: IpAddr,
        /// What the system said.
        error: std::io::Error,
    },
    /// A policy cannot be in force.
    #[error(transparent)]
    Steer(#[from] SteerError),
    /// Somebody has ended it.
    #[error("it was ended")]
    Cancelled,
    /// A file of the results.
    #[error("{path}: {error}")]
    File {
        /// Which one.
        path: String,
        /// What the system said.
        error: std::io::Error,
    },
}

impl LabError {
    pub(crate) fn file(path: &Path, error: std::io::Error) -> LabError {
        LabError::File {
            path: path.display().to_string(),
            error,
        }
    }
}

impl From<GroupError> for LabError {
    fn from(error: GroupError) -> LabError {
        StudyError::from(error).into()
    }
}

/// The lines of a CDN, and their runs.
#[derive(Debug)]
pub struct Laboratory {
    /// What it is of.
    pub spec: Spec,
    /// The lines while the study runs; then those when its policy is in force, draw by draw.
    lines: Vec<Line>,
    /// So many of them are the study's, and of each draw.
    counts: Vec<usize>,
    batch: Batch,
}

impl Laboratory {
    /// Draws the lines of a CDN that was read from the file `place`.
    ///
    /// # Errors
    ///
    /// What it says makes no sense.
    pub fn new(spec: Spec, place: &str) -> Result<Laboratory, LabError> {
        let (mut lines, mut counts) = (Vec::new(), Vec::new());
        for when in [When::Study].into_iter().chain((0..FRESH).map(When::Fresh)) {
            let drawn = spec.lines(when)?;
            counts.push(drawn.len());
            lines.extend(drawn);
        }
        let mut batch = Batch::new(EngineKind::Sim);
        for line in &lines {
            batch.add(place, plan(&spec, line))?;
        }
        Ok(Laboratory {
            spec,
            lines,
            counts,
            batch,
        })
    }

    /// The runs.
    pub fn batch(&self) -> &Batch {
        &self.batch
    }

    /// Where what is found in the runs goes.
    pub fn outcomes(&self) -> Outcomes<'_> {
        Outcomes {
            laboratory: self,
            given: vec![None; self.lines.len()],
            failed: None,
        }
    }
}

/// A line with each arm.
fn plan(spec: &Spec, line: &Line) -> Plan {
    let mut plan = Plan::new("cdn", ["network", "line", "controller"]);
    for arm in &spec.arms {
        let values = vec![
            spec.networks[line.network].name.clone(),
            line.place.to_string(),
            arm.controller.to_string(),
        ];
        let scenario = line.scenario(arm);
        plan.add_point(values, scenario.clone());
        // Nothing is kept of it.
        plan.add_run(0, scenario, String::new());
    }
    plan.keep_samples(false);
    plan
}

/// What was found in the runs so far.
#[derive(Debug)]
pub struct Outcomes<'l> {
    laboratory: &'l Laboratory,
    /// Of each line, the connections with each arm.
    given: Vec<Option<Vec<Vec<Given>>>>,
    failed: Option<String>,
}

impl<'l> Outcomes<'l> {
    /// Takes in what was found of the line at this place of the batch.
    pub fn take(&mut self, place: usize, findings: &Findings) {
        if let Some((run, reason)) = findings.failed.first() {
            self.failed.get_or_insert(format!("{run}: {reason}"));
            return;
        }
        if let (Some(line), Some(given)) =
            (self.laboratory.lines.get(place), self.given.get_mut(place))
        {
            let runs = findings.runs.iter();
            let each = |run| observed::given(run, line, place as u64);
            *given = Some(runs.map(|run| each(&run.record)).collect());
        }
    }

    /// All of it.
    ///
    /// # Errors
    ///
    /// A run is missing.
    pub fn finish(self) -> Result<Worlds<'l>, LabError> {
        let laboratory = self.laboratory;
        let all = self.given.len();
        let given: Vec<Vec<Vec<Given>>> = self.given.into_iter().flatten().collect();
        if given.len() < all {
            return Err(LabError::Missing {
                missing: all - given.len(),
                all,
                why: self.failed,
            });
        }
        let worlds = laboratory.lines.iter().zip(given);
        let mut worlds = worlds.map(|(line, arms)| World { line, arms });
        let counts = laboratory.counts.iter();
        let mut parts = counts.map(|&count| worlds.by_ref().take(count).collect());
        Ok(Worlds {
            spec: &laboratory.spec,
            study: parts.next().unwrap_or_default(),
            fresh: parts.collect(),
        })
    }
}

/// A line, and what its connections were with each arm.
#[derive(Debug)]
pub(crate) struct World<'l> {
    pub line: &'l Line,
    pub arms: Vec<Vec<Given>>,
}

/// All lines with each arm.
#[derive(Debug)]
pub struct Worlds<'l> {
    pub(crate) spec: &'l Spec,
    /// While the study runs.
    pub(crate) study: Vec<World<'l>>,
    /// When its policy is in force: draws of lines that the study has not seen.
    pub(crate) fresh: Vec<Vec<World<'l>>>,
}

/// The table of systems in a file.
pub(crate) fn systems(file: &Path) -> Result<Systems, LabError> {
    Ok(Systems::read(
        regular::open(file).map_err(SystemsError::from)?,
    )?)
}
