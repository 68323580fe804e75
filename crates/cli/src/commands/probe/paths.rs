//! Probes paths, which an engine runs.

use lab::EngineKind;
use program::failure::Failure;
use program::interrupt;
use program::work_bar::WorkBar;
use studies::probe;
use studies::runs::{self, Execution, Plan};
use tables::numbers;

use super::Probing;

pub fn probe(probing: &Probing<'_>, kind: EngineKind) -> Result<(), Failure> {
    let (options, input, spec) = (probing.options, &probing.input, &probing.spec);
    let engine = kind.engine();
    let plan = |first: u64| -> Result<Plan, Failure> {
        let plan = probe::paths(spec, &input.directory, first);
        let plan = plan.map_err(|error| input.wrong(error))?;
        for run in &plan.runs {
            let checked = engine.check(&run.scenario);
            checked.map_err(|error| input.wrong(format_args!("{}: {error}", run.name)))?;
        }
        Ok(plan)
    };
    // The paths are checked before any file is made.
    plan(0)?;
    let mut dataset = probing.dataset()?;
    let first = dataset.next_round();
    let plan = plan(first)?;
    let _awake = options.awake.prepare(&[kind])?;
    let (_runtime, cancel) = interrupt::cancel()?;
    let bar = WorkBar::of_runs(&plan.name, kind, &plan.all(), options.quiet);
    let execution = Execution {
        engine: engine.as_ref(),
        jobs: runs::jobs(options.jobs, kind),
        repeats: None,
        watch: &|event| bar.show(&event),
        cancel: &cancel,
    };
    let (rows, failed) = probe::run_paths(spec, &plan, first, &execution);
    drop(bar);
    if cancel.is_cancelled() {
        return Err(Failure::interrupted(
            "no round is complete, and nothing is kept",
        ));
    }
    let mut results = probing.results();
    for round in rows.chunk_by(|one, next| one.round == next.round) {
        let kept = probing.keep(round, &mut dataset, &mut results);
        kept.map_err(Failure::failed)?;
    }
    probing.conclude(&results)?;
    match failed.len() {
        0 => Ok(()),
        count => Err(Failure::failed(format_args!(
            "{count} of {} failed",
            numbers::count(plan.runs.len() as u64, "connection")
        ))),
    }
}
