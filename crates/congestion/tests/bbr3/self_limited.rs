//! Where the flow sends slower than the path delivers, its delivery rates show its own sending. What losses make of them then, as the
//! draft's pseudocode has it and with `ignore_self_limited`.

use congestion::{Duration, Ratio};

use super::losses::lossy;
use super::{
    Bbr3, CRUISE, Config, DOWN, PROBE_RTT, UP, after, at_secs, bbr3, changing, clean, millis, state,
};
use crate::support::{Flow, Point, connection, mbit};

fn ignoring() -> Bbr3 {
    let config = Config {
        ignore_self_limited: true,
        ..Config::default()
    };
    Bbr3::new(connection(1), config)
}

/// Thirty seconds of a flow that loses every hundredth packet.
fn seen(bbr3: Bbr3) -> Flow<Bbr3> {
    let mut flow = lossy(bbr3, 100);
    flow.run_until(at_secs(30));
    flow
}

/// The short-term bound as a share of the greatest bandwidth; one without a bound.
fn bound(point: &Point) -> f64 {
    let max_bw = point.snapshot.btl_bw.expect("known").bits_per_sec();
    let bound = point
        .snapshot
        .short_term_bw
        .map_or(max_bw, |bw| bw.bits_per_sec());
    bound as f64 / max_bw as f64
}

/// A sample cannot show more than what DOWN has sent (`BBR.ProbeDownPacingGain`, less the pacing margin). So the first loss round
/// that sees only packets of DOWN makes this the bound, and nothing raises it until the next probe.
#[test]
fn a_loss_in_down_makes_its_own_pace_the_bound() {
    let ends = |flow: &Flow<Bbr3>| -> Vec<f64> {
        let ends = after(&flow.points, DOWN).into_iter();
        let ends = ends.filter(|(_, next)| state(next) == CRUISE);
        ends.map(|(stay, _)| bound(&stay[stay.len() - 1])).collect()
    };
    let flow = seen(bbr3());
    let bounds = ends(&flow);
    assert!(bounds.len() >= 4, "{bounds:?}");
    assert!(bounds.iter().all(|bound| *bound <= 0.9), "{bounds:?}");
    // Without such samples it is what the probe has found, or there is none.
    let flow = seen(ignoring());
    let bounds = ends(&flow);
    assert!(bounds.iter().all(|bound| *bound >= 0.95), "{bounds:?}");
}

/// The same after ProbeRTT, whose samples show half of the bandwidth: the bound is `BBR.Beta` of it.
#[test]
fn a_loss_after_probe_rtt_makes_its_own_pace_the_bound() {
    let least = |flow: &Flow<Bbr3>| -> Vec<f64> {
        let pairs = after(&flow.points, PROBE_RTT).into_iter();
        pairs
            .map(|(_, next)| {
                let early = next
                    .iter()
                    .take_while(|point| point.snapshot.round <= next[0].snapshot.round + 2);
                early.map(bound).fold(1.0, f64::min)
            })
            .collect()
    };
    let bounds = least(&seen(bbr3()));
    assert!(bounds.len() >= 4, "{bounds:?}");
    assert!(
        bounds.iter().all(|bound| (0.69..0.71).contains(bound)),
        "{bounds:?}"
    );
    let bounds = least(&seen(ignoring()));
    assert!(bounds.len() >= 4, "{bounds:?}");
    assert!(bounds.iter().all(|bound| *bound >= 0.95), "{bounds:?}");
}

/// The gain of the setting. The flow still responds to the path: DOWN and ProbeRTT end, and CRUISE responds to losses.
#[test]
fn losses_that_are_not_answered_while_slow_leave_more_of_the_rate() {
    let goodput = |bbr3| {
        let flow = seen(bbr3);
        flow.goodput(at_secs(2), at_secs(30)).bits_per_sec() as f64 / 99e6
    };
    let (draft, own) = (goodput(bbr3()), goodput(ignoring()));
    assert!(own > draft + 0.03, "{own}, {draft}");
    // A tenth of the rate from the first DOWN on.
    let (before, after) = (mbit(100), mbit(10));
    let path = clean(before, millis(40), 1);
    let mut first = Flow::bulk(ignoring(), path.clone());
    first.run_until_in(UP, at_secs(100));
    first.run_until_in(DOWN, at_secs(100));
    let from = first.now();
    let mut flow = Flow::bulk(ignoring(), changing(path, from, after));
    flow.run_until(from + Duration::from_secs(10));
    let goodput = flow.goodput(from + Duration::from_secs(5), flow.now());
    assert!(goodput > after.scale(Ratio::new(9, 10)), "{goodput}");
}
