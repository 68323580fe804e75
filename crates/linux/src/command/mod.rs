//! Foreign commands inside a [`Host`].
//!
//! A command runs under an init of ours in a PID namespace of its own (pid_namespaces(7)). When the init ends, the kernel
//! ends everything in the namespace. The init itself ends with this process, by a signal that nothing can block. A command
//! and all its descendants, daemons included, therefore end with us, even if nobody is left to clean up.
//!
//! The init is this program, started once more: [`init_main`] is what it is to do then, in a subcommand that [`Init`]
//! names.
//!
//! It runs as this process's user. In a user namespace of ours ([`privilege::acquire`](crate::privilege::acquire)) it
//! may administer its network besides: choose any congestion controller, capture packets, serve on any port.
//!
//! A [`Command`] in the foreground belongs to this process's group, so that the terminal's signals reach both: Ctrl-Z
//! stops and `fg` continues both. The caller has to outlive the command and report, so it handles SIGINT and SIGQUIT with
//! a handler. It must not ignore them, because the command would inherit that. It passes signals for this process alone on
//! with [`Running::signal`].

mod init;
mod running;
mod terminal;

use std::ffi::OsString;
use std::os::unix::process::CommandExt;
use std::path::PathBuf;
use std::process;

pub use init::init_main;
pub use running::Running;

use crate::{Error, Host};
use terminal::Terminal;

/// How this program is started so that it calls [`init_main`].
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Init {
    /// The program.
    pub program: PathBuf,
    /// The arguments before those that [`init_main`] takes.
    pub arguments: Vec<OsString>,
}

impl Init {
    /// The program that is running, with a (hidden) subcommand.
    pub fn subcommand(name: &str) -> Init {
        Init {
            program: PathBuf::from("/proc/self/exe"),
            arguments: vec![name.into()],
        }
    }
}

/// A command to run, with this process's environment and working directory.
#[derive(Debug, Clone)]
pub struct Command {
    line: Vec<OsString>,
    variables: Vec<(OsString, OsString)>,
    service: bool,
}

impl Command {
    /// A program (looked for in `PATH`) and its arguments, to run in the foreground: standard input, output and error
    /// are this process's.
    pub fn new(line: impl IntoIterator<Item = impl Into<OsString>>) -> Command {
        Command {
            line: line.into_iter().map(Into::into).collect(),
            variables: Vec::new(),
            service: false,
        }
    }

    /// Runs it in the background: without input, its output on standard error, in a process group of its own, which
    /// the terminal's signals do not reach.
    #[must_use]
    pub fn service(mut self) -> Command {
        self.service = true;
        self
    }

    /// Adds a variable to its environment.
    #[must_use]
    pub fn variable(mut self, name: impl Into<OsString>, value: impl Into<OsString>) -> Command {
        self.variables.push((name.into(), value.into()));
        self
    }

    /// Starts it in `host`.
    ///
    /// # Errors
    ///
    /// When there can be no PID namespace or no init. That the command itself cannot be started is said by the init,
    /// in one line on standard error, and by the exit code ([`Running::wait`]).
    pub fn spawn(&self, host: &Host, init: &Init) -> Result<Running, Error> {
        let mut command = process::Command::new(&init.program);
        command
            .args(&init.arguments)
            .arg(init::own_process()?)
            .args(&self.line);
        command.envs(self.variables.iter().map(|(name, value)| (name, value)));
        if self.service {
            command
                .stdin(process::Stdio::null())
                .stdout(std::io::stderr())
                .process_group(0);
        }
        let terminal = if self.service { None } else { Terminal::held() };
        Running::start(host, command, terminal)
    }
}
