//! The receive window, and how it grows.

use crate::segment::MSS;
use units::{Bytes, Duration, Time};

use super::Config;

/// What is offered beside twice of what was read: small variations, and a flow of few segments.
const CUSHION: u64 = 16 * MSS.get();

/// Segments that arrived one behind the other become one buffer of so much at most (`skb_try_coalesce`, `MAX_SKB_FRAGS`), and
/// the application reads buffer by buffer.
const PIECE: u64 = 17 * MSS.get();

/// The first measure: the sender's initial window (RFC 6928).
const INITIAL_SPACE: u64 = 10 * MSS.get();

/// A segment with less payload opens no window (`tcp_event_data_recv`).
const TOO_SMALL: u32 = 128;

/// Dynamic right-sizing (Fisk and Feng, 2001) as Linux 6.18 does it (`tcp_rcv_space_adjust`, `tcp_rcvbuf_grow`): the buffer
/// is twice of what the application read in the last RTT, so that the receiver does not limit a sender that doubles its
/// window each RTT. What waits behind a hole is in the buffer, and not offered again (`tcp_select_window`): where much
/// is lost, the window is what limits, and grows by what is read between the holes.
#[derive(Debug, Clone)]
pub(super) struct Window {
    /// The buffer's size.
    buffer: u64,
    max: u64,
    /// What is offered of it (`rcv_ssthresh`).
    opened: u64,
    /// The position behind the last byte that was offered. It never retreats (RFC 9293, 3.8.6, "shrinking the window").
    right_edge: u64,
    /// Eight times the smoothed RTT in nanoseconds (`rcv_rtt_est`); zero before the first sample.
    rtt_times_8: u64,
    /// The echo that the last sample was made of.
    sampled: Time,
    /// What was read in the RTT before (`rcvq_space.space`).
    space: u64,
    /// When the running measurement began, and at which position.
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

    /// The connection is open.
    pub(super) fn open(&mut self, now: Time) {
        self.measured_since = now;
    }

    /// A full segment arrives that answers what left here at `echo` (`tcp_rcv_rtt_measure_ts`). Only the first answer
    /// to each is a sample: later ones had time to wait. A shorter one counts at once, a longer one for an eighth
    /// (`tcp_rcv_rtt_update`).
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

    /// The smoothed RTT as the receiver sees it.
    pub(super) fn rtt(&self) -> Option<Duration> {
        (self.rtt_times_8 > 0).then(|| Duration::from_nanos(self.rtt_times_8 / 8))
    }

    /// The application reads what has come in order, from `before` to `next` (`tcp_rcv_space_adjust`). `beyond` is how
    /// far out-of-order data reach beyond it.
    pub(super) fn on_read(&mut self, now: Time, before: u64, next: u64, beyond: u64) {
        let took = now.since(self.measured_since).as_nanos();
        if self.rtt_times_8 == 0 || took < self.rtt_times_8 / 8 {
            return;
        }
        // What closes a hole brings much at once. It is measured when the first piece is read, and what still waits then
        // is taken off.
        let read = next.min(before.saturating_add(PIECE));
        let copied = read
            .saturating_sub(self.measured_from)
            .saturating_sub(next - read);
        if copied > self.space {
            let before = core::mem::replace(&mut self.space, copied);
            let window = self.twice_space() as u128;
            // A sender that has grown will grow again before this window reaches it.
            let growth = window * (copied - before) as u128 / before.max(1) as u128;
            let wanted = window + 2 * growth + beyond as u128;
            self.enlarge(u64::try_from(wanted).unwrap_or(u64::MAX));
        }
        self.measured_since = now;
        self.measured_from = read;
    }

    /// Data have arrived behind a hole: while it lasts nothing is read, and the sender still needs its window
    /// (`tcp_data_queue_ofo`).
    pub(super) fn on_out_of_order(&mut self, beyond: u64) {
        self.enlarge(self.twice_space().saturating_add(beyond));
    }

    /// A segment with so much payload arrives, `mss` being a full one. A larger buffer is not offered at once, but opens by
    /// twice of what arrives: as fast as slow start needs it, as long as there is room beside the `stored` bytes that wait
    /// behind holes (`tcp_grow_window`). Returns whether it has opened.
    pub(super) fn on_segment(&mut self, payload: u32, mss: u32, stored: u64) -> bool {
        let room = self.free(stored).saturating_sub(self.opened);
        if payload < TOO_SMALL || room == 0 {
            return false;
        }
        self.opened += room.min(2 * u64::from(payload.max(mss)));
        true
    }

    fn twice_space(&self) -> u64 {
        self.space.saturating_mul(2).saturating_add(CUSHION)
    }

    /// The buffer without what waits behind holes (`tcp_space`).
    fn free(&self, stored: u64) -> u64 {
        self.buffer.saturating_sub(stored)
    }

    fn enlarge(&mut self, wanted: u64) {
        self.buffer = self.buffer.max(wanted.min(self.max));
    }

    /// What to offer beyond `next`, the application having read all before and `stored` bytes waiting behind holes
    /// (`__tcp_select_window`). What was offered before stays so.
    pub(super) fn offer(&mut self, next: u64, stored: u64) -> u64 {
        let edge = next.saturating_add(self.opened.min(self.free(stored)));
        self.right_edge = self.right_edge.max(edge);
        self.right_edge - next
    }

    /// The position behind the last byte that was offered.
    pub(super) const fn right_edge(&self) -> u64 {
        self.right_edge
    }

    /// The size of the buffer.
    pub(super) const fn buffer(&self) -> Bytes {
        Bytes::new(self.buffer)
    }
}
