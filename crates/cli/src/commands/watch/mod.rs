//! `fullpipe watch`: shows the machine's live TCP connections.

mod once;
mod watching;

use std::env;
use std::io::{self, IsTerminal};
use std::net::SocketAddr;
use std::num::NonZeroUsize;
use std::path::PathBuf;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex};

use clap::{ArgGroup, Args};
use files::regular;
use fleet::{Column, Destination, Filter, GroupBy, Namespace, Systems};
use program::failure::Failure;
use program::output;
use program::usage;
use signal_hook::consts::{SIGHUP, SIGINT, SIGQUIT, SIGTERM};
use units::{Bytes, Duration};

use crate::options::address::local_or_named;
use crate::terminal::live;
use crate::terminal::signals::is_ignored;
use watching::Watching;
pub use watching::each;

/// Watch this machine's TCP connections, and what limits them
#[derive(Debug, Args)]
#[command(group(ArgGroup::new("metrics").args(["prometheus", "otlp"]).multiple(true)))]
#[command(after_help = "\
A FILTER is KEY=VALUE or a text. A connection must match each FILTER, and no !FILTER. Keys: port, local-port, remote-port, \
prefix, local, process, controller, state, cgroup, namespace, as, limit. Separate several values of a key with commas: \
port=80,443.

Press ? in the terminal view for its keys. Only root sees the processes of other users; all users see the rest. \
docs/watch.md explains the columns.")]
pub struct Options {
    /// Watch only the connections that match: port=443, prefix=192.0.2.0/24, process=nginx, controller=bbr, …
    #[arg(value_name = "FILTER")]
    filter: Vec<String>,
    #[arg(long, value_name = "COLUMN", default_value = "send", help = sort_help())]
    sort: Column,
    /// Show groups of connections
    #[arg(long, value_name = "GROUP", help = usage::one_of("Show groups of connections by", GroupBy::ALL))]
    group: Option<GroupBy>,
    /// Time between two polls
    #[arg(long, value_name = "TIME", default_value = "1s", value_parser = interval)]
    interval: Duration,
    /// Poll once, print a table, and exit
    #[arg(long)]
    once: bool,
    /// Print each connection or group at each poll as a line of JSON
    #[arg(long)]
    json: bool,
    /// Print this many connections or groups at each poll, the first by --sort
    #[arg(long, value_name = "N", value_parser = usage::at_least_one)]
    top: Option<NonZeroUsize>,
    /// Watch this network namespace: a name from `ip netns`, a process ID, a file, or all. Can be given several times
    #[arg(long, value_name = "NAMESPACE")]
    namespace: Vec<String>,
    /// Name the autonomous systems of remote addresses from a file: .mmdb, or a table of MaxMind, IPinfo, iptoasn or pyasn; also with gzip
    #[arg(long = "as", value_name = "FILE")]
    systems: Option<PathBuf>,
    /// Record the connections as Parquet files in this directory
    #[arg(long, value_name = "DIR")]
    record: Option<PathBuf>,
    /// Keep at most this much of the record; the oldest files are deleted
    #[arg(long, value_name = "SIZE", default_value = "1gb", requires = "record")]
    keep: Bytes,
    /// Serve groups as OpenMetrics at http://ADDR/metrics; a port alone means 127.0.0.1. Groups are by --group, or else by prefix
    #[arg(long, value_name = "ADDR", value_parser = local_or_named)]
    prometheus: Option<SocketAddr>,
    /// Send groups to an OpenTelemetry collector by OTLP over HTTP, such as http://127.0.0.1:4318. Headers come from
    /// OTEL_EXPORTER_OTLP_HEADERS
    #[arg(long, value_name = "URL")]
    otlp: Option<String>,
    /// Give this many groups series of their own; all other groups count as `other`
    #[arg(long, value_name = "N", default_value = "100", value_parser = usage::at_least_one, requires = "metrics")]
    labels: NonZeroUsize,
}

/// The shortest interval of polls.
const MIN_INTERVAL: Duration = Duration::from_millis(100);

fn interval(text: &str) -> Result<Duration, String> {
    let span = usage::positive_time(text)?;
    if span < MIN_INTERVAL {
        return Err(
            "the shortest is 100ms, because the kernel's clocks are hardly finer".to_owned(),
        );
    }
    Ok(span)
}

fn sort_help() -> String {
    let connections = usage::one_of("Sort by", Column::ALL);
    let groups = usage::one_of("groups by one of", fleet::sortable_columns());
    format!("{connections}; {groups}")
}

impl Options {
    fn filter(&self) -> Result<Filter, Failure> {
        let filter: Filter = self.filter.join(" ").parse().map_err(Failure::usage)?;
        if filter.asks_for_systems() && self.systems.is_none() {
            return Err(Failure::usage(
                "filter as=: the autonomous systems of addresses are unknown; give a file with --as",
            ));
        }
        if self.group == Some(GroupBy::As) && self.systems.is_none() {
            return Err(Failure::usage(
                "--group as: the autonomous systems of addresses are unknown; give a file with --as",
            ));
        }
        if self.group.is_some() && !fleet::sortable_columns().contains(&self.sort) {
            let columns = usage::one_of("groups are sorted by one of", fleet::sortable_columns());
            return Err(Failure::usage(format_args!(
                "--sort {}: {columns}",
                self.sort
            )));
        }
        if filter.asks_for_limits() && self.once {
            return Err(Failure::usage(
                "filter limit=: the limit of a connection is known after two polls; leave out --once",
            ));
        }
        Ok(filter)
    }

    fn namespaces(&self) -> Result<Vec<Namespace>, Failure> {
        let mut found = Vec::new();
        for name in &self.namespace {
            let named = Namespace::find(name);
            found.extend(
                named.map_err(|error| Failure::usage(format_args!("--namespace: {error}")))?,
            );
        }
        if found.is_empty() {
            found.push(Namespace::Here);
        }
        Ok(found)
    }

    /// The destination of metrics, with the headers from the environment.
    fn destination(&self) -> Result<Option<Destination>, Failure> {
        let destination = self
            .otlp
            .as_deref()
            .map(|url| Destination::new(url, |name| env::var_os(name)));
        destination.transpose().map_err(Failure::usage)
    }

    fn systems(&self) -> Result<Option<Systems>, Failure> {
        let Some(path) = &self.systems else {
            return Ok(None);
        };
        let read = regular::open(path)
            .map_err(Into::into)
            .and_then(Systems::read);
        let wrong = |error| Failure::usage(format_args!("--as {}: {error}", path.display()));
        read.map(Some).map_err(wrong)
    }
}

/// Watches the machine's connections, and shows them.
pub fn run(options: &Options) -> Result<(), Failure> {
    let is_for_people = !options.once && !options.json;
    let is_headless = is_for_people && !io::stdout().is_terminal();
    let has_reader =
        options.record.is_some() || options.prometheus.is_some() || options.otlp.is_some();
    // Invalid arguments are reported first.
    let mut watching = Watching::new(options)?;
    if is_headless && !has_reader {
        return Err(Failure::usage(
            "stdout is not a terminal; use --once for a table, --json for lines of JSON, or --record, --prometheus or --otlp, which need no terminal",
        ));
    }
    if options.once {
        watching.look()?;
        watching.watcher.find_all();
        once::print(&watching, options)?;
        return watching.finish();
    }
    let ended = ended()?;
    if is_for_people && !is_headless {
        let watching = Arc::new(Mutex::new(watching));
        watching::keep_looking(&watching, options.interval, &ended)?;
        let start = live::Start {
            sort: options.sort,
            group: options.group,
        };
        live::run(&watching, start, &ended).map_err(|error| {
            Failure::failed(format_args!("cannot draw on the terminal: {error}"))
        })?;
        return watching::end(watching);
    }
    if let (true, Some(exporter)) = (is_headless, &watching.exporter) {
        output::note(format_args!(
            "metrics: http://{}/metrics",
            exporter.address()
        ));
    }
    watching::each(options.interval, &ended, || {
        watching.look()?;
        watching.tell();
        if options.json && !once::print(&watching, options)? {
            ended.store(true, Ordering::Relaxed);
        }
        Ok(())
    })?;
    watching.finish()
}

/// A flag that becomes true when the user or the system asks the command to end. From this call on, a signal only sets the flag.
/// SIGHUP ends the command unless it was ignored at the start, as by nohup(1).
pub fn ended() -> Result<Arc<AtomicBool>, Failure> {
    let signals = [SIGINT, SIGTERM, SIGQUIT, SIGHUP];
    ended_by(&signals[..if is_ignored(SIGHUP) { 3 } else { 4 }])
}

/// Like [`ended`], for these signals.
pub fn ended_by(signals: &[i32]) -> Result<Arc<AtomicBool>, Failure> {
    let ended = Arc::new(AtomicBool::new(false));
    for signal in signals {
        signal_hook::flag::register(*signal, Arc::clone(&ended))
            .map_err(|error| Failure::failed(format_args!("cannot listen for signals: {error}")))?;
    }
    Ok(ended)
}
