//! Runs any program behind an emulated path.
//!
//! A [`Shell`] creates two hosts connected only by the path, runs a command on one of them and optionally another on
//! the other, and reports the traffic on the path. The hosts are network namespaces of this process; commands and all
//! processes that they start end with it (`linux::command`).
//!
//! ```no_run
//! use linux::command::{Init, init_main};
//! use shell::{Attendant, Direction, Shell, Signal};
//!
//! struct Quiet;
//!
//! impl Attendant for Quiet {
//!     fn tell(&self, _line: &str) {}
//!     fn signal(&mut self) -> Option<Signal> {
//!         None
//!     }
//! }
//!
//! fn main() -> Result<(), Box<dyn std::error::Error>> {
//!     // The command's first process is this program again.
//!     let mut arguments = std::env::args_os().skip(1);
//!     if arguments.next().is_some_and(|first| first == "init") {
//!         std::process::exit(init_main(arguments).into());
//!     }
//!     linux::privilege::acquire()?;
//!     let mut path = scenario::PathSpec::default();
//!     path.set("rate", "10mbit")?;
//!     path.set("rtt", "40ms")?;
//!     path.set("buffer", "1s")?;
//!     let shell = Shell {
//!         path,
//!         direction: Direction::default(),
//!         seed: 1,
//!         controller: None,
//!         command: ["curl", "http://10.200.1.1:8000"].map(Into::into).to_vec(),
//!         serve: Some("python3 -m http.server 8000".into()),
//!         wait_for: Some(8000),
//!     };
//!     let observed = shell.run(&Init::subcommand("init"), &mut Quiet)?;
//!     print!("{}", shell::table(&observed.summary, None));
//!     Ok(())
//! }
//! ```

mod addresses;
mod direction;
mod error;
mod files;
mod flows;
mod listening;
mod page;
mod summary;
mod text;
mod watch;

use std::ffi::OsString;
use std::fs;
use std::io::ErrorKind;
use std::time::{Duration, Instant};

use emulator::tunnel::{Tunnel, TunnelConfig};
use linux::command::{Command, Init, Running};
use linux::{Host, Network, NetworkConfig};
use path::PathConfig;

pub use addresses::{Addresses, End};
pub use direction::Direction;
pub use error::ShellError;
pub use files::{FILES, check_dir, write_dir};
pub use page::page;
pub use summary::{CommandSummary, ConnectionSummary, WaySummary};
pub use text::table;
pub use watch::WaySample;

use document::DocumentError;
use flows::FlowWatch;
use listening::is_listening;
use record::Validity;
use report::describe;
use scenario::{Controller, PathSpec};
use watch::{Seen, Watch};

/// The polling interval for events without notification.
const POLL_INTERVAL: Duration = Duration::from_millis(20);
/// The time that the served command has to listen somewhere. Then the command starts anyway.
const LISTEN_TIMEOUT: Duration = Duration::from_secs(5);
/// The time that the served command has to listen at a requested port. Then the command fails.
const PORT_TIMEOUT: Duration = Duration::from_secs(60);
/// The time that the served command has to end.
const END_TIMEOUT: units::Duration = units::Duration::from_millis(500);

/// A command, and the path behind which it runs.
#[derive(Debug, Clone)]
pub struct Shell {
    /// The path.
    pub path: PathSpec,
    /// The direction of the bottleneck.
    pub direction: Direction,
    /// The seed of the path's random choices.
    pub seed: u64,
    /// The congestion control of TCP sockets that choose none, on both hosts. By default the kernel's.
    pub controller: Option<Controller>,
    /// The command and its arguments.
    pub command: Vec<OsString>,
    /// The command on the far host meanwhile, for `sh -c`.
    pub serve: Option<OsString>,
    /// The port on the far host where something must listen before the command starts. By default any port.
    pub wait_for: Option<u16>,
}

/// Receives messages and provides signals while a command runs.
pub trait Attendant {
    /// Prints a message.
    fn tell(&self, line: &str);

    /// The next signal to this process that was not returned yet. The command also gets signals from the terminal
    /// itself.
    fn signal(&mut self) -> Option<Signal>;
}

/// A signal to this process.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Signal {
    /// The number.
    pub number: i32,
    /// Whether a terminal sent it, which sends it to the whole foreground group.
    pub is_from_terminal: bool,
}

/// The observations of a command.
#[derive(Debug, Clone)]
pub struct Observed {
    /// Descriptions of both directions.
    pub about: String,
    /// All results.
    pub summary: CommandSummary,
    /// The direction towards the command over time.
    pub down: Vec<WaySample>,
    /// The direction away from the command over time.
    pub up: Vec<WaySample>,
}

impl Shell {
    /// Checks the settings.
    ///
    /// # Errors
    ///
    /// The path is invalid.
    pub fn check(&self) -> Result<(), DocumentError> {
        self.config().map(drop)
    }

    fn config(&self) -> Result<PathConfig, DocumentError> {
        self.direction.check(&self.path)?;
        self.path.config()
    }

    /// Runs the command to its end. `init` says how to start this program as the first process of a command.
    /// [`linux::privilege::acquire`] must be called first.
    ///
    /// # Errors
    ///
    /// The hosts, the path or the served command could not be set up.
    pub fn run(&self, init: &Init, attendant: &mut impl Attendant) -> Result<Observed, ShellError> {
        let path = self.config()?;
        let network = Network::create(&NetworkConfig::default())?;
        for host in [&network.near, &network.far] {
            self.choose_controller(host)?;
        }
        let addresses = Addresses::of(&network);
        self.announce(&addresses, attendant);
        let served = match &self.serve {
            Some(line) => Some(self.serve(line, &network.far, &addresses, init, attendant)?),
            None => None,
        };
        let flows = FlowWatch::new(&network)?;
        let [forward, reverse] = self.direction.ways(path);
        let tunnel = Tunnel::start(TunnelConfig {
            near: own(&network.near)?,
            far: own(&network.far)?,
            forward,
            reverse,
            seed: self.seed,
        })?;
        let watch = Watch::start(tunnel, self.direction.paths(&self.path), flows)?;
        let command = with_variables(Command::new(&self.command), &addresses);
        if attendant.signal().is_some() {
            return Err(ShellError::Interrupted);
        }
        let mut running = command.spawn(&network.near, init)?;
        let exit_code = attend(&mut running, attendant)?;
        let seen = watch.finish()?;
        if let Some(served) = served {
            served.stop(END_TIMEOUT)?;
        }
        Ok(self.observed(addresses, exit_code, seen))
    }

    fn choose_controller(&self, host: &Host) -> Result<(), ShellError> {
        let Some(controller) = self.controller else {
            return Ok(());
        };
        let name = controller.kernel_name();
        let file = "/proc/sys/net/ipv4/tcp_congestion_control";
        match host.inside(|| fs::write(file, name))? {
            Ok(()) => Ok(()),
            Err(error) if error.kind() == ErrorKind::PermissionDenied => {
                Err(ShellError::RestrictedController {
                    name: name.to_string(),
                })
            }
            Err(_) => Err(linux::Error::UnknownController {
                asked: name.to_string(),
                offered: linux::controllers(host)?.join(", "),
            }
            .into()),
        }
    }

    /// Descriptions of the directions away from the command and towards it.
    fn described(&self) -> [String; 2] {
        self.direction.paths(&self.path).map(|path| describe(&path))
    }

    fn announce(&self, addresses: &Addresses, attendant: &impl Attendant) {
        let [up, down] = self.described();
        attendant.tell(&format!("down, from the far side to the command: {down}"));
        attendant.tell(&format!("up, from the command to the far side: {up}"));
        let end = |end: &End| match end.v6 {
            Some(v6) => format!("{} and {v6}", end.v4),
            None => end.v4.to_string(),
        };
        let Addresses { near, far } = addresses;
        attendant.tell(&format!("far side at {}; here at {}", end(far), end(near)));
    }

    /// Starts the served command, and waits until it listens.
    fn serve(
        &self,
        line: &OsString,
        far: &Host,
        addresses: &Addresses,
        init: &Init,
        attendant: &mut impl Attendant,
    ) -> Result<Running, ShellError> {
        let shell = ["sh".into(), "-c".into(), line.clone()];
        let command = with_variables(Command::new(shell).service(), addresses);
        let mut served = command.spawn(far, init)?;
        let began = Instant::now();
        loop {
            if is_listening(far, self.wait_for)? {
                return Ok(served);
            }
            if attendant.signal().is_some() {
                return Err(ShellError::Interrupted);
            }
            match (served.wait_for(POLL_INTERVAL.into())?, self.wait_for) {
                (Some(0), None) => {
                    attendant.tell("what --serve runs has ended, and nothing listens");
                    return Ok(served);
                }
                (Some(code), _) => return Err(ShellError::Served { code }),
                (None, Some(port)) if began.elapsed() >= PORT_TIMEOUT => {
                    let patience = PORT_TIMEOUT;
                    return Err(ShellError::Silent { port, patience });
                }
                (None, None) if began.elapsed() >= LISTEN_TIMEOUT => {
                    attendant.tell("what --serve runs listens nowhere yet; starting nevertheless");
                    return Ok(served);
                }
                (None, _) => {}
            }
        }
    }

    fn observed(&self, addresses: Addresses, exit_code: u8, seen: Seen) -> Observed {
        let Seen {
            duration,
            up,
            down,
            flows,
        } = seen;
        let text = |text: &OsString| text.to_string_lossy().into_owned();
        let [up_path, down_path] = self.described();
        Observed {
            about: format!("down: {down_path}; up: {up_path}"),
            summary: CommandSummary {
                command: self.command.iter().map(text).collect(),
                serve: self.serve.as_ref().map(text),
                exit_code,
                direction: self.direction.name(),
                seed: self.seed,
                duration_s: duration.as_secs_f64(),
                validity: Validity::of([&up.summary.path, &down.summary.path].into_iter()),
                addresses,
                down: down.summary,
                up: up.summary,
                flows,
            },
            down: down.samples,
            up: up.samples,
        }
    }
}

/// Waits for the command's end, and passes on signals that it did not get itself.
fn attend(running: &mut Running, attendant: &mut impl Attendant) -> Result<u8, ShellError> {
    loop {
        if let Some(code) = running.wait_for(POLL_INTERVAL.into())? {
            return Ok(code);
        }
        while let Some(signal) = attendant.signal() {
            if !signal.is_from_terminal {
                running.signal(signal.number)?;
            }
        }
    }
}

fn with_variables(command: Command, addresses: &Addresses) -> Command {
    let variables = addresses.variables().into_iter();
    variables.fold(command, |command, (name, value)| {
        command.variable(name, value)
    })
}

/// The packet side of the host's device.
fn own(host: &Host) -> Result<std::os::fd::OwnedFd, ShellError> {
    Ok(host.tun().try_clone()?)
}
