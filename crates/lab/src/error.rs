//! Errors of runs.

use std::io;

use document::DocumentError;
use scenario::Controller;
use simulate::RunError;

/// A reason why a run failed.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum EngineError {
    /// The scenario is invalid.
    #[error(transparent)]
    Scenario(#[from] DocumentError),
    /// The emulated path could not be set up.
    #[error("cannot set up the path: {0}")]
    Relay(#[from] emulator::RelayError),
    /// The two hosts could not be set up, or the kernel lacks something that a flow needs.
    #[error(transparent)]
    Linux(#[from] linux::Error),
    /// The kernel rejects one of Fullpipe's controllers.
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
    /// A flow received nothing from the receiver.
    #[error(
        "flow {flow} ({controller}): no answer over this path: {reason}; does it let anything through?"
    )]
    NoAnswer {
        /// The index of the flow among the scenario's flows.
        flow: usize,
        /// Its controller.
        controller: Controller,
        /// The transport's error.
        reason: String,
    },
    /// A flow failed.
    #[error("flow {flow} ({controller}): {source}")]
    Flow {
        /// The index of the flow among the scenario's flows.
        flow: usize,
        /// Its controller.
        controller: Controller,
        /// The cause.
        source: quic::bulk::BulkError,
    },
    /// The simulation failed.
    #[error(transparent)]
    Simulation(RunError),
    /// The capture could not be written.
    #[error("cannot write the capture: {0}")]
    Capture(io::Error),
    /// The system refused threads or timers.
    #[error("cannot start: {0}")]
    System(#[from] io::Error),
}

impl From<RunError> for EngineError {
    fn from(error: RunError) -> EngineError {
        match error {
            RunError::Scenario(error) => EngineError::Scenario(error),
            error => EngineError::Simulation(error),
        }
    }
}
