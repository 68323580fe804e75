//! The states as the table that the paper has them in: fixed gains, and a criterion for the end of each. The table on
//! `docs/bbr1.md` is made of runs: each gain is one that a run had, and each end of a state was the first ACK at which its
//! criterion held.

use std::collections::BTreeSet;
use std::fmt::Write;
use std::path::Path;
use std::{env, fs};

use congestion::bbr1::states::{self, DRAIN, PROBE_BW, PROBE_RTT, STARTUP};
use congestion::bbr1::{Bbr1, Config};
use congestion::{
    Ack, Bytes, Cause, Controller, Duration, RateSample, Ratio, Recovery, RttSample, State, Time,
};
use rand_xoshiro::SplitMix64;
use rand_xoshiro::rand_core::{Rng, SeedableRng};

use super::{bbr1, bulk};
use crate::support::{Flow, MSS, Point, at_ms, connection, mbit, path};

/// The variable with the value `write` makes the test rewrite the page.
const VARIABLE: &str = "STATES";

const PAGE: &str = "../../docs/bbr1.md";

/// A way out of a state.
struct Exit {
    from: State,
    to: State,
    criterion: &'static str,
    /// True if the criterion holds at the last of these points: those of the whole run so far, and the index of the
    /// first in the state.
    holds: fn(&[Point], usize) -> bool,
}

/// The sign of a state that is left for ProbeRTT.
const EXPIRED: &str = "no RTT was below RTprop (Linux 4.19: at or below it) for 10 s";

const EXITS: [Exit; 7] = [
    Exit {
        from: STARTUP,
        to: DRAIN,
        criterion: "BtlBw has not grown by a quarter in three rounds",
        holds: |points, first| rounds_without_growth(&points[first..]) >= 3,
    },
    Exit {
        from: STARTUP,
        to: PROBE_RTT,
        criterion: EXPIRED,
        holds: has_expired,
    },
    Exit {
        from: DRAIN,
        to: PROBE_BW,
        criterion: "no more than a BDP is in flight",
        holds: |points, _| {
            let last = points.last().expect("the ACK");
            last.inflight <= bdp(last)
        },
    },
    Exit {
        from: DRAIN,
        to: PROBE_RTT,
        criterion: EXPIRED,
        holds: has_expired,
    },
    Exit {
        from: PROBE_BW,
        to: PROBE_RTT,
        criterion: EXPIRED,
        holds: has_expired,
    },
    Exit {
        from: PROBE_RTT,
        to: PROBE_BW,
        criterion: "200 ms and a round have passed with at most four packets in flight; the pipe was full before",
        holds: has_stayed,
    },
    Exit {
        from: PROBE_RTT,
        to: STARTUP,
        criterion: "the same, and the pipe was never full",
        holds: has_stayed,
    },
];

fn bdp(point: &Point) -> Bytes {
    let snapshot = point.snapshot;
    let (bw, rtprop) = (snapshot.btl_bw, snapshot.rtprop);
    bw.expect("known").bytes_in(rtprop.expect("known"))
}

fn rounds_without_growth(points: &[Point]) -> u32 {
    let (mut round, mut baseline, mut count) = (0, None, 0);
    for point in points.iter().filter(|point| !point.is_app_limited) {
        if point.snapshot.round == round {
            continue;
        }
        round = point.snapshot.round;
        let bw = point.snapshot.btl_bw;
        let grown = baseline.map(|base: congestion::Rate| base.scale(Ratio::new(5, 4)));
        if bw >= grown {
            (baseline, count) = (bw, 0);
        } else {
            count += 1;
        }
    }
    count
}

/// RTprop was last lowered, or confirmed by ProbeRTT, more than ten seconds ago.
fn has_expired(points: &[Point], _: usize) -> bool {
    let now = points.last().expect("the ACK").now;
    let pairs = points.windows(2).rev();
    let is_news = |pair: &&[Point]| {
        let is_lower = pair[1].snapshot.rtprop < pair[0].snapshot.rtprop;
        let is_left = pair[0].snapshot.state == PROBE_RTT && pair[1].snapshot.state != PROBE_RTT;
        is_lower || is_left || pair[0].snapshot.rtprop.is_none()
    };
    let seen = pairs.into_iter().find(is_news).map(|pair| pair[1].now);
    now.since(seen.unwrap_or(points[0].now)) > Duration::from_secs(10)
}

fn has_stayed(points: &[Point], first: usize) -> bool {
    let last = points.last().expect("the ACK");
    let low = points[first..]
        .iter()
        .find(|point| point.inflight <= MSS * 4);
    low.is_some_and(|low| {
        let is_long = last.now.since(low.now) >= Duration::from_millis(200);
        is_long && last.snapshot.round > low.snapshot.round
    })
}

/// Runs with every way from state to state.
fn runs() -> Vec<Vec<Point>> {
    let plain = [(20, 40), (100, 10), (5, 100)].map(|(rate, rtt)| {
        let rtt = Duration::from_millis(rtt);
        let mut flow = bulk(path(mbit(rate), rtt, Ratio::new(8, 1), Ratio::ZERO));
        flow.run_until(at_ms(25_000));
        flow.points
    });
    // An application that writes a little all the time never fills the pipe.
    let little = (0..1_600).map(|place| (at_ms(place * 10), MSS));
    let wide = path(
        mbit(20),
        Duration::from_millis(40),
        Ratio::new(8, 1),
        Ratio::ZERO,
    );
    let mut flow = Flow::with_writes(bbr1(), wide, little);
    flow.run_until(at_ms(15_000));
    // Startup takes most of ten seconds here, so that RTprop expires in Drain.
    let slow = path(
        mbit(1),
        Duration::from_millis(750),
        Ratio::new(8, 1),
        Ratio::ZERO,
    );
    let mut late = bulk(slow);
    late.run_until(at_ms(15_000));
    plain
        .into_iter()
        .chain([flow.points, late.points])
        .collect()
}

/// The ways from state to state, with the indices of the first point in the state and of the first after it.
fn ways(points: &[Point]) -> Vec<(usize, usize)> {
    let changes = (1..points.len())
        .filter(|place| points[*place].snapshot.state != points[place - 1].snapshot.state);
    let mut first = 0;
    let mut ways = Vec::new();
    for after in changes {
        ways.push((first, after));
        first = after;
    }
    ways
}

#[test]
fn each_state_ends_when_its_criterion_holds() {
    let mut seen = BTreeSet::new();
    for points in runs() {
        for (first, after) in ways(&points) {
            let [from, to] = [after - 1, after].map(|place| points[place].snapshot.state);
            let place = EXITS
                .iter()
                .position(|exit| (exit.from, exit.to) == (from, to));
            let place = place.unwrap_or_else(|| panic!("from {from} to {to}"));
            seen.insert(place);
            let holds = EXITS[place].holds;
            let at = points[after].now;
            assert!(
                holds(&points[..=after], first),
                "{from} ended too early, at {at:?}"
            );
            // A criterion that holds as soon as the state begins is no sign of a late end.
            if after > first + 1 {
                assert!(
                    !holds(&points[..after], first),
                    "{from} ended too late, at {at:?}"
                );
            }
        }
    }
    assert_eq!(seen.len(), EXITS.len(), "not every way was taken: {seen:?}");
}

/// Startup and Drain may end by the same ACK (Linux `bbr_check_drain`, which goes on from one to the other).
const AT_ONCE: (State, State) = (STARTUP, PROBE_BW);

/// The ways from state to state that a controller takes when it hears random ACKs.
fn random_ways(seed: u64) -> Vec<(State, State)> {
    let mut rng = SplitMix64::seed_from_u64(seed);
    let mut random = move |most: u64| rng.next_u64() % most;
    let mut bbr1 = Bbr1::new(connection(seed), Config::default());
    let (mut now, mut delivered, mut inflight) = (Time::ZERO, Bytes::ZERO, MSS * 10);
    let (most_ms, most_inflight) = (1 << random(12), 1 << random(12));
    let mut ways = Vec::new();
    let mut before = bbr1.snapshot().state;
    for _ in 0..2_000 {
        now += Duration::from_millis(random(most_ms) + 1);
        let prior = inflight;
        inflight = MSS * random(most_inflight);
        match random(40) {
            0 => bbr1.on_timeout(now, inflight),
            1 => bbr1.on_idle_restart(now),
            2 => bbr1.on_recovery(now, Recovery::Entered(Cause::Loss), inflight),
            3 => bbr1.on_recovery(now, Recovery::Left, inflight),
            4 => bbr1.on_recovery(now, Recovery::Undone, inflight),
            _ => {
                delivered += MSS;
                let mut rate = RateSample::default();
                rate.delivery_rate = Some(mbit(1 + random(20)));
                rate.prior_delivered =
                    delivered - MSS * random(50).min(delivered.get() / MSS.get());
                rate.total_delivered = delivered;
                rate.is_app_limited = random(4) == 0;
                let mut ack = Ack::new(now, MSS, prior, inflight, rate);
                let rtt = Duration::from_millis(40 + random(most_ms));
                ack.rtt = Some(RttSample::exact(rtt));
                bbr1.on_ack(&ack);
            }
        }
        let state = bbr1.snapshot().state;
        if state != before {
            ways.push((before, state));
        }
        before = state;
    }
    ways
}

#[test]
fn the_table_has_every_way_that_the_code_has() {
    let names = |(from, to): (State, State)| (from.name, to.name);
    let taken: BTreeSet<_> = (0..200).flat_map(random_ways).map(names).collect();
    let table = EXITS.iter().map(|exit| (exit.from, exit.to));
    let table: BTreeSet<_> = table.chain([AT_ONCE]).map(names).collect();
    assert_eq!(taken, table);
}

#[test]
fn a_controller_with_another_criterion_breaks_the_table() {
    let config = Config {
        startup_rounds: 2,
        ..Config::default()
    };
    let flow = Bbr1::new(connection(1), config);
    let wide = path(
        mbit(20),
        Duration::from_millis(40),
        Ratio::new(8, 1),
        Ratio::ZERO,
    );
    let mut flow = Flow::bulk(flow, wide);
    flow.run_until(at_ms(3_000));
    let (first, after) = ways(&flow.points)[0];
    assert!(!(EXITS[0].holds)(&flow.points[..=after], first));
}

/// The gain as text with at most three decimals.
fn text(gain: Ratio) -> String {
    let text = format!("{:.3}", gain.as_f64());
    text.trim_end_matches('0').trim_end_matches('.').to_owned()
}

/// The gains of a state in the order of a run's cycle, each once.
fn gains(runs: &[Vec<Point>], state: State, of: fn(&Point) -> Option<Ratio>) -> String {
    let mut seen: Vec<String> = Vec::new();
    for points in runs {
        // A cycle may begin anywhere, so the order is that from its faster phase on.
        let in_state = points.iter().filter(|point| point.snapshot.state == state);
        let told: Vec<String> = in_state.filter_map(of).map(text).collect();
        let fastest = told.iter().max().cloned();
        let from = told.iter().position(|gain| Some(gain) == fastest.as_ref());
        for gain in told.iter().skip(from.unwrap_or_default()) {
            if !seen.contains(gain) {
                seen.push(gain.clone());
            }
        }
    }
    seen.join(", ")
}

/// What bounds the window in a state: the least window if it never has more, and otherwise its gain.
fn window(runs: &[Vec<Point>], state: State) -> String {
    let in_state = runs.iter().flatten().map(|point| point.snapshot);
    let most = in_state
        .filter(|seen| seen.state == state)
        .map(|seen| seen.cwnd)
        .max();
    match most {
        Some(most) if most <= MSS * 4 => format!("at most {} packets", most.get() / MSS.get()),
        _ => gains(runs, state, |point| point.snapshot.cwnd_gain),
    }
}

#[test]
fn the_page_has_the_table() {
    let runs = runs();
    let mut table = "| state | pacing gain | cwnd gain | it ends when | then |\n\
                     | --- | --- | --- | --- | --- |\n"
        .to_owned();
    for state in states::ALL {
        let pacing = gains(&runs, *state, |point| point.snapshot.pacing_gain);
        let cwnd = window(&runs, *state);
        for exit in EXITS.iter().filter(|exit| exit.from == *state) {
            let (criterion, to) = (exit.criterion, exit.to);
            writeln!(
                table,
                "| {state} | {pacing} | {cwnd} | {criterion} | {to} |"
            )
            .expect("text");
        }
    }
    let page = Path::new(env!("CARGO_MANIFEST_DIR")).join(PAGE);
    let there = fs::read_to_string(&page).expect("the page");
    let [begin, end] = ["begin", "end"].map(|mark| format!("<!-- states: {mark} -->\n"));
    let (before, rest) = there.split_once(&begin).expect("a beginning");
    let (_, after) = rest.split_once(&end).expect("an end");
    let made = format!("{before}{begin}\n{table}\n{end}{after}");
    if env::var(VARIABLE).is_ok_and(|value| value == "write") {
        fs::write(&page, &made).expect("written");
        return;
    }
    assert_eq!(
        there, made,
        "write it anew: {VARIABLE}=write cargo test -p fullpipe-congestion --test controllers state_table"
    );
}
