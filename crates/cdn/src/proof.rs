//! The study, its policy, and the truth.

use std::path::Path;

use experiment::learn::{self, Context};
use experiment::{Findings, Plan};
use files::Readers;
use fleet::Systems;
use rollout::study::{Lookup, Recording, StudyDirectory, StudyError, observations, read};
use units::Bytes;

use crate::found::Found;
use crate::laboratory::{LabError, Laboratory, RunBatch, World, Worlds, systems};
use crate::observed::{UNIT, drawn, in_study};
use crate::truth::{InForce, ObservedLine, Truth, read_policy};

/// The directory of the study's data in the directory of the results.
pub const STUDY: &str = "study";

/// The file of the policy.
pub const POLICY: &str = "policy.toml";

/// The file with the addresses of each autonomous system, in pyasn's format.
pub const SYSTEMS: &str = "systems.txt";

/// The size limit for the study's data, more than any CDN here has.
pub(crate) const MAX_STUDY_BYTES: Bytes = Bytes::new(4_000_000_000);

impl Laboratory {
    /// Runs each line with each arm by `run`. Draws an arm for each line, and writes into the directory what a study would
    /// have recorded. Reads it back, evaluates it as any study, makes a policy, and compares both with the truth.
    ///
    /// # Errors
    ///
    /// The directory cannot be written, runs are missing, or the study has too few data.
    pub fn prove(&self, directory: &Path, run: RunBatch<'_>) -> Result<Found, LabError> {
        let mut worlds = self.worlds(&mut *run)?;
        let table = directory.join(SYSTEMS);
        write(&table, &self.spec.systems())?;
        let text = self.spec.plan("laboratory");
        let plan = Plan::parse(&text)?;
        let data = directory.join(STUDY);
        let place = StudyDirectory::make(&data, &text, &plan, 0.0).map_err(StudyError::from)?;
        worlds.record(place, systems(&table)?)?;
        let findings = read(&[&data], Vec::new(), &mut Lookup::default())?
            .gathered
            .findings();
        let policy = policy(&plan, &findings, directory)?;
        let systems = systems(&table)?;
        let read = read_policy(&policy, &systems)?;
        let (read, names) = (read.lowered(), plan.names());
        let in_force = InForce::Policy(&read);
        self.put_in_force(&|line| in_force.arm(line, &names), &mut worlds, run)?;
        let after = worlds.fresh.iter().map(|fresh| worlds.seen(fresh));
        let truth = Truth {
            spec: &self.spec,
            plan: &plan,
            systems: &systems,
            study: worlds.seen(&worlds.study),
            after: after.collect(),
            connections: worlds.connections(),
        };
        truth.beside(&findings, policy)
    }
}

impl Worlds<'_> {
    /// Records a study in which each line has the arm that is drawn for it.
    fn record(&self, place: StudyDirectory, systems: Systems) -> Result<(), StudyError> {
        let (key, shares) = (place.key(), place.plan.shares());
        let mut recording = Recording::begin(place, MAX_STUDY_BYTES, Some(systems))?;
        for world in &self.study {
            let (unit, arm) = drawn(world.line, &key, &shares);
            let seen = in_study(self.spec, world.line, arm, 0);
            for given in world.arms.get(seen).into_iter().flatten() {
                recording.add(&given.assigned(unit, arm))?;
            }
        }
        recording.finish(self.spec.duration)
    }

    fn seen<'w>(&self, worlds: &'w [World<'w>]) -> Vec<ObservedLine<'w>> {
        let seen = |world: &'w World<'w>| {
            let system = Some(self.spec.networks[world.line.network].system);
            let arms = world.arms.iter();
            ObservedLine {
                line: world.line,
                arms: arms
                    .map(|given| observations(given, UNIT, system).collect())
                    .collect(),
                background: world.background.clone(),
            }
        };
        worlds.iter().map(seen).collect()
    }

    fn connections(&self) -> u64 {
        let worlds = self.study.iter().chain(self.fresh.iter().flatten());
        let arms = worlds.flat_map(|world| world.arms.iter().take(self.spec.arms.len()));
        arms.map(|given| given.len() as u64).sum()
    }
}

/// Makes a policy from the findings, and writes it into the directory.
pub(crate) fn policy(
    plan: &Plan,
    findings: &Findings,
    directory: &Path,
) -> Result<String, LabError> {
    let text = learn::policy(plan, findings, &Context::default())
        .map_err(|_| LabError::NoPolicy(findings.verdict.clone()))?;
    write(&directory.join(POLICY), &text)?;
    Ok(text)
}

pub(crate) fn write(path: &Path, text: &str) -> Result<(), LabError> {
    files::write(path, text.as_bytes(), Readers::Owner)
        .map_err(|error| LabError::file(path, error.source))
}
