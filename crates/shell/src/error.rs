//! The reasons for which a command was not run.

use std::io;

use document::DocumentError;

/// The reasons for which a command was not run, or its end is unknown.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum ShellError {
    /// The path is invalid.
    #[error(transparent)]
    Path(#[from] DocumentError),
    /// The kernel refused something, or a privilege is missing.
    #[error(transparent)]
    Linux(#[from] linux::Error),
    /// The kernel has this congestion control, but does not allow it as a default here
    /// (`tcp_set_default_congestion_control` in net/ipv4/tcp_cong.c): outside the machine's own network, only controls
    /// allowed to everybody can be.
    #[error(
        "the kernel does not allow {name} to everybody: add it to this machine's sysctl \
         net.ipv4.tcp_allowed_congestion_control, or let the program choose it itself, such as iperf3 -C {name}"
    )]
    RestrictedController {
        /// The name of the congestion control.
        name: String,
    },
    /// The path could not be set up.
    #[error(transparent)]
    Tunnel(#[from] emulator::tunnel::TunnelError),
    /// The served command failed before anything listened.
    #[error("what --serve runs ended with exit code {code} before it listened")]
    Served {
        /// Its exit code.
        code: u8,
    },
    /// Nothing listens at the awaited port.
    #[error("nothing listens on port {port} of the far side after {} seconds", .patience.as_secs())]
    Silent {
        /// The port.
        port: u16,
        /// The time waited.
        patience: std::time::Duration,
    },
    /// The user ended it before the command ran.
    #[error("interrupted; the command has not run")]
    Interrupted,
    /// The system refused a thread.
    #[error("cannot start: {0}")]
    System(#[from] io::Error),
}
