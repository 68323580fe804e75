//! Invariants of a receiver, whatever arrives.

use proptest::prelude::*;
use transport::receiver::{Config, Receiver};
use transport::segment::{Ack, AckRequest, Body, Data, SackBlocks, Segment};
use units::{Bytes, Duration, Time};

/// An event at a receiver.
#[derive(Debug, Clone)]
enum Event {
    Segment { body: Body, ce: bool },
    Timer,
    Wait(Duration),
}

fn times() -> impl Strategy<Value = Time> {
    prop_oneof![0u64..1_000_000_000, Just(0), Just(u64::MAX), any::<u64>()]
        .prop_map(Time::from_nanos)
}

fn positions() -> impl Strategy<Value = u64> {
    prop_oneof![8 => 0u64..200_000, 1 => any::<u64>(), 1 => Just(u64::MAX)]
}

fn lengths() -> impl Strategy<Value = u32> {
    prop_oneof![8 => 0u32..3_000, 1 => any::<u32>(), 1 => Just(u32::MAX)]
}

fn requests() -> impl Strategy<Value = Option<AckRequest>> {
    let request = (lengths(), any::<u64>(), any::<bool>());
    prop::option::of(request.prop_map(|(every, nanos, is_immediate)| AckRequest {
        every,
        max_delay: Duration::from_nanos(nanos),
        is_immediate,
    }))
}

fn bodies() -> impl Strategy<Value = Body> {
    let flags = (any::<bool>(), any::<bool>(), requests());
    let data = (positions(), lengths(), times(), times(), flags).prop_map(
        |(seq, len, sent, echo, (cwr, push, ack_request))| {
            Body::Data(Data {
                seq,
                len,
                sent,
                echo,
                cwr,
                push,
                ack_request,
            })
        },
    );
    let ack = (positions(), positions(), times()).prop_map(|(next, window, sent)| {
        Body::Ack(Ack {
            next,
            window,
            sent,
            echo: sent,
            sacks: SackBlocks::NONE,
            ecn_echo: true,
            ce_bytes: next,
        })
    });
    prop_oneof![
        20 => data,
        1 => times().prop_map(|sent| Body::Syn { sent }),
        1 => ack,
        1 => (times(), positions())
            .prop_map(|(sent, window)| Body::SynAck { sent, echo: sent, next: 0, window }),
    ]
}

fn events() -> impl Strategy<Value = Event> {
    prop_oneof![
        12 => (bodies(), any::<bool>()).prop_map(|(body, ce)| Event::Segment { body, ce }),
        1 => Just(Event::Timer),
        1 => prop_oneof![0u64..300_000_000, any::<u64>()]
            .prop_map(|span| Event::Wait(Duration::from_nanos(span))),
    ]
}

fn configs() -> impl Strategy<Value = Config> {
    (
        1u32..70,
        0u64..300_000_000,
        2_896u64..300_000,
        0u64..10_000_000,
        0usize..=3,
    )
        .prop_map(
            |(ack_every, delay, initial, more, max_sack_blocks)| Config {
                ack_every,
                max_ack_delay: Duration::from_nanos(delay),
                initial_buffer: Bytes::new(initial),
                max_buffer: Bytes::new(initial + more),
                max_sack_blocks,
                ..Config::default()
            },
        )
}

/// The data that the receiver may have: the union of the segments within the window, as disjoint ranges in order.
#[derive(Default)]
struct Stream(Vec<(u64, u64)>);

impl Stream {
    fn insert(&mut self, start: u64, end: u64) {
        self.0.push((start, end));
        self.0.sort_unstable();
        let mut joined: Vec<(u64, u64)> = Vec::new();
        for (start, end) in self.0.drain(..) {
            match joined.last_mut() {
                Some(last) if start <= last.1 => last.1 = last.1.max(end),
                _ => joined.push((start, end)),
            }
        }
        self.0 = joined;
    }

    fn prefix(&self) -> u64 {
        self.0
            .first()
            .filter(|range| range.0 == 0)
            .map_or(0, |range| range.1)
    }
}

fn check_ack(receiver: &Receiver, stream: &Stream, config: &Config, segment: &Segment) {
    let Body::Ack(ack) = &segment.body else {
        return;
    };
    assert_eq!(ack.next, stream.prefix());
    assert_eq!(ack.next + ack.window, receiver.right_edge());
    assert!(ack.sacks.len() <= config.max_sack_blocks);
    let blocks: Vec<_> = ack.sacks.ranges().collect();
    for (index, block) in blocks.iter().enumerate() {
        assert!(ack.next < block.start && block.end <= receiver.right_edge());
        assert!(stream.0.contains(&(block.start, block.end)), "{block:?}");
        assert!(!blocks[..index].contains(block));
    }
    if let Some(duplicate) = ack.sacks.dsack() {
        let holds = |range: &(u64, u64)| range.0 <= duplicate.start && duplicate.end <= range.1;
        assert!(stream.0.iter().any(holds), "{duplicate:?}");
    }
    // No ACK is pending after an ACK.
    assert_eq!(receiver.next_timer(), None);
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 400, ..ProptestConfig::default() })]

    #[test]
    fn whatever_arrives(config in configs(), events in prop::collection::vec(events(), 1..300)) {
        prop_assert_eq!(config.validate(), Ok(()));
        let mut receiver = Receiver::new(1, &config);
        let mut stream = Stream::default();
        let mut now = Time::ZERO;
        let (mut received, mut edge, mut is_open) = (0, 0, false);
        for event in events {
            let answer = match &event {
                Event::Wait(span) => { now += *span; None }
                Event::Timer => {
                    let due = receiver.next_timer();
                    let answer = receiver.on_timer(now);
                    prop_assert_eq!(answer.is_some(), due.is_some_and(|due| due <= now));
                    answer
                }
                Event::Segment { body, ce } => {
                    if let Body::Data(data) = body && is_open && data.len > 0 && data.end() <= edge {
                        stream.insert(data.seq, data.end());
                    }
                    is_open |= matches!(body, Body::Syn { .. });
                    receiver.on_segment(now, body, *ce)
                }
            };
            prop_assert_eq!(receiver.received(), stream.prefix());
            prop_assert!(receiver.received() >= received);
            prop_assert!(receiver.right_edge() >= edge);
            received = receiver.received();
            edge = receiver.right_edge();
            let stats = receiver.stats();
            prop_assert!(stats.buffer <= config.max_buffer);
            if let Some(answer) = answer {
                check_ack(&receiver, &stream, &config, &answer);
            }
            if let Some(due) = receiver.next_timer() {
                prop_assert!(due.since(now) <= config.max_ack_delay);
            }
        }
    }

    /// A stream cut at random and shuffled, with duplicates, arrives completely, and the last ACK says so.
    #[test]
    fn any_order_gives_the_stream(
        cuts in prop::collection::btree_set(1u64..60_000, 1..80),
        order in prop::collection::vec(any::<prop::sample::Index>(), 1..300),
    ) {
        let config = Config::default();
        let mut receiver = Receiver::new(1, &config);
        let mut now = Time::ZERO;
        receiver.on_segment(now, &Body::Syn { sent: now }, false);
        let mut ends: Vec<u64> = cuts.into_iter().collect();
        let last = *ends.last().unwrap();
        let starts: Vec<u64> = std::iter::once(0).chain(ends.iter().copied()).collect();
        ends.truncate(starts.len() - 1);
        let pieces: Vec<(u64, u64)> = starts.into_iter().zip(ends).collect();
        let shuffled = order.iter().map(|index| *index.get(&pieces));
        let mut acknowledged = 0;
        let mut deliver = |receiver: &mut Receiver, (start, end): (u64, u64)| {
            now += Duration::from_micros(100);
            let body = Body::Data(Data {
                seq: start,
                len: (end - start) as u32,
                sent: now,
                echo: Time::ZERO,
                cwr: false,
                push: false,
                ack_request: None,
            });
            if let Some(Segment { body: Body::Ack(ack), .. }) = receiver.on_segment(now, &body, false) {
                assert!(ack.next >= acknowledged);
                acknowledged = ack.next;
            }
        };
        for piece in shuffled.chain(pieces.iter().copied()) {
            deliver(&mut receiver, piece);
        }
        prop_assert_eq!(receiver.received(), last);
        if let Some(due) = receiver.next_timer() {
            let answer = receiver.on_timer(due);
            let Some(Segment { body: Body::Ack(ack), .. }) = answer else {
                return Err(TestCaseError::fail("no ACK when the timer was due"));
            };
            prop_assert_eq!(ack.next, last);
        } else {
            prop_assert_eq!(acknowledged, last);
        }
        prop_assert_eq!(receiver.stats().holes, 0);
    }
}
