//! Captures at the two ends of a run.

use std::io::{self, Write};
use std::sync::atomic::{AtomicBool, Ordering};

use ::linux::{Host, Tap};
use capture::write::Writer;
use units::Time;

use crate::error::EngineError;

/// The capture of one end.
pub struct Captured<W: Write> {
    tap: Tap,
    to: Writer<W>,
}

impl<W: Write> Captured<W> {
    /// Opens a capture at `host`, under `name`.
    ///
    /// # Errors
    ///
    /// The kernel refuses, or `to` cannot be written.
    pub fn new(host: &Host, name: &str, to: W) -> Result<Captured<W>, EngineError> {
        let to = Writer::new(to, name).map_err(EngineError::Capture)?;
        Ok(Captured {
            tap: Tap::of(host)?,
            to,
        })
    }

    /// Captures until `stop` is set, then drains the packets that are left.
    ///
    /// # Errors
    ///
    /// A packet cannot be read or written.
    pub fn run(mut self, stop: &AtomicBool) -> Result<W, EngineError> {
        self.copy(stop).map_err(EngineError::Capture)?;
        self.to.finish().map_err(EngineError::Capture)
    }

    fn copy(&mut self, stop: &AtomicBool) -> io::Result<()> {
        loop {
            let is_over = stop.load(Ordering::Acquire);
            match self.tap.next_packet()? {
                Some(packet) => {
                    let rest = packet.len.saturating_sub(packet.data.len());
                    let rest = u32::try_from(rest).unwrap_or(u32::MAX);
                    let at = Time::from_nanos(packet.unix_nanos);
                    self.to.raw(at, packet.data, rest)?;
                }
                None if is_over => return Ok(()),
                None => {}
            }
        }
    }
}
