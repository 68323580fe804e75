//! Foreign commands inside a [`Host`].
//!
//! A command runs under an init of ours in a PID namespace of its own (pid_namespaces(7)). When the init ends, the
//! kernel ends everything in the namespace. The init itself ends with this process, by a signal that nothing can block.
//! A command and all its descendants, including daemons, therefore end with us, even if nobody is left to clean up.
//!
//! The init is this program, started again: it calls [`init_main`] in a subcommand that [`Init`] names.
//!
//! It runs as this process's user. In a user namespace of ours ([`privilege::acquire`](crate::privilege::acquire)) it
//! may also administer its network: choose any congestion controller, capture packets, serve on any port.
//!
//! A [`Command`] in the foreground belongs to this process's group, so that the terminal's signals reach both: Ctrl-Z
//! stops and `fg` continues both. The caller has to outlive the command and report, so it handles SIGINT and SIGQUIT
//! with a handler. It must not ignore them, because the command would inherit that. It forwards signals sent to this
//! process alone with [`Running::signal`].

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

/// The command line by which this program is started to call [`init_main`].
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Init {
    /// The program.
    pub program: PathBuf,
    /// The arguments before those of [`init_main`].
    pub arguments: Vec<OsString>,
}

impl Init {
    /// The running program, with a (hidden) subcommand.
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
    /// Creates a command from a program (searched for in `PATH`) and its arguments. It runs in the foreground:
    /// standard input, output and error are this process's.
    pub fn new(line: impl IntoIterator<Item = impl Into<OsString>>) -> Command {
        Command {
            line: line.into_iter().map(Into::into).collect(),
            variables: Vec::new(),
            service: false,
        }
    }

    /// Runs it in the background: without input, with its output on standard error, and in a process group of its
    /// own, which the terminal's signals do not reach.
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
    /// A PID namespace or the init cannot be created. If the command itself cannot be started, the init writes one
    /// line to standard error, and the exit code shows it ([`Running::wait`]).
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
