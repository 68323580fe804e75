//! Signals for a command that this program runs.

use std::fs;

use program::failure::Failure;
use shell::Signal;
use signal_hook::consts::{SIGHUP, SIGINT, SIGQUIT, SIGTERM};
use signal_hook::iterator::SignalsInfo;
use signal_hook::iterator::exfiltrator::WithOrigin;
use signal_hook::low_level::siginfo::Cause;

/// The signals that end a process. While this value exists, they do not end this one.
pub struct Signals {
    signals: SignalsInfo<WithOrigin>,
    pending: Vec<Signal>,
}

impl Signals {
    /// Listens from now on; not to SIGHUP if it was ignored at the start, as by nohup(1). Then the command ignores it
    /// too.
    pub fn listen() -> Result<Signals, Failure> {
        let mut wanted = vec![SIGINT, SIGTERM, SIGQUIT];
        if !is_ignored(SIGHUP) {
            wanted.push(SIGHUP);
        }
        let signals = SignalsInfo::new(wanted).map_err(|error| {
            Failure::not_run(format_args!("cannot listen for signals: {error}"))
        })?;
        Ok(Signals {
            signals,
            pending: Vec::new(),
        })
    }

    /// The next signal that has arrived, if there is one.
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

/// True if this process ignores the signal (proc_pid_status(5)).
pub fn is_ignored(signal: i32) -> bool {
    let status = fs::read_to_string("/proc/self/status").unwrap_or_default();
    let mask = status
        .lines()
        .find_map(|line| line.strip_prefix("SigIgn:"))
        .and_then(|mask| u64::from_str_radix(mask.trim(), 16).ok());
    mask.is_some_and(|mask| mask >> (signal - 1) & 1 == 1)
}
