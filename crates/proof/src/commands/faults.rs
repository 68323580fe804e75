//! `fullpipe-proof claims --faults`: shows that claims can fail, by controllers with deliberate faults.

use std::time::Instant;

use lab::EngineKind;
use program::failure::Failure;
use program::interrupt;
use program::output;
use proof::claims::faults::{self, Attempt, Fault, Faults, Trial};
use proof::claims::{Claim, Origin, Studied};
use report::Marks;
use studies::runs::Batch;

use crate::files::document::Document;
use crate::options::study_options::StudyOptions;

/// The section of a document with the results.
pub const MARKS: Marks = Marks("faults");

/// The trials that were asked for.
pub struct Asked<'c> {
    /// The table of faults.
    pub faults: &'c Faults,
    /// The single fault to try, and not all.
    pub only: Option<&'c Fault>,
    /// The claims.
    pub claims: &'c [&'c Claim],
    /// The document for the results.
    pub document: Option<Document<'c>>,
}

/// Runs the claims with the faults. Fails if a claim does not notice a fault that it is to notice.
pub fn run(
    asked: &Asked<'_>,
    options: &StudyOptions,
    studies: &[Studied<'_>],
    origin: impl FnOnce(std::time::Duration) -> Origin,
) -> Result<(), Failure> {
    let trials = faults::trials(asked.faults, asked.only, studies, asked.claims);
    let trials = trials.map_err(Failure::usage)?;
    if trials.is_empty() {
        return Err(Failure::usage(
            "no fault concerns these claims; `fullpipe-proof claims --faults --list` names those of each claim",
        ));
    }
    let mut batch = Batch::new(EngineKind::Sim);
    for trial in &trials {
        trial.add_to(&mut batch).map_err(Failure::usage)?;
    }
    let (_runtime, cancel) = interrupt::cancel()?;
    let began = Instant::now();
    let mut attempts: Vec<Attempt<'_>> = Vec::new();
    let mut failed = Vec::new();
    options.work.run(&batch, &cancel, |place, findings| {
        let names = findings.failed.iter();
        failed.extend(names.map(|(run, reason)| format!("{run}: {reason}")));
        let trial = trials.get(place);
        let made = trial.map(|trial: &Trial<'_>| trial.attempts(&findings, options.length()));
        attempts.extend(made.into_iter().flatten());
    });
    if cancel.is_cancelled() {
        return Err(Failure::interrupted("nothing is kept"));
    }
    output::failed(failed);
    attempts.sort_by_key(|attempt| {
        let place = |id| asked.claims.iter().position(|claim| claim.id == id);
        let mut faults = asked.faults.faults.iter();
        let fault = faults.position(|fault| fault.name == attempt.fault.name);
        (place(attempt.claim.id.clone()), fault)
    });
    let kept = match &asked.document {
        None => Ok(()),
        Some(document) => {
            let origin = origin(began.elapsed());
            let section = faults::section(asked.faults, asked.claims, &attempts, &origin);
            document.keep(&section)
        }
    };
    let shown = output::result(faults::table(&attempts, output::width()).trim_end());
    let missed = attempts.iter().filter(|of| of.is_missed()).count();
    let verdict = match missed {
        0 => Ok(()),
        _ => Err(Failure::failed(format_args!(
            "claims that hold although a fault should break them: {missed} of {}",
            attempts.len()
        ))),
    };
    Failure::all([verdict, kept, shown])
}

/// One row for each claim, with the faults that it is to notice, or the reason for which there are none.
pub fn list(faults: &Faults, claims: &[&Claim]) -> Result<(), Failure> {
    let rows = claims.iter().map(|claim| {
        let of_claim = faults.faults.iter().filter(|of| of.is_to_break(claim));
        let names: Vec<&str> = of_claim.map(|of| of.name.as_str()).collect();
        let none = match faults.why_none(&claim.id) {
            Some(why) => format!("none: {why}"),
            None => "none".to_owned(),
        };
        let names = if names.is_empty() {
            none
        } else {
            names.join(", ")
        };
        vec![claim.id.clone(), names]
    });
    let table = report::Table {
        text: vec![0, 1],
        ..report::Table::new(["claim", "faults that should break it"], rows)
    };
    output::result(table.lines(output::width()).trim_end())
}
