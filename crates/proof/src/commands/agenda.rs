//! Runs studies on several engines, for commands that do so.

use lab::{Cancel, EngineKind};
use program::failure::Failure;
use program::output;
use proof::study::Source;
use studies::runs::{Batch, Findings};

use crate::options::work_options::WorkOptions;

/// A study and its purpose.
pub struct Item<T> {
    /// Its purpose.
    pub what: T,
    /// Its runs.
    pub runs: Source,
    /// The engines that can show it.
    pub engines: Vec<EngineKind>,
}

/// The studies for each engine, all of them checked.
pub struct Agenda<'i, T> {
    items: &'i [Item<T>],
    /// Each batch has the indices of its studies among the items.
    batches: Vec<(Vec<usize>, Batch)>,
}

impl<'i, T> Agenda<'i, T> {
    /// The studies of these items on these engines.
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

    /// The batch of each engine.
    pub fn batches(&self) -> impl Iterator<Item = &Batch> {
        self.batches.iter().map(|(_, batch)| batch)
    }

    /// Runs all studies, engine after engine. `done` gets the findings of a study on an engine as soon as it is
    /// complete, and whether no other engine still has to run this study. Prints the runs that failed, and returns
    /// their number.
    pub fn run(
        &self,
        options: &WorkOptions,
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
