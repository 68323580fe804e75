//! `fullpipe-proof claims`: measures published statements about BBR again.

use std::path::PathBuf;
use std::time::{Duration, Instant};

use clap::Args;
use lab::EngineKind;
use program::command_line;
use program::directory;
use program::failure::Failure;
use program::interrupt;
use program::output;
use program::whole;
use proof::claims::faults::Faults;
use proof::claims::{self, Claim, Judgement, Table, Tally};
use proof::study::{Length, Shelf};
use studies::runs::Findings;
use tables::numbers;
use tables::statistics::Spread;

use crate::commands::agenda::{Agenda, Item};
use crate::commands::faults;
use crate::files::document::Document;
use crate::files::machine;
use crate::files::records::Records;
use crate::options::engines::names;
use crate::options::study_options::StudyOptions;

/// The directory of the table and its studies in Fullpipe's scenarios.
const STUDIES_DIRECTORY: &str = "claims";

/// The file of judgements in the directory for results.
const JSON: &str = "claims.json";

/// Measure published statements about BBR, and judge whether they hold
#[derive(Debug, Args)]
#[command(after_help = "\
The command ends with a table: what was published, what was measured, and whether that holds. \"–\" says that there is \
nothing to measure, such as the time of an event that never happened. The exit code is 0 if every claim holds, except those \
that are known to differ. Below the table, each of these has its cause or the words \"no cause is established\". The last line \
counts the rows of the table: those that hold, those that differ for a known reason, those that differ for none that is \
established, and those that fail. In real time, a run is judged if its path was on \
time; senders and receivers that wait for a processor are not noticed, so let the machine do nothing else. docs/claims.md says how to read it and how to add a claim; \
docs/results/claims.md has the last results.")]
pub struct Options {
    /// The claims to judge [default: all]
    #[arg(value_name = "ID")]
    ids: Vec<String>,
    #[command(flatten)]
    study: StudyOptions,
    /// Print only the judgements on stdout, as JSON
    #[arg(long, conflicts_with = "list")]
    json: bool,
    /// Write the judgements as JSON into this directory, and the record of each run, as `fullpipe run --out` does
    #[arg(long, value_name = "DIR")]
    out: Option<PathBuf>,
    /// Replace the results in this document, between `<!-- claims: begin -->` and `<!-- claims: end -->`; with an
    /// engine in real time, between `<!-- real-time: begin -->` and `<!-- real-time: end -->`
    #[arg(long, value_name = "FILE")]
    document: Option<PathBuf>,
    /// Compare the results with those in the document of --document, and leave it as it is. The exit code is 0 if they are
    /// the same, and 1 if they differ. With names of claims, only the parts of these claims are compared
    #[arg(long, requires = "document", conflicts_with = "list")]
    check: bool,
    /// Run claims with controllers and hosts that have a deliberate fault, and show what each fault breaks. The exit code is
    /// 0 if each fault breaks all claims that faults.toml names for it; --list shows them. With --document, replace the
    /// section between `<!-- faults: begin -->` and `<!-- faults: end -->`
    #[arg(long, conflicts_with_all = ["json", "out"])]
    faults: bool,
    /// Run claims with this deliberate fault alone: the named ones, or all, as far as the fault changes any of their runs
    #[arg(long, value_name = "NAME", conflicts_with_all = ["json", "out", "document", "faults"])]
    fault: Option<String>,
}

/// Runs the studies of the claims, and judges the claims.
pub fn run(options: &Options) -> Result<(), Failure> {
    let shelf = options.study.shelf(STUDIES_DIRECTORY);
    let table = Table::open(&shelf).map_err(Failure::usage)?;
    let claims = table.choose(&options.ids).map_err(Failure::usage)?;
    let engines = engines(options, &claims)?;
    let is_faulty = options.faults || options.fault.is_some();
    if is_faulty && engines != [EngineKind::Sim] {
        return Err(Failure::usage(
            "--engine: faults are settings that only sim has; leave out the other engines",
        ));
    }
    let marks = if is_faulty {
        faults::MARKS
    } else {
        claims::marks(&engines)
    };
    let document = Document::asked_or_compared(options.document.as_deref(), marks, options.check)?;
    if options.check && engines.iter().any(|engine| engine.is_real_time()) {
        return Err(Failure::usage(
            "--check: results in real time differ from run to run; leave out the engines linux and quic",
        ));
    }
    let is_of_some = !options.ids.is_empty() && (is_faulty || !options.check);
    if document.is_some() && (is_of_some || options.study.length() == Length::Quick) {
        return Err(Failure::usage(
            "--document: the section has all claims in full; leave out --quick, and the names of claims unless with --check",
        ));
    }
    if is_faulty {
        return try_faults(options, &shelf, &table, &claims, document);
    }
    let items = items(options, &shelf, &claims)?;
    if options.study.list {
        return list(&claims, &engines, &items);
    }
    let agenda = Agenda::new(&engines, &items)?;
    let out = options.out.as_deref();
    let _made = out.map(|out| directory::make("--out", out)).transpose()?;
    let records = out.map(Records::within);
    let _awake = options.study.awake.prepare(&engines)?;
    let (_runtime, cancel) = interrupt::cancel()?;
    let began = Instant::now();
    let mut judgements = Vec::new();
    let mut loads: Vec<f64> = machine::load().into_iter().collect();
    agenda.run(&options.study.work, &cancel, |item, findings, _| {
        let (study, length) = (item.what, options.study.length());
        judgements.extend(Judgement::all(&claims, study, &findings, length));
        if let Some(records) = &records {
            keep(records, study, &findings);
        }
        loads.extend(machine::load());
    });
    if cancel.is_cancelled() {
        return Err(Failure::interrupted("nothing is kept"));
    }
    claims::sort(&mut judgements, &claims, &engines);
    // The results are printed even if a file cannot be written.
    let mut ends = Vec::new();
    if let Some(document) = document {
        let origin = origin(&engines, &loads, began.elapsed());
        let section = claims::section(&judgements, &origin);
        ends.push(if options.check && !options.ids.is_empty() {
            let headings: Vec<&str> = claims.iter().map(|claim| claim.id.as_str()).collect();
            document.compare_parts(&headings, &section)
        } else {
            document.keep(&section)
        });
    }
    let absent = left_out(&claims, &engines, judgements.len());
    if options.study.length() == Length::Quick && absent > 0 {
        output::note(format_args!(
            "--quick leaves out {absent} of {}",
            numbers::count((absent + judgements.len()) as u64, "expectation")
        ));
    }
    if options.study.length() == Length::Quick
        && judgements.iter().any(|one| one.differs().next().is_some())
    {
        output::note(
            "--quick: the causes describe full runs; their numbers may differ from those of this run",
        );
    }
    if judgements.is_empty() {
        let nothing = Failure::failed(
            "nothing was judged: none of the expectations is in this run; leave out --quick, or choose another engine",
        );
        return Failure::all([Err(nothing)].into_iter().chain(ends));
    }
    let json = claims::json(&judgements);
    if let Some(directory) = &options.out {
        let written = whole::write(&directory.join(JSON), json.to_string().as_bytes());
        ends.push(written);
    }
    let table = |width| claims::table(&judgements, width);
    ends.push(output::show(options.json, || &json, table));
    ends.extend(records.map(|records| records.finish()));
    let is_of_sim = |one: &&Judgement<'_>| one.engine == EngineKind::Sim;
    let in_sim = judgements.iter().filter(is_of_sim).count();
    let is_missing = options.study.length() == Length::Whole
        && engines.contains(&EngineKind::Sim)
        && left_out(&claims, &[EngineKind::Sim], in_sim) > 0;
    let tally = Tally::of(&judgements);
    let verdict = match (tally.fails, tally.untrusted) {
        (0, 0) if is_missing => Err(Failure::failed("not all expectations were judged")),
        (0, 0) => Ok(()),
        (0, untrusted) => Err(Failure::failed(format_args!(
            "expectations that are not judged, since no run was to be trusted: {untrusted} of {}; run them again while \
             the machine has nothing else to do",
            judgements.len()
        ))),
        (fails, _) => Err(Failure::failed(format_args!(
            "expectations that do not hold: {fails} of {}",
            judgements.len()
        ))),
    };
    Failure::all([verdict].into_iter().chain(ends))
}

/// Runs the claims with one fault, or with all.
fn try_faults(
    options: &Options,
    shelf: &Shelf,
    table: &Table,
    claims: &[&Claim],
    document: Option<Document<'_>>,
) -> Result<(), Failure> {
    let all = Faults::open(shelf, &table.claims).map_err(Failure::usage)?;
    let only = options.fault.as_deref().map(|name| all.named(name));
    let only = only
        .transpose()
        .map_err(|error| Failure::usage(format_args!("--fault: {error}")))?;
    if options.study.list {
        return faults::list(&all, claims);
    }
    let studies = claims::studies(shelf, claims, options.study.length()).map_err(Failure::usage)?;
    let asked = faults::Asked {
        faults: &all,
        only,
        claims,
        document,
    };
    faults::run(&asked, &options.study, &studies, |wall| {
        origin(&[EngineKind::Sim], &[], wall)
    })
}

/// The number of expectations of these engines that were not judged.
fn left_out(claims: &[&Claim], engines: &[EngineKind], judged: usize) -> usize {
    let shown = engines.iter().map(|engine| {
        let expectations = claims.iter().map(|claim| {
            let all = claim.expectations.iter();
            all.filter(|of| claim.shows(of, *engine)).count()
        });
        expectations.sum::<usize>()
    });
    shown.sum::<usize>().saturating_sub(judged)
}

/// The origin of the judgements.
fn origin(engines: &[EngineKind], loads: &[f64], wall: Duration) -> claims::Origin {
    let versions = engines.iter();
    let versions = versions.map(|engine| (*engine, machine::version(*engine)));
    claims::Origin {
        command: command_line::again(),
        at: machine::now(),
        versions: versions.collect(),
        machine: machine::processor(),
        load: Spread::of(loads.iter().copied()),
        wall,
    }
}

/// One row for each claim, with the time that its study takes on the engines in real time, and a row with the sum.
fn list(claims: &[&Claim], engines: &[EngineKind], items: &[Item<&str>]) -> Result<(), Failure> {
    let is_shown = |claim: &&&Claim| engines.iter().any(|engine| claim.is_shown_on(*engine));
    let mut real_time = engines.to_vec();
    real_time.retain(|engine| engine.is_real_time());
    let mut rows = Vec::new();
    for claim in claims.iter().filter(is_shown) {
        let mut on = real_time.clone();
        on.retain(|engine| claim.is_shown_on(*engine));
        let study = items.iter().find(|item| item.what == claim.study);
        let study = study.map_or(&[][..], std::slice::from_ref);
        let agenda = Agenda::new(&on, study)?;
        let took: f64 = agenda
            .batches()
            .map(|of| of.real_time().as_secs_f64())
            .sum();
        let took = (took > 0.0).then(|| format!("{took:.0} s"));
        let published = format!("{}: {}", claim.source, claim.published);
        let (engines, took) = (names(&claim.engines), took.unwrap_or_default());
        rows.push(vec![claim.id.clone(), engines, took, published]);
    }
    let table = report::Table {
        text: vec![0, 1, 3],
        // Nothing is measured in real time without a request.
        absent: if real_time.is_empty() {
            vec![2]
        } else {
            Vec::new()
        },
        ..report::Table::new(["claim", "engines", "takes", "published"], rows)
    };
    output::result(table.lines(output::width()).trim_end())?;
    for batch in Agenda::new(&real_time, items)?.batches() {
        let minutes = batch.real_time().as_secs_f64() / 60.0;
        output::note(format_args!(
            "engine {}: {}, {} in real time",
            batch.engine,
            numbers::count(batch.runs().len() as u64, "run"),
            numbers::count(minutes.round() as u64, "minute")
        ));
    }
    Ok(())
}

/// The requested engines, each once, in the order in which they run. Engines that can show none of the claims are left
/// out.
fn engines(options: &Options, claims: &[&Claim]) -> Result<Vec<EngineKind>, Failure> {
    let mut engines = options.study.engines();
    engines.retain(|engine| claims.iter().any(|claim| claim.is_shown_on(*engine)));
    if engines.is_empty() {
        let shown: Vec<EngineKind> = EngineKind::ALL
            .iter()
            .copied()
            .filter(|kind| claims.iter().any(|claim| claim.is_shown_on(*kind)))
            .collect();
        let asked = names(&options.study.engines());
        return Err(Failure::usage(format_args!(
            "--engine {asked}: only {} can show these claims",
            names(&shown)
        )));
    }
    Ok(engines)
}

/// The studies of the claims, each for the engines that can show any of its claims.
fn items<'c>(
    options: &Options,
    shelf: &Shelf,
    claims: &[&'c Claim],
) -> Result<Vec<Item<&'c str>>, Failure> {
    let studies = claims::studies(shelf, claims, options.study.length()).map_err(Failure::usage)?;
    let items = studies.into_iter().map(|study| {
        let mut runs = study.runs;
        if options.out.is_some() {
            runs.keep_samples(true);
        }
        Item {
            what: study.name,
            runs,
            engines: study.engines,
        }
    });
    Ok(items.collect())
}

/// Keeps the record of each run: `loss-0.1-sim-0`.
fn keep(records: &Records, study: &str, findings: &Findings) {
    for run in &findings.runs {
        let point: String = run.values.iter().map(|value| format!("-{value}")).collect();
        let name = format!("{study}{point}-{}-{}", findings.engine, run.repeat);
        records.keep(&name, &run.record);
    }
}
