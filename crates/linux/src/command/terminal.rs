//! The process group that has the terminal.

use std::io;

use nix::sys::signal::{SigSet, SigmaskHow, Signal};
use nix::unistd::{getpgrp, tcgetpgrp, tcsetpgrp};

/// The terminal on standard input, with this process's group in its foreground.
#[derive(Debug)]
pub(super) struct Terminal(());

impl Terminal {
    /// The terminal, if there is one and this process is in its foreground.
    pub(super) fn held() -> Option<Terminal> {
        (tcgetpgrp(io::stdin()) == Ok(getpgrp())).then_some(Terminal(()))
    }

    /// Takes the terminal back. A shell that takes it for its jobs cannot return it at its end: in its PID namespace
    /// our process group has no ID.
    pub(super) fn reclaim(self) {
        // A background process that sets the foreground is stopped, unless it blocks SIGTTOU (tcsetpgrp(3)).
        let mut stop = SigSet::empty();
        stop.add(Signal::SIGTTOU);
        if let Ok(mask) = stop.thread_swap_mask(SigmaskHow::SIG_BLOCK) {
            // The terminal may have been hung up meanwhile.
            let _reclaimed = tcsetpgrp(io::stdin(), getpgrp());
            let _restored = mask.thread_set_mask();
        }
    }
}
