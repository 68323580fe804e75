//! Startup and Drain.

use congestion::{Bytes, Duration, Rate, Ratio};

use super::bulk;
use crate::support::{MSS, at_ms, mbit, path};

const RTPROP: Duration = Duration::from_millis(40);

fn rate() -> Rate {
    mbit(100)
}

fn bdp() -> Bytes {
    rate().bytes_in(RTPROP)
}

#[test]
fn doubles_the_delivery_rate_each_round() {
    let mut flow = bulk(path(rate(), RTPROP, Ratio::new(8, 1), Ratio::ZERO));
    flow.run_until(at_ms(1_000));
    let growing = |point: &&crate::support::Point| {
        let bw = point.snapshot.btl_bw.unwrap_or_default();
        bw < rate().scale(Ratio::new(1, 2))
    };
    let mut rounds: Vec<(u64, Rate)> = Vec::new();
    for point in flow.points.iter().take_while(growing) {
        let bw = point.snapshot.btl_bw.expect("a sample with each ACK");
        match rounds.last_mut() {
            Some((round, last)) if *round == point.snapshot.round => *last = bw,
            _ => rounds.push((point.snapshot.round, bw)),
        }
    }
    assert!(rounds.len() >= 4, "{rounds:?}");
    // The first round is the initial window's, the last one is not over.
    let whole = &rounds[1..rounds.len() - 1];
    let growth = |from: Rate, to: Rate| to.bytes_per_sec() as f64 / from.bytes_per_sec() as f64;
    let total = growth(whole[0].1, whole[whole.len() - 1].1);
    let per_round = total.powf(1.0 / (whole.len() - 1) as f64);
    assert!(
        (1.8..2.4).contains(&per_round),
        "grew by {per_round}: {rounds:?}"
    );
}

#[test]
fn leaves_three_rounds_after_the_plateau() {
    let mut flow = bulk(path(rate(), RTPROP, Ratio::new(8, 1), Ratio::ZERO));
    flow.run_until(at_ms(2_000));
    let near_full = rate().scale(Ratio::new(4, 5));
    let plateau = flow
        .points
        .iter()
        .find(|point| point.snapshot.btl_bw >= Some(near_full))
        .expect("the pipe gets full");
    let exit = flow.first_in("Drain").expect("Startup ends");
    let rounds = exit.snapshot.round - plateau.snapshot.round;
    assert!((3..=4).contains(&rounds), "{rounds} rounds");
    assert!(exit.snapshot.btl_bw >= Some(rate().scale(Ratio::new(98, 100))));
}

#[test]
fn queues_no_more_than_its_window_allows() {
    let mut flow = bulk(path(rate(), RTPROP, Ratio::new(8, 1), Ratio::ZERO));
    flow.run_until(at_ms(2_000));
    let most = flow.points.iter().map(|point| point.queued).max();
    // Gain − 1 BDP, and the end hosts' share of the window.
    let bound = Ratio::new(1_885, 1_000).of_bytes(bdp()) + MSS * 80;
    assert!(most <= Some(bound), "{most:?} of {bound:?}");
    assert!(
        most >= Some(bdp()),
        "Startup should have made a queue to drain"
    );
}

#[test]
fn drain_empties_the_queue() {
    let mut flow = bulk(path(rate(), RTPROP, Ratio::new(8, 1), Ratio::ZERO));
    flow.run_until(at_ms(2_000));
    let drain = flow.first_in("Drain").expect("Startup ends").now;
    let done = flow.first_in("ProbeBW").expect("Drain ends");
    assert!(done.queued <= bdp().min(MSS * 40), "{:?} left", done.queued);
    let length = done.now.since(drain);
    assert!(length <= RTPROP * 4, "{length} to drain");
    let rounds = done.snapshot.round - flow.first_in("Drain").expect("seen").snapshot.round;
    assert!(rounds <= 1, "{rounds} rounds to drain");
    let after = flow.median_rtt(done.now + RTPROP * 2, at_ms(2_000));
    assert!(after <= RTPROP * 11 / 10, "{after}");
}

#[test]
fn a_shallow_buffer_does_not_keep_it_from_the_rate() {
    let mut flow = bulk(path(rate(), RTPROP, Ratio::new(1, 4), Ratio::ZERO));
    flow.run_until(at_ms(5_000));
    let goodput = flow.goodput(at_ms(1_000), at_ms(5_000));
    assert!(goodput >= rate().scale(Ratio::new(9, 10)), "{goodput}");
}

#[test]
fn a_path_below_a_millisecond_gets_full() {
    let rate = mbit(1_000);
    let rtprop = Duration::from_micros(50);
    let mut config = path(rate, rtprop, Ratio::ONE, Ratio::ZERO);
    config.forward.buffer = path::Buffer::Bytes(Bytes::new(1_000_000));
    let mut flow = bulk(config);
    flow.run_until(at_ms(200));
    let goodput = flow.goodput(at_ms(20), at_ms(200));
    assert!(goodput >= rate.scale(Ratio::new(95, 100)), "{goodput}");
}
