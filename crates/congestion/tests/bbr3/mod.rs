//! BBRv3 in virtual time: the example test cases of draft-ietf-ccwg-bbr's appendix, each by its title, with its numbered
//! points as comments.

mod ack_frequency;
mod bounds;
mod control;
mod down;
mod idle;
mod losses;
mod offload;
mod packets;
mod paths;
mod probe_rtt;
mod self_limited;
mod startup;
mod undo;
mod up;

use crate::support::{Flow, MSS, Point, connection, mbit, path};
use congestion::bbr3::{Bbr3, Config};
use congestion::{Bytes, Duration, Rate, Ratio, Snapshot, Time};
use path::{Change, PathConfig};

const DRAIN: &str = "Drain";
const DOWN: &str = "ProbeBW_DOWN";
const CRUISE: &str = "ProbeBW_CRUISE";
const REFILL: &str = "ProbeBW_REFILL";
const UP: &str = "ProbeBW_UP";
const PROBE_RTT: &str = "ProbeRTT";
const STARTUP: &str = "Startup";

/// A time beyond the end of these tests.
const LATE: Time = at_secs(100);

const fn at_secs(secs: u64) -> Time {
    Time::from_nanos(1 + secs * 1_000_000_000)
}

fn millis(ms: u64) -> Duration {
    Duration::from_millis(ms)
}

fn bbr3() -> Bbr3 {
    Bbr3::new(connection(1), Config::default())
}

fn bulk(path: PathConfig) -> Flow<Bbr3> {
    Flow::bulk(bbr3(), path)
}

/// A clean path with a buffer of this many BDP.
fn clean(rate: Rate, rtt: Duration, buffer: u32) -> PathConfig {
    path(rate, rtt, Ratio::new(buffer, 1), Ratio::ZERO)
}

/// The same with another rate from `at` on.
fn changing(mut path: PathConfig, at: Time, rate: Rate) -> PathConfig {
    path.forward.changes = vec![Change {
        at,
        rate: Some(rate),
        ..Change::default()
    }];
    path
}

/// Writes of this many packets each `interval`, from `from` on for `span`.
fn trickle(
    from: Time,
    span: Duration,
    interval: Duration,
    packets: u64,
) -> impl Iterator<Item = (Time, Bytes)> {
    let count = span.as_nanos() / interval.as_nanos();
    (0..count).map(move |i| (from + interval * i, MSS * packets))
}

/// Writes that add up to six tenths of `rate`, each tenth of `rtt`, from `from` on for `span`.
fn limited(
    (rate, rtt): (Rate, Duration),
    from: Time,
    span: Duration,
) -> impl Iterator<Item = (Time, Bytes)> {
    let interval = rtt / 10;
    let bytes = Ratio::new(6, 10).of_bytes(rate.bytes_in(interval));
    trickle(from, span, interval, bytes.get() / MSS.get())
}

/// For cases in which something happens to some packets of a round trip.
fn paths_with_many_packets() -> [(Rate, Duration); 3] {
    [
        (mbit(10), millis(100)),
        (mbit(100), millis(40)),
        (mbit(1_000), millis(10)),
    ]
}

/// The stays in states, one after the other.
fn stays(points: &[Point]) -> Vec<&[Point]> {
    points
        .chunk_by(|a, b| a.snapshot.state == b.snapshot.state)
        .collect()
}

fn state(points: &[Point]) -> &'static str {
    points[0].snapshot.state.name
}

/// Pairs of a stay in `state` and the one after it.
fn after<'a>(points: &'a [Point], state_name: &str) -> Vec<(&'a [Point], &'a [Point])> {
    let stays = stays(points);
    stays
        .windows(2)
        .filter(|pair| state(pair[0]) == state_name)
        .map(|pair| (pair[0], pair[1]))
        .collect()
}

fn rounds(stay: &[Point], next: &[Point]) -> u64 {
    next[0].snapshot.round - stay[0].snapshot.round
}

/// The delivery rates at the starts of the rounds in a stretch, without those that the application limited.
fn rates_of_rounds(points: &[Point]) -> impl Iterator<Item = Rate> {
    let starts = points
        .windows(2)
        .filter(|pair| pair[1].snapshot.round > pair[0].snapshot.round);
    starts
        .map(|pair| pair[1])
        .filter(|start| !start.is_app_limited)
        .filter_map(|start| start.delivery_rate)
}

/// The number of these rounds until three in a row did not grow by a quarter over the latest that did, or over
/// `baseline` (draft, "Exiting Acceleration Based on Bandwidth Plateau").
fn until_plateau(mut baseline: Rate, mut rates: impl Iterator<Item = Rate>) -> Option<usize> {
    let mut flat = 0;
    let last = rates.position(|rate| {
        flat += 1;
        if rate >= baseline.scale(Ratio::new(5, 4)) {
            (baseline, flat) = (rate, 0);
        }
        flat == 3
    });
    last.map(|index| index + 1)
}

#[track_caller]
fn assert_within(actual: Rate, expected: Rate, percent: u32) {
    let (least, most) = (
        Ratio::new(100 - percent, 100),
        Ratio::new(100 + percent, 100),
    );
    assert!(
        expected.scale(least) <= actual && actual <= expected.scale(most),
        "{actual}, not {expected} ± {percent} %"
    );
}

/// A path, and the number of quanta for which the window has room.
#[derive(Debug, Clone, Copy)]
struct Case {
    rate: Rate,
    rtt: Duration,
    quanta: u32,
}

impl Case {
    fn bbr3(self) -> Bbr3 {
        let offload_quanta = self.quanta;
        let config = Config {
            offload_quanta,
            ..Config::default()
        };
        Bbr3::new(connection(1), config)
    }

    /// A flow with unlimited data on a clean path.
    fn bulk(self) -> Flow<Bbr3> {
        Flow::bulk(self.bbr3(), clean(self.rate, self.rtt, 8))
    }

    /// `Inflight(1.0)`, for a state other than UP.
    fn full(self, snapshot: &Snapshot) -> Bytes {
        let bw = snapshot.btl_bw.expect("known");
        let bdp = bw.bytes_in(snapshot.rtprop.expect("known"));
        let budget = snapshot.send_quantum * u64::from(self.quanta);
        bdp.max(budget).max(MSS * 4)
    }
}

/// From 1 Mbit/s to 10 Gbit/s, from less than a millisecond to 0.1 s; with QUIC's budget for offload and, where it is more than a
/// BDP, TCP's too. (With a longer round trip, or four packets that take as long, ProbeRTT comes between.)
fn cases_of_all_kinds() -> Vec<Case> {
    let paths = [
        (mbit(1), millis(100)),
        (mbit(10), millis(40)),
        (mbit(10), millis(100)),
        (mbit(100), millis(100)),
        (mbit(1_000), millis(10)),
        (mbit(10_000), Duration::from_micros(800)),
    ];
    let quic = paths.map(|(rate, rtt)| Case {
        rate,
        rtt,
        quanta: Config::quic().offload_quanta,
    });
    quic.into_iter().chain(cases_of_offload()).collect()
}

/// In which a quantum is a BDP.
fn cases_of_offload() -> impl Iterator<Item = Case> {
    let budgets = [Config::quic(), Config::tcp()].map(|config| config.offload_quanta);
    budgets.into_iter().flat_map(|quanta| {
        [mbit(100), mbit(400)].map(|rate| Case {
            rate,
            rtt: millis(1),
            quanta,
        })
    })
}
