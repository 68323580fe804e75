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

/// How long it may take until a new look is shown, or a signal is heard.
const NOTICE: StdDuration = StdDuration::from_millis(50);

/// What is shown.
pub struct View<'v> {
    /// The connections of the last look.
    pub table: &'v Table,
    /// What the command was told to watch.
    pub filter: &'v Filter,
    /// How many looks there have been.
    pub looks: u64,
    /// How long the last one took.
    pub took: Duration,
    /// What went wrong in it.
    pub trouble: Option<&'v str>,
}

/// Where that comes from. It is held as long as it is looked at, and no longer: not while the terminal takes what is drawn.
pub trait Source {
    /// Shows the last look.
    fn show<R>(&self, to: impl FnOnce(View<'_>) -> R) -> R;
}

/// How the view begins.
#[derive(Debug, Clone, Copy)]
pub struct Start {
    /// The column to sort by.
    pub sort: Column,
    /// The groups to show.
    pub group: Option<GroupBy>,
}

/// Whether the terminal is gone, which nobody may have told by a signal; waits so long for what somebody types. Its events must not be
/// asked for then: that would never end.
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

/// Shows live connections until somebody quits or all is to end; sets `ended` then. The terminal is as before afterwards, also
/// after a panic.
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
            let mut wait = NOTICE;
            while !ended.load(Ordering::Relaxed) {
                if is_gone(wait)? {
                    return Ok(());
                }
                if !event::poll(StdDuration::ZERO)? {
                    break;
                }
                // The bytes of further keys may have been read with these: the terminal has them no longer.
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
