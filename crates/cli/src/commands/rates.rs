//! `fullpipe rates`: converts a recorded rate to another format.

use std::path::{Path, PathBuf};

use clap::{Args, ValueEnum};
use lab::Cancel;
use path::{Trace, TraceReason, assumed_unit};
use program::failure::Failure;
use program::interrupt;
use program::output;
use program::whole;
use tables::numbers::{bits_per_sec, count, span};
use units::Duration;

use crate::files::stream;
use crate::options::other_file;

/// The most bytes that are read, as of a scenario's `trace`.
const MAX_BYTES: u64 = 1 << 28;

/// Convert a recorded rate to a table, or for Mahimahi
#[derive(Debug, Args)]
#[command(after_help = "\
FILE has any form that a scenario's trace may have: a table of times and rates, such as CSV, or delivery opportunities in \
Mahimahi's format. docs/scenario.md tells how columns and units are found. The command prints the trace's length, its mean \
rate and its outages on stderr.

  fullpipe rates starlink.csv --to mahimahi --out starlink.trace
  mm-link starlink.trace starlink.trace")]
pub struct Options {
    /// The recorded rate, or - for stdin
    #[arg(value_name = "FILE")]
    file: PathBuf,
    /// Form to convert to: csv, a table of times in seconds and rates in bits per second, or mahimahi, delivery opportunities
    /// as mm-link takes them
    #[arg(long, value_enum, value_name = "FORM", default_value_t = Form::Csv, hide_possible_values = true)]
    to: Form,
    /// Name of the column with the rates, where several could be meant
    #[arg(long, value_name = "NAME")]
    column: Option<String>,
    /// Length of the intervals over which rates are averaged, with --to csv: 1s [default: 100ms for delivery opportunities, and the rates as
    /// they are for a table]
    #[arg(long, value_name = "TIME", value_parser = step)]
    step: Option<Duration>,
    /// Write to this file instead of stdout, which is -
    #[arg(long, value_name = "PATH")]
    out: Option<PathBuf>,
}

/// A form of a recorded rate.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
enum Form {
    Csv,
    Mahimahi,
}

fn step(text: &str) -> Result<Duration, String> {
    let step: Duration = text
        .parse()
        .map_err(|error: units::ParseError| error.to_string())?;
    if step < Duration::from_millis(1) {
        return Err("is less than a millisecond; give a time such as 100ms".to_owned());
    }
    Ok(step)
}

/// Reads the trace and writes it.
pub fn run(options: &Options) -> Result<(), Failure> {
    if options.to == Form::Mahimahi && options.step.is_some() {
        return Err(Failure::usage(
            "--step: delivery opportunities have no steps; leave it out, or give --to csv",
        ));
    }
    let out = options.out.as_deref();
    let out = out.filter(|path| *path != Path::new("-"));
    if let Some(path) = out {
        whole::check(path)
            .map_err(|error| Failure::usage(format_args!("--out {}: {error}", path.display())))?;
    }
    let column = options.column.as_deref();
    // Signals are handled until everything is written.
    let (_runtime, cancel) = interrupt::cancel()?;
    let (trace, unit) = read(&options.file, column, &cancel)?;
    let (text, shorter) = match options.to {
        Form::Csv => (
            trace.to_table(options.step),
            "a longer --step, or a shorter trace",
        ),
        Form::Mahimahi => (trace.to_opportunities(), "a shorter trace"),
    };
    let text =
        text.map_err(|error| wrong(&options.file, format_args!("{error}; give {shorter}")))?;
    if cancel.is_cancelled() {
        return Err(Failure::interrupted("nothing was written"));
    }
    match out {
        Some(path) => whole::write(path, text.as_bytes())?,
        None => output::result(text.trim_end())?,
    }
    if let Some(unit) = unit {
        output::note(format_args!(
            "the table names no unit of its rates, which are taken as {unit}"
        ));
    }
    output::note(describe(&trace));
    Ok(())
}

/// The trace, and the unit of its rates if it is an assumption.
fn read(
    file: &Path,
    column: Option<&str>,
    cancel: &Cancel,
) -> Result<(Trace, Option<&'static str>), Failure> {
    let opened = stream::open(file, cancel);
    let opened = opened.map_err(|error| wrong(file, error))?;
    let (other, all) = other_file::begin(opened.source).map_err(|error| wrong(file, error))?;
    if let Some(what) = other {
        return Err(wrong(file, what));
    }
    let text = text::read(all, MAX_BYTES).map_err(|error| wrong(file, error))?;
    if cancel.is_cancelled() {
        return Err(Failure::interrupted("the trace was not read to its end"));
    }
    let trace = match column {
        Some(column) => Trace::of_column(&text, column),
        None => text.parse(),
    };
    let trace = trace.map_err(|error| match error.reason {
        TraceReason::ManyRateColumns(_) => {
            let reason = error.to_string();
            let what = reason.split("; ").next().unwrap_or_default();
            wrong(file, format_args!("{what}; give --column NAME"))
        }
        _ => wrong(file, error),
    })?;
    Ok((trace, assumed_unit(&text, column)))
}

fn wrong(file: &Path, reason: impl std::fmt::Display) -> Failure {
    Failure::usage(format_args!("{}: {reason}", stream::name(file)))
}

/// The length of the trace, its rates, and its outages, in words.
fn describe(trace: &Trace) -> String {
    let outages = trace.outages();
    let mean = bits_per_sec(trace.mean_rate().bits_per_sec() as f64);
    let span = |time: Duration| span(time.as_millis_f64());
    let period = span(trace.period());
    let Some(longest) = outages.iter().max() else {
        return format!("{period} at {mean} on average, no outage");
    };
    let all = outages.iter().fold(Duration::ZERO, |sum, it| sum + *it);
    let outages = count(outages.len() as u64, "outage");
    let (all, longest) = (span(all), span(*longest));
    format!("{period} at {mean} on average, {outages} of {all} together, the longest {longest}")
}
