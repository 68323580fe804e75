//! Blocks signals while the kernel verifies a program. A signal would end the verification like a refusal.

use nix::sys::signal::{SigSet, SigmaskHow};

/// Blocks this thread's signals while this value lives.
pub(super) struct Waiting(Option<SigSet>);

impl Waiting {
    pub fn begin() -> Waiting {
        // This cannot fail for a valid mask.
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
