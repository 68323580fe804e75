//! Opening with data (RFC 7413), with both ends under test.

use congestion::{Bytes, Time};
use transport::burst::{Burst, Kind};
use transport::receiver::{self, Receiver};
use transport::segment::Body;
use transport::sender::{Config, Limits, Sender};

use crate::wire::{Fixed, MSS, ms};

/// The payload that fits a SYN: 40 bytes are reserved for options.
const FITTING: u64 = 1_460 - 40;

fn opening(bytes: u64) -> (Sender<Fixed>, Receiver) {
    let make = |connection| Fixed::packets(connection, 10);
    let mut sender = Sender::new(Time::ZERO, 0, &Config::default(), make, 0);
    sender.open_fast();
    assert_eq!(sender.poll_burst(Time::ZERO), None, "nothing to bring");
    sender.write(Bytes::new(bytes));
    sender.finish();
    (sender, Receiver::new(0, &receiver::Config::default()))
}

/// The only burst to send.
fn only(sender: &mut Sender<Fixed>, now: Time) -> Burst {
    let burst = sender.poll_burst(now).expect("something to send");
    assert_eq!(sender.poll_burst(now), None);
    sender.on_departed(&burst);
    burst
}

/// The receiver's answer to a burst.
fn answer(receiver: &mut Receiver, now: Time, burst: &Burst) -> Body {
    let mut answers = burst.segments().map(|segment| {
        let answer = receiver.on_segment(now, &segment.body, false);
        answer.map(|answer| answer.body)
    });
    answers.next().flatten().expect("an answer to the first")
}

#[test]
fn what_fits_the_syn_needs_no_more() {
    let (mut sender, mut receiver) = opening(1_000);
    let syn = only(&mut sender, ms(0));
    assert_eq!((syn.kind, syn.bytes), (Kind::Syn, 1_000));
    assert_eq!(syn.wire_size().get(), 52 + 8 + 12 + 1_000);
    let answer = answer(&mut receiver, ms(50), &syn);
    assert_eq!(receiver.received(), 1_000);
    assert_eq!(receiver.next_timer(), None, "the SYN-ACK acknowledges it");
    let told = sender.on_segment(ms(100), &answer).expect("data arrived");
    assert_eq!(told.newly_acked, Bytes::new(1_000));
    assert_eq!(told.rtt.map(|it| it.rtt), Some(ms(100).since(ms(0))));
    assert!(sender.is_established() && sender.is_done());
    // The sender is busy from the SYN on, with nothing more to send.
    assert_eq!(sender.poll_burst(ms(100)), None);
    let expected = Limits {
        application: ms(100).since(ms(0)),
        idle: ms(30).since(ms(0)),
        ..Limits::default()
    };
    assert_eq!(sender.limits(ms(130)), expected);
    let stats = sender.stats();
    assert_eq!((stats.sent.get(), stats.delivered.get()), (1_000, 1_000));
    assert_eq!((stats.packets_sent, stats.packets_retransmitted), (1, 0));
    assert_eq!(sender.below_tcp(), Bytes::ZERO);
}

#[test]
fn the_rest_follows_the_handshake() {
    let (mut sender, mut receiver) = opening(3 * MSS);
    let syn = only(&mut sender, ms(0));
    assert_eq!(u64::from(syn.bytes), FITTING);
    let answer = answer(&mut receiver, ms(50), &syn);
    sender.on_segment(ms(100), &answer);
    let first = sender.poll_burst(ms(100)).expect("the rest");
    assert_eq!(first.seq, FITTING);
    // Data that did not fit were held back, and not by the application.
    while sender.poll_burst(ms(100)).is_some() {}
    let held_back = sender.limits(ms(100)).congestion_window;
    assert_eq!(held_back, ms(100).since(ms(0)));
}

#[test]
fn a_syn_is_repeated_without_data_which_follow_the_handshake_at_once() {
    let (mut sender, mut receiver) = opening(1_000);
    only(&mut sender, ms(0));
    assert_eq!(sender.next_timer(), Some(ms(1_000)));
    sender.on_timer(ms(1_000));
    let again = only(&mut sender, ms(1_000));
    assert_eq!((again.kind, again.bytes), (Kind::Syn, 0));
    let opened = answer(&mut receiver, ms(1_050), &again);
    assert_eq!(receiver.received(), 0);
    let told = sender.on_segment(ms(1_100), &opened);
    assert!(told.is_none(), "it acknowledges no data");
    let busy = ms(1_100).since(ms(0));
    assert_eq!(sender.limits(ms(1_100)).application, busy);
    let data = only(&mut sender, ms(1_100));
    assert_eq!((data.kind, data.seq, data.bytes), (Kind::Data, 0, 1_000));
    let acknowledged = answer(&mut receiver, ms(1_150), &data);
    sender.on_segment(ms(1_200), &acknowledged);
    assert!(sender.is_done());
    let stats = sender.stats();
    assert_eq!(
        (stats.sent.get(), stats.retransmitted.get()),
        (2_000, 1_000)
    );
    // A SYN's data are no signal of congestion.
    assert_eq!((stats.packets_lost, stats.recoveries), (0, 0));
    assert!(sender.controller().changes.is_empty());
}

#[test]
fn a_late_answer_to_both_syns_is_believed_once() {
    let (mut sender, mut receiver) = opening(1_000);
    let syn = only(&mut sender, ms(0));
    sender.on_timer(ms(1_000));
    let again = only(&mut sender, ms(1_000));
    let both = [syn, again].map(|syn| answer(&mut receiver, ms(1_500), &syn));
    for answer in both {
        sender.on_segment(ms(2_000), &answer);
        assert!(sender.is_done());
    }
    assert_eq!(sender.stats().delivered, Bytes::new(1_000));
}

#[test]
fn an_acknowledgement_of_more_than_the_syn_brought_is_not_believed() {
    let (mut sender, _) = opening(3 * MSS);
    only(&mut sender, ms(0));
    let lie = Body::SynAck {
        sent: ms(50),
        echo: ms(0),
        next: 2 * MSS,
        window: 1 << 20,
    };
    sender.on_segment(ms(100), &lie);
    assert_eq!(sender.stats().delivered, Bytes::new(FITTING));
}

#[test]
fn who_was_opened_with_data_sends_at_once() {
    let make = |connection| Fixed::packets(connection, 10);
    let mut sender = Sender::new(Time::ZERO, 0, &Config::default(), make, 0);
    let mut receiver = Receiver::new(0, &receiver::Config::default());
    sender.write(Bytes::new(1_000));
    assert_eq!(sender.poll_burst(ms(10)), None);
    sender.accept(receiver.accept(ms(10)));
    let data = only(&mut sender, ms(10));
    assert_eq!((data.kind, data.bytes), (Kind::Data, 1_000));
    let answer = answer(&mut receiver, ms(60), &data);
    sender.on_segment(ms(110), &answer).expect("an ACK");
    assert_eq!(sender.srtt(), Some(ms(100).since(ms(0))));
}
