//! `fullpipe trace`: analyses the connections in captures, and their paths.

use std::fs::File;
use std::num::NonZeroUsize;
use std::path::{Path, PathBuf};

use capture::quic::KeyLogError;
use capture::{Summary, Trace};
use clap::Args;

use crate::failure::Failure;
use crate::files::{stream, whole};
use crate::options::command_line;
use crate::options::usage;
use crate::terminal::interrupt;
use crate::terminal::output;

/// Show what limited the connections of a packet capture
#[derive(Debug, Args)]
#[command(after_help = "\
For each TCP connection, and each QUIC connection with known keys: RTprop and BtlBw as BBR measures them, losses without reordering, what limited the connection and for how long, \
and a guess at its congestion controller. For other QUIC connections: what is visible without keys. docs/trace.md explains the methods, and what a capture cannot show.

tcpdump -s 128 -w FILE captures enough of each packet.")]
pub struct Options {
    /// Captures (pcap or pcapng) or QUIC logs (qlog), in any order, plain or compressed with gzip or zstd; - for stdin
    #[arg(required = true, value_name = "FILE")]
    files: Vec<PathBuf>,
    /// Decrypt QUIC connections with this key log, the file that SSLKEYLOGFILE names, and analyse them like TCP connections
    #[arg(long, value_name = "FILE")]
    keys: Option<PathBuf>,
    /// Show this many connections, those with the most payload
    #[arg(long, value_name = "N", default_value = "20", value_parser = usage::at_least_one)]
    top: NonZeroUsize,
    /// Write the summary, connections and samples as Parquet, and a page with plots, into this directory
    #[arg(long, value_name = "DIR")]
    out: Option<PathBuf>,
    /// Write the path of the connection with the most payload as a scenario for `fullpipe run`
    #[arg(long, value_name = "FILE")]
    scenario: Option<PathBuf>,
    /// Write the same path as ranges for `fullpipe advise --from`
    #[arg(long, value_name = "FILE")]
    ranges: Option<PathBuf>,
    /// Print only the connections on stdout, as JSON
    #[arg(long)]
    json: bool,
    /// Print only the result and errors
    #[arg(long)]
    quiet: bool,
}

/// The text that is written for a path. `None` if no path is known.
type PathText = fn(&Summary) -> Option<String>;

impl Options {
    /// The files that a path is written to: the option, the file, and the text.
    fn paths(&self) -> impl Iterator<Item = (&'static str, &Path, PathText)> {
        let scenario: PathText = capture::scenario;
        let ranges: PathText = capture::ranges;
        let all = [
            ("--scenario", &self.scenario, scenario),
            ("--ranges", &self.ranges, ranges),
        ];
        all.into_iter()
            .filter_map(|(option, file, of)| Some((option, file.as_deref()?, of)))
    }
}

/// Reads the captures, and shows the results.
pub fn run(options: &Options) -> Result<(), Failure> {
    if let Some(directory) = &options.out {
        report::trace::check_dir(directory)
            .map_err(|error| Failure::usage(format_args!("--out: {error}")))?;
    }
    for (option, file, _) in options.paths() {
        whole::check(file).map_err(|error| {
            Failure::usage(format_args!("{option} {}: {error}", file.display()))
        })?;
    }
    let (_runtime, cancel) = interrupt::cancel()?;
    let mut trace = Trace::new();
    if let Some(keys) = &options.keys {
        let read = File::open(keys).map_err(KeyLogError::from);
        let read = read.and_then(|source| trace.read_keys(source));
        read.map_err(|error| Failure::usage(format_args!("--keys {}: {error}", keys.display())))?;
    }
    let files = &options.files;
    let most = stream::raise_limit();
    if files.len() as u64 > most {
        note(
            options,
            format_args!(
                "at most {most} of {} files can be open at once (ulimit -n); more of the same time cannot be read",
                files.len()
            ),
        );
    }
    let open = |place: usize| stream::open(&files[place], &cancel);
    let read = trace.read_all(files.len(), open, &|| !cancel.is_cancelled());
    read.map_err(|(place, error)| {
        let name = stream::name(&files[place]);
        Failure::usage(format_args!("{name}: {error}"))
    })?;
    let (summary, timelines) = match options.out {
        Some(_) => Summary::of(trace),
        None => (Summary::alone(trace), Vec::new()),
    };
    let top = options.top.get();
    let table = |width| report::trace::table(&summary, top, width);
    output::show(options.json, || &summary, table)?;
    if let Some(directory) = &options.out {
        report::trace::write_dir(directory, &summary, &timelines, &command_line::origin())
            .map_err(Failure::failed)?;
        note(options, format_args!("report: {}", directory.display()));
        let most = report::trace::MOST_SUMMARIZED;
        if summary.connections.len().max(summary.quic.len()) > most {
            let words =
                "connections with the most payload; connections.parquet has all TCP connections";
            note(options, format_args!("summary.json has the {most} {words}"));
        }
    }
    for (option, file, of) in options.paths() {
        let text = of(&summary).ok_or_else(|| {
            Failure::failed(format_args!(
                "{option}: no connection shows both RTprop and BtlBw; capture at the sender, or with TCP timestamps"
            ))
        })?;
        whole::write(file, text.as_bytes())?;
        let what = option.trim_start_matches("--");
        note(options, format_args!("{what}: {}", file.display()));
    }
    if cancel.is_cancelled() {
        return Err(Failure::interrupted(
            "this is the result of the part that was read",
        ));
    }
    Ok(())
}

fn note(options: &Options, text: std::fmt::Arguments<'_>) {
    if !options.quiet {
        output::note(text);
    }
}
