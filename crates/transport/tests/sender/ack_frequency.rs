//! Requests for ACKs (BBR draft, "Impact of changing ACK frequency").

use congestion::{AckFrequency, Duration};
use transport::scheduler::Pacing;
use transport::segment::AckRequest;
use transport::sender::Config;

use crate::wire::{Fate, Fixed, Wire};

/// A transfer with a window of `cwnd` packets over 100 ms, and the latest request.
fn requesting(frequency: AckFrequency, cwnd: u64) -> (Wire<Fixed>, Option<AckRequest>) {
    let config = Config {
        requests_acks: true,
        pacing: Pacing::None,
        ..Config::default()
    };
    let make = |connection| Fixed {
        ack_frequency: frequency,
        ..Fixed::packets(connection, cwnd)
    };
    let mut wire = Wire::new(&config, make, |_, _| Fate::Pass);
    wire.write(10_000);
    wire.finish();
    let last = wire.sent.last().expect("packets").1.ack_request;
    (wire, last)
}

#[test]
fn the_request_is_what_the_controller_wants() {
    let millis = Duration::from_millis;
    for (frequency, cwnd, expected) in [
        (AckFrequency::Usual, 40, None),
        (AckFrequency::Frequent, 40, Some((2, millis(25), false))),
        (AckFrequency::Frequent, 4, Some((1, millis(25), false))),
        (AckFrequency::Rare, 40, Some((10, millis(50), false))),
        (AckFrequency::Rare, 4, Some((2, millis(50), false))),
        (AckFrequency::Prompt, 40, Some((2, millis(25), true))),
    ] {
        let (_, request) = requesting(frequency, cwnd);
        let Some((every, delay, is_immediate)) = expected else {
            assert_eq!(request, None);
            continue;
        };
        let request = request.expect("a request");
        assert_eq!((request.every, request.is_immediate), (every, is_immediate));
        // A part of the smoothed RTT, which delayed ACKs lengthen.
        let share = request.max_delay.as_nanos() as f64 / delay.as_nanos() as f64;
        assert!((1.0..1.5).contains(&share), "{frequency:?}: {share}");
    }
}

#[test]
fn fewer_acks_come_if_few_are_requested() {
    let acks = |frequency| requesting(frequency, 40).0.receiver.stats().acks;
    let (usual, rare) = (acks(AckFrequency::Usual), acks(AckFrequency::Rare));
    assert!(rare < usual / 3, "{rare} and {usual}");
    let frequent = acks(AckFrequency::Frequent);
    assert!(frequent >= usual, "{frequent} and {usual}");
}
