//! CUBIC and Reno in virtual time: their known properties, on the paths on which they are known.

use crate::support::{Flow, MSS, at_ms, connection, mbit, path};
use congestion::{AnyController, Bytes, ControllerKind, Duration, Ratio, Time};

const RTPROP: Duration = Duration::from_millis(40);
const LOSS_BASED: [ControllerKind; 2] = [ControllerKind::Cubic, ControllerKind::Reno];

fn bulk(kind: ControllerKind, path: path::PathConfig) -> Flow<AnyController> {
    Flow::bulk(AnyController::new(kind, connection(1)), path)
}

#[test]
fn a_buffer_of_one_bdp_keeps_the_pipe_full() {
    for kind in LOSS_BASED {
        let rate = mbit(20);
        let path = path(rate, RTPROP, Ratio::new(1, 1), Ratio::ZERO);
        let mut flow = bulk(kind, path);
        flow.run_until(at_ms(40_000));
        let goodput = flow.goodput(at_ms(10_000), at_ms(40_000));
        let share = goodput.bytes_per_sec() as f64 / rate.bytes_per_sec() as f64;
        assert!(share > 0.97, "{kind}: {share}");
    }
}

#[test]
fn cubic_leaves_slow_start_before_a_deep_buffer_overflows() {
    let mut flow = bulk(
        ControllerKind::Cubic,
        path(mbit(20), RTPROP, Ratio::new(8, 1), Ratio::ZERO),
    );
    flow.run_until(at_ms(3_000));
    let exit = flow.first_in("CongestionAvoidance").expect("an exit");
    assert_eq!(exit.lost, Bytes::ZERO);
    // Once the pipe is full, in the round that tells.
    let bdp = mbit(20).bytes_in(RTPROP);
    let cwnd = exit.snapshot.cwnd;
    assert!((bdp..bdp * 4).contains(&cwnd), "{cwnd}");
}

#[test]
fn reno_leaves_slow_start_by_overflowing_it() {
    let mut flow = bulk(
        ControllerKind::Reno,
        path(mbit(20), RTPROP, Ratio::new(8, 1), Ratio::ZERO),
    );
    flow.run_until(at_ms(3_000));
    let exit = flow.first_in("Recovery").expect("a loss");
    assert!(flow.first_in("CongestionAvoidance").expect("an end").now > exit.now);
    // BDP and buffer, twice over in the round in which the overflow is not known yet.
    let pipe = mbit(20).bytes_in(RTPROP) * 9;
    assert!(exit.snapshot.cwnd > Ratio::new(9, 20).of_bytes(pipe));
}

#[test]
fn cubic_fills_a_deep_buffer_and_keeps_it_so() {
    let mut flow = bulk(
        ControllerKind::Cubic,
        path(mbit(10), RTPROP, Ratio::new(25, 1), Ratio::ZERO),
    );
    flow.run_until(at_ms(60_000));
    let stretch = flow.between(at_ms(20_000), at_ms(60_000));
    // From β of the whole, less what was not sent in the recovery, to the brim.
    let pipe = mbit(10).bytes_in(RTPROP);
    assert!(stretch.iter().all(|point| point.queued > pipe * 10));
    assert!(stretch.iter().any(|point| point.queued > pipe * 24));
    let median = flow.median_rtt(at_ms(20_000), at_ms(60_000));
    assert!(median > RTPROP * 15, "{median}");
    assert!(median < RTPROP * 27, "{median}");
}

/// The goodput at a random loss of one packet in `period`, on a path that is not the limit.
fn goodput_at_loss(kind: ControllerKind, period: u32) -> f64 {
    let loss = Ratio::new(1, period);
    let mut flow = bulk(kind, path(mbit(1_000), RTPROP, Ratio::new(4, 1), loss));
    flow.run_until(at_ms(300_000));
    flow.goodput(at_ms(20_000), at_ms(300_000)).bytes_per_sec() as f64
}

#[test]
fn four_times_the_loss_is_half_of_renos_goodput() {
    let at = |period| goodput_at_loss(ControllerKind::Reno, period);
    let ratio = at(1_600) / at(400);
    assert!((ratio / 2.0 - 1.0).abs() < 0.15, "{ratio}");
    // Mathis et al.: C × MSS / RTT / √p, with C = 1.22 for regular and 1.31 for random losses.
    let window = at(1_600) * RTPROP.as_secs_f64() / MSS.get() as f64;
    let constant = window / 1_600_f64.sqrt();
    assert!((constant / 1.31 - 1.0).abs() < 0.15, "{constant}");
}

#[test]
fn at_light_loss_cubic_has_more_than_reno() {
    let ratio = goodput_at_loss(ControllerKind::Cubic, 20_000)
        / goodput_at_loss(ControllerKind::Reno, 20_000);
    assert!(ratio > 1.05, "{ratio}");
}

#[test]
fn an_application_that_sends_little_has_no_large_window() {
    for kind in LOSS_BASED {
        let writes = (0..200).map(|n| (Time::ZERO + RTPROP * n, MSS * 5));
        let path = path(mbit(20), RTPROP, Ratio::new(4, 1), Ratio::ZERO);
        let mut flow = Flow::with_writes(AnyController::new(kind, connection(1)), path, writes);
        flow.run_until(at_ms(10_000));
        let last = flow.points.last().expect("points");
        assert_eq!(last.delivered, MSS * 5 * 200, "{kind}");
        assert_eq!((last.sent, last.inflight), (last.delivered, Bytes::ZERO));
        // Two writes are in flight for the moment between the second's and the first one's ACK; slow start allows twice that.
        assert!(
            last.snapshot.cwnd <= MSS * 20,
            "{kind}: {}",
            last.snapshot.cwnd
        );
    }
}
