//! `fullpipe study PLAN.toml`.

use std::path::{Path, PathBuf};
use std::time::Instant;

use clap::Args;
use experiment::Plan;
use linux::command::Init;
use linux::routing::{PRIORITY, TABLE};
use program::failure::Failure;
use program::output;
use rollout::study::{
    Finished, RouteError, Step, Study, StudyDirectory, StudyDirectoryError, StudyError,
};
use rules::Prefix;
use tables::numbers::count;
use units::{Bytes, Duration};

use super::super::live_controllers::{kernel_is_able, through, unix_s};
use super::super::watch;
use super::UNDO;
use super::given::{self, Source};
use crate::options::client_names::Names;
use crate::options::plan_file::networks;

/// The interval at which ended connections are read.
const STEP_INTERVAL: Duration = Duration::from_millis(200);

/// The time without any connection after which a line reports it.
const MAX_SILENCE: std::time::Duration = std::time::Duration::from_secs(180);

/// The most networks whose names are printed.
const MAX_NAMED: usize = 8;

#[derive(Debug, Args)]
#[group(skip)]
pub struct Options {
    /// File of the plan
    #[arg(value_name = "PLAN.toml")]
    plan: Option<PathBuf>,
    /// Directory for the data, which every study needs; the same command continues the study
    #[arg(long, value_name = "DIR")]
    out: Option<PathBuf>,
    /// Keep at most this much data, 64mb or more; the oldest files are deleted
    #[arg(long, value_name = "SIZE", default_value = "1gb")]
    keep: Bytes,
    #[command(flatten)]
    names: Names,
    /// Print what the study would do and what the machine lacks for it; change nothing
    #[arg(long)]
    dry_run: bool,
    #[command(flatten)]
    given: given::Options,
}

/// Runs a study until its time is over, a guard breaks, or the user or the system ends the command.
pub fn run(options: &Options) -> Result<(), Failure> {
    let missing = given::missing(options.plan.as_deref(), &options.given);
    // A plan that cannot be read is told first: its name may be a misspelt subcommand.
    let source = missing
        .is_empty()
        .then(|| Source::read(options.plan.as_deref(), &options.given))
        .transpose()?;
    let (Some(source), Some(out)) = (source, &options.out) else {
        let out = options.out.is_none().then_some("--out DIR");
        let missing: Vec<&str> = missing.into_iter().chain(out).collect();
        return Err(Failure::usage(format_args!(
            "missing: {} (see 'fullpipe study --help')",
            missing.join(", ")
        )));
    };
    let wrong = |error| Failure::usage(source.wrong(&error));
    let mut plan = Plan::parse(&source.text).map_err(wrong)?;
    plan.place_list(|list| networks(source.path(), list))
        .map_err(wrong)?;
    if options.dry_run {
        show(&plan)?;
    }
    let lookup = options.names.lookup()?;
    // All of this is checked before any file is made.
    can_use(out, &source.text, &plan)?;
    Study::check(&plan, options.keep).map_err(|error| failure(&source, error))?;
    if plan.cgroup.is_some() {
        kernel_is_able()?;
    }
    if options.dry_run {
        return output::result("this machine can run the study");
    }
    let place = StudyDirectory::make(out, &source.text, &plan, unix_s()).map_err(of_place)?;
    let study = Study::begin(place, options.keep, lookup, &Init::subcommand(UNDO));
    let mut study = study.map_err(|error| failure(&source, error))?;
    let ended = watch::ended()?;
    output::note(format_args!("the study runs: {}", words(&plan)));
    let (mut over, mut has_failed) = (None, false);
    let (begun, mut is_told) = (Instant::now(), false);
    watch::each(STEP_INTERVAL, &ended, || {
        let step = study.step(unix_s(), |trouble| {
            output::note(format_args!("fullpipe: {trouble}"))
        });
        if !is_told && begun.elapsed() >= MAX_SILENCE {
            is_told = true;
            if study.counts().assigned == 0 {
                output::note(format_args!(
                    "fullpipe: no connection got an arm yet: {}",
                    advice(&plan)
                ));
            }
        }
        has_failed = matches!(step, Step::Failed(_));
        if let Step::Over(why) | Step::Failed(why) = step {
            over = Some(why);
            ended.store(true, std::sync::atomic::Ordering::Relaxed);
        }
        Ok(())
    })?;
    let finished = study.finish(unix_s(), over.clone());
    // On a full disk, these lines are all that is left of the end.
    let advice = (!is_told).then(|| advice(&plan));
    for line in last_words(over.as_deref(), &finished, advice, out) {
        output::note(line);
    }
    finished.saved.map_err(Failure::failed)?;
    match over {
        Some(why) if has_failed => Err(Failure::failed(format_args!("the study failed: {why}"))),
        _ => Ok(()),
    }
}

/// The advice for a study without connections.
fn advice(plan: &Plan) -> &'static str {
    match plan.cgroup {
        Some(_) => "check listen, connect and cgroup in the plan",
        None => "check listen, connect and the networks of clients in the plan",
    }
}

/// The message at the end. `advice` is for a study without connections.
fn last_words(
    over: Option<&str>,
    finished: &Finished,
    advice: Option<&str>,
    out: &Path,
) -> Vec<String> {
    let Finished { assigned, lost, .. } = *finished;
    let mut lines = vec![match over {
        Some(why) => format!("the study is over: {why}"),
        None => "the study was interrupted; repeat the command to continue it".to_owned(),
    }];
    if lost > 0 {
        let (rows, are) = (count(lost, "row"), if lost == 1 { "is" } else { "are" });
        lines.push(format!("{rows} could not be written and {are} lost"));
    }
    let connections = match assigned {
        0 => "no connection".to_owned(),
        some => count(some, "connection"),
    };
    let advice = advice.filter(|_| assigned == 0);
    lines.push(format!(
        "{connections} got an arm{}; new ones have the default controller. `fullpipe study report {}` shows the results",
        advice.map_or_else(String::new, |advice| format!(" ({advice})")),
        out.display()
    ));
    lines
}

/// Checks that the study can begin or continue in this directory.
fn can_use(out: &Path, text: &str, plan: &Plan) -> Result<(), Failure> {
    let earlier = StudyDirectory::earlier(out, text, plan).map_err(of_place)?;
    match earlier.and_then(|place| place.about.ended) {
        Some(ended) => Err(Failure::usage(format_args!(
            "the study in {} is over ({ended}); `fullpipe study report` shows the results",
            out.display()
        ))),
        None => Ok(()),
    }
}

fn of_place(error: StudyDirectoryError) -> Failure {
    match error {
        StudyDirectoryError::System { .. } | StudyDirectoryError::InUse { .. } => {
            Failure::failed(error)
        }
        error => Failure::usage(format_args!("--out: {error}")),
    }
}

fn failure(source: &Source<'_>, error: StudyError) -> Failure {
    let of_plan = source.wrong(&error);
    match error {
        StudyError::Little => Failure::usage(format_args!("--keep: {error}")),
        StudyError::Group(error) if error.is_in_use() => Failure::failed(of_plan),
        StudyError::Route(RouteError::Networks(_)) => Failure::usage(of_plan),
        StudyError::Interface(error) => Failure::usage(source.wrong(&source.lined(error))),
        StudyError::Controller { .. } | StudyError::Group(_) => Failure::usage(of_plan),
        error => Failure::failed(error),
    }
}

/// Shows what the study would do.
fn show(plan: &Plan) -> Result<(), Failure> {
    output::result(output::word(&words(plan)))?;
    for line in clients(plan).into_iter().chain(guards(plan)) {
        output::result(line)?;
    }
    if plan.cgroup.is_none() {
        output::result(by_route(plan))?;
    }
    Ok(())
}

/// The changes of a study by route, in one line.
fn by_route(plan: &Plan) -> String {
    let networks = match plan.connections.prefix.len() {
        1 => "1 network".to_owned(),
        many => format!("{many} networks"),
    };
    format!(
        "rules of priority {PRIORITY} send connections with these ports, of the whole network namespace, to table {TABLE}. The table \
         copies the routes of main to {networks} and adds the controllers. If both processes are killed, `fullpipe study stop` removes \
         the rules and the table"
    )
}

/// The networks of the clients that take part; nothing if all do.
fn clients(plan: &Plan) -> Option<String> {
    let of = &plan.connections;
    let which = match of.prefix.len() {
        0 if of.except.is_empty() => return None,
        0 => "all clients".to_owned(),
        _ => format!("clients in {}", networks_of(&of.prefix)),
    };
    Some(match of.except.len() {
        0 => which,
        _ => format!("{which}, except those in {}", networks_of(&of.except)),
    })
}

/// A few networks, or their number.
fn networks_of(all: &[Prefix]) -> String {
    if all.len() > MAX_NAMED {
        return count(all.len() as u64, "network");
    }
    let names: Vec<String> = all.iter().map(ToString::to_string).collect();
    names.join(", ")
}

/// The conditions that end the study early; `None` without guards.
fn guards(plan: &Plan) -> Option<String> {
    let limits = plan.guards.iter().map(|guard| {
        format!(
            "more than {} worse in {}",
            guard.worse,
            guard.measure.title()
        )
    });
    let limits: Vec<String> = limits.collect();
    (!limits.is_empty()).then(|| format!("it ends early if an arm is {}", limits.join(", or ")))
}

/// The plan in one line.
fn words(plan: &Plan) -> String {
    let arms = plan.names().into_iter().zip(plan.shares().shares());
    let arms: Vec<String> = arms
        .map(|(name, share)| format!("{name} {} %", digits(share * 100.0)))
        .collect();
    let ports = |ports: &[rules::Ports]| {
        let ports: Vec<String> = ports.iter().map(ToString::to_string).collect();
        ports.join(", ")
    };
    let mut which = Vec::new();
    if !plan.connections.listen.is_empty() {
        which.push(format!("in at {}", ports(&plan.connections.listen)));
    }
    if !plan.connections.connect.is_empty() {
        which.push(format!("out to {}", ports(&plan.connections.connect)));
    }
    let whose = match &plan.cgroup {
        Some(group) => format!("of {}", group.display()),
        None => "by route".to_owned(),
    };
    format!(
        "{} for connections {}{} {whose}, by {}, for {}",
        arms.join(", "),
        which.join(" and "),
        through(&plan.connections.interface),
        plan.unit,
        span(plan.duration)
    )
}

/// A number with at most two decimals, or in full if it is smaller.
fn digits(number: f64) -> String {
    let text = format!("{number:.2}");
    match text.trim_end_matches('0').trim_end_matches('.') {
        "0" => number.to_string(),
        short => short.to_owned(),
    }
}

/// The duration in a plan's form: 168h and not 604800s.
fn span(duration: Duration) -> String {
    let hours = duration.as_nanos() / 3_600_000_000_000;
    if hours > 0 && Duration::from_secs(hours * 3600) == duration {
        format!("{hours}h")
    } else {
        duration.to_string()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn shares_have_few_digits() {
        let shown = [100.0 / 3.0, 800.0 / 9.0, 50.0, 12.5, 0.001].map(digits);
        assert_eq!(shown, ["33.33", "88.89", "50", "12.5", "0.001"]);
    }

    #[test]
    fn the_end_is_told_also_if_it_cannot_be_written() {
        let words = |over, assigned, lost, advice| {
            let saved = Ok(());
            let finished = Finished {
                assigned,
                lost,
                saved,
            };
            last_words(over, &finished, advice, Path::new("out"))
        };
        let told = |over, lost| words(over, 1, lost, Some("advice"));
        let lines = told(Some("its time is over"), 7);
        assert_eq!(lines[0], "the study is over: its time is over");
        assert_eq!(lines[1], "7 rows could not be written and are lost");
        assert!(lines[2].starts_with("1 connection got an arm; "));
        assert_eq!(
            told(Some("guard"), 1)[1],
            "1 row could not be written and is lost"
        );
        assert_eq!(told(None, 0).len(), 2);
        // The advice is given once.
        for (advice, end) in [(Some("advice"), " (advice); "), (None, "; ")] {
            let lines = words(None, 0, 0, advice);
            let start = format!("no connection got an arm{end}new ones");
            assert!(
                lines.len() == 2 && lines[1].starts_with(&start),
                "{lines:?}"
            );
        }
    }

    #[test]
    fn what_to_check_is_in_the_plan() {
        let text = |whose: &str| {
            format!(
                "name = \"a\"\n{whose}\nunit = \"prefix\"\nduration = \"1h\"\n\
                 connections = {{ listen = [80], prefix = [\"192.0.2.0/24\"] }}\n\
                 arm = [{{ controller = \"cubic\", share = \"50%\" }}, {{ controller = \"reno\", share = \"50%\" }}]\n"
            )
        };
        let advice = |whose| advice(&Plan::parse(&text(whose)).expect("a plan"));
        assert!(advice("cgroup = \"a\"").contains("cgroup"));
        assert!(!advice("assign = \"route\"").contains("group"));
    }
}
