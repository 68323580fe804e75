//! Token-bucket policers.

use congestion::bbr1::{Bbr1, Config};
use congestion::{Bytes, Duration, Ratio, Time};
use path::Policer;

use crate::support::{Flow, at_ms, connection, mbit, path};

/// A flow over a link of 100 Mbit/s that is policed to 10 Mbit/s; the bucket runs empty within the first second.
fn policed(has_policer_model: bool) -> Flow<Bbr1> {
    let rtprop = Duration::from_millis(40);
    let mut path = path(mbit(100), rtprop, Ratio::new(4, 1), Ratio::ZERO);
    path.forward.policer = Some(Policer {
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

    // For 48 rounds there is no loss; without the model each gain cycle loses its excess.
    let believed = at_ms(1_500) + Duration::from_millis(40) * 30;
    let (kept, cycling) = (loss(&with, from, believed), loss(&without, from, believed));
    assert!(kept <= 0.005, "{kept}");
    assert!(cycling >= 0.05, "{cycling}");

    // Looking whether the policer is still there takes its toll.
    let (kept, cycling) = (loss(&with, from, to), loss(&without, from, to));
    assert!(
        kept <= cycling * 0.75,
        "{kept}, without the model {cycling}"
    );
}
