//! Writes packets that have arrived, and joins adjacent segments of one large packet.

use std::io;
use std::ops::Range;
use std::os::fd::OwnedFd;
use std::sync::Arc;

use path::Ecn;
use units::Time;

use super::counters::TunCounters;
use super::frame::Frame;
use super::network::{Departure, Network};
use crate::counters::LATE_AFTER;

/// Segments that will be one frame.
#[derive(Debug)]
struct Run {
    frame: Frame,
    segments: Range<u32>,
    ecn: Ecn,
    /// True if it is a damaged segment, which is not joined.
    corrupted: bool,
    /// The link that they come from.
    from: Option<usize>,
}

/// The packets that are about to be written.
#[derive(Debug)]
pub(crate) struct Outbox {
    device: Arc<OwnedFd>,
    run: Option<Run>,
}

impl Outbox {
    /// Returns an outbox without packets.
    pub(crate) fn new(device: Arc<OwnedFd>) -> Outbox {
        Outbox { device, run: None }
    }

    /// Writes a packet that has arrived. It may wait for the next one until [`flush`](Outbox::flush).
    ///
    /// # Errors
    /// The device is gone.
    pub(crate) fn put(
        &mut self,
        departure: Departure,
        now: Time,
        network: &mut Network,
        counters: &mut TunCounters,
    ) -> io::Result<()> {
        let Departure {
            packet,
            at,
            ecn,
            from,
            ..
        } = departure;
        let late = now.since(at);
        let packets = packet.segments.len() as u64;
        if late > LATE_AFTER {
            counters.late_packets += packets;
        }
        let total = late.as_nanos().saturating_mul(packets);
        counters.lateness_total_ns = counters.lateness_total_ns.saturating_add(total);
        counters.lateness_max_ns = counters.lateness_max_ns.max(late.as_nanos());
        match &mut self.run {
            // Marked and unmarked segments cannot share a header.
            Some(run)
                if run.segments.end == packet.segments.start
                    && run.frame.is(&packet.frame)
                    && run.ecn == ecn
                    && !run.corrupted
                    && !packet.corrupted =>
            {
                run.segments.end = packet.segments.end;
                Ok(())
            }
            _ => {
                self.flush(network, counters)?;
                self.run = Some(Run {
                    frame: packet.frame,
                    segments: packet.segments,
                    ecn,
                    corrupted: packet.corrupted,
                    from,
                });
                Ok(())
            }
        }
    }

    /// Writes the waiting packets.
    ///
    /// # Errors
    /// The device is gone.
    pub(crate) fn flush(
        &mut self,
        network: &mut Network,
        counters: &mut TunCounters,
    ) -> io::Result<()> {
        let Some(run) = self.run.take() else {
            return Ok(());
        };
        let layout = run.frame.layout();
        let packets = run.segments.len() as u64;
        let mark = run.ecn != layout.ecn;
        let written = if run.corrupted {
            run.frame.write_damaged(&self.device, &run.segments, mark)
        } else {
            run.frame.write(&self.device, &run.segments, mark)
        };
        match written {
            Ok(()) => {
                counters.written_frames += 1;
                counters.written_packets += packets;
                counters.written_bytes += layout.wire_size(&run.segments) as u64;
                Ok(())
            }
            Err(error) => {
                counters.write_errors += packets;
                if let Some(link) = run.from {
                    network.count_send_errors(link, packets);
                }
                if is_gone(&error) { Err(error) } else { Ok(()) }
            }
        }
    }
}

/// True if an error of reading or writing is permanent: the descriptor has no device any more (`EBADFD` of TUN), or no
/// peer. All others, even of a device that is down (`EIO`), may pass.
pub(crate) fn is_gone(error: &io::Error) -> bool {
    use rustix::io::Errno;
    let gone = [
        Errno::BADFD,
        Errno::BADF,
        Errno::PIPE,
        Errno::CONNRESET,
        Errno::NOTCONN,
    ];
    gone.iter()
        .any(|errno| error.raw_os_error() == Some(errno.raw_os_error()))
}
