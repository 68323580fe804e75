//! The receive window and its growth.

use crate::segment::MSS;
use units::{Bytes, Duration, Time};

use super::Config;

/// The window beyond twice the bytes read: room for small variations, and for a flow of few segments.
const MARGIN_BYTES: u64 = 16 * MSS.get();

/// The most bytes of consecutive segments in one buffer (`skb_try_coalesce`, `MAX_SKB_FRAGS`); the application reads
/// buffer by buffer.
const MAX_READ_BYTES: u64 = 17 * MSS.get();

/// The initial measurement: the sender's initial window (RFC 6928).
const INITIAL_SPACE: u64 = 10 * MSS.get();

/// The minimum payload of a segment that opens the window, in bytes (`tcp_event_data_recv`).
const MIN_PAYLOAD: u32 = 128;

/// Dynamic right-sizing (Fisk and Feng, 2001) as in Linux 6.18 (`tcp_rcv_space_adjust`, `tcp_rcvbuf_grow`). The buffer
/// is twice the bytes that the application read in the last RTT, so that the receiver does not limit a sender that
/// doubles its window each RTT. Data beyond a hole occupy the buffer and are not offered again (`tcp_select_window`).
/// Where much is lost, the window therefore is the limit, and grows by the bytes that are read between the holes.
#[derive(Debug, Clone)]
pub(super) struct Window {
    /// The size of the buffer.
    buffer: u64,
    max: u64,
    /// The part of the buffer that is offered (`rcv_ssthresh`).
    opened: u64,
    /// The position behind the last offered byte. It never retreats (RFC 9293, 3.8.6, "shrinking the window").
    right_edge: u64,
    /// Eight times the smoothed RTT in nanoseconds (`rcv_rtt_est`); zero before the first sample.
    rtt_times_8: u64,
    /// The timestamp echoed in the last sample.
    sampled: Time,
    /// The bytes read in the previous RTT (`rcvq_space.space`).
    space: u64,
    /// The start of the current measurement: its time and position.
    measured_since: Time,
    measured_from: u64,
}

impl Window {
    pub(super) fn new(config: &Config) -> Window {
        Window {
            buffer: config.initial_buffer.get(),
            max: config.max_buffer.get().max(config.initial_buffer.get()),
            opened: config.initial_buffer.get(),
            right_edge: 0,
            rtt_times_8: 0,
            sampled: Time::ZERO,
            space: INITIAL_SPACE,
            measured_since: Time::ZERO,
            measured_from: 0,
        }
    }

    /// Notes that the connection is open.
    pub(super) fn open(&mut self, now: Time) {
        self.measured_since = now;
    }

    /// Measures the RTT from a full segment that echoes the timestamp `echo` (`tcp_rcv_rtt_measure_ts`). Only the
    /// first segment with an echo is a sample, since later ones may have waited. A shorter sample counts at once, a
    /// longer one by an eighth (`tcp_rcv_rtt_update`).
    pub(super) fn on_echo(&mut self, now: Time, echo: Time) {
        if echo <= self.sampled || echo > now {
            return;
        }
        self.sampled = echo;
        let sample = now.since(echo).as_nanos().max(1);
        let times_8 = sample.saturating_mul(8);
        self.rtt_times_8 = match self.rtt_times_8 {
            0 => times_8,
            old => times_8.min((old - old / 8).saturating_add(sample)),
        };
    }

    /// The smoothed RTT as measured by the receiver.
    pub(super) fn rtt(&self) -> Option<Duration> {
        (self.rtt_times_8 > 0).then(|| Duration::from_nanos(self.rtt_times_8 / 8))
    }

    /// Notes that the application reads data in order from `before` to `next` (`tcp_rcv_space_adjust`). Out-of-order
    /// data extend `beyond` bytes further.
    pub(super) fn on_read(&mut self, now: Time, before: u64, next: u64, beyond: u64) {
        let took = now.since(self.measured_since).as_nanos();
        if self.rtt_times_8 == 0 || took < self.rtt_times_8 / 8 {
            return;
        }
        // A segment that closes a hole releases many bytes at once. They are measured when the first buffer is read,
        // less the bytes that still wait then.
        let read = next.min(before.saturating_add(MAX_READ_BYTES));
        let copied = read
            .saturating_sub(self.measured_from)
            .saturating_sub(next - read);
        if copied > self.space {
            let before = core::mem::replace(&mut self.space, copied);
            let window = self.twice_space() as u128;
            // A sender that has grown will grow again before it learns of this window.
            let growth = window * (copied - before) as u128 / before.max(1) as u128;
            let wanted = window + 2 * growth + beyond as u128;
            self.enlarge(u64::try_from(wanted).unwrap_or(u64::MAX));
        }
        self.measured_since = now;
        self.measured_from = read;
    }

    /// Enlarges the buffer for data beyond a hole. Until the hole is closed nothing is read, and the sender still
    /// needs its window (`tcp_data_queue_ofo`).
    pub(super) fn on_out_of_order(&mut self, beyond: u64) {
        self.enlarge(self.twice_space().saturating_add(beyond));
    }

    /// Handles a segment with this payload; `mss` is that of a full one. A larger buffer is not offered at once: the
    /// window opens by twice the bytes that arrive, as fast as slow start needs it, while there is room beside the
    /// `stored` bytes beyond holes (`tcp_grow_window`). Returns whether it has opened.
    pub(super) fn on_segment(&mut self, payload: u32, mss: u32, stored: u64) -> bool {
        let room = self.free(stored).saturating_sub(self.opened);
        if payload < MIN_PAYLOAD || room == 0 {
            return false;
        }
        self.opened += room.min(2 * u64::from(payload.max(mss)));
        true
    }

    /// Changes the largest size of the buffer. A larger maximum counts for what was measured before, since a sender that
    /// the old one held back shows no greater need. (Linux takes a new `tcp_rmem` into account at the next hole or
    /// greater measurement.) With a smaller one, the window shrinks as data arrive, because what was offered stays
    /// offered.
    pub(super) fn set_max(&mut self, max: u64) {
        if max == self.max {
            return;
        }
        self.max = max;
        self.buffer = self.buffer.min(max);
        self.opened = self.opened.min(max);
        self.enlarge(self.twice_space());
    }

    fn twice_space(&self) -> u64 {
        self.space.saturating_mul(2).saturating_add(MARGIN_BYTES)
    }

    /// The buffer less the bytes beyond holes (`tcp_space`).
    fn free(&self, stored: u64) -> u64 {
        self.buffer.saturating_sub(stored)
    }

    fn enlarge(&mut self, wanted: u64) {
        self.buffer = self.buffer.max(wanted.min(self.max));
    }

    /// The window to offer beyond `next`, if the application has read everything before and `stored` bytes wait
    /// beyond holes (`__tcp_select_window`). Bytes that were offered before stay offered.
    pub(super) fn offer(&mut self, next: u64, stored: u64) -> u64 {
        let edge = next.saturating_add(self.opened.min(self.free(stored)));
        self.right_edge = self.right_edge.max(edge);
        self.right_edge - next
    }

    /// The position behind the last offered byte.
    pub(super) const fn right_edge(&self) -> u64 {
        self.right_edge
    }

    /// The size of the buffer.
    pub(super) const fn buffer(&self) -> Bytes {
        Bytes::new(self.buffer)
    }
}
