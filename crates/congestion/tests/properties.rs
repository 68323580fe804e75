//! Any sequence of events leaves a controller able to send, without a panic or an overflow.

use std::collections::VecDeque;

use congestion::bbr1::{self, Bbr1};
use congestion::bbr3::{self, Bbr3};
use congestion::sampling::{Outstanding, Sampler};
use congestion::{
    Ack, AnyController, Bytes, Cause, Connection, Controller, ControllerKind, Duration, Lost,
    PacketState, Rate, RateSample, Ratio, Recovery, RttSample, Sent, Snapshot, Time,
};
use proptest::prelude::*;

/// The possible events.
#[derive(Debug, Clone)]
enum Event {
    /// Time passes, or does not.
    Pass(Duration),
    /// The same packet is sent this many times.
    Send {
        bytes: Bytes,
        count: usize,
    },
    /// The newest or oldest of the packets in flight are acknowledged together.
    Ack {
        count: usize,
        oldest_first: bool,
    },
    /// The oldest packets are lost, or all.
    Lose {
        count: usize,
    },
    Recovery(Recovery),
    Timeout,
    Mtu(Bytes),
    Idle,
    AppLimited,
    /// From now on the network marks each packet, or none.
    Marking(bool),
    /// An ACK that no sampler would produce.
    Nonsense(Box<Ack>),
}

/// Small, common and extreme values.
fn number() -> impl Strategy<Value = u64> {
    prop_oneof![
        4 => 0_u64..100_000,
        1 => Just(0),
        1 => Just(u64::MAX),
        1 => any::<u64>(),
        2 => 0_u64..20_000_000_000,
    ]
}

fn bytes() -> impl Strategy<Value = Bytes> {
    number().prop_map(Bytes::new)
}

fn mss() -> impl Strategy<Value = Bytes> {
    prop_oneof![
        8 => 1_200_u64..9_000,
        1 => 1_u64..100,
        1 => 1_u64..=u64::MAX,
    ]
    .prop_map(Bytes::new)
}

fn span() -> impl Strategy<Value = Duration> {
    prop_oneof![
        8 => (0_u64..50_000_000).prop_map(Duration::from_nanos),
        1 => Just(Duration::ZERO),
        1 => (0_u64..30).prop_map(Duration::from_secs),
        1 => number().prop_map(Duration::from_nanos),
    ]
}

fn recovery() -> impl Strategy<Value = Recovery> {
    prop_oneof![
        3 => Just(Recovery::Entered(Cause::Loss)),
        1 => Just(Recovery::Entered(Cause::Ecn)),
        2 => Just(Recovery::Left),
        1 => Just(Recovery::Undone),
    ]
}

prop_compose! {
    fn nonsense()(
        rate in prop::option::of(number()),
        counts in prop::array::uniform13(number()),
        rtt in prop::option::of(number()),
        flags in prop::array::uniform3(any::<bool>()),
    ) -> Ack {
        let [is_ack_delayed, is_app_limited, is_cwnd_limited] = flags;
        let bytes = counts.map(Bytes::new);
        let mut sample = RateSample::default();
        sample.delivery_rate = rate.map(Rate::from_bytes_per_sec);
        sample.delivered = bytes[4];
        sample.interval = Duration::from_nanos(counts[5]);
        sample.prior_delivered = bytes[6];
        sample.total_delivered = bytes[7];
        sample.total_lost = bytes[8];
        sample.newly_lost = bytes[9];
        sample.inflight_at_send = bytes[10];
        sample.lost_since_send = bytes[9];
        sample.delivered_ce = bytes[11];
        sample.total_delivered_ce = bytes[12];
        sample.is_app_limited = is_app_limited;
        let mut ack = Ack::new(Time::ZERO, bytes[0], bytes[1], bytes[2], sample); ack.ce_marked = bytes[3]; ack.rtt = rtt.map(|nanos| RttSample {
                rtt: Duration::from_nanos(nanos),
                is_ack_delayed,
            }); ack.is_cwnd_limited = is_cwnd_limited;
ack.is_window_full = is_cwnd_limited ^ is_app_limited; ack.is_progress = is_cwnd_limited || is_app_limited; ack.next_departure = Time::from_nanos(counts[5]);
ack
    }
}

fn event() -> impl Strategy<Value = Event> {
    prop_oneof![
        6 => span().prop_map(Event::Pass),
        4 => (1_usize..20).prop_map(|count| Event::Send { bytes: Bytes::new(1_200), count }),
        1 => bytes().prop_map(|bytes| Event::Send { bytes, count: 1 }),
        8 => (1_usize..10, any::<bool>())
            .prop_map(|(count, oldest_first)| Event::Ack { count, oldest_first }),
        2 => (1_usize..5).prop_map(|count| Event::Lose { count }),
        1 => Just(Event::Lose { count: usize::MAX }),
        3 => recovery().prop_map(Event::Recovery),
        1 => Just(Event::Timeout),
        1 => mss().prop_map(Event::Mtu),
        1 => Just(Event::Idle),
        1 => Just(Event::AppLimited),
        1 => any::<bool>().prop_map(Event::Marking),
        2 => nonsense().prop_map(|ack| Event::Nonsense(Box::new(ack))),
    ]
}

prop_compose! {
    fn connection()(now in number(), mss in mss(), initial_cwnd in bytes(), seed in any::<u64>(), is_paced in any::<bool>()) -> Connection {
        let mut connection = Connection::new(Time::from_nanos(now), mss, initial_cwnd); connection.seed = seed; connection.is_paced = is_paced;
connection
    }
}

/// A transport that passes events on.
struct Transport<C> {
    controller: C,
    now: Time,
    mss: Bytes,
    sampler: Sampler,
    outstanding: VecDeque<PacketState>,
    sent: Bytes,
    is_marking: bool,
}

impl<C: Controller> Transport<C> {
    fn new(connection: Connection, controller: C) -> Transport<C> {
        Transport {
            controller,
            now: connection.now,
            mss: connection.mss,
            sampler: Sampler::new(connection.now),
            outstanding: VecDeque::new(),
            sent: Bytes::ZERO,
            is_marking: false,
        }
    }

    fn inflight(&self) -> Bytes {
        self.outstanding.iter().map(|packet| packet.bytes).sum()
    }

    fn happen(&mut self, event: &Event) {
        match event {
            Event::Pass(span) => self.now += *span,
            Event::Send { bytes, count } => (0..*count).for_each(|_| self.send(*bytes)),
            Event::Ack {
                count,
                oldest_first,
            } => self.ack(*count, *oldest_first),
            Event::Lose { count } => self.lose(*count),
            Event::Recovery(recovery) => {
                let inflight = self.inflight();
                self.controller.on_recovery(self.now, *recovery, inflight);
            }
            Event::Timeout => {
                self.lose(usize::MAX);
                self.controller.on_timeout(self.now, self.inflight());
            }
            Event::Mtu(mss) => {
                self.mss = *mss;
                self.controller.on_mtu_change(*mss);
            }
            Event::Idle => self.controller.on_idle_restart(self.now),
            Event::AppLimited => self.sampler.mark_app_limited(self.inflight()),
            Event::Marking(is_marking) => self.is_marking = *is_marking,
            Event::Nonsense(ack) => {
                let mut ack = **ack;
                ack.now = self.now;
                self.controller.on_ack(&ack);
            }
        }
    }

    fn send(&mut self, bytes: Bytes) {
        let packet = self.sampler.on_packet_sent(
            self.now,
            bytes,
            Outstanding::without_lost(self.inflight()),
        );
        self.outstanding.push_back(packet);
        self.sent += bytes;
        self.controller
            .on_packet_sent(&Sent::new(self.now, bytes, self.inflight()));
    }

    fn lose(&mut self, count: usize) {
        for _ in 0..count {
            let Some(packet) = self.outstanding.pop_front() else {
                return;
            };
            self.sampler.on_packet_lost(&packet);
            let lost = Lost::new(self.now, packet, self.inflight(), &self.sampler);
            self.controller.on_packet_lost(&lost);
        }
    }

    fn ack(&mut self, count: usize, oldest_first: bool) {
        let prior_inflight = self.inflight();
        let mut newly_acked = Bytes::ZERO;
        let mut newest: Option<PacketState> = None;
        for _ in 0..count {
            let packet = if oldest_first {
                self.outstanding.pop_front()
            } else {
                self.outstanding.pop_back()
            };
            let Some(packet) = packet else { break };
            self.sampler.on_packet_acked(self.now, &packet);
            newly_acked += packet.bytes;
            newest = newest.max_by_sequence(packet);
        }
        let Some(newest) = newest else { return };
        let rtt = self.now.since(newest.sent_time);
        let ce_marked = if self.is_marking {
            newly_acked
        } else {
            Bytes::ZERO
        };
        self.sampler.on_ce_marked(ce_marked);
        let rate = self.sampler.sample(self.now, rtt / 2);
        assert!(rate.total_delivered <= self.sent);
        let mut ack = Ack::new(self.now, newly_acked, prior_inflight, self.inflight(), rate);
        ack.rtt = Some(RttSample {
            rtt,
            is_ack_delayed: count == 1,
        });
        ack.ce_marked = ce_marked;
        ack.is_cwnd_limited = oldest_first;
        ack.is_window_full = oldest_first;
        ack.is_progress = oldest_first;
        self.controller.on_ack(&ack);
    }

    /// The invariants.
    fn check(&self) -> Snapshot {
        let snapshot = self.controller.snapshot();
        assert!(self.controller.cwnd() >= self.mss, "{snapshot:?}");
        assert!(self.controller.pacing_rate() > Rate::ZERO, "{snapshot:?}");
        assert!(self.controller.send_quantum() >= self.mss, "{snapshot:?}");
        assert_eq!(snapshot.cwnd, self.controller.cwnd());
        assert_eq!(snapshot.pacing_rate, self.controller.pacing_rate());
        assert_eq!(snapshot.send_quantum, self.controller.send_quantum());
        snapshot
    }
}

trait MaxBySequence {
    fn max_by_sequence(self, packet: PacketState) -> Self;
}

impl MaxBySequence for Option<PacketState> {
    fn max_by_sequence(self, packet: PacketState) -> Option<PacketState> {
        match self {
            Some(newest) if newest.sequence > packet.sequence => Some(newest),
            _ => Some(packet),
        }
    }
}

/// Applies all events. Returns the state after each.
fn drive<C: Controller>(connection: Connection, controller: C, events: &[Event]) -> Vec<Snapshot> {
    let mut transport = Transport::new(connection, controller);
    transport.check();
    events
        .iter()
        .map(|event| {
            transport.happen(event);
            transport.check()
        })
        .collect()
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(2_000))]

    #[test]
    fn every_controller_stays_able_to_send(
        connection in connection(),
        events in prop::collection::vec(event(), 0..120),
    ) {
        for kind in ControllerKind::ALL {
            drive(connection, AnyController::new(*kind, connection), &events);
        }
    }

    #[test]
    fn bbr1_does_with_any_settings(
        connection in connection(),
        events in prop::collection::vec(event(), 0..120),
        flags in prop::array::uniform10(any::<bool>()),
        gains in prop::array::uniform4((0..9_u32, 0..9_u32)),
        windows in (any::<u8>(), 0..40_u64, 0..20_000_u64, 0..2_000_u64),
    ) {
        let [high, drain, peak, trough] = gains.map(|(n, d)| Ratio::new(n, d));
        let config = bbr1::Config {
            high_gain: high,
            drain_gain: drain,
            peak_gain: peak,
            trough_gain: trough,
            cycle_phases: windows.0,
            btl_bw_window: windows.1,
            rtprop_window: Duration::from_millis(windows.2),
            probe_rtt_duration: Duration::from_millis(windows.3),
            is_end_host_budgeted: flags[0],
            has_policer_model: flags[1],
            has_departure_model: flags[2],
            is_rtprop_windowed: flags[3],
            does_equal_rate_renew: flags[4],
            is_phase_a_burst: flags[5],
            does_equal_rtt_renew: flags[6],
            is_first_phase_random: flags[7],
            conserves_packets: flags[8],
            startup_rounds: windows.0,
            has_probe_room: flags[9],
            ..bbr1::Config::paper()
        };
        drive(connection, Bbr1::new(connection, config), &events);
    }

    #[test]
    fn bbr3_does_with_any_settings(
        connection in connection(),
        events in prop::collection::vec(event(), 0..120),
        offload_quanta in any::<u32>(),
        max_rtt in prop::option::of(number()),
        ignore_self_limited in any::<bool>(),
        bbr1_min_rtt in any::<bool>(),
    ) {
        let config = bbr3::Config {
            offload_quanta,
            ecn: max_rtt.map(|nanos| bbr3::EcnConfig {
                max_rtt: Duration::from_nanos(nanos),
            }),
            ignore_self_limited,
            bbr1_min_rtt,
        };
        drive(connection, Bbr3::new(connection, config), &events);
    }

    #[test]
    fn equal_seeds_and_events_give_equal_behaviour(
        connection in connection(),
        events in prop::collection::vec(event(), 0..60),
    ) {
        for kind in ControllerKind::ALL {
            let run = || drive(connection, AnyController::new(*kind, connection), &events);
            prop_assert_eq!(run(), run());
        }
    }
}
