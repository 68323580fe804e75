//! Studies on several engines, for the commands that run them.

use lab::{Cancel, EngineKind};
use studies::runs::{Batch, Findings};
use studies::study::Source;

use crate::failure::Failure;
use crate::options::study_options::StudyOptions;
use crate::terminal::output;

/// A study, and what it is for.
pub struct Item<T> {
    /// What it is for.
    pub what: T,
    /// What is run.
    pub runs: Source,
    /// The engines that can show it.
    pub engines: Vec<EngineKind>,
}

/// The studies that each engine is to run, all of them checked.
pub struct Agenda<'i, T> {
    items: &'i [Item<T>],
    /// With the places of its studies among the items.
    batches: Vec<(Vec<usize>, Batch)>,
}

impl<'i, T> Agenda<'i, T> {
    /// What there is to do on the engines.
    pub fn new(engines: &[EngineKind], items: &'i [Item<T>]) -> Result<Agenda<'i, T>, Failure> {
        let batch = |engine: &EngineKind| {
            let mut batch = Batch::new(*engine);
            let mut places = Vec::new();
            for (place, item) in items.iter().enumerate() {
                if item.engines.contains(engine) {
                    item.runs.add_to(&mut batch).map_err(Failure::usage)?;
                    places.push(place);
                }
            }
            Ok((places, batch))
        };
        let batches = engines.iter().map(batch).collect::<Result<_, _>>()?;
        Ok(Agenda { items, batches })
    }

    /// Of each engine, what it runs.
    pub fn batches(&self) -> impl Iterator<Item = &Batch> {
        self.batches.iter().map(|(_, batch)| batch)
    }

    /// Runs all of it, engine after engine. `done` gets what was found in a study on an engine as soon as it is complete,
    /// and whether no other engine has anything to add. Names the runs that failed, and says how many these are.
    pub fn run(
        &self,
        options: &StudyOptions,
        cancel: &Cancel,
        mut done: impl FnMut(&'i Item<T>, Findings, bool),
    ) -> u64 {
        let mut count = 0;
        for (engine, (places, batch)) in self.batches.iter().enumerate() {
            let mut failed = Vec::new();
            options.run(batch, cancel, |study, findings| {
                let Some(place) = places.get(study) else {
                    return;
                };
                let names = findings.failed.iter();
                failed.extend(
                    names.map(|(run, reason)| format!("{run} on {}: {reason}", batch.engine)),
                );
                let mut later = self.batches.iter().skip(engine + 1);
                let is_last = !later.any(|(places, _)| places.contains(place));
                if let Some(item) = self.items.get(*place) {
                    done(item, findings, is_last);
                }
            });
            count += failed.len() as u64;
            output::failed(failed);
        }
        count
    }
}
