//! Runs each line with each arm, over the same path and with the same objects at the same times.

use std::net::IpAddr;
use std::path::Path;

use document::DocumentError;
use emulator::tunnel::TunnelError;
use files::regular;
use fleet::{Systems, SystemsError};
use lab::{EngineError, EngineKind};
use rollout::steer::SteerError;
use rollout::study::{CarriedConnection, DataError, GroupError, StudyError};
use studies::runs::{Batch, BatchError, Findings, Plan};
use units::Bytes;

use crate::line::{Line, LineDraw};
use crate::observed;
use crate::spec::Spec;

/// The number of draws of lines that the study has not seen, over which its policy is judged.
pub(crate) const FRESH_DRAWS: u64 = 3;

/// The reason why there are no results.
#[derive(Debug, thiserror::Error)]
pub enum LabError {
    /// The text of the CDN is invalid.
    #[error(transparent)]
    Spec(#[from] DocumentError),
    /// A line's scenario cannot be run.
    #[error(transparent)]
    Batch(#[from] BatchError),
    /// Runs failed, or were cancelled.
    #[error("{missing} of {all} lines have no result{}", why.as_deref().map(|why| format!(": {why}")).unwrap_or_default())]
    Missing {
        /// The number of lines without a result.
        missing: usize,
        /// The number of lines.
        all: usize,
        /// The reason of the first failure.
        why: Option<String>,
    },
    /// The study's data cannot be written.
    #[error(transparent)]
    Study(#[from] StudyError),
    /// The study's data cannot be read back.
    #[error(transparent)]
    Data(#[from] DataError),
    /// The table of autonomous systems cannot be read back.
    #[error(transparent)]
    Systems(#[from] SystemsError),
    /// The study does not make a policy.
    #[error("the study does not make a policy: {0}")]
    NoPolicy(String),
    /// A setting is impossible in real time.
    #[error(transparent)]
    Engine(#[from] EngineError),
    /// The machine lacks something that real time needs.
    #[error("{0}")]
    Lacking(String),
    /// A network namespace, or a command in one, failed.
    #[error(transparent)]
    Linux(#[from] linux::Error),
    /// The emulated paths failed.
    #[error(transparent)]
    Tunnel(#[from] TunnelError),
    /// Nginx does not listen.
    #[error("nginx does not listen; see {0}")]
    Server(String),
    /// The background traffic of a line failed.
    #[error("the background traffic of {client}: {error}")]
    Background {
        /// The client of the line.
        client: IpAddr,
        /// The error of the operating system.
        error: std::io::Error,
    },
    /// A policy cannot be put in force.
    #[error(transparent)]
    Steer(#[from] SteerError),
    /// The user has cancelled the run.
    #[error("cancelled")]
    Cancelled,
    /// A file of the results cannot be written.
    #[error("{path}: {error}")]
    File {
        /// The path of the file.
        path: String,
        /// The error of the operating system.
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
    /// The CDN.
    pub spec: Spec,
    /// The lines of the study, then those of each later draw, over which the policy is judged.
    lines: Vec<Line>,
    /// The number of lines of the study, and of each later draw.
    counts: Vec<usize>,
    batch: Batch,
}

impl Laboratory {
    /// Draws the lines of a CDN that was read from the file `place`.
    ///
    /// # Errors
    ///
    /// The CDN is invalid.
    pub fn new(spec: Spec, place: &str) -> Result<Laboratory, LabError> {
        let (mut lines, mut counts) = (Vec::new(), Vec::new());
        for when in [LineDraw::Study]
            .into_iter()
            .chain((0..FRESH_DRAWS).map(LineDraw::Fresh))
        {
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

    /// The collector for the results of the runs.
    pub fn outcomes(&self) -> Outcomes<'_> {
        Outcomes {
            laboratory: self,
            given: vec![None; self.lines.len()],
            failed: None,
        }
    }
}

/// The runs of a line, one with each arm.
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
        // No files are kept of these runs.
        plan.add_run(0, scenario, String::new());
    }
    plan.keep_samples(false);
    plan
}

/// The connections of a run, and the bytes that its background traffic delivered.
type Delivered = (Vec<CarriedConnection>, Bytes);

/// The results of the runs so far.
#[derive(Debug)]
pub struct Outcomes<'l> {
    laboratory: &'l Laboratory,
    /// For each line and each arm: its connections, and the bytes that its background traffic delivered.
    given: Vec<Option<Vec<Delivered>>>,
    failed: Option<String>,
}

impl<'l> Outcomes<'l> {
    /// Adds the results of the line at this index of the batch.
    pub fn take(&mut self, place: usize, findings: &Findings) {
        if let Some((run, reason)) = findings.failed.first() {
            self.failed.get_or_insert(format!("{run}: {reason}"));
            return;
        }
        if let (Some(line), Some(given)) =
            (self.laboratory.lines.get(place), self.given.get_mut(place))
        {
            let runs = findings.runs.iter();
            let each = |run| {
                let given = observed::given(run, line, place as u64);
                (given, observed::background(run, line))
            };
            *given = Some(runs.map(|run| each(&run.record)).collect());
        }
    }

    /// The results of all runs.
    ///
    /// # Errors
    ///
    /// A run is missing.
    pub fn finish(self) -> Result<Worlds<'l>, LabError> {
        let laboratory = self.laboratory;
        let all = self.given.len();
        let given: Vec<Vec<Delivered>> = self.given.into_iter().flatten().collect();
        if given.len() < all {
            return Err(LabError::Missing {
                missing: all - given.len(),
                all,
                why: self.failed,
            });
        }
        let worlds = laboratory.lines.iter().zip(given);
        let mut worlds = worlds.map(|(line, arms)| {
            let (arms, background) = arms.into_iter().unzip();
            World {
                line,
                arms,
                background,
            }
        });
        let counts = laboratory.counts.iter();
        let mut parts = counts.map(|&count| worlds.by_ref().take(count).collect());
        Ok(Worlds {
            spec: &laboratory.spec,
            study: parts.next().unwrap_or_default(),
            fresh: parts.collect(),
        })
    }
}

/// A line, and its connections with each arm.
#[derive(Debug)]
pub(crate) struct World<'l> {
    pub line: &'l Line,
    pub arms: Vec<Vec<CarriedConnection>>,
    /// With each arm, the bytes that the background traffic delivered.
    pub background: Vec<Bytes>,
}

/// All lines with each arm.
#[derive(Debug)]
pub struct Worlds<'l> {
    pub(crate) spec: &'l Spec,
    /// The lines of the study.
    pub(crate) study: Vec<World<'l>>,
    /// Draws of lines that the study has not seen, over which the policy is judged.
    pub(crate) fresh: Vec<Vec<World<'l>>>,
}

/// Reads the table of autonomous systems from a file.
pub(crate) fn systems(file: &Path) -> Result<Systems, LabError> {
    Ok(Systems::read(
        regular::open(file).map_err(SystemsError::from)?,
    )?)
}
