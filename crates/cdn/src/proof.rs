//! The study, its policy, and the truth.

use std::path::Path;

use experiment::learn::{self, Context};
use experiment::{Findings, Plan};
use files::Readers;
use fleet::Systems;
use rollout::study::{Lookup, Recording, StudyDirectory, StudyError, observations, read};
use units::Bytes;

use crate::found::Found;
use crate::laboratory::{LabError, World, Worlds, systems};
use crate::observed::{UNIT, drawn};
use crate::truth::{ObservedLine, Truth};

/// The directory of the study's data in the directory of the results.
pub const STUDY: &str = "study";

/// The file of the policy.
pub const POLICY: &str = "policy.toml";

/// The file with the addresses of each autonomous system, in pyasn's format.
pub const SYSTEMS: &str = "systems.txt";

/// The size limit for the study's data, more than any CDN here has.
pub(crate) const MAX_STUDY_BYTES: Bytes = Bytes::new(4_000_000_000);

impl Worlds<'_> {
    /// Draws an arm for each line, and writes into the directory what a study would have recorded. Reads it back,
    /// evaluates it as any study, makes a policy, and compares both with the truth.
    ///
    /// # Errors
    ///
    /// The directory cannot be written, or the study has too few data.
    pub fn prove(&self, directory: &Path) -> Result<Found, LabError> {
        let table = directory.join(SYSTEMS);
        write(&table, &self.spec.systems())?;
        let text = self.spec.plan("laboratory");
        let plan = Plan::parse(&text)?;
        let data = directory.join(STUDY);
        let place = StudyDirectory::make(&data, &text, &plan, 0.0).map_err(StudyError::from)?;
        self.record(place, systems(&table)?)?;
        let findings = read(&[&data], Vec::new(), &mut Lookup::default())?
            .gathered
            .findings();
        let policy = policy(&plan, &findings, directory)?;
        let truth = Truth {
            spec: self.spec,
            plan: &plan,
            systems: &systems(&table)?,
            study: self.seen(&self.study),
            after: self.fresh.iter().map(|worlds| self.seen(worlds)).collect(),
            connections: self.connections(),
        };
        truth.beside(&findings, policy)
    }

    /// Records a study in which each line has the arm that is drawn for it.
    fn record(&self, place: StudyDirectory, systems: Systems) -> Result<(), StudyError> {
        let (key, shares) = (place.key(), place.plan.shares());
        let mut recording = Recording::begin(place, MAX_STUDY_BYTES, Some(systems))?;
        for world in &self.study {
            let (unit, arm) = drawn(world.line, &key, &shares);
            for given in world.arms.get(arm).into_iter().flatten() {
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
        let arms = worlds.flat_map(|world| &world.arms);
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
