//! Signals that are for a command that we run.

use lab::shell::Signal;
use signal_hook::consts::{SIGHUP, SIGINT, SIGQUIT, SIGTERM};
use signal_hook::iterator::SignalsInfo;
use signal_hook::iterator::exfiltrator::WithOrigin;
use signal_hook::low_level::siginfo::Cause;

use crate::failure::Failure;

/// The signals that would end this process. While they are listened to, they do not.
pub struct Signals {
    signals: SignalsInfo<WithOrigin>,
    pending: Vec<Signal>,
}

impl Signals {
    /// Listens from now on.
    pub fn listen() -> Result<Signals, Failure> {
        let signals = SignalsInfo::new([SIGINT, SIGTERM, SIGHUP, SIGQUIT]).map_err(|error| {
            Failure::not_run(format_args!("cannot listen for signals: {error}"))
        })?;
        Ok(Signals {
            signals,
            pending: Vec::new(),
        })
    }

    /// One that has come and has not been asked for.
    pub fn next(&mut self) -> Option<Signal> {
        if self.pending.is_empty() {
            let came = self.signals.pending().map(|origin| Signal {
                number: origin.signal,
                // A terminal's signals have no sender.
                is_from_terminal: matches!(origin.cause, Cause::Kernel),
            });
            self.pending.extend(came);
        }
        self.pending.pop()
    }
}
