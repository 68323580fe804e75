//! Runs each line with each arm, over the same path and with the same objects at the same times. Lines that share a link
//! run together.

use std::net::IpAddr;
use std::path::Path;

use document::DocumentError;
use emulator::tunnel::TunnelError;
use experiment::Key;
use files::regular;
use fleet::{Systems, SystemsError};
use lab::{EngineError, EngineKind};
use rollout::steer::SteerError;
use rollout::study::{CarriedConnection, DataError, GroupError, StudyError};
use studies::runs::{Batch, BatchError, Findings};
use units::Bytes;

use crate::keys::redraws;
use crate::line::{Line, LineDraw};
use crate::observed::drawn;
use crate::room::Room;
use crate::spec::Spec;
use crate::together::{Delivered, Together};

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

/// Runs a batch, and reports the findings of each of its plans.
pub type RunBatch<'r> = &'r mut dyn FnMut(&Batch, &mut dyn FnMut(usize, Findings));

/// The lines of a CDN, and their runs.
#[derive(Debug)]
pub struct Laboratory {
    /// The CDN.
    pub spec: Spec,
    /// The name of its file.
    place: String,
    /// The lines of the study, then those of each later draw, over which the policy is judged.
    lines: Vec<Line>,
    /// The number of lines of the study, and of each later draw.
    counts: Vec<usize>,
    /// The lines that are simulated together.
    simulations: Vec<Together>,
    /// The runs that do not depend on the study's result, a plan for each of the simulations.
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
        let (mut simulations, mut room) = (Vec::new(), Room::new());
        for when in [LineDraw::Study]
            .into_iter()
            .chain((0..FRESH_DRAWS).map(LineDraw::Fresh))
        {
            let drawn = spec.lines_within(when, &mut room)?;
            counts.push(drawn.len());
            simulations.extend(Together::all(&spec, &drawn, lines.len())?);
            lines.extend(drawn);
        }
        let study = experiment::Plan::parse(&spec.plan("laboratory"))?;
        let (names, shares) = (study.names(), study.shares());
        let keys: Vec<Key> = [study.key("")].into_iter().chain(redraws(&spec)).collect();
        let mut batch = Batch::new(EngineKind::Sim);
        for together in &simulations {
            let mut plan = together.plan();
            for (index, arm) in spec.arms.iter().enumerate() {
                let name = arm.controller.to_string();
                together.add_run(&mut plan, &spec, &lines, name, |_| index);
            }
            // Studies observe lines that share a link in a mix of the arms.
            if together.shared.is_some() && together.is_of_study {
                for key in &keys {
                    let name = names.join(" and ");
                    let arm = |line: &Line| drawn(line, key, &shares).1;
                    together.add_run(&mut plan, &spec, &lines, name, arm);
                }
            }
            plan.keep_samples(false);
            batch.add(place, plan)?;
        }
        Ok(Laboratory {
            spec,
            place: place.to_owned(),
            lines,
            counts,
            simulations,
            batch,
        })
    }

    /// Runs each line with each arm, and lines that share a link also with the arms that studies draw for them.
    pub(crate) fn worlds(&self, run: RunBatch<'_>) -> Result<Worlds<'_>, LabError> {
        let simulations: Vec<&Together> = self.simulations.iter().collect();
        let given = self.simulated(&simulations, &self.batch, run)?;
        let worlds = self.lines.iter().zip(given);
        let mut worlds = worlds.map(|(line, runs)| {
            let (arms, background) = runs.into_iter().unzip();
            World {
                line,
                arms,
                background,
            }
        });
        let counts = self.counts.iter();
        let mut parts = counts.map(|&count| worlds.by_ref().take(count).collect());
        Ok(Worlds {
            spec: &self.spec,
            study: parts.next().unwrap_or_default(),
            fresh: parts.collect(),
        })
    }

    /// Runs the lines that share a link, and that the study has not seen, each with the arm that the policy gives it. In
    /// their worlds, this is one more arm.
    pub(crate) fn put_in_force(
        &self,
        policy: &dyn Fn(&Line) -> usize,
        worlds: &mut Worlds<'_>,
        run: RunBatch<'_>,
    ) -> Result<(), LabError> {
        let is_meant = |of: &&Together| of.shared.is_some() && !of.is_of_study;
        let simulations: Vec<&Together> = self.simulations.iter().filter(is_meant).collect();
        if simulations.is_empty() {
            return Ok(());
        }
        let mut batch = Batch::new(EngineKind::Sim);
        for together in &simulations {
            let mut plan = together.plan();
            together.add_run(
                &mut plan,
                &self.spec,
                &self.lines,
                "the policy".to_owned(),
                policy,
            );
            plan.keep_samples(false);
            batch.add(&self.place, plan)?;
        }
        let given = self.simulated(&simulations, &batch, run)?.into_iter();
        let given = given.skip(worlds.study.len());
        for (world, runs) in worlds.fresh.iter_mut().flatten().zip(given) {
            for (given, background) in runs {
                world.arms.push(given);
                world.background.push(background);
            }
        }
        Ok(())
    }

    /// For each line, its results in the runs of a batch, which has a plan for each of these simulations.
    fn simulated(
        &self,
        simulations: &[&Together],
        batch: &Batch,
        run: RunBatch<'_>,
    ) -> Result<Vec<Vec<Delivered>>, LabError> {
        let mut given = vec![Vec::new(); self.lines.len()];
        let mut why = None;
        run(batch, &mut |place, findings| {
            if let Some((run, reason)) = findings.failed.first() {
                why.get_or_insert(format!("{run}: {reason}"));
                return;
            }
            for run in &findings.runs {
                for (line, delivered) in simulations[place].delivered(&run.record, &self.lines) {
                    given[line].push(delivered);
                }
            }
        });
        let lines: Vec<usize> = simulations.iter().flat_map(|of| of.lines.clone()).collect();
        let missing = lines.iter().filter(|line| given[**line].is_empty()).count();
        if missing > 0 {
            let all = lines.len();
            return Err(LabError::Missing { missing, all, why });
        }
        Ok(given)
    }
}

/// A line, and its connections in each run: with each arm, and then with the arms of a mix.
#[derive(Debug)]
pub(crate) struct World<'l> {
    pub line: &'l Line,
    pub arms: Vec<Vec<CarriedConnection>>,
    /// In each of these runs, the bytes that the background traffic delivered.
    pub background: Vec<Bytes>,
}

/// All lines with each arm.
#[derive(Debug)]
pub(crate) struct Worlds<'l> {
    pub spec: &'l Spec,
    /// The lines of the study.
    pub study: Vec<World<'l>>,
    /// Draws of lines that the study has not seen, over which the policy is judged.
    pub fresh: Vec<Vec<World<'l>>>,
}

/// Reads the table of autonomous systems from a file.
pub(crate) fn systems(file: &Path) -> Result<Systems, LabError> {
    Ok(Systems::read(
        regular::open(file).map_err(SystemsError::from)?,
    )?)
}
