//! Packets of unusual sizes, and a network that marks them all.

use congestion::bbr3::EcnConfig;
use congestion::{Bytes, Connection, Duration, Rate, Ratio, Time};

use super::{Bbr3, Config, STARTUP, after, at_secs, clean, millis};
use crate::support::{Flow, MSS, Point, mbit};

/// The minimal MTU of IPv4 is 68 bytes, of IPv6 1280; an interface of the host itself has 64 kB.
#[test]
fn packets_of_any_size_fill_the_pipe() {
    for bytes in [300, 1_280, 9_000, 65_000] {
        let mss = Bytes::new(bytes);
        for (rate, rtt) in [
            (mbit(1), millis(10)),
            (mbit(10), millis(40)),
            (mbit(400), millis(5)),
        ] {
            let bbr3 = Bbr3::new(
                Connection::new(Time::ZERO, mss, mss * 10),
                Config::default(),
            );
            let mut path = clean(rate, rtt, 8);
            path.forward.buffer = path::Buffer::Bytes(rate.bytes_in(rtt) * 2 + mss * 40);
            let mut flow = Flow::bulk(bbr3, path).with_mss(mss);
            flow.run_until(at_secs(20));
            let goodput = flow.goodput(at_secs(10), at_secs(20));
            let least = rate.scale(Ratio::new(95, 100));
            assert!(goodput >= least, "{bytes}, {rate}, {rtt}: {goodput}");
            let last = flow.points.last().expect("points");
            assert_eq!(last.lost, Bytes::ZERO, "{bytes}, {rate}, {rtt}");
            let delay = flow.median_rtt(at_secs(10), at_secs(20));
            let most = rtt * 11 / 10 + rate.time_for(mss * 16);
            assert!(delay <= most, "{bytes}, {rate}, {rtt}: {delay}");
        }
    }
}

fn marked(rate: Rate, rtt: Duration, ecn: Option<EcnConfig>, is_marked: bool) -> Flow<Bbr3> {
    let config = Config {
        ecn,
        ..Config::default()
    };
    let mut flow = Flow::bulk(Bbr3::new(super::connection(1), config), clean(rate, rtt, 8));
    flow.is_marked = is_marked;
    flow.run_until(at_secs(5));
    flow
}

/// The draft has no response to marks, and Linux's has none on a path that is not short.
#[test]
fn marks_that_have_no_answer_change_nothing() {
    let snapshots = |flow: &Flow<Bbr3>| -> Vec<_> {
        let points = flow.points.iter();
        points
            .map(|point: &Point| (point.now, point.snapshot))
            .collect()
    };
    for (rtt, ecn) in [(millis(2), None), (millis(20), Some(EcnConfig::linux()))] {
        let with = marked(mbit(50), rtt, ecn, true);
        let without = marked(mbit(50), rtt, ecn, false);
        assert!(snapshots(&with) == snapshots(&without), "{rtt}");
    }
}

/// With each packet marked, Startup ends after two rounds, and what is in flight falls to the least; the flow goes on to send, and
/// has the path again soon after the marks have ended.
#[test]
fn a_flow_of_which_all_is_marked_yields_and_comes_back() {
    for (rate, rtt) in [(mbit(100), millis(4)), (mbit(1_000), millis(2))] {
        let mut flow = marked(rate, rtt, Some(EcnConfig::linux()), true);
        let (startup, _) = after(&flow.points, STARTUP)[0];
        assert_eq!(startup[startup.len() - 1].snapshot.round, 2);
        // Four packets a round trip, and probes.
        let goodput = flow.goodput(at_secs(1), at_secs(5));
        let least = Rate::from_transfer(MSS * 4, rtt * 2);
        assert!(goodput >= least, "{rate}, {rtt}: {goodput}");
        assert!(
            goodput <= rate.scale(Ratio::new(2, 3)),
            "{rate}, {rtt}: {goodput}"
        );
        flow.is_marked = false;
        flow.run_until(at_secs(7));
        let again = flow.goodput(at_secs(6), at_secs(7));
        assert!(
            again >= rate.scale(Ratio::new(9, 10)),
            "{rate}, {rtt}: {again}"
        );
    }
}
