//! The receiver's answers, sentence by sentence of the RFCs.

use std::ops::Range;

use transport::receiver::{Config, Receiver};
use transport::segment::{Ack, AckRequest, Body, Data, Segment};
use units::{Bytes, Duration, Time};

const MSS: u64 = 1448;

fn at(micros: u64) -> Time {
    Time::from_nanos(micros * 1_000)
}

fn ms(millis: u64) -> Duration {
    Duration::from_millis(millis)
}

/// A connection whose receiver is under test.
struct Peer {
    receiver: Receiver,
    now: Time,
    cwr: bool,
    push: bool,
    ack_request: Option<AckRequest>,
    echo: Time,
}

impl Peer {
    fn new(config: &Config) -> Peer {
        config.validate().unwrap();
        let mut receiver = Receiver::new(7, config);
        let body = Body::Syn { sent: Time::ZERO };
        assert!(receiver.on_segment(at(0), &body, false).is_some());
        Peer {
            receiver,
            now: Time::ZERO,
            cwr: false,
            push: false,
            ack_request: None,
            echo: Time::ZERO,
        }
    }

    /// A peer that has used up its quick ACKs: the first `segments` segments have arrived.
    fn after(config: &Config, segments: u64) -> Peer {
        let mut peer = Peer::new(config);
        for n in 0..segments {
            peer.wait(Duration::from_micros(10));
            peer.segment(n);
        }
        peer
    }

    fn wait(&mut self, span: Duration) {
        self.now += span;
    }

    /// Lets the `n`-th full segment arrive, just sent.
    fn segment(&mut self, n: u64) -> Option<Ack> {
        self.data(n * MSS..(n + 1) * MSS, false)
    }

    fn data(&mut self, range: Range<u64>, ce: bool) -> Option<Ack> {
        let body = Body::Data(Data {
            seq: range.start,
            len: (range.end - range.start) as u32,
            sent: self.now,
            echo: self.echo,
            cwr: self.cwr,
            push: self.push,
            ack_request: self.ack_request,
        });
        ack(self.receiver.on_segment(self.now, &body, ce))
    }

    fn timer(&mut self) -> Option<Ack> {
        ack(self.receiver.on_timer(self.now))
    }

    /// The time until the timer.
    fn owed(&self) -> Option<Duration> {
        self.receiver.next_timer().map(|due| due.since(self.now))
    }
}

fn ack(segment: Option<Segment>) -> Option<Ack> {
    segment.map(|segment| match segment.body {
        Body::Ack(ack) => ack,
        other => panic!("{other:?}"),
    })
}

/// The start of the first segment and the end of the last.
type Block = (u64, u64);

/// The D-SACK and the other blocks of an ACK.
fn sacks(ack: &Ack) -> (Option<Block>, Vec<Block>) {
    let in_segments = |range: Range<u64>| (range.start / MSS, range.end / MSS);
    (
        ack.sacks.dsack().map(in_segments),
        ack.sacks.ranges().map(in_segments).collect(),
    )
}

#[test]
fn every_syn_is_answered() {
    let mut receiver = Receiver::new(3, &Config::default());
    for sent in [at(5), at(1_000_005)] {
        let answer = receiver
            .on_segment(at(2_000_000), &Body::Syn { sent }, false)
            .unwrap();
        assert_eq!(answer.connection, 3);
        assert_eq!(
            answer.body,
            Body::SynAck {
                sent: at(2_000_000),
                echo: sent,
                next: 0,
                window: 64 << 10
            }
        );
    }
    assert_eq!(receiver.next_timer(), None);
}

#[test]
fn data_without_a_connection_are_ignored() {
    let mut receiver = Receiver::new(3, &Config::default());
    let data = Body::Data(Data {
        seq: 0,
        len: 1448,
        sent: at(1),
        echo: Time::ZERO,
        cwr: false,
        push: false,
        ack_request: None,
    });
    assert_eq!(receiver.on_segment(at(2), &data, false), None);
    assert_eq!(receiver.received(), 0);
}

/// Linux's quick ACKs, then RFC 5681: an ACK for at least every second full segment.
#[test]
fn the_first_segments_are_acknowledged_at_once_and_later_every_second() {
    let mut peer = Peer::new(&Config::default());
    let acks: Vec<bool> = (0..24).map(|n| peer.segment(n).is_some()).collect();
    assert!(acks[..16].iter().all(|is| *is), "{acks:?}");
    assert_eq!(
        acks[16..],
        [false, true, false, true, false, true, false, true]
    );
}

#[test]
fn a_short_last_segment_makes_a_second_one() {
    let mut peer = Peer::after(&Config::default(), 16);
    assert_eq!(peer.segment(16), None);
    let last = peer.data(17 * MSS..17 * MSS + 100, false).unwrap();
    assert_eq!(last.next, 17 * MSS + 100);
    assert_eq!(peer.owed(), None);
}

/// The application has read everything, and nothing shows that more will come.
#[test]
fn a_short_segment_is_acknowledged_at_once() {
    let mut peer = Peer::after(&Config::default(), 16);
    let last = peer.data(16 * MSS..16 * MSS + 100, false).unwrap();
    assert_eq!(last.next, 16 * MSS + 100);
    assert_eq!(peer.owed(), None);
}

/// A pushed segment ends a burst, and the application has read everything.
#[test]
fn a_pushed_segment_is_acknowledged_at_once() {
    let mut peer = Peer::after(&Config::default(), 16);
    peer.push = true;
    assert_eq!(peer.segment(16).unwrap().next, 17 * MSS);
    assert_eq!(peer.owed(), None);
    peer.push = false;
    assert_eq!(peer.segment(17), None);
    peer.push = true;
    assert_eq!(peer.segment(18).unwrap().next, 19 * MSS);
}

#[test]
fn who_is_to_stretch_its_acks_heeds_no_push() {
    let stretched = Config {
        ack_every: 8,
        ..Config::default()
    };
    let mut peer = Peer::after(&stretched, 16);
    peer.push = true;
    let acks: Vec<bool> = (16..24).map(|n| peer.segment(n).is_some()).collect();
    assert_eq!(acks.iter().filter(|is| **is).count(), 1, "{acks:?}");
}

#[test]
fn a_single_segment_is_acknowledged_after_forty_milliseconds() {
    let mut peer = Peer::after(&Config::default(), 16);
    assert_eq!(peer.segment(16), None);
    assert_eq!(peer.owed(), Some(ms(40)));
    peer.wait(ms(39));
    assert_eq!(peer.timer(), None);
    peer.wait(ms(1));
    assert_eq!(peer.timer().unwrap().next, 17 * MSS);
    assert_eq!(peer.owed(), None);
    assert_eq!(peer.timer(), None);
    assert_eq!(peer.receiver.stats().delayed_acks, 1);
}

/// `tcp_delack_timer_handler`, `tcp_event_data_recv`: a missed second segment doubles the delay, a steady stream brings
/// it back.
#[test]
fn the_delay_follows_the_arrivals() {
    let mut peer = Peer::after(&Config::default(), 16);
    peer.segment(16);
    peer.wait(ms(40));
    assert!(peer.timer().is_some());
    peer.wait(ms(30));
    peer.segment(17);
    // Half of the doubled delay, and the 70 ms since the previous segment.
    assert_eq!(peer.owed(), Some(ms(40 + 70)));
    let mut n = 18;
    for _ in 0..21 {
        peer.wait(ms(1));
        peer.segment(n);
        n += 1;
    }
    peer.segment(n);
    let owed = peer.owed().unwrap();
    assert!(owed >= ms(40) && owed < ms(41), "{owed}");
}

#[test]
fn the_longest_delay_is_a_setting() {
    let within = Config {
        max_ack_delay: ms(5),
        ..Config::default()
    };
    let mut peer = Peer::after(&within, 16);
    peer.segment(16);
    assert_eq!(peer.owed(), Some(ms(5)));

    let none = Config {
        max_ack_delay: ms(0),
        ..Config::default()
    };
    let mut peer = Peer::after(&none, 16);
    assert!((16..40).all(|n| peer.segment(n).is_some()));
}

#[test]
fn acks_are_stretched() {
    let config = Config {
        ack_every: 8,
        ..Config::default()
    };
    let mut peer = Peer::after(&config, 16);
    let acks: Vec<u64> = (16..48)
        .filter_map(|n| peer.segment(n))
        .map(|ack| ack.next / MSS)
        .collect();
    assert_eq!(acks, [24, 32, 40, 48]);
    // A single segment waits like any other; several wait only for the aggregation delay.
    peer.segment(48);
    assert_eq!(peer.owed(), Some(ms(40)));
    peer.segment(49);
    assert_eq!(peer.owed(), Some(ms(1)));
    peer.wait(Duration::from_micros(400));
    peer.segment(50);
    assert_eq!(peer.owed(), Some(Duration::from_micros(600)));
    peer.wait(Duration::from_micros(600));
    assert_eq!(peer.timer().unwrap().next, 51 * MSS);
}

/// The sender has restarted from its initial window: quick ACKs again.
#[test]
fn after_a_long_pause_acks_are_quick_again() {
    let mut peer = Peer::after(&Config::default(), 17);
    peer.wait(ms(40));
    peer.timer();
    peer.wait(Duration::from_secs(2));
    assert!((17..17 + 16).all(|n| peer.segment(n).is_some()));
    assert!(peer.segment(33).is_none());
}

/// RFC 5681: an out-of-order segment is acknowledged at once, and so is one that fills a hole or a part of it.
#[test]
fn holes_are_told_at_once() {
    let mut peer = Peer::after(&Config::default(), 16);
    let ack = peer.segment(17).unwrap();
    assert_eq!((ack.next / MSS, sacks(&ack)), (16, (None, vec![(17, 18)])));
    let ack = peer.segment(19).unwrap();
    assert_eq!(sacks(&ack), (None, vec![(19, 20), (17, 18)]));
    let ack = peer.segment(16).unwrap();
    assert_eq!((ack.next / MSS, sacks(&ack)), (18, (None, vec![(19, 20)])));
    let ack = peer.segment(18).unwrap();
    assert_eq!((ack.next / MSS, sacks(&ack)), (20, (None, vec![])));
    assert_eq!(peer.segment(20), None, "and then every second again");
    peer.segment(21);
    // The first of three missing segments.
    peer.segment(25);
    let ack = peer.segment(22).expect("at once");
    assert_eq!((ack.next / MSS, sacks(&ack)), (23, (None, vec![(25, 26)])));
}

/// A peer 20 ms away whose segment 16 is missing; three ACKs beyond it have been sent.
fn with_a_hole(config: &Config) -> Peer {
    let mut peer = Peer::new(config);
    for n in 0..16 {
        peer.echo = peer.now;
        peer.wait(ms(20));
        peer.segment(n);
    }
    peer.timer();
    for n in 17..20 {
        assert!(peer.segment(n).is_some(), "{n} is told at once");
    }
    peer
}

/// Linux `__tcp_ack_snd_check`: from the fourth on, ACKs beyond a hole wait for 5 % of the RTT, up to a millisecond,
/// or until there are too many.
#[test]
fn acks_behind_a_hole_are_compressed() {
    let config = Config {
        initial_buffer: Bytes::new(1 << 20),
        ..Config::default()
    };
    let mut peer = with_a_hole(&config);
    assert_eq!(peer.segment(20), None);
    assert_eq!(peer.owed(), Some(ms(1)), "a twentieth of the RTT");
    peer.wait(Duration::from_micros(400));
    assert_eq!(peer.segment(21), None);
    peer.wait(Duration::from_micros(600));
    let ack = peer.timer().expect("when it is due");
    assert_eq!((ack.next / MSS, sacks(&ack)), (16, (None, vec![(17, 22)])));
    assert_eq!((peer.owed(), peer.receiver.stats().compressed), (None, 2));

    for n in 22..66 {
        assert_eq!(peer.segment(n), None, "{n}");
    }
    let ack = peer.segment(66).expect("no more than 44 are held back");
    assert_eq!(sacks(&ack).1, [(17, 67)]);

    assert_eq!(peer.segment(67), None);
    let ack = peer.segment(16).expect("a filled hole is told at once");
    assert_eq!((ack.next / MSS, peer.owed()), (68, None));

    let config = Config {
        max_compressed_acks: 0,
        ..config
    };
    let mut peer = with_a_hole(&config);
    assert!((20..100).all(|n| peer.segment(n).is_some()));
}

/// Linux `tcp_sack_new_ofo_skb`: a delayed ACK is about two ranges at most, so that each range is reported more than
/// once.
#[test]
fn no_range_is_forgotten_in_a_compressed_ack() {
    let mut peer = with_a_hole(&Config::default());
    assert_eq!(peer.segment(21), None);
    let ack = peer.segment(23).expect("a third range");
    assert_eq!(sacks(&ack).1, [(23, 24), (21, 22), (17, 20)]);
    assert_eq!(peer.segment(24), None);
    assert_eq!(peer.segment(22), None, "joins the newest two");
    let ack = peer.segment(16).unwrap();
    assert_eq!((ack.next / MSS, sacks(&ack).1), (20, vec![(21, 25)]));
    assert!(peer.segment(27).is_some(), "another hole begins anew");
}

/// RFC 2018, section 4: the first block contains the segment that triggered the ACK, the others are the most recent
/// ones.
#[test]
fn the_newest_block_stands_first() {
    let mut peer = Peer::after(&Config::default(), 16);
    for n in [18, 20, 22] {
        peer.segment(n);
    }
    let ack = peer.segment(24).unwrap();
    assert_eq!(sacks(&ack).1, [(24, 25), (22, 23), (20, 21)]);
    let ack = peer.segment(19).unwrap();
    assert_eq!(sacks(&ack).1, [(18, 21), (24, 25), (22, 23)]);
    let ack = peer.segment(23).unwrap();
    assert_eq!(sacks(&ack).1, [(22, 25), (18, 21)]);
}

#[test]
fn blocks_are_as_many_as_set() {
    for most in 0..=3 {
        let config = Config {
            max_sack_blocks: most,
            ..Config::default()
        };
        let mut peer = Peer::after(&config, 16);
        for n in [18, 20, 22] {
            peer.segment(n);
        }
        assert_eq!(peer.segment(24).unwrap().sacks.len(), most);
    }
}

/// RFC 2883, section 4.1.1 and 4.1.3: duplicates below the cumulative ACK, and above.
#[test]
fn duplicates_are_told_once() {
    let mut peer = Peer::after(&Config::default(), 18);
    let ack = peer.segment(16).unwrap();
    assert_eq!(
        (ack.next / MSS, sacks(&ack)),
        (18, (Some((16, 17)), vec![]))
    );
    let ack = peer.segment(18).unwrap();
    assert_eq!(sacks(&ack), (None, vec![]));
    // A duplicate within a block: that block comes next.
    peer.segment(20);
    peer.segment(21);
    peer.segment(24);
    let ack = peer.segment(20).unwrap();
    assert_eq!(sacks(&ack), (Some((20, 21)), vec![(20, 22), (24, 25)]));
    assert_eq!(peer.receiver.stats().duplicates, 2);
    assert_eq!(peer.receiver.stats().dsacks, 2);
}

/// RFC 2883, section 4.2.2: a segment that is a duplicate in part.
#[test]
fn a_partial_duplicate_is_told() {
    let mut peer = Peer::after(&Config::default(), 16);
    let ack = peer.data(15 * MSS..17 * MSS, false).unwrap();
    assert_eq!(
        (ack.next / MSS, sacks(&ack)),
        (17, (Some((15, 16)), vec![]))
    );
    peer.segment(19);
    let ack = peer.data(18 * MSS..20 * MSS, false).unwrap();
    assert_eq!(sacks(&ack), (Some((19, 20)), vec![(18, 20)]));
}

/// RFC 7323, section 4.3: with delayed ACKs the earliest segment's timestamp; with a hole the last in-order one's; and
/// when the hole is filled, the filling segment's.
#[test]
fn timestamps_are_echoed_for_the_rtt() {
    let mut peer = Peer::after(&Config::default(), 16);
    let mut sent = Vec::new();
    let mut step = |peer: &mut Peer, n| {
        peer.wait(ms(1));
        sent.push(peer.now);
        peer.segment(n).map(|ack| ack.echo)
    };
    assert_eq!(step(&mut peer, 16), None);
    let earliest = peer.now;
    assert_eq!(step(&mut peer, 17), Some(earliest));
    assert_eq!(step(&mut peer, 19), Some(earliest));
    assert_eq!(step(&mut peer, 20), Some(earliest));
    let filled = step(&mut peer, 18);
    assert_eq!(filled, Some(peer.now));
}

/// RFC 3168, section 6.1.3, and the counts of Accurate ECN.
#[test]
fn marks_are_echoed_until_the_sender_reacts() {
    let mut peer = Peer::after(&Config::default(), 16);
    let ack = peer.data(16 * MSS..17 * MSS, true).expect("at once");
    assert!(ack.ecn_echo);
    assert_eq!(ack.ce_bytes, MSS);
    // The sender's window may be a single segment now.
    assert!(peer.segment(17).is_some());
    assert!(peer.segment(18).is_none());
    for n in 19..40 {
        if let Some(ack) = peer.segment(n) {
            assert!(ack.ecn_echo);
        }
    }
    peer.cwr = true;
    let ack = peer.segment(40).expect("at once");
    assert!(!ack.ecn_echo);
    let ack = peer.data(41 * MSS..42 * MSS, true).unwrap();
    assert!(ack.ecn_echo, "a new mark on the segment with CWR");
    assert_eq!(ack.ce_bytes, 2 * MSS);
    assert_eq!(peer.receiver.stats().ce_segments, 2);
}

fn accurate(config: Config) -> Config {
    Config {
        accurate_ecn: true,
        ..config
    }
}

/// RFC 9768, section 3.2.2.5.1, "Change-Triggered ACKs". Unlike an echo (RFC 3168), the first mark quickens no further ACK.
#[test]
fn accurate_ecn_reports_the_first_mark_at_once_and_echoes_none() {
    let mut peer = Peer::after(&accurate(Config::default()), 16);
    let segment = |n: u64| n * MSS..(n + 1) * MSS;
    let ack = peer.data(segment(16), true).expect("at once");
    assert_eq!((ack.ecn_echo, ack.ce_bytes), (false, MSS));
    let acked: Vec<_> = (17..27)
        .filter(|n| peer.data(segment(*n), false).is_some())
        .collect();
    assert_eq!(acked, [18, 20, 22, 24, 26]);
    let ack = peer.data(segment(27), true).expect("the first again");
    assert_eq!((ack.ecn_echo, ack.ce_bytes), (false, 2 * MSS));
}

/// The same section, "Increment-Triggered ACKs": an ACK for two marks, where otherwise it would wait for more.
#[test]
fn accurate_ecn_reports_each_second_mark_at_once() {
    let acked = |mut peer: Peer, first: u64| -> Vec<u64> {
        let arrivals = first..first + 9;
        arrivals
            .filter(|n| peer.data(n * MSS..(n + 1) * MSS, true).is_some())
            .collect()
    };
    let config = accurate(Config {
        ack_every: 10,
        initial_buffer: Bytes::new(1 << 20),
        ..Config::default()
    });
    // The first by the change, and each second one after it, in order and behind a hole.
    assert_eq!(acked(Peer::after(&config, 16), 16), [16, 18, 20, 22, 24]);
    assert_eq!(acked(with_a_hole(&config), 20), [20, 22, 24, 26, 28]);
}

/// draft-ietf-quic-ack-frequency, "Sending Acknowledgments".
#[test]
fn a_request_sets_the_acks_until_the_next() {
    let mut peer = Peer::after(&Config::default(), 100);
    let mut request = AckRequest {
        every: 5,
        max_delay: ms(7),
        is_immediate: false,
    };
    peer.ack_request = Some(request);
    let acked = |peer: &mut Peer, first: u64| -> Vec<u64> {
        let arrivals = first..first + 10;
        arrivals.filter(|n| peer.segment(*n).is_some()).collect()
    };
    assert_eq!(acked(&mut peer, 100), [104, 109]);
    // What follows without a request has the same.
    peer.ack_request = None;
    assert_eq!(acked(&mut peer, 110), [114, 119]);
    assert_eq!(peer.segment(120), None);
    assert_eq!(peer.owed(), Some(ms(7)));
    peer.wait(ms(7));
    assert!(peer.timer().is_some());
    // An immediate ACK, once.
    request.is_immediate = true;
    peer.ack_request = Some(request);
    assert!(peer.segment(121).is_some());
    request.is_immediate = false;
    peer.ack_request = Some(request);
    assert_eq!(acked(&mut peer, 122), [126, 131]);
    request.every = 1;
    peer.ack_request = Some(request);
    assert_eq!(acked(&mut peer, 132).len(), 10);
}

#[test]
fn what_exceeds_the_window_is_dropped() {
    let mut peer = Peer::new(&Config::default());
    let edge = peer.receiver.right_edge();
    assert_eq!(edge, 64 << 10);
    let ack = peer.data(edge - 10..edge + 1, false).unwrap();
    assert_eq!((ack.next, ack.sacks.len()), (0, 0));
    assert_eq!(peer.receiver.stats().beyond_window, 1);
    let ack = peer.data(edge - 10..edge, false).unwrap();
    assert_eq!(ack.sacks.len(), 1);
}

/// Sends a window in a round, as large as the congestion window and the receiver allow; returns its bytes.
fn round(peer: &mut Peer, rtt: Duration, cwnd: u64) -> u64 {
    peer.echo = peer.now;
    peer.wait(rtt);
    let first = peer.receiver.received();
    let room = peer.receiver.right_edge() - first;
    let sent = cwnd.min(room / MSS);
    for n in 0..sent {
        let start = first + n * MSS;
        peer.data(start..start + MSS, false);
    }
    sent * MSS
}

/// Sends windows that grow by a factor each round; returns the bytes sent in each.
fn rounds(config: &Config, rtt: Duration, cwnd: u64, growth: u64, n: u32) -> Vec<u64> {
    let mut peer = Peer::new(config);
    (0..n)
        .map(|before| round(&mut peer, rtt, cwnd * growth.pow(before)))
        .collect()
}

/// Dynamic right-sizing: a sender that doubles its window every round is never held back before the maximum. At the
/// maximum it reaches window/RTT: the 335 Mbit/s of an 8 MiB window over 200 ms.
#[test]
fn the_window_grows_ahead_of_slow_start_up_to_its_maximum() {
    let config = Config {
        max_buffer: Bytes::new(8 << 20),
        ..Config::default()
    };
    let sent = rounds(&config, ms(200), 10, 2, 14);
    for (round, bytes) in sent.iter().enumerate().take(9) {
        assert_eq!(*bytes, (10 << round) * MSS, "round {round}: {sent:?}");
    }
    let most = *sent.last().unwrap();
    // Up to one segment is not acknowledged yet, and the last one must fit completely.
    assert!((8 << 20) - most < 2 * MSS, "{most}");
    let rate = most as f64 * 8.0 / 0.2;
    assert!((rate / 1e6 - 335.5).abs() < 0.1, "{rate}");
}

/// A sender that the maximum has held back for long has all of a larger one within some rounds.
#[test]
fn a_maximum_that_is_raised_opens_the_window_of_an_old_connection() {
    let [small, large] = [1 << 20, 4 << 20];
    let mut peer = Peer::new(&Config {
        max_buffer: Bytes::new(small),
        ..Config::default()
    });
    let sent = |peer: &mut Peer, n: u32| -> Vec<u64> {
        (0..n).map(|_| round(peer, ms(50), u64::MAX)).collect()
    };
    let before = sent(&mut peer, 50);
    let is_all_of = |window: u64, sent: u64| sent <= window && window - sent < 2 * MSS;
    assert!(before[10..].iter().all(|sent| is_all_of(small, *sent)));
    peer.receiver.set_max_buffer(Bytes::new(large));
    let after = sent(&mut peer, 20);
    // Until the next ACK, the sender knows nothing of it.
    assert!(is_all_of(small, after[0]), "{after:?}");
    assert!(after.is_sorted(), "{after:?}");
    assert!(
        after[8..].iter().all(|sent| is_all_of(large, *sent)),
        "{after:?}"
    );
}

/// RFC 9293, section 3.8.6: the window is not shrunk. It closes as data arrive.
#[test]
fn a_maximum_that_is_lowered_takes_back_nothing_that_was_offered() {
    let [large, small] = [1 << 20, 100 << 10];
    let mut peer = Peer::new(&Config {
        max_buffer: Bytes::new(large),
        ..Config::default()
    });
    for _ in 0..20 {
        round(&mut peer, ms(50), u64::MAX);
    }
    let edge = peer.receiver.right_edge();
    let next = peer.receiver.received();
    assert!(edge - next > large - 2 * MSS);
    peer.receiver.set_max_buffer(Bytes::new(small));
    assert_eq!(peer.receiver.right_edge(), edge);
    assert_eq!(
        round(&mut peer, ms(50), u64::MAX),
        (edge - next) / MSS * MSS
    );
    assert_eq!(peer.receiver.stats().beyond_window, 0);
    let offered = || peer.receiver.right_edge() - peer.receiver.received();
    assert!(
        (small - 2 * MSS..=small).contains(&offered()),
        "{}",
        offered()
    );
    assert_eq!(peer.receiver.stats().buffer, Bytes::new(small));
}

/// A larger buffer is offered gradually, and the sender learns of it at once: every segment is acknowledged.
#[test]
fn while_the_window_opens_every_segment_is_acknowledged() {
    let mut peer = Peer::new(&Config::default());
    let mut n = 0;
    let mut windows = Vec::new();
    for segments in [10, 20, 40, 40, 40, 40, 40, 40] {
        peer.echo = peer.now;
        peer.wait(ms(100));
        windows.clear();
        for _ in 0..segments {
            windows.extend(peer.segment(n).map(|ack| ack.window));
            n += 1;
        }
        if segments == 40 && n == 70 {
            // The 16 quick ACKs are used up.
            let opening = windows.iter().skip(2);
            let steps: Vec<u64> = opening
                .clone()
                .zip(opening.skip(1))
                .map(|(a, b)| b - a)
                .collect();
            assert!(steps.len() >= 30, "{steps:?}");
            assert!(steps.iter().all(|step| *step == 2 * MSS), "{steps:?}");
        }
    }
    assert!(
        (20..=21).contains(&windows.len()),
        "every second one when it is open"
    );
    assert_eq!(windows.first(), windows.last());
}

/// A receiver that never needed much keeps a small buffer.
#[test]
fn the_window_of_a_slow_sender_stays() {
    let mut peer = Peer::new(&Config::default());
    for n in 0..1000 {
        peer.echo = peer.now;
        peer.wait(ms(20));
        peer.segment(n);
        peer.timer();
    }
    assert_eq!(peer.receiver.stats().buffer, Bytes::new(64 << 10));
}

/// While a hole lasts nothing is read: data beyond it fill the buffer, and the sender has to stop at its edge.
#[test]
fn what_waits_behind_a_hole_is_not_offered_again() {
    let mut peer = Peer::new(&Config::default());
    peer.echo = peer.now;
    peer.wait(ms(100));
    let offered = peer.receiver.right_edge();
    let last = offered / MSS;
    for n in 1..last {
        peer.segment(n);
        assert_eq!(peer.receiver.right_edge(), offered, "segment {n}");
    }
    // The hole is closed and everything read: all of the buffer is offered again.
    let ack = peer.segment(0).unwrap();
    assert_eq!(ack.next, last * MSS);
    assert!(ack.window >= offered, "{}", ack.window);
    assert_eq!(peer.receiver.stats().beyond_window, 0);
}

/// A segment that closes a hole releases many bytes at once. They are measured when the first buffer is read, less
/// the bytes that still wait then.
#[test]
fn what_a_hole_held_back_is_no_round_of_reading() {
    let buffer_after = |hole: u64| {
        let mut peer = Peer::new(&Config::default());
        // The receiver learns the RTT.
        peer.wait(ms(10));
        peer.echo = peer.now;
        peer.wait(ms(100));
        peer.segment(0);
        peer.wait(ms(100));
        for n in (1..41).filter(|n| *n != hole) {
            peer.segment(n);
        }
        peer.wait(ms(100));
        peer.segment(hole);
        peer.wait(ms(100));
        peer.segment(41);
        peer.receiver.stats().buffer
    };
    let in_order = buffer_after(40);
    assert!(in_order > Config::default().initial_buffer);
    assert!(buffer_after(2) < in_order);
}

#[test]
fn the_rtt_is_that_of_the_first_answer() {
    let mut peer = Peer::new(&Config::default());
    peer.wait(ms(10));
    peer.echo = peer.now;
    peer.wait(ms(30));
    peer.segment(0);
    assert_eq!(peer.receiver.rtt(), Some(ms(30)));
    peer.wait(ms(500));
    peer.segment(1);
    assert_eq!(peer.receiver.rtt(), Some(ms(30)), "sent later");
    peer.echo = peer.now;
    peer.wait(ms(38));
    peer.segment(2);
    assert_eq!(peer.receiver.rtt(), Some(ms(31)));
    peer.echo = peer.now;
    peer.wait(ms(20));
    peer.segment(3);
    assert_eq!(
        peer.receiver.rtt(),
        Some(ms(20)),
        "a shorter one counts whole"
    );
}

#[test]
fn settings_that_make_no_sense() {
    let refused = |config: Config| config.validate().unwrap_err().to_string();
    let default = Config::default();
    assert_eq!(
        refused(Config {
            ack_every: 0,
            ..default
        }),
        "ack_every of no segments acknowledges nothing; give at least 1"
    );
    assert_eq!(
        refused(Config {
            initial_buffer: Bytes::new(1000),
            ..default
        }),
        "initial_buffer of 1kb is smaller than two segments; give at least 2.896kb"
    );
    assert_eq!(
        refused(Config {
            max_buffer: Bytes::new(8000),
            ..default
        }),
        "max_buffer of 8kb is below the initial buffer; give at least 65.536kb"
    );
    assert_eq!(
        refused(Config {
            max_sack_blocks: 4,
            ..default
        }),
        "max_sack_blocks of 4 does not fit beside the timestamps; give at most 3"
    );
}
