//! Signals, which wait while the kernel looks at a program: it gives up as soon as one comes, and the program looks refused.

use nix::sys::signal::{SigSet, SigmaskHow};

/// This thread's signals wait as long as this lives.
pub(super) struct Waiting(Option<SigSet>);

impl Waiting {
    pub fn begin() -> Waiting {
        // It fails for no thread.
        Waiting(SigSet::all().thread_swap_mask(SigmaskHow::SIG_BLOCK).ok())
    }
}

impl Drop for Waiting {
    fn drop(&mut self) {
        if let Some(before) = &self.0 {
            let _ = before.thread_set_mask();
        }
    }
}
