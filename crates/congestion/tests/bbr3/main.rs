//! BBRv3 in virtual time: the example test cases of draft-ietf-ccwg-bbr's appendix, each by its title, with its numbered
//! points as comments.

mod down;
mod losses;
mod paths;
mod probe_rtt;
mod startup;
#[path = "../support/mod.rs"]
mod support;
mod undo;
mod up;

use congestion::bbr3::{Bbr3, Config};
use congestion::{Bytes, Duration, Rate, Ratio, Time};
use path::{Change, PathConfig};
use support::{Flow, MSS, Point, connection, mbit, path};

const DRAIN: &str = "Drain";
const DOWN: &str = "ProbeBW_DOWN";
const CRUISE: &str = "ProbeBW_CRUISE";
const REFILL: &str = "ProbeBW_REFILL";
const UP: &str = "ProbeBW_UP";
const PROBE_RTT: &str = "ProbeRTT";
const STARTUP: &str = "Startup";

/// Longer than any of these tests takes to get anywhere.
const LATE: Time = at_secs(20);

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

/// A clean path with so many BDP of buffer.
fn clean(rate: Rate, rtt: Duration, buffer: u32) -> PathConfig {
    path(rate, rtt, Ratio::new(buffer, 1), Ratio::ZERO)
}

/// The same with another rate from `at` on.
fn changing(mut path: PathConfig, at: Time, rate: Rate) -> PathConfig {
    path.forward.changes = vec![Change {
        at,
        rate: Some(rate),
        delay: None,
    }];
    path
}

/// Writes of so many packets each `interval`, from `from` on for `span`.
fn trickle(
    from: Time,
    span: Duration,
    interval: Duration,
    packets: u64,
) -> impl Iterator<Item = (Time, Bytes)> {
    let count = span.as_nanos() / interval.as_nanos();
    (0..count).map(move |i| (from + interval * i, MSS * packets))
}

/// Writes that come to six tenths of `rate`, each tenth of `rtt`, from `from` on for `span`.
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

/// From 1 Mbit/s to 10 Gbit/s, from less than a millisecond to 0.1 s. (With a longer round trip, ProbeRTT comes between; 64 kbit/s is among the paths with less than a packet of BDP.)
fn paths_of_all_kinds() -> [(Rate, Duration); 6] {
    [
        (mbit(1), millis(100)),
        (mbit(10), millis(40)),
        (mbit(10), millis(100)),
        (mbit(100), millis(100)),
        (mbit(1_000), millis(10)),
        (mbit(10_000), Duration::from_micros(800)),
    ]
}
