//! `fullpipe claims`: what was published about BBR, measured again.

use std::collections::HashMap;
use std::fs;
use std::path::{Path, PathBuf};
use std::time::{Instant, SystemTime};

use clap::Args;
use lab::Cancel;
use studies::claims::{self, Claim, Judgement, Table, Tally};
use studies::runs::{Batch, Findings};
use studies::study::{Length, Shelf, Source};

use crate::failure::Failure;
use crate::files::document::Document;
use crate::files::machine;
use crate::files::whole;
use crate::options::command_line;
use crate::options::study_options::StudyOptions;
use crate::terminal::interrupt;
use crate::terminal::output;

/// Where the table and its studies are in Fullpipe's scenarios.
const SHELF: &str = "claims";

/// The files in the directory for results.
const JSON: &str = "claims.json";
const RECORDS: &str = "records";

/// So many failed runs are named.
const NAMED: usize = 10;

/// Measure what was published about BBR, and judge whether it holds
#[derive(Debug, Args)]
#[command(after_help = "\
The command ends with a table: what was published, what was measured, and whether that holds. The exit code is 0 if every \
claim holds, except those that are listed with a cause as known to differ. docs/claims.md says how to read it and how to add a claim; \
docs/results/claims.md has the last results.")]
pub struct Options {
    /// The claims to judge [default: all]
    #[arg(value_name = "ID")]
    ids: Vec<String>,
    #[command(flatten)]
    study: StudyOptions,
    /// Print the judgements on stdout as JSON, and nothing else there
    #[arg(long)]
    json: bool,
    /// Keep the judgements as JSON here, and the record of each run, as run --out does
    #[arg(long, value_name = "DIR")]
    out: Option<PathBuf>,
    /// Replace the results in this document, between `<!-- claims: begin -->` and `<!-- claims: end -->`; with an engine
    /// in real time, between `<!-- real-time: begin -->` and `<!-- real-time: end -->`
    #[arg(long, value_name = "FILE")]
    document: Option<PathBuf>,
}

/// Runs the studies of the claims, and judges them.
pub fn run(options: &Options) -> Result<(), Failure> {
    let shelf = options.study.shelf(SHELF);
    let table = Table::open(&shelf).map_err(Failure::usage)?;
    let claims = table.choose(&options.ids).map_err(Failure::usage)?;
    let engines = engines(options, &claims)?;
    let document = options
        .document
        .as_deref()
        .map(|path| Document::read(path, claims::marks(&engines)))
        .transpose()?;
    let studies = studies(options, &shelf, &claims)?;
    if options.study.list {
        return list(&claims, &engines, &studies);
    }
    let batches: Vec<(Batch, Vec<&str>)> = engines
        .iter()
        .map(|engine| batch(*engine, &claims, &studies))
        .collect::<Result<_, _>>()?;
    if let Some(directory) = &options.out {
        whole::make_directory("--out", directory)?;
        report::tidy(&directory.join(RECORDS));
    }
    for engine in &engines {
        engine.prepare().map_err(Failure::failed)?;
    }
    let (_runtime, cancel) = interrupt::cancel()?;
    let began = Instant::now();
    let mut judgements = Vec::new();
    let mut loads: Vec<f64> = machine::load().into_iter().collect();
    for (batch, names) in &batches {
        judgements.extend(judge(options, &claims, batch, names, &cancel, &mut loads)?);
    }
    judgements.sort_by_key(|one: &Judgement<'_>| place(&claims, &engines, one));
    let origin = claims::Origin {
        command: command_line::again(),
        at: machine::now(),
        versions: engines
            .iter()
            .map(|engine| (*engine, machine::version(*engine)))
            .collect(),
        machine: machine::processor(),
        load: claims::Load::of(&loads),
        wall: began.elapsed(),
    };
    if let Some(document) = document {
        document.write(&claims::section(&judgements, &origin))?;
    }
    let json = claims::json(&judgements);
    if let Some(directory) = &options.out {
        whole::write(&directory.join(JSON), json.to_string().as_bytes())?;
    }
    match options.json {
        true => output::json(&json)?,
        false => output::result(claims::table(&judgements, output::width()).trim_end())?,
    }
    match Tally::of(&judgements).fails {
        0 => Ok(()),
        fails => Err(Failure::failed(format_args!(
            "expectations that do not hold: {fails} of {}",
            judgements.len()
        ))),
    }
}

/// One line a claim, with the time that its study takes on the engines in real time, and a line with the sum.
fn list(
    claims: &[&Claim],
    engines: &[lab::EngineKind],
    studies: &HashMap<String, Source>,
) -> Result<(), Failure> {
    let real_time: Vec<lab::EngineKind> = engines
        .iter()
        .copied()
        .filter(|engine| engine.is_real_time())
        .collect();
    let is_shown = |claim: &&&Claim| engines.iter().any(|engine| claim.is_shown_on(*engine));
    for claim in claims.iter().filter(is_shown) {
        let names: Vec<&str> = claim.engines.iter().map(|engine| engine.name()).collect();
        let mut took = 0.0;
        for engine in real_time
            .iter()
            .filter(|engine| claim.is_shown_on(**engine))
        {
            took += batch(*engine, &[claim], studies)?
                .0
                .real_time()
                .as_secs_f64();
        }
        let took = match took > 0.0 {
            true => format!("{took:.0} s"),
            false => String::new(),
        };
        let (id, source, published) = (&claim.id, &claim.source, &claim.published);
        let names = names.join(",");
        output::result(format_args!(
            "{id:<18} {names:<14} {took:>6} {source}: {published}"
        ))?;
    }
    for engine in real_time {
        let (batch, _) = batch(engine, claims, studies)?;
        let minutes = batch.real_time().as_secs_f64() / 60.0;
        output::note(format_args!(
            "engine {engine}: {}, {} in real time",
            report::count(batch.runs().len() as u64, "run"),
            report::count(minutes.round() as u64, "minute")
        ));
    }
    Ok(())
}

/// The engines that were asked for, each once, in the order in which they are run; those that no claim can be seen on are
/// left out.
fn engines(options: &Options, claims: &[&Claim]) -> Result<Vec<lab::EngineKind>, Failure> {
    let shows = |engine: &lab::EngineKind| claims.iter().any(|claim| claim.is_shown_on(*engine));
    let mut engines = options.study.engines();
    engines.retain(shows);
    match engines.is_empty() {
        true => Err(Failure::usage(
            "none of the claims can be seen on this engine; --list shows on which they can",
        )),
        false => Ok(engines),
    }
}

/// The studies of the claims, by name.
fn studies(
    options: &Options,
    shelf: &Shelf,
    claims: &[&Claim],
) -> Result<HashMap<String, Source>, Failure> {
    let mut studies = HashMap::new();
    for claim in claims {
        let whole = claim.runs(shelf, Length::Whole).map_err(Failure::usage)?;
        claim
            .check(&whole)
            .map_err(|error| Failure::usage(format_args!("claim {}: {error}", claim.id)))?;
        let study = claim.runs(shelf, options.study.length());
        let study = study.map_err(Failure::usage)?;
        studies.insert(claim.study.clone(), study);
    }
    Ok(studies)
}

/// The runs on an engine, and the names of their studies.
fn batch<'c>(
    engine: lab::EngineKind,
    claims: &[&'c Claim],
    studies: &HashMap<String, Source>,
) -> Result<(Batch, Vec<&'c str>), Failure> {
    let mut names: Vec<&str> = Vec::new();
    for claim in claims {
        if claim.is_shown_on(engine) && !names.contains(&claim.study.as_str()) {
            names.push(&claim.study);
        }
    }
    let mut batch = Batch::new(engine);
    for runs in names.iter().filter_map(|name| studies.get(*name)) {
        runs.add_to(&mut batch).map_err(Failure::usage)?;
    }
    Ok((batch, names))
}

fn judge<'c>(
    options: &Options,
    claims: &[&'c Claim],
    batch: &Batch,
    names: &[&str],
    cancel: &Cancel,
    loads: &mut Vec<f64>,
) -> Result<Vec<Judgement<'c>>, Failure> {
    let length = options.study.length();
    let mut judgements = Vec::new();
    let mut failed = Vec::new();
    options.study.run(batch, cancel, |study, findings| {
        let name = names.get(study).copied().unwrap_or_default();
        judgements.extend(Judgement::all(claims, name, &findings, length));
        if let Some(directory) = &options.out {
            keep(directory, name, &findings);
        }
        failed.extend(findings.failed);
        loads.extend(machine::load());
    });
    for (run, reason) in failed.iter().take(NAMED) {
        output::note(format_args!("failed: {run} on {}: {reason}", batch.engine));
    }
    match cancel.is_cancelled() {
        true => Err(Failure::interrupted("nothing is kept")),
        false => Ok(judgements),
    }
}

/// Writes the record of each run as a directory of its own. What is judged does not depend on it.
fn keep(directory: &Path, study: &str, findings: &Findings) {
    let origin = report::Origin {
        command: command_line::again(),
        generated: SystemTime::now(),
    };
    for run in &findings.runs {
        let point: String = run.values.iter().map(|value| format!("-{value}")).collect();
        let name = format!("{study}{point}-{}-{}", findings.engine, run.repeat);
        // What a value is spelled with need not be what a file may be called.
        let is_plain = |c: char| c.is_alphanumeric() || "-.%_".contains(c);
        let name = name.replace(|c| !is_plain(c), "_");
        let records = directory.join(RECORDS);
        let written = fs::create_dir_all(&records)
            .map_err(|error| error.to_string())
            .and_then(|()| {
                report::write_dir(
                    &records.join(&name),
                    &run.record,
                    &report::Also::default(),
                    &origin,
                )
                .map_err(|error| error.to_string())
            });
        if let Err(reason) = written {
            output::note(format_args!("no record of {name}: {reason}"));
        }
    }
}

/// Where a judgement comes: by claim, what is expected, and engine.
fn place(
    claims: &[&Claim],
    engines: &[lab::EngineKind],
    one: &Judgement<'_>,
) -> (Option<usize>, Option<usize>, Option<usize>) {
    let expectations = &one.claim.expectations;
    (
        claims.iter().position(|claim| claim.id == one.claim.id),
        expectations
            .iter()
            .position(|of| std::ptr::eq(of, one.expectation)),
        engines.iter().position(|engine| *engine == one.engine),
    )
}
