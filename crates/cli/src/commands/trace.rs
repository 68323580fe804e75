//! `fullpipe trace`: analyses the connections in captures, and their paths.

use std::fmt::Display;
use std::fs;
use std::net::SocketAddr;
use std::num::NonZeroUsize;
use std::path::{Path, PathBuf};

use clap::{ArgGroup, Args};
use document::de::MAX_FILE_BYTES;
use lab::Cancel;
use program::apart;
use program::command_line;
use program::failure::Failure;
use program::interrupt;
use program::output;
use program::usage;
use program::whole;
use studies::diagnose::named;
use trace::{Direction, KeyLogError, ReadError, Summary, Trace};

use crate::files::stream;
use crate::options::connection_option::{direction, end};
use crate::options::other_file;

/// Show what limited the connections of a packet capture
#[derive(Debug, Args)]
#[command(group(ArgGroup::new("path").args(["scenario", "ranges"]).multiple(true)))]
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
    /// Write the path of a connection as a scenario for `fullpipe run`: of those whose path is known, the one with the most payload
    #[arg(long, value_name = "FILE")]
    scenario: Option<PathBuf>,
    /// Write the same path as ranges for `fullpipe advise --from`
    #[arg(long, value_name = "FILE")]
    ranges: Option<PathBuf>,
    /// Write the path of the connection with this end, such as 192.0.2.7:50000, instead
    #[arg(long, value_name = "ADDR:PORT", value_parser = end, requires = "path")]
    connection: Option<SocketAddr>,
    /// Print only the connections on stdout, as JSON
    #[arg(long)]
    json: bool,
    /// Print only the result and errors
    #[arg(long)]
    quiet: bool,
}

/// The text that is written for a path.
type PathText = fn(&Direction<'_>) -> String;

impl Options {
    /// The files that a path is written to: the option, the file, and the text.
    fn paths(&self) -> impl Iterator<Item = (&'static str, &Path, PathText)> {
        let scenario: PathText = |direction| direction.scenario();
        let ranges: PathText = |direction| direction.ranges();
        let all = [
            ("--scenario", &self.scenario, scenario),
            ("--ranges", &self.ranges, ranges),
        ];
        all.into_iter()
            .filter_map(|(option, file, of)| Some((option, file.as_deref()?, of)))
    }

    /// Checks before the work that the files can be written.
    fn check_paths(&self) -> Result<(), Failure> {
        for (option, file, _) in self.paths() {
            let wrong = |reason: &dyn Display| {
                Failure::usage(format_args!("{option} {}: {reason}", file.display()))
            };
            if file == Path::new("-") {
                let reason = "stdout has the connections; give the name of a file";
                return Err(wrong(&reason));
            }
            whole::check(file).map_err(|error| wrong(&error))?;
        }
        let files: Vec<_> = self
            .paths()
            .map(|(option, file, _)| (option, Some(file)))
            .collect();
        apart::check(("--out", self.out.as_deref()), &files)
    }

    /// Writes the path of a connection, and says whose it is.
    fn write_paths(&self, summary: &Summary) -> Result<(), Failure> {
        if self.paths().next().is_none() {
            return Ok(());
        }
        let direction = direction(summary, self.connection)?;
        for (option, file, of) in self.paths() {
            whole::write(file, of(&direction).as_bytes())?;
            let what = option.trim_start_matches("--");
            note(self.quiet, format_args!("{what}: {}", file.display()));
        }
        note(self.quiet, format_args!("path: {}", named(direction.flow)));
        if let Some(larger) = direction.larger {
            let unknown = larger.lacks().unwrap_or("path");
            note(
                self.quiet,
                format_args!(
                    "not the path of {}: its {unknown} is unknown",
                    named(larger)
                ),
            );
        }
        Ok(())
    }
}

/// Reads captures. The keys decrypt QUIC connections.
pub fn read(
    files: &[PathBuf],
    keys: Option<&Path>,
    is_quiet: bool,
    cancel: &Cancel,
) -> Result<Trace, Failure> {
    let mut trace = Trace::new();
    if let Some(keys) = keys {
        let opened = stream::open(keys, cancel).map_err(|error| KeyLogError::Text(error.into()));
        let read = opened.and_then(|opened| trace.read_keys(opened.source));
        if cancel.is_cancelled() {
            return Err(Failure::interrupted("nothing was read but keys"));
        }
        read.map_err(|error| Failure::usage(format_args!("--keys {}: {error}", keys.display())))?;
    }
    let most = stream::raise_limit();
    if files.len() as u64 > most {
        note(
            is_quiet,
            format_args!(
                "at most {most} of {} files can be open at once (ulimit -n); more of the same time cannot be read",
                files.len()
            ),
        );
    }
    let open = |place: usize| stream::open(&files[place], cancel);
    let read = trace.read_all(files.len(), open, &|| !cancel.is_cancelled());
    read.map_err(|(place, error)| {
        let file = &files[place];
        let name = stream::name(file);
        match error {
            ReadError::Unknown => Failure::usage(format_args!("{name}: {}", no_capture(file))),
            error => Failure::usage(format_args!("{name}: {error}")),
        }
    })?;
    Ok(trace)
}

/// The reason why this file is no capture, with the command that takes it, if there is one.
fn no_capture(file: &Path) -> String {
    // A pipe has been read, and would be waited for.
    let is_small = fs::metadata(file).is_ok_and(|of| of.is_file() && of.len() <= MAX_FILE_BYTES);
    let text = is_small.then(|| fs::read_to_string(file).ok()).flatten();
    let other = text.and_then(|text| other_file::kind_and_command(&text, "trace"));
    other.unwrap_or_else(|| {
        "is not a capture; give pcap, pcapng or qlog, also compressed with gzip or zstd".to_owned()
    })
}

/// Reads the captures, and shows the results.
pub fn run(options: &Options) -> Result<(), Failure> {
    if let Some(directory) = &options.out {
        report::trace::check_dir(directory)
            .map_err(|error| Failure::usage(format_args!("--out: {error}")))?;
    }
    options.check_paths()?;
    let (_runtime, cancel) = interrupt::cancel()?;
    let trace = read(
        &options.files,
        options.keys.as_deref(),
        options.quiet,
        &cancel,
    )?;
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
        note(
            options.quiet,
            format_args!("report: {}", directory.display()),
        );
        let most = report::trace::MAX_SUMMARIZED;
        if summary.connections.len().max(summary.quic.len()) > most {
            let words =
                "connections with the most payload; connections.parquet has all TCP connections";
            note(
                options.quiet,
                format_args!("summary.json has the {most} {words}"),
            );
        }
    }
    options.write_paths(&summary)?;
    if cancel.is_cancelled() {
        return Err(Failure::interrupted(
            "this is the result of the part that was read",
        ));
    }
    Ok(())
}

fn note(is_quiet: bool, text: std::fmt::Arguments<'_>) {
    if !is_quiet {
        output::note(text);
    }
}
