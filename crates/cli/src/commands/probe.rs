//! `fullpipe probe`: the same bytes again and again, over connections that are kept open.

use std::collections::HashSet;
use std::env::VarError;
use std::fmt::Display;
use std::net::SocketAddr;
use std::num::NonZeroUsize;
use std::path::{Path, PathBuf};

use clap::Args;
use quic::endpoint::Identity;
use quic::probe::Token;
use studies::probe::{self, Dataset, Host, Results, Row, Spec, Target, TcpServer};
use studies::runs::Execution;
use tokio::time::sleep;
use units::Duration;

use crate::failure::Failure;
use crate::files::program;
use crate::files::whole;
use crate::options::address::resolve;
use crate::options::input::Input;
use crate::options::usage;
use crate::terminal::interrupt::{self, FAREWELL, Interrupt};
use crate::terminal::output;
use crate::terminal::sweep_bar::SweepBar;

/// The environment variable for a receiver's token. A process's environment is its owner's only (proc(5), "environ").
const TOKEN_VARIABLE: &str = "FULLPIPE_PROBE_TOKEN";

/// So many failed probes of a round are named.
const NAMED: usize = 10;

/// More rounds would be a mistake.
const MOST: u64 = 100_000;

/// Rounds of paths, if nothing is said.
const ROUNDS: u64 = 10;

/// Probe paths or hosts with each controller, round by round
#[derive(Debug, Args)]
#[command(after_help = "\
Each controller keeps one connection open to each destination and sends 8 MB over it every minute, or what the file says. \
Destinations are paths, which the simulator or the kernel runs, or hosts where fullpipe probe --serve receives.

Rows are appended to the directory: one Parquet file a round, which is there as a whole or not at all. The command ends with \
the median goodput of each destination, and with the percentiles of the ratio of the first two controllers. The exit code \
is 1 if every probe of a host failed.

A receiver that a network can reach needs a token: --token FILE, or the environment variable FULLPIPE_PROBE_TOKEN on both \
sides. docs/probe.md says more.")]
pub struct Options {
    /// The file with the destinations, or - for stdin
    #[arg(required_unless_present = "serve", conflicts_with = "serve")]
    probe: Option<PathBuf>,
    /// The number of rounds, in place of the file's [default: 10 on paths; with hosts until Ctrl-C]
    #[arg(long, value_name = "N", value_parser = rounds, conflicts_with_all = ["duration", "serve"])]
    rounds: Option<u64>,
    /// Run every round that begins within this time: 1s, 90min
    #[arg(long, value_name = "TIME", conflicts_with = "serve")]
    duration: Option<Duration>,
    /// Where rows go [default: the file's name without .toml, in this directory]
    #[arg(long, value_name = "DIR", conflicts_with = "serve")]
    out: Option<PathBuf>,
    /// Draw how goodputs, and their ratio, are distributed over the destinations, as SVG into this file
    #[arg(long, value_name = "FILE", conflicts_with = "serve")]
    picture: Option<PathBuf>,
    /// Paths at a time [default: as many as there are processors; 1 for linux, which measures in real time]
    #[arg(long, value_name = "N", value_parser = usage::at_least_one, conflicts_with = "serve")]
    jobs: Option<NonZeroUsize>,
    /// Print the results on stdout as JSON, and nothing else there
    #[arg(long, conflicts_with = "serve")]
    json: bool,
    /// Print only the result and what went wrong
    #[arg(long)]
    quiet: bool,
    /// Receive what others send, until Ctrl-C: over QUIC, or with --tcp over the kernel's TCP
    #[arg(long, requires = "listen")]
    serve: bool,
    /// Where to listen; port 0 takes a free one
    #[arg(long, value_name = "ADDR", value_parser = resolve, requires = "serve")]
    listen: Option<SocketAddr>,
    /// Receive over TCP
    #[arg(long, requires = "serve", conflicts_with = "identity")]
    tcp: bool,
    /// Keep the certificate in this file, so that its fingerprint outlasts a restart
    #[arg(long, value_name = "FILE", requires = "serve")]
    identity: Option<PathBuf>,
    /// Receive only from senders that know the token in this file; a new one is put there if it does not exist
    #[arg(long, value_name = "FILE", requires = "serve")]
    token: Option<PathBuf>,
}

/// Probes, or receives.
pub fn run(options: &Options) -> Result<(), Failure> {
    match (&options.probe, options.listen) {
        (Some(file), _) => send(options, file),
        (None, Some(listen)) => serve(options, listen),
        (None, None) => Err(Failure::usage("give a file with destinations, or --serve")),
    }
}

fn send(options: &Options, file: &Path) -> Result<(), Failure> {
    let input = Input::read(file)?;
    if let Some(picture) = &options.picture {
        whole::check(picture).map_err(|error| {
            Failure::usage(format_args!("--picture {}: {error}", picture.display()))
        })?;
    }
    let mut spec =
        Spec::parse(&input.text, &input.directory).map_err(|error| input.wrong(error))?;
    let in_time = options.duration.map(|duration| {
        let interval = spec.interval.as_nanos().max(1);
        duration.as_nanos().div_ceil(interval).max(1)
    });
    if let (Some(duration), Some(MOST..)) = (options.duration, in_time) {
        return Err(Failure::usage(format_args!(
            "--duration {duration}: these are more than {MOST} rounds"
        )));
    }
    spec.rounds = options.rounds.or(in_time).or(spec.rounds);
    if let Target::Paths { .. } = spec.target {
        spec.rounds = spec.rounds.or(Some(ROUNDS));
    }
    match spec.target.clone() {
        Target::Paths { engine, .. } => probe_paths(options, file, &input, &spec, engine),
        Target::Hosts(hosts) => {
            let hosts = with_token(hosts)?;
            probe_hosts(options, file, &input, &spec, &hosts)
        }
    }
}

/// The hosts, with the token of the environment for those that have none of their own.
fn with_token(mut hosts: Vec<Host>) -> Result<Vec<Host>, Failure> {
    if let Some(token) = token_of_environment()? {
        for host in hosts.iter_mut().filter(|host| host.token.is_none()) {
            host.token = token.clone();
        }
    }
    Ok(hosts)
}

fn token_of_environment() -> Result<Option<Token>, Failure> {
    let wrong = |error: &dyn Display| Failure::usage(format_args!("{TOKEN_VARIABLE}: {error}"));
    match std::env::var(TOKEN_VARIABLE) {
        Ok(text) => Token::parse(&text).map(Some).map_err(|error| wrong(&error)),
        Err(VarError::NotPresent) => Ok(None),
        Err(error) => Err(wrong(&error)),
    }
}

fn probe_paths(
    options: &Options,
    file: &Path,
    input: &Input,
    spec: &Spec,
    kind: lab::EngineKind,
) -> Result<(), Failure> {
    // Whether the paths make sense is known before anything is made.
    let check = probe::paths(spec, &input.directory, 0).map_err(|error| input.wrong(error))?;
    let engine = kind.engine();
    for run in &check.runs {
        engine
            .check(&run.scenario)
            .map_err(|error| input.wrong(format_args!("{}: {error}", run.name)))?;
    }
    let mut dataset = Dataset::open(&directory(options, file)).map_err(Failure::failed)?;
    let first = dataset.next_round();
    let plan = probe::paths(spec, &input.directory, first).map_err(|error| input.wrong(error))?;
    kind.prepare().map_err(Failure::failed)?;
    let (_runtime, cancel) = interrupt::cancel()?;
    let bar = SweepBar::new(&plan.name, kind, &plan.all(), options.quiet);
    let execution = Execution {
        engine: engine.as_ref(),
        jobs: program::jobs(options.jobs, kind),
        watch: &|event| bar.show(&event),
        cancel: &cancel,
    };
    let (rows, failed) = probe::run_paths(spec, &plan, first, &execution);
    drop(bar);
    if cancel.is_cancelled() {
        return Err(Failure::interrupted(
            "no round is whole, and nothing is kept of them",
        ));
    }
    let mut results = results(spec);
    for round in rows.chunk_by(|one, next| one.round == next.round) {
        dataset
            .append(round, &about(&input.text))
            .map_err(Failure::failed)?;
        results.add(round);
    }
    conclude(options, file, spec, &results)?;
    match failed.len() {
        0 => Ok(()),
        count => Err(Failure::failed(format_args!(
            "{count} of {} failed",
            report::count(plan.runs.len() as u64, "connection")
        ))),
    }
}

fn probe_hosts(
    options: &Options,
    file: &Path,
    input: &Input,
    spec: &Spec,
    hosts: &[Host],
) -> Result<(), Failure> {
    let mut dataset = Dataset::open(&directory(options, file)).map_err(Failure::failed)?;
    let (runtime, cancel) = interrupt::cancel()?;
    let first = dataset.next_round();
    let mut results = results(spec);
    if !options.quiet {
        let (bytes, interval) = (spec.bytes, spec.interval);
        let until = match spec.rounds {
            Some(rounds) => report::count(rounds, "round"),
            None => "until Ctrl-C".to_owned(),
        };
        output::note(format_args!(
            "{}: {}, {bytes} every {interval}, {until}; rows in {}",
            spec.name,
            report::count(hosts.len() as u64, "destination"),
            directory(options, file).display()
        ));
    }
    let mut said = HashSet::new();
    let keep = |rows: Vec<Row>| {
        dataset.append(&rows, &about(&input.text))?;
        results.add(&rows);
        if !options.quiet {
            report_round(&rows, &mut said);
        }
        Ok(())
    };
    let probing = probe::run_hosts(spec, hosts, first, &cancel, keep);
    let kept: Result<(), probe::DatasetError> = runtime.block_on(probing);
    kept.map_err(Failure::failed)?;
    conclude(options, file, spec, &results)?;
    // Without an end of its own, this is how it ends.
    match cancel.is_cancelled() && spec.rounds.is_some() {
        true => Err(Failure::interrupted("these are the rounds that were whole")),
        false if results.is_all_failed() => Err(Failure::failed("every probe failed")),
        false => Ok(()),
    }
}

/// A number of rounds.
fn rounds(text: &str) -> Result<u64, String> {
    let rounds = text
        .parse()
        .ok()
        .filter(|rounds| (1..=MOST).contains(rounds));
    rounds.ok_or_else(|| format!("expected a whole number from 1 to {MOST}"))
}

/// Says how the round went, and each reason of a failure when it comes up first: `said` has the earlier ones.
fn report_round(rows: &[Row], said: &mut HashSet<String>) {
    let failed = rows.iter().filter(|row| row.failure.is_some());
    let round = rows.first().map_or(0, |row| row.round);
    output::note(format_args!(
        "round {round}: {}, {} failed",
        report::count(rows.len() as u64, "probe"),
        failed.clone().count()
    ));
    let reasons = failed.map(|row| {
        let reason = row.failure.as_deref().unwrap_or_default();
        format!("failed: {} {}: {reason}", row.destination, row.controller)
    });
    for reason in reasons.take(NAMED) {
        if !said.contains(&reason) {
            output::note(&reason);
            said.insert(reason);
        }
    }
}

fn conclude(options: &Options, file: &Path, spec: &Spec, results: &Results) -> Result<(), Failure> {
    match options.json {
        true => output::json(&results.json(&spec.name))?,
        // Reasons of failures may be the words of a peer.
        false => {
            let mut text = probe::table(results, output::width());
            // Without --quiet, those of hosts were told when they happened.
            if options.quiet || matches!(spec.target, Target::Paths { .. }) {
                text += &probe::failures(results);
            }
            output::result(output::printable(text.trim_end()))?;
        }
    }
    if let Some(path) = &options.picture {
        let svg = probe::picture(results, &spec.name).svg();
        whole::write(path, svg.as_bytes())?;
    }
    if !options.quiet {
        let directory = directory(options, file);
        let rows = directory.join("*.parquet");
        output::note(format_args!("every probe: {}", rows.display()));
    }
    Ok(())
}

fn results(spec: &Spec) -> Results {
    Results::new(spec.controllers.iter().map(ToString::to_string))
}

fn about(text: &str) -> [(&'static str, String); 2] {
    [
        ("fullpipe.version", env!("CARGO_PKG_VERSION").to_owned()),
        ("fullpipe.probe", text.to_owned()),
    ]
}

/// Where rows go.
fn directory(options: &Options, file: &Path) -> PathBuf {
    match (&options.out, file.file_stem()) {
        (Some(directory), _) => directory.clone(),
        (None, Some(stem)) if file != Path::new("-") => PathBuf::from(stem),
        (None, _) => PathBuf::from("probe"),
    }
}

/// What senders must know of a receiver at `listen`.
fn token_of_receiver(options: &Options, listen: SocketAddr) -> Result<Token, Failure> {
    let token = match &options.token {
        Some(file) => Some(
            Token::in_file_or_new(file)
                .map_err(|error| Failure::failed(format_args!("--token: {error}")))?,
        ),
        None => token_of_environment()?,
    };
    match token {
        Some(token) => Ok(token),
        None if listen.ip().to_canonical().is_loopback() => Ok(Token::none()),
        None => Err(Failure::usage(format_args!(
            "--listen {listen}: a network can reach this address, so give --token FILE or set {TOKEN_VARIABLE}, \
             or listen on a loopback address"
        ))),
    }
}

fn serve(options: &Options, listen: SocketAddr) -> Result<(), Failure> {
    let token = token_of_receiver(options, listen)?;
    let runtime = interrupt::runtime()?;
    let outcome = runtime.block_on(async {
        let mut interrupt = Interrupt::listen()?;
        let destination = |address: SocketAddr, rest: &str| {
            let token = options.token.as_deref().and_then(Path::file_name);
            let token = token.map(|name| format!("\ntoken = {:?}", name.to_string_lossy()));
            let token = token.unwrap_or_default();
            output::result(format_args!(
                "[[destination]]\naddress = \"{address}\"\n{rest}{token}"
            ))
        };
        let say = || {
            if !options.quiet {
                output::note("receiving; the sender's file needs the above; Ctrl-C ends it");
            }
        };
        if options.tcp {
            let failed =
                |error| Failure::failed(format_args!("cannot listen on {listen}: {error}"));
            let server = TcpServer::bind(listen, &token).await.map_err(failed)?;
            destination(server.address().map_err(failed)?, "over = \"tcp\"")?;
            say();
            tokio::select! {
                () = server.run() => {}
                () = interrupt.wait() => {}
            }
        } else {
            let identity = match &options.identity {
                Some(file) => quic::probe::identity_in(file).map_err(Failure::failed)?,
                None => Identity::generate().map_err(Failure::failed)?,
            };
            let server = quic::probe::serve(listen, &identity, &token).map_err(Failure::failed)?;
            let rest = format!(
                "over = \"quic\"\nfingerprint = \"{}\"",
                server.fingerprint()
            );
            destination(server.address(), &rest)?;
            say();
            interrupt.wait().await;
            // Senders that know of the end need not wait for it.
            drop(server);
            sleep(FAREWELL).await;
        }
        Ok(())
    });
    // Connections that somebody still uses must not hold up the end.
    runtime.shutdown_background();
    outcome
}
