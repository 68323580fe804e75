//! The trait's methods, called as s2n-quic calls them, in virtual time.

use std::collections::VecDeque;
use std::time::Duration as Span;

use s2n_quic_core::event::testing::Publisher as Events;
use s2n_quic_core::path;
use s2n_quic_core::random::testing::Generator as Random;
use s2n_quic_core::recovery::congestion_controller::PathPublisher;
use s2n_quic_core::time::{Clock as _, NoopClock};

use super::*;

const MTU: usize = 1_200;
type Info = Option<PacketState>;

/// One path of a connection. Times are in milliseconds.
struct Stack {
    adapter: Adapter,
    rtt: RttEstimator,
    random: Random,
    events: Events,
}

impl Stack {
    fn new(kind: ControllerKind) -> Stack {
        Stack {
            adapter: Adapter(RefCell::new(Books::new(kind, 1, MTU as u16))),
            rtt: RttEstimator::default(),
            random: Random(1),
            events: Events::no_snapshot(),
        }
    }

    fn at(ms: u64) -> Timestamp {
        NoopClock.get_time() + Span::from_millis(ms)
    }

    fn send(&mut self, ms: u64, bytes: usize, app_limited: Option<bool>) -> Info {
        let mut events = PathPublisher::new(&mut self.events, path::Id::test_id());
        self.adapter
            .on_packet_sent(Stack::at(ms), bytes, app_limited, &self.rtt, &mut events)
    }

    /// Data waits. As much of it as window and pacing let leave.
    fn fill(&mut self, ms: u64) -> Vec<Info> {
        let mut sent = Vec::new();
        while !self.adapter.is_congestion_limited()
            && self
                .adapter
                .earliest_departure_time()
                .is_none_or(|at| at <= Stack::at(ms))
        {
            sent.push(self.send(ms, MTU, Some(false)));
        }
        sent
    }

    fn lose(&mut self, ms: u64, packet: Info, is_persistent: bool) {
        let mut events = PathPublisher::new(&mut self.events, path::Id::test_id());
        self.adapter.on_packet_lost(
            MTU as u32,
            packet,
            is_persistent,
            true,
            &mut self.random,
            Stack::at(ms),
            &mut events,
        );
    }

    fn mark(&mut self, ms: u64, packets: u64) {
        let mut events = PathPublisher::new(&mut self.events, path::Id::test_id());
        self.adapter
            .on_explicit_congestion(packets, Stack::at(ms), &mut events);
    }

    fn rtt(&mut self, ms: u64) {
        let mut events = PathPublisher::new(&mut self.events, path::Id::test_id());
        let now = Stack::at(ms);
        self.adapter.on_rtt_update(now, now, &self.rtt, &mut events);
    }

    fn ack(&mut self, ms: u64, bytes: usize, newest: Info) {
        let mut events = PathPublisher::new(&mut self.events, path::Id::test_id());
        let now = Stack::at(ms);
        self.adapter.on_ack(
            now,
            bytes,
            newest,
            &self.rtt,
            &mut self.random,
            now,
            &mut events,
        );
    }

    fn window(&self) -> u32 {
        self.adapter.congestion_window()
    }
}

fn packets(count: u32) -> u32 {
    count * MTU as u32
}

#[test]
fn what_leaves_arrives_is_lost_or_forgotten_is_in_flight_no_more() {
    let mut stack = Stack::new(ControllerKind::Cubic);
    let sent: Vec<Info> = (0..10).map(|_| stack.send(0, MTU, Some(false))).collect();
    assert_eq!(stack.adapter.bytes_in_flight(), packets(10));
    assert!(stack.adapter.is_congestion_limited());
    stack.ack(100, 5 * MTU, sent[4]);
    assert_eq!(stack.adapter.bytes_in_flight(), packets(5));
    stack.lose(110, sent[5], false);
    stack.lose(110, sent[6], false);
    assert_eq!(stack.adapter.bytes_in_flight(), packets(3));
    let mut events = PathPublisher::new(&mut stack.events, path::Id::test_id());
    stack.adapter.on_packet_discarded(2 * MTU, &mut events);
    assert_eq!(stack.adapter.bytes_in_flight(), packets(1));
    stack.ack(120, MTU, sent[9]);
    assert_eq!(stack.adapter.bytes_in_flight(), 0);
}

#[test]
fn an_ack_alone_is_not_in_flight_and_may_be_an_acks_newest_packet() {
    let mut stack = Stack::new(ControllerKind::Bbr3);
    assert_eq!(stack.send(0, 0, Some(true)), None);
    let data = stack.send(1, MTU, Some(false));
    let alone = stack.send(2, 0, Some(true));
    assert_eq!(alone, data);
    assert_eq!(stack.adapter.bytes_in_flight(), packets(1));
    stack.ack(100, MTU, alone);
    assert_eq!(stack.adapter.bytes_in_flight(), 0);
    let flow = &stack.adapter.0.get_mut().flow;
    assert_eq!(flow.sampler().delivered(), Bytes::new(MTU as u64));
    assert_eq!(flow.min_rtt(), Some(Duration::from_millis(99)));
}

#[test]
fn losses_that_a_timer_shows_count_before_the_next_packet() {
    let mut stack = Stack::new(ControllerKind::Cubic);
    let sent = stack.fill(0);
    let window = stack.window();
    stack.lose(100, sent[0], false);
    assert!(stack.window() < window, "{} of {window}", stack.window());
    assert!(stack.adapter.is_congestion_limited());
}

#[test]
fn losses_and_their_ack_are_one_recovery() {
    let mut stack = Stack::new(ControllerKind::Cubic);
    let sent: Vec<Info> = (0..10).map(|_| stack.send(0, MTU, Some(false))).collect();
    stack.rtt(100);
    stack.lose(100, sent[0], false);
    stack.lose(100, sent[1], false);
    stack.ack(100, 3 * MTU, sent[4]);
    let reduced = stack.window();
    assert!(reduced < packets(10), "{reduced}");
    // Of the same flight.
    stack.lose(110, sent[5], false);
    assert_eq!(stack.window(), reduced);
    assert!(stack.adapter.0.get_mut().flow.is_recovering());
    // Left after the recovery began.
    let later = stack.send(120, MTU, Some(true));
    stack.ack(220, MTU, later);
    assert!(!stack.adapter.0.get_mut().flow.is_recovering());
}

#[test]
fn persistent_congestion_leaves_less_than_losses() {
    let window = |is_persistent| {
        let mut stack = Stack::new(ControllerKind::Cubic);
        for packet in stack.fill(0) {
            stack.lose(1_000, packet, is_persistent);
        }
        stack.window()
    };
    assert_eq!(window(false), packets(7));
    assert_eq!(window(true), packets(1));
}

#[test]
fn marks_are_counted_and_answered() {
    let mut stack = Stack::new(ControllerKind::Cubic);
    let sent: Vec<Info> = (0..10).map(|_| stack.send(0, MTU, Some(false))).collect();
    let next = |stack: &mut Stack, ms| stack.send(ms, MTU, Some(true)).map(|it| it.delivered_ce);
    stack.mark(100, 3);
    stack.ack(100, 5 * MTU, sent[4]);
    assert!(stack.window() < packets(10), "{}", stack.window());
    assert_eq!(next(&mut stack, 101), Some(packets(3)));
}

#[test]
fn departures_keep_the_pacing_rate() {
    let mut stack = Stack::new(ControllerKind::Bbr3);
    let (mut sent, mut due, mut flying) = (0, 0.0, VecDeque::new());
    for ms in 0..1_500 {
        // 400 packets a second, 50 ms.
        if ms % 5 == 0 {
            let arrived = flying.iter().take(2);
            let arrived = arrived.filter(|(left, _)| left + 50 <= ms).count();
            if let Some((_, newest)) = flying.drain(..arrived).next_back() {
                stack.ack(ms, arrived * MTU, newest);
            }
        }
        let left = stack.fill(ms);
        // By then the search for the bandwidth is over.
        if ms >= 700 {
            let rate = stack.adapter.0.get_mut().flow.controller().pacing_rate();
            due += rate.bytes_per_sec() as f64 / 1e3 / MTU as f64;
            sent += left.len();
        }
        flying.extend(left.into_iter().map(|packet| (ms, packet)));
    }
    assert!((sent as f64 - due).abs() <= 3.0, "{sent} instead of {due}");
    // That rate is the path's, and leaves no queue.
    assert!((310..=325).contains(&sent), "{sent}");
    assert!((20..=24).contains(&flying.len()), "{}", flying.len());
}

#[test]
fn a_burst_is_followed_by_its_time_at_the_pacing_rate() {
    let mut stack = Stack::new(ControllerKind::Bbr3);
    let first = stack.fill(0);
    stack.ack(100, first.len() * MTU, first[first.len() - 1]);
    let burst = stack.fill(100).len() * MTU;
    assert_eq!(stack.adapter.send_quantum(), Some(burst));
    assert!(!stack.adapter.is_congestion_limited());
    let rate = stack.adapter.0.get_mut().flow.controller().pacing_rate();
    // Less what late timers are owed.
    let pause = rate
        .time_for(Bytes::new(burst as u64))
        .saturating_sub(TIMER_SLACK);
    let next = stack.adapter.earliest_departure_time();
    assert_eq!(next, Some(Stack::at(100) + pause.into()));
}

#[test]
fn the_end_of_data_is_known_even_if_the_window_was_full() {
    let is_limited = |stack: &mut Stack, ms| {
        let next = stack.send(ms, MTU, Some(false));
        next.map(|packet| packet.is_app_limited)
    };
    // Told with a packet.
    let mut stack = Stack::new(ControllerKind::Cubic);
    stack.send(0, MTU, Some(true));
    assert_eq!(is_limited(&mut stack, 50), Some(true));
    // Data goes on.
    let mut stack = Stack::new(ControllerKind::Cubic);
    stack.send(0, MTU, Some(false));
    assert_eq!(is_limited(&mut stack, 50), Some(false));
    // An ACK makes room, and nothing leaves before the next ACK.
    let mut stack = Stack::new(ControllerKind::Cubic);
    let sent: Vec<Info> = (0..10).map(|_| stack.send(0, MTU, Some(false))).collect();
    stack.ack(100, MTU, sent[0]);
    stack.ack(101, MTU, sent[1]);
    assert_eq!(is_limited(&mut stack, 102), Some(true));
    // Both ACKs were read together: s2n-quic could not send between them.
    let mut stack = Stack::new(ControllerKind::Cubic);
    let sent: Vec<Info> = (0..10).map(|_| stack.send(0, MTU, Some(false))).collect();
    stack.ack(100, MTU, sent[0]);
    stack.ack(100, MTU, sent[1]);
    assert_eq!(is_limited(&mut stack, 100), Some(false));
}
