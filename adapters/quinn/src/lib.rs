//! Fullpipe's congestion controllers inside quinn 0.11.
//!
//! ```no_run
//! # use std::sync::Arc;
//! # fn configured(
//! #     certificates: Vec<rustls::pki_types::CertificateDer<'static>>,
//! #     key: rustls::pki_types::PrivateKeyDer<'static>,
//! # ) -> Result<quinn_proto::ServerConfig, Box<dyn std::error::Error>> {
//! let controllers = fullpipe_quinn::factory(congestion::ControllerKind::Bbr3, 1);
//! let mut transport = quinn_proto::TransportConfig::default();
//! transport.congestion_controller_factory(controllers);
//! let mut server = quinn_proto::ServerConfig::with_single_cert(certificates, key)?;
//! server.transport_config(Arc::new(transport));
//! # Ok(server)
//! # }
//! ```
//!
//! `quinn` has the same types under its own name.
//!
//! # What quinn's hooks lose
//!
//! - **The pacing rate.** quinn paces at 5/4 of the window over the smoothed round-trip time, whatever a controller says. So the
//!   window that it is given is the pacing rate times the smoothed round-trip time, or the controller's own window if that is
//!   less. On average that is the pacing rate; within a round trip, packets leave up to a quarter faster.
//! - **The send quantum**: bursts are quinn's own, 10 to 256 packets.
//! - **Which packets are lost**: a loss has a number of bytes and the time of departure of its newest packet. The oldest packets in
//!   flight count as the lost ones, which without reordering they are.
//! - **Packets that were lost and arrive**: quinn says nothing, and no recovery is undone.
//! - **Whether the window was full**: that is seen at ACKs only.
//! - **How many packets were marked (ECN)**: a report counts as one packet.
//! - **Packets within one call**: quinn tells of a batch as one. A batch is one packet to the sampler, acknowledged in parts.
//! - **Which packets count**: what has nothing but ACKs is told when it leaves, and is not in flight to quinn. Between ACKs it is
//!   in flight here. Then quinn says how much is, and of the batches that left before what was acknowledged, the smallest that are
//!   too many are forgotten: data is larger, as a rule.

use std::any::Any;
use std::collections::VecDeque;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Instant;

use congestion::{
    AnyController, Bytes, Connection, Controller as _, ControllerKind, Duration, Flow, PacketState,
    Time,
};
use quinn_proto::RttEstimator;
use quinn_proto::congestion::{Controller, ControllerFactory, ControllerMetrics};

/// RFC 9002, "Initial and Minimum Congestion Window".
const INITIAL_PACKETS: u64 = 10;
/// Less than this makes no ACK clock.
const MIN_PACKETS: u64 = 4;
/// RFC 9002, "Initial and Minimum Congestion Window".
const MINIMUM_PACKETS: u64 = 2;
/// A little more than a packet with one range of ACKs has.
const SMALL: u64 = 64;

/// What makes quinn's connections use controllers of this kind. Each connection has a seed of its own, from `seed` up.
pub fn factory(kind: ControllerKind, seed: u64) -> Arc<dyn ControllerFactory + Send + Sync> {
    Arc::new(Factory {
        kind,
        seed: AtomicU64::new(seed),
    })
}

struct Factory {
    kind: ControllerKind,
    seed: AtomicU64,
}

impl ControllerFactory for Factory {
    fn build(self: Arc<Self>, now: Instant, mtu: u16) -> Box<dyn Controller> {
        let seed = self.seed.fetch_add(1, Ordering::Relaxed);
        Box::new(Hooks(Mutex::new(Adapter::new(self.kind, seed, now, mtu))))
    }
}

/// A batch of packets, and how much of it is neither acknowledged nor lost nor forgotten.
#[derive(Clone)]
struct Batch {
    state: PacketState,
    last_number: u64,
    left: u64,
}

#[derive(Clone)]
struct Adapter {
    kind: ControllerKind,
    seed: u64,
    epoch: Instant,
    now: Time,
    mtu: u16,
    flow: Flow<AnyController>,
    has_sent: bool,
    batches: VecDeque<Batch>,
    srtt: Option<Duration>,
    /// An ACK whose losses may follow.
    unsettled: Option<Time>,
}

/// A flow that begins `now`.
fn begin(kind: ControllerKind, seed: u64, now: Time, mtu: u16) -> Flow<AnyController> {
    let mss = Bytes::new(mtu.into());
    let mut connection = Connection::new(now, mss, mss * INITIAL_PACKETS);
    connection.seed = seed;
    let controller = AnyController::new(kind, connection);
    Flow::new(controller, now, mss, Duration::from_millis(2))
}

impl Adapter {
    fn new(kind: ControllerKind, seed: u64, epoch: Instant, mtu: u16) -> Adapter {
        Adapter {
            kind,
            seed,
            epoch,
            now: Time::ZERO,
            mtu,
            flow: begin(kind, seed, Time::ZERO, mtu),
            has_sent: false,
            batches: VecDeque::new(),
            srtt: None,
            unsettled: None,
        }
    }

    fn time(&self, instant: Instant) -> Time {
        Time::ZERO + instant.saturating_duration_since(self.epoch).into()
    }

    fn at(&mut self, now: Instant) -> Time {
        self.now = self.now.max(self.time(now));
        self.now
    }

    /// quinn is through with the last ACK: its losses have been told.
    fn settle(&mut self) {
        if let Some(now) = self.unsettled.take() {
            self.flow.settle(now);
        }
    }

    fn on_sent(&mut self, now: Instant, bytes: u64, last_number: u64) {
        self.settle();
        let now = self.at(now);
        if !self.has_sent {
            // Made for a new path, it has not been told the time; and the silence until the first packet is not the path's.
            self.flow = begin(self.kind, self.seed, now, self.mtu);
            self.has_sent = true;
        }
        let state = self.flow.on_sent(now, Bytes::new(bytes));
        self.batches.push_back(Batch {
            state,
            last_number,
            left: bytes,
        });
    }

    fn on_ack(&mut self, now: Instant, sent: Instant, bytes: u64, srtt: Duration) {
        self.settle();
        let now = self.at(now);
        // Whether the window is full is known before the ACK makes room.
        self.flow.may_send(now, Bytes::new(self.mtu.into()));
        self.srtt = Some(srtt);
        let sent = self.time(sent);
        let found = self
            .batches
            .iter_mut()
            .find(|batch| batch.state.sent_time == sent && batch.left > 0);
        if let Some(batch) = found {
            let mut part = batch.state;
            part.bytes = Bytes::new(bytes.min(batch.left));
            batch.left -= part.bytes.get();
            self.flow.on_acked(now, &part);
        }
        self.drop_empty();
    }

    fn on_end_acks(
        &mut self,
        now: Instant,
        in_flight: u64,
        app_limited: bool,
        largest_acked: Option<u64>,
    ) {
        self.settle();
        let now = self.at(now);
        // What has nothing but ACKs never was in quinn's count, and packets leave it without a word when their number space is
        // discarded. (Probes for a larger MTU are in it, but nobody tells that they leave. Only their ACKs come.)
        let excess = self.flow.inflight().get().saturating_sub(in_flight);
        if let Some(batch) = self.batches.back() {
            let mut part = batch.state;
            part.bytes = Bytes::new(excess);
            self.flow.on_forgotten(&part);
        }
        self.forget_smallest(in_flight, largest_acked);
        if app_limited {
            self.flow.on_no_data(now);
        }
        self.unsettled = Some(now);
    }

    fn on_congestion_event(&mut self, now: Instant, sent: Instant, is_persistent: bool, lost: u64) {
        let (now, sent) = (self.at(now), self.time(sent));
        if lost == 0 {
            self.flow.on_marked(Bytes::new(self.mtu.into()));
            self.unsettled.get_or_insert(now);
            return;
        }
        self.lose_oldest(now, lost, sent);
        if is_persistent {
            self.settle();
            self.flow.on_timeout(now);
        } else {
            self.unsettled.get_or_insert(now);
        }
    }

    /// So many bytes are lost, of the oldest packets that left no later than `until`.
    fn lose_oldest(&mut self, now: Time, mut bytes: u64, until: Time) {
        for batch in &mut self.batches {
            if bytes == 0 || batch.state.sent_time > until {
                break;
            }
            // As packets, for a batch may be many.
            while bytes > 0 && batch.left > 0 {
                let mut part = batch.state;
                let size = bytes.min(batch.left).min(self.mtu.into());
                part.bytes = Bytes::new(size);
                batch.left -= size;
                bytes -= size;
                self.flow.on_lost(now, &part);
            }
        }
        self.drop_empty();
    }

    /// Forgets batches that left before what was acknowledged, until no more is left of all than is in flight. Small ones first, in
    /// passes, of which each looks at twice the size: what is large may be data of which the loss is yet to be told. What left
    /// later may be data of any size, and its ACK is yet to come.
    fn forget_smallest(&mut self, in_flight: u64, largest_acked: Option<u64>) {
        let left: u64 = self.batches.iter().map(|batch| batch.left).sum();
        let mut excess = left.saturating_sub(in_flight);
        let mut limit = SMALL;
        while excess > 0 {
            for batch in &mut self.batches {
                if batch.left <= limit.min(excess) && Some(batch.last_number) <= largest_acked {
                    excess -= std::mem::take(&mut batch.left);
                }
            }
            if limit >= excess {
                break;
            }
            limit *= 2;
        }
        self.drop_empty();
    }

    fn drop_empty(&mut self) {
        while self.batches.front().is_some_and(|batch| batch.left == 0) {
            self.batches.pop_front();
        }
    }

    /// The window that has quinn's pacer keep the pacing rate.
    ///
    /// It is never less than the minimum window of RFC 9002. After persistent congestion, controllers have room for one packet; if
    /// nothing is in flight then, quinn sets no probe timeout, so that a packet that does not fit never leaves. And it is a byte
    /// more than the window: quinn holds back what would fill it (`>=` in `Connection::poll_transmit`), RFC 9002 what would exceed it.
    fn window(&self) -> u64 {
        let controller = self.flow.controller();
        let mtu = u64::from(self.mtu);
        let own = controller.cwnd().get().max(MINIMUM_PACKETS * mtu);
        let paced = self
            .srtt
            .map_or(own, |srtt| controller.pacing_rate().bytes_in(srtt).get());
        own.min(paced.max(MIN_PACKETS * mtu)) + 1
    }
}

/// An adapter as quinn knows it. What it asks for the window may have to settle an ACK first: hence the lock, which is never
/// waited for.
struct Hooks(Mutex<Adapter>);

impl Hooks {
    fn ask(&self) -> MutexGuard<'_, Adapter> {
        let mut adapter = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        adapter.settle();
        adapter
    }

    fn tell(&mut self) -> &mut Adapter {
        self.0.get_mut().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Controller for Hooks {
    fn on_sent(&mut self, now: Instant, bytes: u64, last_packet_number: u64) {
        self.tell().on_sent(now, bytes, last_packet_number);
    }

    fn on_ack(
        &mut self,
        now: Instant,
        sent: Instant,
        bytes: u64,
        _app_limited: bool,
        rtt: &RttEstimator,
    ) {
        self.tell().on_ack(now, sent, bytes, rtt.get().into());
    }

    fn on_end_acks(
        &mut self,
        now: Instant,
        in_flight: u64,
        app_limited: bool,
        largest_packet_num_acked: Option<u64>,
    ) {
        self.tell()
            .on_end_acks(now, in_flight, app_limited, largest_packet_num_acked);
    }

    fn on_congestion_event(
        &mut self,
        now: Instant,
        sent: Instant,
        is_persistent_congestion: bool,
        lost_bytes: u64,
    ) {
        self.tell()
            .on_congestion_event(now, sent, is_persistent_congestion, lost_bytes);
    }

    fn on_mtu_update(&mut self, new_mtu: u16) {
        let adapter = self.tell();
        adapter.mtu = new_mtu;
        adapter.flow.on_mtu_change(Bytes::new(new_mtu.into()));
    }

    fn window(&self) -> u64 {
        self.ask().window()
    }

    fn metrics(&self) -> ControllerMetrics {
        let adapter = self.ask();
        let mut metrics = ControllerMetrics::default();
        metrics.congestion_window = adapter.window();
        metrics.pacing_rate = Some(adapter.flow.controller().pacing_rate().bits_per_sec());
        metrics
    }

    fn clone_box(&self) -> Box<dyn Controller> {
        let old = self.ask();
        let fresh = Adapter::new(old.kind, old.seed, old.epoch, old.mtu);
        Box::new(Hooks(Mutex::new(fresh)))
    }

    fn initial_window(&self) -> u64 {
        INITIAL_PACKETS * u64::from(self.ask().mtu)
    }

    fn into_any(self: Box<Self>) -> Box<dyn Any> {
        self
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::time::Duration as Span;

    const MTU: u16 = 1200;

    /// Of every ten datagrams of an end that receives, one says more than ACKs, and is hardly larger or smaller.
    #[test]
    fn what_has_nothing_but_acks_takes_nothing_from_the_rest() {
        let epoch = Instant::now();
        let at = |ms| epoch + Span::from_millis(ms);
        let size = |number: u64| 40 + number * 7 % 5;
        let counts = |number: &u64| number.is_multiple_of(10);
        let mut adapter = Adapter::new(ControllerKind::Bbr3, 1, epoch, MTU);
        let mut delivered = 0;
        for ms in 0..1_000 {
            adapter.on_sent(at(ms), size(ms), ms);
            // The ACK for what left 95 ms before.
            let Some(acked) = ms.checked_sub(95).filter(counts) else {
                continue;
            };
            let srtt = Duration::from_millis(95);
            adapter.on_ack(at(ms), at(acked), size(acked), srtt);
            delivered += size(acked);
            let in_flight = (acked + 1..=ms).filter(counts).map(size).sum();
            adapter.on_end_acks(at(ms), in_flight, true, Some(acked));
            assert_eq!(adapter.flow.sampler().delivered().get(), delivered);
            assert_eq!(adapter.flow.inflight().get(), in_flight);
            assert!(adapter.batches.len() <= 95);
        }
    }

    #[test]
    fn what_has_nothing_but_acks_is_forgotten_before_data_whose_loss_is_not_told_yet() {
        let epoch = Instant::now();
        let at = |ms| epoch + Span::from_millis(ms);
        let mut adapter = Adapter::new(ControllerKind::Bbr3, 1, epoch, MTU);
        let mtu = u64::from(MTU);
        adapter.on_sent(at(0), mtu, 0);
        (1..100).for_each(|ms| adapter.on_sent(at(ms), 40, ms));
        adapter.on_sent(at(100), mtu, 100);
        adapter.on_ack(at(150), at(100), mtu, Duration::from_millis(50));
        adapter.on_end_acks(at(150), mtu, false, Some(100));
        let left: Vec<u64> = adapter.batches.iter().map(|batch| batch.left).collect();
        assert_eq!((left[0], left.iter().sum()), (mtu, mtu));
        adapter.on_congestion_event(at(150), at(0), false, mtu);
        adapter.settle();
        assert!(adapter.batches.is_empty() && adapter.flow.inflight().is_zero());
        assert!(adapter.flow.is_recovering());
    }

    #[test]
    fn a_packet_fits_after_persistent_congestion() {
        let epoch = Instant::now();
        for &kind in ControllerKind::ALL {
            let mut hooks = Hooks(Mutex::new(Adapter::new(kind, 1, epoch, MTU)));
            hooks.on_sent(epoch, 10 * u64::from(MTU), 9);
            let later = epoch + Span::from_secs(2);
            hooks.on_congestion_event(later, epoch, true, 10 * u64::from(MTU));
            assert!(hooks.tell().flow.inflight().is_zero());
            // As quinn compares.
            assert!(u64::from(MTU) < hooks.window(), "{kind}");
        }
    }

    #[test]
    fn a_new_path_begins_with_its_first_packet() {
        let epoch = Instant::now();
        let at = |ms| epoch + Span::from_millis(ms);
        let phase_after_a_round = |hooks: &mut Hooks, ms: u64| {
            let adapter = hooks.tell();
            adapter.on_sent(at(ms), MTU.into(), ms);
            let srtt = Duration::from_millis(40);
            adapter.on_ack(at(ms + 40), at(ms), MTU.into(), srtt);
            adapter.on_end_acks(at(ms + 40), 0, false, Some(ms));
            adapter.settle();
            adapter.flow.controller().snapshot().state
        };
        for kind in [ControllerKind::Bbr1, ControllerKind::Bbr3] {
            let mut old = Hooks(Mutex::new(Adapter::new(kind, 1, epoch, MTU)));
            let startup = phase_after_a_round(&mut old, 0);
            // The last that the old path hears comes long before the new one is used.
            let fresh = old.clone_box().into_any().downcast::<Hooks>();
            let mut fresh = fresh.expect("an adapter");
            assert_eq!(phase_after_a_round(&mut fresh, 20_000), startup, "{kind}");
            assert_eq!(fresh.tell().flow.min_rtt(), Some(Duration::from_millis(40)));
        }
    }

    /// The README has the code of the crate's documentation, which is compiled.
    #[test]
    fn the_readme_has_the_code_that_is_compiled() {
        let readme = include_str!("../../README.md");
        let (_, code) = include_str!("lib.rs")
            .split_once("//! ```no_run\n")
            .expect("code");
        let (code, _) = code.split_once("//! ```\n").expect("its end");
        let lines = code.lines().filter_map(|line| line.strip_prefix("//! "));
        let lines: Vec<&str> = lines.filter(|line| !line.starts_with("# ")).collect();
        assert_eq!(lines.len(), 5);
        for line in lines {
            let line = line.replace("quinn_proto::", "quinn::");
            assert!(readme.contains(&line), "{line}");
        }
    }
}
