//! `fullpipe diagnose`: a capture in, and what another controller would change out.

use std::net::SocketAddr;
use std::path::{Path, PathBuf};

use capture::{Direction, FlowSummary, Summary};
use clap::Args;
use congestion::ControllerKind;
use lab::EngineKind;
use studies::advise::{self, Advice, Goal, Outcomes, Question, RangedPath};
use studies::diagnose::{Diagnosis, not_used, untellable};

use crate::commands::advise::gather;
use crate::commands::trace::{end, read};
use crate::failure::Failure;
use crate::files::own_file::{self, OwnFile};
use crate::options::command_line;
use crate::options::usage;
use crate::terminal::interrupt;
use crate::terminal::output;

/// The seed of every random choice, that of `advise` if nobody gives another.
const SEED: u64 = 1;

/// The candidates, those of `advise` if nobody gives others.
const CANDIDATES: [ControllerKind; 4] = [
    ControllerKind::Bbr3,
    ControllerKind::Bbr1,
    ControllerKind::Cubic,
    ControllerKind::Reno,
];

/// Say from a packet capture what limits a connection, what another controller would gain, and whom it would harm
#[derive(Debug, Args)]
#[command(after_help = "\
This is `trace --ranges` and `advise --from` in one command: the path of the connection with the most payload whose path is \
known, and every candidate over such paths in the simulator. Take the capture at the sender of the data, from before the \
connection begins, for 10 s or more: tcpdump -s 128 -w FILE host CLIENT. docs/diagnose.md says how to read the answer.")]
pub struct Options {
    /// Captures (pcap or pcapng) or QUIC logs (qlog), in any order, plain or compressed with gzip or zstd; - for stdin
    #[arg(required = true, value_name = "CAPTURE")]
    files: Vec<PathBuf>,
    /// Decrypt QUIC connections with this key log, the file that SSLKEYLOGFILE names
    #[arg(long, value_name = "FILE")]
    keys: Option<PathBuf>,
    /// Diagnose the connection with this end, such as 192.0.2.7:50000
    #[arg(long, value_name = "ADDR:PORT", value_parser = end)]
    connection: Option<SocketAddr>,
    #[arg(long, help = usage::one_of("What a controller is chosen for", Goal::ALL), value_name = "GOAL", default_value_t = Goal::default())]
    goal: Goal,
    /// Write the diagnosis as a page, which works offline
    #[arg(long, value_name = "PATH")]
    report: Option<PathBuf>,
    /// Print only the diagnosis on stdout, as JSON
    #[arg(long)]
    json: bool,
    /// Print only the result and errors
    #[arg(long)]
    quiet: bool,
}

/// Reads the captures, asks for advice on the path, and shows both.
pub fn run(options: &Options) -> Result<(), Failure> {
    let report = options.report.as_deref();
    let report = report.map(|path| OwnFile::at(path, &own_file::REPORT));
    let report = report.transpose()?;
    let (_runtime, cancel) = interrupt::cancel()?;
    let keys = options.keys.as_deref();
    let trace = read(&options.files, keys, options.quiet, &cancel)?;
    if cancel.is_cancelled() {
        return Err(Failure::interrupted(
            "the captures were not read to their end",
        ));
    }
    let (summary, timelines) = match report {
        Some(_) => Summary::of(trace),
        None => (Summary::alone(trace), Vec::new()),
    };
    let direction = direction(options, &summary)?;
    if !options.quiet {
        not_used(&summary, &direction).iter().for_each(output::note);
    }
    let mut each = summary.connections.iter().zip(&timelines);
    let timeline = each.find_map(|(connection, timeline)| {
        let mut flows = connection.flows.iter().zip(&timeline.flows);
        flows.find_map(|(flow, over_time)| std::ptr::eq(flow, direction.flow).then_some(over_time))
    });
    let question = question(&direction.ranges())?;
    let sampling = question.sampling().map_err(Failure::failed)?;
    let cases = sampling.cases(&question.controllers);
    let plan = sampling.plan("diagnose", &cases, &cancel);
    if !options.quiet {
        output::note(&sampling.path);
        output::note(advise::describe_runs(&sampling, plan.runs.len()));
    }
    let (gathering, failed) = gather(&plan, None, options.quiet, &cancel)?;
    let outcomes = Outcomes::new(&question.controllers, &cases, &gathering);
    let Some(advice) = Advice::new(&outcomes, &sampling) else {
        return Err(Failure::failed(advise::nothing(&outcomes, &sampling)));
    };
    let diagnosis = Diagnosis {
        summary: &summary,
        direction,
        timeline,
        advice: &advice,
        goal: options.goal,
        runs: plan.runs.len() - failed,
    };
    output::show(
        options.json,
        || diagnosis.json(),
        |width| diagnosis.text(width),
    )?;
    if let Some(file) = report {
        let facts = [
            advise::describe_runs(&sampling, plan.runs.len()),
            format!("engine {}", EngineKind::Sim),
            format!("seed {SEED}"),
        ];
        let page = diagnosis.page(&facts, &command_line::origin());
        let written = file.write(&page)?;
        output::note(format_args!("report: {written}"));
    }
    match failed {
        0 => Ok(()),
        failed => Err(Failure::failed(format_args!(
            "{} failed, so their paths are missing",
            report::count(failed as u64, "run")
        ))),
    }
}

/// The direction of data to diagnose.
fn direction<'s>(options: &Options, summary: &'s Summary) -> Result<Direction<'s>, Failure> {
    let end = options.connection.map(|end| end.to_string());
    let is_wanted = |flow: &FlowSummary| {
        end.as_ref()
            .is_none_or(|end| *end == flow.from || *end == flow.to)
    };
    let mut flows = summary.connections.iter().flat_map(|one| &one.flows);
    if let Some(end) = &end
        && !flows.any(is_wanted)
    {
        return Err(Failure::failed(format_args!(
            "--connection: no connection with data has the end {end}"
        )));
    }
    let found = Direction::of(summary, is_wanted);
    found.ok_or_else(|| Failure::failed(untellable(summary, is_wanted)))
}

/// What is asked of a path with these ranges.
fn question(ranges: &str) -> Result<Question, Failure> {
    let path = RangedPath::parse(ranges, Path::new("")).map_err(Failure::failed)?;
    Ok(Question {
        path,
        controllers: CANDIDATES.to_vec(),
        paths: None,
        duration: None,
        seed: SEED,
    })
}
