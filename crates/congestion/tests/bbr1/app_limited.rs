//! Applications that do not always have data.

use congestion::{Duration, Ratio, Time};

use super::bbr1;
use crate::support::{Flow, MSS, at_ms, mbit, path};

const RTPROP: Duration = Duration::from_millis(40);

#[test]
fn a_slow_application_never_lowers_the_estimate() {
    // Two seconds of bulk, then a tenth of the rate.
    let bulk = [(Time::ZERO, mbit(10).bytes_in(Duration::from_secs(2)))];
    let trickle = (0..1_000).map(|i| (at_ms(2_500 + 12 * i), MSS));
    let writes = bulk.into_iter().chain(trickle);
    let path = path(mbit(10), RTPROP, Ratio::new(4, 1), Ratio::ZERO);
    let mut flow = Flow::with_writes(bbr1(), path, writes);
    flow.run_until(at_ms(14_000));
    let estimates = flow.between(at_ms(1_500), at_ms(14_000));
    assert!(estimates.len() > 1_000);
    for point in estimates {
        let bw = point.snapshot.btl_bw.expect("known");
        assert!(
            bw >= mbit(10).scale(Ratio::new(98, 100)),
            "{bw} at {:?}",
            point.now
        );
    }
}

#[test]
fn a_quiet_start_does_not_end_startup() {
    // Small requests for three seconds: many rounds without growth, all of them the application's doing.
    let requests = (0..30).map(|i| (at_ms(100 * i), MSS * 2));
    let writes = requests.chain([(at_ms(3_000), mbit(100).bytes_in(Duration::from_secs(60)))]);
    let path = path(mbit(100), RTPROP, Ratio::new(4, 1), Ratio::ZERO);
    let mut flow = Flow::with_writes(bbr1(), path, writes);
    flow.run_until(at_ms(8_000));
    let quiet = flow.between(Time::ZERO, at_ms(3_000));
    assert!(
        quiet
            .iter()
            .all(|point| point.snapshot.state.name == "Startup")
    );
    let exit = flow.first_in("Drain").expect("bulk ends Startup");
    assert!(
        exit.snapshot.btl_bw >= Some(mbit(98)),
        "{:?}",
        exit.snapshot.btl_bw
    );
    assert!(exit.now <= at_ms(4_000), "{:?}", exit.now);
    let goodput = flow.goodput(at_ms(4_000), at_ms(8_000));
    assert!(goodput >= mbit(95), "{goodput}");
}

#[test]
fn after_an_idle_spell_it_goes_on_at_the_estimate() {
    let chunk = mbit(100).bytes_in(Duration::from_secs(2));
    let writes = [(Time::ZERO, chunk), (at_ms(5_000), chunk)];
    let path = path(mbit(100), RTPROP, Ratio::new(1, 2), Ratio::ZERO);
    let mut flow = Flow::with_writes(bbr1(), path, writes);
    flow.run_until(at_ms(8_000));
    let goodput = flow.goodput(at_ms(5_050), at_ms(6_500));
    assert!(goodput >= mbit(95), "{goodput}");
    let restart = flow.between(at_ms(5_000), at_ms(5_000) + RTPROP * 2);
    let lost_before = flow
        .between(Time::ZERO, at_ms(5_000))
        .last()
        .expect("points")
        .lost;
    assert_eq!(restart.last().expect("points").lost, lost_before);
}
