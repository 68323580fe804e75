//! `fullpipe steer POLICY.toml`.

use std::io;
use std::net::SocketAddr;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Instant;

use clap::Args;
use experiment::policy::{Policy, Rule};
use files::regular;
use fleet::Exporter;
use program::failure::Failure;
use program::output;
use program::usage;
use program::whole;
use rollout::steer::{Steer, SteerError};
use rollout::study::Step;
use rules::{Ports, Quantity};
use signal_hook::consts::{SIGHUP, SIGINT, SIGQUIT, SIGTERM};
use tables::numbers;
use units::Duration;

use super::super::live_controllers::{kernel_is_able, through, unix_s};
use super::super::watch;
use super::pace::Pace;
use super::{Action, read_with, tell_of_explorers};
use crate::options::address::local_or_named;
use crate::options::plan_file::advice;

/// The interval at which the lease is renewed and ended connections are read. The kernel holds 20,000 ended connections
/// in between.
const STEP_INTERVAL: Duration = Duration::from_millis(200);

/// The shortest lease: a few of these intervals.
const MIN_LEASE: Duration = Duration::from_secs(10);

#[derive(Debug, Args)]
#[group(skip)]
pub struct Options {
    /// File of the policy
    #[arg(value_name = "POLICY.toml", required = true)]
    policy: Option<PathBuf>,
    /// Time for which the policy stays in force if this command is killed or hangs
    #[arg(long, value_name = "TIME", default_value = "10min", value_parser = lease)]
    lease: Duration,
    /// Append events of the policy to this file, as lines of JSON
    #[arg(long, value_name = "FILE")]
    journal: Option<PathBuf>,
    /// Find networks of autonomous systems in this file: .mmdb or CSV of MaxMind or IPinfo, or pyasn's text; also with
    /// gzip
    #[arg(long = "as", value_name = "FILE")]
    systems: Option<PathBuf>,
    /// Serve metrics for Prometheus at http://ADDR/metrics; a port alone means 127.0.0.1
    #[arg(long, value_name = "ADDR", value_parser = local_or_named)]
    prometheus: Option<SocketAddr>,
    /// Print what the policy would do and what the machine lacks for it; change nothing
    #[arg(long)]
    dry_run: bool,
}

fn lease(text: &str) -> Result<Duration, String> {
    let span = usage::positive_time(text)?;
    if span < MIN_LEASE {
        return Err(format!(
            "the shortest lease is {MIN_LEASE}: the command must be able to renew it"
        ));
    }
    Ok(span)
}

/// Keeps a policy in force until the user or the system ends the command.
pub fn run(options: &Options) -> Result<(), Failure> {
    let Some(file) = &options.policy else {
        return Err(Failure::usage(
            "give the policy's file: fullpipe steer POLICY.toml",
        ));
    };
    if matches!(file.try_exists(), Ok(false)) {
        return Err(Failure::usage(format_args!(
            "{}: there is no such file; {}",
            file.display(),
            advice::<Action>("a policy")
        )));
    }
    let systems = options.systems.as_deref();
    // SIGHUP would end the command. Reading many networks takes seconds.
    let again = Arc::new(AtomicBool::new(false));
    signal_hook::flag::register(SIGHUP, Arc::clone(&again))
        .map_err(|error| Failure::failed(format_args!("cannot listen for signals: {error}")))?;
    let policy = read_with(file, systems)?;
    tell_of_explorers(&policy);
    if options.dry_run {
        if let Some(journal) = &options.journal {
            can_append(journal).map_err(|error| {
                Failure::usage(format_args!("--journal {}: {error}", journal.display()))
            })?;
        }
        for rule in &policy.rules {
            output::result(output::word(&words(&policy, rule)))?;
        }
        Steer::check(&policy).map_err(|error| failure(file, error))?;
        kernel_is_able()?;
        return output::result("this machine can put the policy in force");
    }
    kernel_is_able()?;
    let count = policy.rules.len() as u64;
    let journal = options.journal.as_deref();
    // This comes before the policy is in force, because a signal must not leave a policy in force without a process
    // that looks after it.
    let ended = watch::ended_by(&[SIGINT, SIGTERM, SIGQUIT])?;
    let exporter = options.prometheus.map(|address| {
        Exporter::start(address).map_err(|error| {
            Failure::failed(format_args!(
                "--prometheus: cannot listen on {address}: {error}"
            ))
        })
    });
    let exporter = exporter.transpose()?;
    let mut steer = Steer::begin(policy, options.lease, journal, unix_s())
        .map_err(|error| failure(file, error))?;
    let place = if steer.took_over() {
        ", in place of a policy that another process left in force"
    } else {
        ""
    };
    output::note(format_args!(
        "in force: {}{place}",
        numbers::count(count, "rule")
    ));
    let (mut over, mut pace) = (None, Pace::default());
    watch::each(STEP_INTERVAL, &ended, || {
        let step = steer.step(unix_s(), |trouble| {
            output::note(format_args!("fullpipe: {trouble}"))
        });
        if let Step::Over(why) = step {
            over = Some(why);
            ended.store(true, Ordering::Relaxed);
            return Ok(());
        }
        let is_asked = again.swap(false, Ordering::Relaxed);
        if pace.is_due(is_asked, Instant::now()) {
            reload(&mut steer, file, systems);
        }
        if let Some(exporter) = &exporter {
            exporter.show(steer.metrics());
        }
        Ok(())
    })?;
    let assigned = steer.counts().assigned;
    steer.finish(unix_s());
    output::note(last_words(assigned, over.as_deref()));
    Ok(())
}

/// The message at the end.
fn last_words(assigned: u64, over: Option<&str>) -> String {
    let connections = numbers::count(assigned, "connection");
    let were = if assigned == 1 { "was" } else { "were" };
    let then = over.unwrap_or("new ones have the default controller");
    format!("{connections} {were} steered; {then}")
}

/// Checks that lines can be appended to a file, which may not exist yet.
fn can_append(path: &Path) -> io::Result<()> {
    if path.exists() {
        return regular::append_own(path).map(drop);
    }
    whole::check(path)
}

fn reload(steer: &mut Steer, file: &Path, systems: Option<&Path>) {
    let next = read_with(file, systems);
    let outcome = next.and_then(|next| {
        let count = next.rules.len();
        let reloaded = steer.reload(next, unix_s());
        let left_out = reloaded.map_err(|error| failure(file, error))?;
        Ok((count - left_out.len(), left_out))
    });
    match outcome {
        Ok((count, left_out)) => {
            let mut text = format!(
                "reloaded, and in force: {}",
                numbers::count(count as u64, "rule")
            );
            if !left_out.is_empty() {
                text += &format!(
                    "; left out because they were taken back: {}",
                    left_out.join(", ")
                );
            }
            output::note(text);
        }
        Err(error) => {
            steer.refused(&error.to_string(), unix_s());
            output::note(format_args!(
                "fullpipe: {error}; the old policy stays in force"
            ));
        }
    }
}

fn failure(file: &Path, error: SteerError) -> Failure {
    match error {
        SteerError::Group(error) if error.is_in_use() => {
            Failure::failed(format_args!("{}: {error}", file.display()))
        }
        SteerError::Controller { .. }
        | SteerError::Interface { .. }
        | SteerError::Group(_)
        | SteerError::OtherGroup => Failure::usage(format_args!("{}: {error}", file.display())),
        SteerError::Journal { .. } => Failure::usage(error),
        SteerError::Hold(_) => Failure::failed(error),
    }
}

/// A rule in one line.
fn words(policy: &Policy, rule: &Rule) -> String {
    let (names, shares) = policy.arms(rule);
    let arms: Vec<String> = names
        .into_iter()
        .zip(shares.shares())
        .map(|(name, share)| format!("{name} {}", numbers::percent(share)))
        .collect();
    let networks = match rule.prefix.len() {
        0 => "any network".to_owned(),
        many => numbers::count(many as u64, "network"),
    };
    let (through, bounds) = (through(&rule.interface), bounds(rule));
    format!(
        "{}: {networks}{through}{bounds}: {}",
        rule.name,
        arms.join(", ")
    )
}

/// The ports, times and shares for which a rule holds.
fn bounds(rule: &Rule) -> String {
    let ports = |field: &str, all: &[Ports]| {
        let all: Vec<String> = all.iter().map(Ports::to_string).collect();
        (!all.is_empty()).then(|| format!("{field} {}", all.join(" ")))
    };
    let rule = rule.conditions();
    let spans = Quantity::ALL.into_iter().flat_map(|quantity| {
        let (label, span) = (quantity.label(), rule.span(quantity));
        let bound = |side: &str, value| format!("{label} {side} {}", quantity.form().text(value));
        let from = (span.from > 0).then(|| bound("from", span.from));
        let below = (span.below < u64::MAX).then(|| bound("below", span.below));
        [from, below]
    });
    let ports = [
        ports("listen", &rule.listen),
        ports("connect", &rule.connect),
    ];
    let all = ports.into_iter().chain(spans).flatten();
    all.map(|bound| format!(", {bound}")).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn one_connection_is_told_as_one() {
        assert_eq!(
            last_words(1, None),
            "1 connection was steered; new ones have the default controller"
        );
        assert_eq!(
            last_words(2, Some("why")),
            "2 connections were steered; why"
        );
    }
}
