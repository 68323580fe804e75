//! Why a command was not run.

use std::io;

use scenario::ScenarioError;

/// Why a command was not run, or how it ended is not known.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum ShellError {
    /// The path makes no sense.
    #[error(transparent)]
    Path(#[from] ScenarioError),
    /// The kernel or a lack of privilege.
    #[error(transparent)]
    Linux(#[from] linux::Error),
    /// The kernel has this congestion control, and keeps it from being a default here (`tcp_set_default_congestion_control`
    /// in net/ipv4/tcp_cong.c): outside the machine's own network, only what it allows to everybody may be.
    #[error(
        "the kernel does not allow {name} to everybody: add it to this machine's sysctl \
         net.ipv4.tcp_allowed_congestion_control, or let the program choose it itself, such as iperf3 -C {name}"
    )]
    RestrictedController {
        /// Its name.
        name: String,
    },
    /// The path could not be set up.
    #[error(transparent)]
    Tunnel(#[from] emulator::tunnel::TunnelError),
    /// The command at the far end failed before anything could be reached there.
    #[error("what --serve runs ended with exit code {code} before it listened")]
    Served {
        /// Its exit code.
        code: u8,
    },
    /// Nothing listens at the port that was to be waited for.
    #[error("nothing listens on port {port} of the far side after {} seconds", .patience.as_secs())]
    Silent {
        /// The port.
        port: u16,
        /// How long it was waited for.
        patience: std::time::Duration,
    },
    /// The user ended it before the command ran.
    #[error("interrupted; the command has not run")]
    Interrupted,
    /// The system refused a thread.
    #[error("cannot start: {0}")]
    System(#[from] io::Error),
}
