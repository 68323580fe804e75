//! Token-bucket policers.

use congestion::bbr1::{Bbr1, Config};
use congestion::{Bytes, Duration, Ratio, Time};
use path::Policer;

use crate::support::{Flow, at_ms, connection, mbit, path};

/// A flow over a link of 100 Mbit/s that is policed to 10 Mbit/s; the bucket runs empty within the first second.
fn policed(has_policer_model: bool) -> Flow<Bbr1> {
    let rtprop = Duration::from_millis(40);
    let mut path = path(mbit(100), rtprop, Ratio::new(4, 1), Ratio::ZERO);
    path.forward.effects.policer = Some(Policer {
        rate: mbit(10),
        burst: Bytes::new(5_000_000),
    });
    let config = Config {
        has_policer_model,
        ..Config::default()
    };
    let mut flow = Flow::bulk(Bbr1::new(connection(1), config), path);
    flow.run_until(at_ms(20_000));
    flow
}

/// The share of packets that are lost.
fn loss(flow: &Flow<Bbr1>, from: Time, to: Time) -> f64 {
    let points = flow.between(from, to);
    let (first, last) = (points[0], points[points.len() - 1]);
    (last.lost - first.lost).get() as f64 / (last.sent - first.sent).get() as f64
}

#[test]
fn the_policed_rate_is_found_and_kept_to() {
    let (with, without) = (policed(true), policed(false));
    let (from, to) = (at_ms(1_500), at_ms(20_000));
    let goodput = with.goodput(from, to);
    assert!(goodput >= mbit(10).scale(Ratio::new(95, 100)), "{goodput}");

    // For 48 rounds there is no loss; without the model each gain cycle loses its excess: a quarter in an eighth of the time.
    let believed = at_ms(1_500) + Duration::from_millis(40) * 30;
    let (kept, cycling) = (loss(&with, from, believed), loss(&without, from, believed));
    assert!(kept <= 0.005, "{kept}");
    assert!(cycling >= 0.03, "{cycling}");

    // The checks for the policer have a cost: after 48 rounds gain cycling resumes, and two intervals of four rounds or
    // more must lose a fifth before a policer is detected again. Gain cycling alone settles just above the policed rate
    // and loses steadily, but never a fifth.
    let (kept, cycling) = (loss(&with, from, to), loss(&without, from, to));
    assert!(kept <= cycling * 0.8, "{kept}, without the model {cycling}");
}

/// The case in which the model saves most: an application that pauses, so that the bucket fills and each burst through
/// it looks like the bandwidth of the link.
#[test]
fn a_bucket_that_fills_in_pauses_deceives_only_without_the_model() {
    let lost_share = |has_policer_model| {
        let rtprop = Duration::from_millis(40);
        let mut path = path(mbit(100), rtprop, Ratio::new(4, 1), Ratio::ZERO);
        path.forward.effects.policer = Some(Policer {
            rate: mbit(10),
            burst: Bytes::new(200_000),
        });
        let config = Config {
            has_policer_model,
            ..Config::default()
        };
        let writes = (0..30).map(|i| (at_ms(2_000 * i), Bytes::new(1_000_000)));
        let mut flow = Flow::with_writes(Bbr1::new(connection(1), config), path, writes);
        flow.run_until(at_ms(60_000));
        let last = flow.points[flow.points.len() - 1];
        assert!(last.delivered >= Bytes::new(30_000_000));
        last.lost.get() as f64 / last.sent.get() as f64
    };
    let (with, without) = (lost_share(true), lost_share(false));
    assert!(with <= without * 0.6, "{with}, without the model {without}");
}
