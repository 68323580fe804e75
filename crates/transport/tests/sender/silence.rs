//! The path of the ACKs stalls: the sender must not draw wrong conclusions.

use congestion::{AnyController, Bytes, Controller, ControllerKind, Rate, Ratio};
use transport::sender::Config;

use crate::wire::{Fate, GAP, MSS, Silence, Wire, ms};

/// The wire takes a packet each [`GAP`].
fn path_rate() -> Rate {
    Rate::from_transfer(Bytes::new(MSS), GAP)
}

/// The greatest rate sample of a BBR flow since the start of a silence of this many milliseconds, and its estimate
/// afterwards.
fn after_silence(span: u64, is_merged: bool) -> (Rate, Rate) {
    let make = |c| AnyController::on_host(ControllerKind::Bbr1, c);
    let mut wire = Wire::new(&Config::default(), make, |_, _| Fate::Pass);
    wire.write(300_000);
    wire.run_until(ms(5_000));
    wire.silence = Some(Silence {
        from: ms(5_000),
        to: ms(5_000 + span),
        is_merged,
    });
    let seen = wire.acks.len();
    wire.run_until(ms(5_000 + span + 400));
    let samples = wire.acks[seen..].iter();
    let greatest = samples.filter_map(|ack| ack.rate.delivery_rate).max();
    let estimate = wire.sender.controller().snapshot().btl_bw;
    (greatest.expect("samples"), estimate.expect("an estimate"))
}

/// A spurious timeout declares everything in flight lost, and its retransmission leaves into a pipe that only looks
/// empty: the interval that the late ACK closes began before the silence.
#[test]
fn a_late_ack_shows_no_more_than_the_path_can_deliver() {
    let most = path_rate().scale(Ratio::new(101, 100));
    let merged = [
        300, 600, 650, 680, 700, 720, 740, 760, 800, 900, 1_000, 1_200,
    ];
    let single = [300, 600, 1_000];
    let cases = merged.map(|span| (span, true)).into_iter();
    for (span, is_merged) in cases.chain(single.map(|span| (span, false))) {
        let (greatest, estimate) = after_silence(span, is_merged);
        let case = format!("silent for {span} ms, merged: {is_merged}");
        assert!(greatest <= most, "{case}: a sample of {greatest}");
        assert!(estimate <= most, "{case}: estimated {estimate}");
    }
}
