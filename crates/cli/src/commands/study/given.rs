//! `fullpipe study --cgroup …`: options in place of a plan's file. They have the names of the plan's fields.

use std::borrow::Cow;
use std::fmt::Display;
use std::io;
use std::path::Path;
use std::str::FromStr;

use clap::Args;
use document::DocumentError;
use document::tree::Node;
use program::failure::Failure;
use serde::{Serialize, Serializer};

use super::Action;
use crate::options::other_file;
use crate::options::plan_file::{advice, read_text};

/// The fields of a plan that options can give. A seed would be in the list of processes, so no option gives it.
#[derive(Debug, Clone, Default, PartialEq, Args, Serialize)]
#[group(skip)]
#[command(next_help_heading = "Options in place of PLAN.toml")]
pub struct Options {
    /// Your name for the study [default: the last part of the control group's path]
    #[arg(long, value_name = "NAME")]
    #[serde(skip_serializing_if = "Option::is_none")]
    name: Option<String>,
    /// Control group whose connections take part, such as system.slice/nginx.service
    #[arg(long, value_name = "DIR")]
    #[serde(skip_serializing_if = "Option::is_none")]
    cgroup: Option<String>,
    /// What is randomised: connection, prefix or slot
    #[arg(long, value_name = "UNIT")]
    #[serde(skip_serializing_if = "Option::is_none")]
    unit: Option<String>,
    /// Length of a slot
    #[arg(long, value_name = "TIME")]
    #[serde(skip_serializing_if = "Option::is_none")]
    slot: Option<String>,
    /// How long the study runs, over all starts of the command
    #[arg(long, value_name = "TIME")]
    #[serde(skip_serializing_if = "Option::is_none")]
    duration: Option<String>,
    /// What is stored of clients' addresses: full, prefix, hashed or none
    #[arg(long, value_name = "KIND")]
    #[serde(skip_serializing_if = "Option::is_none")]
    address: Option<String>,
    /// Store a keyed hash of each client's address and port, for access logs
    #[arg(long)]
    #[serde(skip_serializing_if = "std::ops::Not::not")]
    join: bool,
    #[command(flatten)]
    connections: Connections,
    /// Arm, such as bbr=10%, or with a name new:bbr=10%; give two or more; the others are compared with the first
    #[arg(long, value_name = "[NAME:]CONTROLLER=SHARE")]
    #[serde(skip_serializing_if = "Vec::is_empty")]
    arm: Vec<Arm>,
    /// End the study if an arm is this much worse than the first, such as throughput=20%
    #[arg(long, value_name = "MEASURE=WORSE")]
    #[serde(skip_serializing_if = "Vec::is_empty")]
    guard: Vec<Guard>,
}

#[derive(Debug, Clone, Default, PartialEq, Args, Serialize)]
#[group(skip)]
struct Connections {
    /// Connections that came in at these ports, such as 443,8000-8010
    #[arg(long, value_name = "PORTS", value_delimiter = ',')]
    #[serde(skip_serializing_if = "Vec::is_empty", serialize_with = "ports")]
    listen: Vec<String>,
    /// Connections that went out to these ports
    #[arg(long, value_name = "PORTS", value_delimiter = ',')]
    #[serde(skip_serializing_if = "Vec::is_empty", serialize_with = "ports")]
    connect: Vec<String>,
    /// Connections with clients in these networks
    #[arg(long, value_name = "NETWORKS", value_delimiter = ',')]
    #[serde(skip_serializing_if = "Vec::is_empty")]
    prefix: Vec<String>,
    /// No connections with clients in these networks
    #[arg(long, value_name = "NETWORKS", value_delimiter = ',')]
    #[serde(skip_serializing_if = "Vec::is_empty")]
    except: Vec<String>,
    /// Connections whose data leave through these network interfaces
    #[arg(long, value_name = "NAMES", value_delimiter = ',')]
    #[serde(skip_serializing_if = "Vec::is_empty")]
    interface: Vec<String>,
}

/// Writes ports as a person does: a port is a number, and a range is a text.
fn ports<S: Serializer>(all: &[String], serializer: S) -> Result<S::Ok, S::Error> {
    let port = |text: &String| match text.parse::<u16>() {
        Ok(port) => toml::Value::from(i64::from(port)),
        Err(_) => toml::Value::from(text.as_str()),
    };
    serializer.collect_seq(all.iter().map(port))
}

#[derive(Debug, Clone, PartialEq, Serialize)]
struct Arm {
    #[serde(skip_serializing_if = "Option::is_none")]
    name: Option<String>,
    controller: String,
    share: String,
}

#[derive(Debug, Clone, PartialEq, Serialize)]
struct Guard {
    measure: String,
    worse: String,
}

/// The two parts of `NAME=SHARE`.
fn pair(text: &str, example: &str) -> Result<(String, String), String> {
    match text.split_once('=') {
        Some((name, share)) => Ok((name.to_owned(), share.to_owned())),
        None => Err(format!("expected a name and a share, such as {example}")),
    }
}

impl FromStr for Arm {
    type Err = String;

    fn from_str(text: &str) -> Result<Arm, String> {
        let (arm, share) = pair(text, "bbr=10%")?;
        let (name, controller) = match arm.split_once(':') {
            // A scenario's name for a controller of the kernel.
            None | Some(("kernel", _)) => (None, arm.as_str()),
            Some((name, controller)) => (Some(name.to_owned()), controller),
        };
        Ok(Arm {
            name,
            controller: controller.to_owned(),
            share,
        })
    }
}

impl FromStr for Guard {
    type Err = String;

    fn from_str(text: &str) -> Result<Guard, String> {
        let (measure, worse) = pair(text, "throughput=20%")?;
        Ok(Guard { measure, worse })
    }
}

impl Options {
    /// The text of the plan.
    fn text(&self) -> Result<String, Failure> {
        let group = self.cgroup.as_deref().unwrap_or_default();
        let last = Path::new(group).file_name().unwrap_or_default();
        let mut all = self.clone();
        if last.is_empty() && self.name.is_none() && !group.is_empty() {
            let reason =
                "--name: is missing; the control group has no name that the study could have";
            return Err(Failure::usage(reason));
        }
        all.name
            .get_or_insert_with(|| last.to_string_lossy().into_owned());
        toml::to_string(&all).map_err(Failure::failed)
    }
}

/// All missing fields of a plan, by the names of their options.
pub fn missing(file: Option<&Path>, options: &Options) -> Vec<&'static str> {
    if file.is_some() {
        return Vec::new();
    }
    if *options == Options::default() {
        return vec!["PLAN.toml (or options instead of it, such as --cgroup DIR)"];
    }
    let Connections {
        listen, connect, ..
    } = &options.connections;
    let has_slots = options.unit.as_deref() == Some("slot");
    let needed = [
        ("--cgroup DIR", options.cgroup.is_none()),
        (
            "--listen or --connect PORTS",
            listen.is_empty() && connect.is_empty(),
        ),
        ("--arm CONTROLLER=SHARE", options.arm.is_empty()),
        ("--unit UNIT", options.unit.is_none()),
        ("--slot TIME", has_slots && options.slot.is_none()),
        ("--duration TIME", options.duration.is_none()),
    ];
    let missing = needed.into_iter().filter(|(_, is_missing)| *is_missing);
    missing.map(|(option, _)| option).collect()
}

/// True if the argument in place of a plan is another arm: `bbr=10%`.
fn is_arm(file: &Path) -> bool {
    file.to_string_lossy().contains('=') && !file.exists()
}

/// The failure for a plan that cannot be read. A misspelt subcommand is taken for the file of a plan.
fn unread(file: &Path, error: &io::Error) -> Failure {
    let advice = match error.kind() {
        io::ErrorKind::InvalidData => "; give a plan in TOML".to_owned(),
        io::ErrorKind::NotFound => format!("; {}", advice::<Action>("a plan")),
        _ => String::new(),
    };
    Failure::usage(format_args!("{}: {error}{advice}", file.display()))
}

/// A plan's text, and its origin.
pub struct Source<'o> {
    pub text: String,
    /// The file. Without it, the text is from options.
    file: Option<&'o Path>,
}

impl<'o> Source<'o> {
    /// The text of the file, or of the options if there is none.
    pub fn read(file: Option<&'o Path>, options: &Options) -> Result<Source<'o>, Failure> {
        let text = match file {
            Some(arm) if !options.arm.is_empty() && is_arm(arm) => {
                return Err(Failure::usage(format_args!(
                    "give --arm again for each arm: --arm {}",
                    arm.display()
                )));
            }
            Some(_) if *options != Options::default() => {
                return Err(Failure::usage(
                    "PLAN.toml and options in its place, such as --cgroup, cannot be used together",
                ));
            }
            Some(file) => read_text(file).map_err(|error| unread(file, &error))?,
            None => options.text()?,
        };
        Ok(Source { text, file })
    }

    /// The path to which files in the plan are relative.
    pub fn path(&self) -> &Path {
        self.file.unwrap_or(Path::new(""))
    }

    /// The same error, with the line of its field.
    pub fn lined(&self, error: DocumentError) -> DocumentError {
        match Node::from_toml(&self.text) {
            Ok(entries) => error.on_line_in(&entries),
            Err(_) => error,
        }
    }

    /// An error that begins with the name of a field. The file or the option is named, too.
    pub fn wrong(&self, error: &impl Display) -> String {
        let error = error.to_string();
        if let Some(file) = self.file {
            let error = other_file::kind_and_command(&self.text, "study").unwrap_or(error);
            return format!("{}: {error}", file.display());
        }
        // The options have no lines.
        let error = match error
            .strip_prefix("line ")
            .and_then(|rest| rest.split_once(": "))
        {
            Some((_, rest)) => rest,
            None => &error,
        };
        match error.split_once(": ") {
            Some((field, reason)) => format!("{}: {reason}", option(field)),
            None => error.to_owned(),
        }
    }
}

/// The option for a field of a plan.
fn option(field: &str) -> Cow<'_, str> {
    let inner = field.strip_prefix("connections.").unwrap_or(field);
    match inner.split(['.', '[']).next() {
        Some("connections") | None => "--listen, --connect".into(),
        Some(name) => format!("--{name}").into(),
    }
}

#[cfg(test)]
mod tests {
    use clap::{Command, FromArgMatches};
    use experiment::Plan;

    use super::*;

    fn given(arguments: &str) -> Options {
        let command = Options::augment_args(Command::new("study").no_binary_name(true));
        let matches = command.get_matches_from(arguments.split(' '));
        Options::from_arg_matches(&matches).expect("options")
    }

    const USUAL: &str = "--cgroup system.slice/nginx.service --listen 443,8000-8010 --arm cubic=90% --arm bbr=10% --unit prefix \
                         --duration 168h --guard throughput=20%";

    #[test]
    fn options_are_the_plan_that_a_person_would_write() {
        let more = " --except 10.0.0.0/8 --interface eth0,wg0 --join --address none";
        let text = given(&(USUAL.to_owned() + more)).text().expect("a plan");
        assert_eq!(
            text,
            r#"name = "nginx.service"
cgroup = "system.slice/nginx.service"
unit = "prefix"
duration = "168h"
address = "none"
join = true

[connections]
listen = [443, "8000-8010"]
except = ["10.0.0.0/8"]
interface = ["eth0", "wg0"]

[[arm]]
controller = "cubic"
share = "90%"

[[arm]]
controller = "bbr"
share = "10%"

[[guard]]
measure = "throughput"
worse = "20%"
"#
        );
        Plan::parse(&text).expect("a plan that makes sense");
    }

    #[test]
    fn an_arm_may_have_a_name() {
        let arm = |text: &str| {
            let arm: Arm = text.parse().expect("an arm");
            (arm.name, arm.controller, arm.share)
        };
        let told = |name: Option<&str>, controller: &str| {
            (
                name.map(str::to_owned),
                controller.to_owned(),
                "10%".to_owned(),
            )
        };
        assert_eq!(arm("bbr=10%"), told(None, "bbr"));
        assert_eq!(arm("new:bbr=10%"), told(Some("new"), "bbr"));
        assert_eq!(arm("kernel:bbr=10%"), told(None, "kernel:bbr"));
        assert_eq!(arm("new:kernel:bbr=10%"), told(Some("new"), "kernel:bbr"));
        let twice = USUAL.replace("cubic=90% --arm bbr=10%", "a:cubic=50% --arm b:cubic=50%");
        let plan = Plan::parse(&given(&twice).text().expect("a text")).expect("a plan");
        assert_eq!(
            (plan.names(), plan.controllers()),
            (vec!["a", "b"], vec!["cubic", "cubic"])
        );
    }

    #[test]
    fn what_makes_no_sense_is_named_by_its_option() {
        let told = |from: &str, to: &str| {
            assert!(USUAL.contains(from), "{from}");
            let options = given(&USUAL.replacen(from, to, 1));
            let source = Source::read(None, &options).expect("a text");
            source.wrong(&Plan::parse(&source.text).expect_err("no sense"))
        };
        for (from, to, begin) in [
            ("443,", "0,", "--listen: "),
            (
                " --listen 443,8000-8010",
                "",
                "--listen, --connect: names no port; give listen, connect, or both",
            ),
            (
                "--cgroup system.slice/nginx.service ",
                "",
                "--cgroup: is missing; give the directory of a control group",
            ),
            (
                "--unit prefix",
                "--unit prefix --slot 1h",
                "--slot: belongs to the unit slot",
            ),
            ("bbr=10%", "bbr=x", "--arm: \"x\""),
            ("bbr=10%", "cubic=10%", "--arm: cubic already has an arm"),
            (" --arm bbr=10%", "", "--arm: give 2 to 8 arms, not 1"),
            (" --arm cubic=90% --arm bbr=10%", "", "--arm: is missing"),
            ("prefix", "slot", "--slot: is missing"),
            (" --unit prefix", "", "--unit: is missing"),
            ("168h", "long", "--duration: \"long\""),
            ("throughput", "through", "--guard: "),
            ("--unit", "--interface a/b --unit", "--interface: \"a/b\""),
        ] {
            let told = told(from, to);
            assert!(told.starts_with(begin), "{to}: {told}");
        }
    }
}
