//! Why a run failed.

use std::io;

use scenario::{Controller, ScenarioError};

/// Why a run failed.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum EngineError {
    /// The scenario makes no sense.
    #[error(transparent)]
    Scenario(#[from] ScenarioError),
    /// The emulated path could not be set up.
    #[error("cannot set up the path: {0}")]
    Relay(#[from] emulator::RelayError),
    /// Two hosts could not be set up, or the kernel does not do what a flow needs.
    #[error(transparent)]
    Linux(#[from] linux::Error),
    /// The kernel does not take one of Fullpipe's controllers.
    #[error(transparent)]
    Kernel(#[from] kernel::Error),
    /// The emulated path between two hosts could not be set up.
    #[error("cannot set up the path: {0}")]
    Tunnel(#[from] emulator::tunnel::TunnelError),
    /// The receiving endpoint could not be set up.
    #[error("cannot set up the receiver: {0}")]
    Endpoint(#[from] quic::endpoint::EndpointError),
    /// The receiver has stopped.
    #[error("the receiver has stopped")]
    NoReceiver,
    /// A flow heard nothing from the receiver.
    #[error(
        "flow {flow} ({controller}): no answer over this path: {reason}; does it let anything through?"
    )]
    NoAnswer {
        /// Which of the scenario's flows.
        flow: usize,
        /// Its controller.
        controller: Controller,
        /// What the transport said.
        reason: String,
    },
    /// A flow broke.
    #[error("flow {flow} ({controller}): {source}")]
    Flow {
        /// Which of the scenario's flows.
        flow: usize,
        /// Its controller.
        controller: Controller,
        /// What happened to it.
        source: quic::bulk::BulkError,
    },
    /// A scenario that ends when everything has arrived does not come to an end.
    #[error(
        "nothing has arrived for {patience} of the scenario's time; does its path let anything through? Give it a duration"
    )]
    Stalled {
        /// For how long nothing had arrived.
        patience: units::Duration,
    },
    /// The packets could not be written.
    #[error("cannot write the capture: {0}")]
    Capture(io::Error),
    /// The system refused threads or timers.
    #[error("cannot start: {0}")]
    System(#[from] io::Error),
}
