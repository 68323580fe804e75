//! The removal of rules and routes when the process that added them has ended.

use std::io;
use std::os::fd::AsFd;
use std::time::Duration;

use nix::poll::{PollFd, PollFlags, PollTimeout, poll};
use nix::sys::signal::SigSet;
use nix::unistd::{read, setsid};

use super::Routing;
use crate::Error;
use crate::error::Context;

/// The task of a process that removes the rules and routes when another process has ended. The other process writes to
/// the standard input of this one from time to time. If it writes nothing for the time of `lease`, the rules and routes
/// are removed meanwhile, and `late` is called. Ignores signals. Returns how many rules and routes it removed at the
/// end.
///
/// # Errors
///
/// The rules and routes cannot be removed.
pub fn undo_at_end(lease: Duration, mut late: impl FnMut()) -> Result<usize, Error> {
    // The signals of a terminal or a service manager are meant for the other process.
    let _ = setsid();
    SigSet::all()
        .thread_block()
        .context("cannot put signals off")?;
    let clear = || Routing::open_here()?.clear();
    let input = io::stdin();
    let lease = PollTimeout::try_from(lease).unwrap_or(PollTimeout::MAX);
    loop {
        let mut ready = [PollFd::new(input.as_fd(), PollFlags::POLLIN)];
        if poll(&mut ready, lease) == Ok(0) {
            // If this fails, the next turn tries it again.
            if clear().is_ok_and(|count| count > 0) {
                late();
            }
        } else if !read(&input, &mut [0; 64]).is_ok_and(|length| length > 0) {
            return clear();
        }
    }
}
