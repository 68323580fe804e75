//! Live connections on the whole terminal.

mod detail;
mod draw;
mod keys;
mod list;
mod palette;
mod screen;
#[cfg(test)]
mod tests;

use std::io::{self, IsTerminal};
use std::os::fd::AsFd;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Duration as StdDuration;

use fleet::{Column, Filter, GroupBy, Table};
use ratatui::crossterm::event::{self, Event};
use rustix::event::{PollFd, PollFlags};
use rustix::io::Errno;
use units::Duration;

use palette::Palette;
use screen::Screen;

/// The longest delay until a new poll is shown, or a signal is noticed.
const POLL_INTERVAL: StdDuration = StdDuration::from_millis(50);

/// The data to show.
pub struct View<'v> {
    /// The connections of the last poll.
    pub table: &'v Table,
    /// The filter of the command line.
    pub filter: &'v Filter,
    /// The number of polls.
    pub looks: u64,
    /// The duration of the last poll.
    pub took: Duration,
    /// The error of the last poll.
    pub trouble: Option<&'v str>,
}

/// The source of the data. It is locked only while it is read, and not while the terminal is written to.
pub trait Source {
    /// Shows the last poll.
    fn show<R>(&self, to: impl FnOnce(View<'_>) -> R) -> R;
}

/// The initial state of the view.
#[derive(Debug, Clone, Copy)]
pub struct Start {
    /// The column to sort by.
    pub sort: Column,
    /// The groups to show.
    pub group: Option<GroupBy>,
}

/// Waits up to `wait` for input. True if the terminal is gone, even without a signal. Its events must not be read then,
/// because that would never return.
fn is_gone(wait: StdDuration) -> io::Result<bool> {
    let (input, output) = (io::stdin(), io::stdout());
    let terminal = if input.is_terminal() {
        input.as_fd()
    } else {
        output.as_fd()
    };
    let mut polled = [PollFd::new(&terminal, PollFlags::IN)];
    let wait = wait.try_into().map_err(io::Error::other)?;
    match rustix::event::poll(&mut polled, Some(&wait)) {
        Ok(_) | Err(Errno::INTR) => {}
        Err(error) => return Err(error.into()),
    }
    Ok(polled[0]
        .revents()
        .intersects(PollFlags::HUP | PollFlags::ERR | PollFlags::NVAL))
}

/// Shows live connections until the user quits or the command has to end, and sets `ended`. Restores the terminal,
/// even after a panic.
///
/// # Errors
///
/// The terminal cannot be drawn on or read.
pub fn run(source: &impl Source, start: Start, ended: &AtomicBool) -> io::Result<()> {
    let outcome = ratatui::try_init().and_then(|mut terminal| {
        let mut screen = Screen::new(start, Palette::of_environment());
        let mut drawn = None;
        while !ended.load(Ordering::Relaxed) {
            let looks = source.show(|view| view.looks);
            if drawn != Some(looks) {
                terminal.draw(|frame| source.show(|view| draw::draw(frame, &mut screen, &view)))?;
                drawn = Some(looks);
            }
            let mut wait = POLL_INTERVAL;
            while !ended.load(Ordering::Relaxed) {
                if is_gone(wait)? {
                    return Ok(());
                }
                if !event::poll(StdDuration::ZERO)? {
                    break;
                }
                // The bytes of further keys may have been read with these, and are no longer in the terminal's queue.
                wait = StdDuration::ZERO;
                match event::read()? {
                    Event::Key(key) if key.is_press() || key.is_repeat() => {
                        if source.show(|view| screen.key(key, &view)).is_break() {
                            return Ok(());
                        }
                    }
                    Event::Resize(_, _) => {}
                    _ => continue,
                }
                drawn = None;
            }
        }
        Ok(())
    });
    ended.store(true, Ordering::Relaxed);
    let restored = ratatui::try_restore();
    outcome.and(restored)
}
