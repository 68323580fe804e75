//! `fullpipe diagnose`: names the limit of a captured connection, and the gain of another controller.

use std::net::SocketAddr;
use std::path::{Path, PathBuf};

use clap::Args;
use congestion::ControllerKind;
use lab::EngineKind;
use program::command_line;
use program::failure::Failure;
use program::interrupt;
use program::output;
use program::usage;
use studies::advise::{self, Goal, Question, RangedPath};
use studies::diagnose::{Diagnosis, more, not_used};
use trace::Summary;

use crate::commands::advise::Work;
use crate::commands::trace::read;
use crate::files::own_file::{self, OwnFile};
use crate::options::connection_option::{direction, end};

/// The seed of every random choice, as in `advise` by default.
const SEED: u64 = 1;

/// The candidates, as in `advise` by default.
const CANDIDATES: [ControllerKind; 4] = [
    ControllerKind::Bbr3,
    ControllerKind::Bbr1,
    ControllerKind::Cubic,
    ControllerKind::Reno,
];

/// Say what limits a captured connection, and what another would gain
#[derive(Debug, Args)]
#[command(after_help = "\
The answer names what limits the connection, what another controller would gain, and whom it would harm. \
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
    let report = OwnFile::asked(options.report.as_deref(), &own_file::REPORT)?;
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
    let direction = direction(&summary, options.connection)?;
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
    let plan = advise::plan(&sampling, "diagnose", &cases, &cancel);
    let work = Work {
        sampling: &sampling,
        controllers: &question.controllers,
        cases: &cases,
        plan: &plan,
        jobs: None,
        is_quiet: options.quiet,
        cancel: &cancel,
    };
    let advised = work.answer(|advice, runs| {
        let diagnosis = Diagnosis {
            summary: &summary,
            direction,
            timeline,
            advice,
            goal: options.goal,
            runs,
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
        Ok(())
    });
    // No option of this command asks for other runs.
    advised?.map_err(|why| Failure::failed(format_args!("{why}; {}", more(&sampling))))
}

/// The question for `advise` about a path with these ranges.
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
