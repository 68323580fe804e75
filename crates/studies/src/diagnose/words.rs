//! A diagnosis in sentences.

use tables::numbers::{bits_per_sec, count, percent, size, span};
use trace::{Direction, FlowSummary, Guess, LimitedBy, Summary};
use units::Bytes;

use super::Diagnosis;
use crate::advise::words as advice;
use crate::advise::{Choice, Goal, Rival, Sampling};

/// The most unused directions that are named.
const MAX_NAMED: usize = 3;

/// The assumed controller if none is recognized: the default of most systems.
const DEFAULT_CONTROLLER: &str = "cubic";

/// The least share of time spent waiting with which another controller changes little, because congestion control was
/// not the limit.
const MIN_IDLE_SHARE: f64 = 0.5;

/// The least share of time limited by the bottleneck with which the pipe was full, even if other traffic had part of
/// it.
const MIN_FULL_SHARE: f64 = 0.5;

/// The diagnosis, one sentence each.
pub(super) fn sentences(of: &Diagnosis<'_>) -> Vec<String> {
    let flow = of.direction.flow;
    let choice = of.advice.of(of.goal);
    let mut sentences = vec![
        format!("connection: {}; {}", named(flow), flow.captured()),
        format!("your path: {}", path(flow)),
        format!("your limit: {}", limit(flow)),
        format!("what you would gain: {}", gain(flow, choice)),
    ];
    sentences.push(format!(
        "whom it would harm: {}",
        advice::harm(of.advice, choice)
    ));
    sentences.push(advice::sure(of.advice, choice));
    sentences.extend(advice::measures(choice));
    if of.advice.sampling.is_brief() || advice::is_of_one_path(of.advice) {
        sentences.push(format!("for more, {}", more(of.advice.sampling)));
    }
    sentences
}

/// How more is asked for than a diagnosis gives: the two commands that it is, with their options.
pub fn more(sampling: &Sampling) -> String {
    let runs = sampling.horizon().max(sampling.duration * 2);
    format!(
        "ask in two commands: fullpipe trace CAPTURE --ranges path.toml, then fullpipe advise --from path.toml --duration {runs} \
         --paths 8"
    )
}

/// A direction in a list: `192.0.2.1:443 to 192.0.2.7:50000 (28.1 MB)`.
pub fn named(flow: &FlowSummary) -> String {
    let payload = size(Bytes::new(flow.sent_bytes));
    format!("{} to {} ({payload})", flow.from, flow.to)
}

fn path(flow: &FlowSummary) -> String {
    let mut parts = Vec::new();
    if let Some(rtprop) = flow.rtprop_ms {
        parts.push(format!("RTprop {}", span(rtprop)));
    }
    if let Some(rate) = flow.btl_bw_ip_bps {
        let rate = bits_per_sec(rate as f64);
        let by = flow.limited_by.as_ref().and_then(|by| by.bottleneck);
        parts.push(if flow.is_pipe_filled {
            format!("BtlBw {rate}")
        } else if by.is_some_and(|share| share >= MIN_FULL_SHARE) {
            format!(
                "BtlBw {rate} or more (other traffic had part of the bottleneck, so the capture does not show all of it)"
            )
        } else {
            format!("BtlBw {rate} or more (the connection did not fill the pipe, so the advice is broad)")
        });
    }
    if let Some(lost) = flow.lost {
        let share = lost as f64 / flow.packets.max(1) as f64;
        let random = flow.path.as_ref().map_or(0.0, |path| path.random_loss());
        let at_random = if lost > 0 {
            format!(", {} at random", percent(random))
        } else {
            String::new()
        };
        parts.push(format!("{} of the packets lost{at_random}", percent(share)));
    }
    if let Some(rate) = flow.policer_bps {
        let rate = bits_per_sec(rate as f64);
        parts.push(format!("a policer drops packets above {rate}"));
    }
    parts.join(", ")
}

/// The limit of the connection, and its meaning.
fn limit(flow: &FlowSummary) -> String {
    let got = flow.goodput_bps.map_or(String::new(), |rate| {
        format!("; the goodput was {}", bits_per_sec(rate as f64))
    });
    let Some(by) = &flow.limited_by else {
        return format!("unknown, because the receive window is unknown{got}");
    };
    let meaning = if by.application >= MIN_IDLE_SHARE {
        "; it waited for its application, or for room in its send buffer"
    } else if by.receiver >= MIN_IDLE_SHARE {
        "; it waited for the receiver, whose buffer is too small for the path"
    } else {
        ""
    };
    format!("{}{meaning}{got}", report::trace::limits(by))
}

/// The gain of the choice over the connection's controller.
fn gain(flow: &FlowSummary, choice: &Choice) -> String {
    let guess = flow.controller.as_ref();
    let now = guess.map_or(DEFAULT_CONTROLLER, |guess| guess.controller);
    let has = match guess {
        Some(guess) => format!(
            "which the connection probably has ({:.0} %)",
            guess.probability * 100.0
        ),
        None => "the usual default (nothing shows which controller the connection has)".to_owned(),
    };
    let name = choice.choice;
    let idle = idle(flow.limited_by.as_ref());
    let over = choice.rivals.iter().find(|rival| rival.controller == now);
    match over {
        _ if now == name => nothing(guess, choice) + &idle,
        None => format!("{name} is best for {}{idle}", choice.goal),
        Some(Rival { gain, .. }) => {
            let interval = gain
                .low
                .zip(gain.high)
                .map_or(String::new(), |(low, high)| {
                    format!("95 % interval {low:.2} to {high:.2}, ")
                });
            let clear = if gain.is_clear {
                ""
            } else {
                ", which is no clear difference"
            };
            format!(
                "with {name}, {:.2} times the {} of {now}, {has}, on paths like this ({interval}better on {} of {}){clear}{idle}",
                gain.mean,
                choice.goal.measured(),
                gain.better,
                gain.paths,
            )
        }
    }
}

/// States that the connection already has the choice.
fn nothing(guess: Option<&Guess>, choice: &Choice) -> String {
    let name = choice.choice;
    let best = match choice.goal {
        Goal::Throughput => "has the most goodput".to_owned(),
        goal => format!("is best for {goal}"),
    };
    match guess {
        Some(Guess { probability, .. }) => format!(
            "nothing: the connection probably has {name} already ({:.0} %), which {best}",
            probability * 100.0
        ),
        None => format!(
            "nothing: {name} {best}. Nothing shows the connection's own controller; {name} is the usual default"
        ),
    }
}

/// A caveat: the advice is for transfers that always have data to send.
fn idle(by: Option<&LimitedBy>) -> String {
    let waited = by.map_or(0.0, |by| by.application + by.receiver);
    if waited < MIN_IDLE_SHARE {
        return String::new();
    }
    format!(
        "; but congestion control held this connection back for {} of the time only, so another controller could speed up only that part",
        percent(1.0 - waited.min(1.0))
    )
}

/// The directions that are not used, with reasons.
pub fn not_used(summary: &Summary, direction: &Direction<'_>) -> Vec<String> {
    let is_it = |flow: &FlowSummary| std::ptr::eq(flow, direction.flow);
    let others = || flows(summary).filter(|flow| !is_it(flow));
    let mut larger: Vec<&FlowSummary> = others()
        .filter(|flow| flow.sent_bytes >= direction.flow.sent_bytes)
        .collect();
    larger.sort_by_key(|flow| u64::MAX - flow.sent_bytes);
    let (of_more, of_less) = (larger.len(), others().count() - larger.len());
    let why = |flow: &FlowSummary| match flow.lacks() {
        Some(lack) => format!("its {lack} is unknown"),
        None if flow.is_brief() => "it has no more payload than an initial window".to_owned(),
        None => "--connection selects another".to_owned(),
    };
    let mut lines: Vec<String> = larger
        .iter()
        .take(MAX_NAMED)
        .map(|flow| format!("not used: {}: {}", named(flow), why(flow)))
        .collect();
    if of_more > MAX_NAMED {
        let more = count((of_more - MAX_NAMED) as u64, "direction");
        lines.push(format!("not used: {more} more with more payload"));
    }
    if of_less > 0 {
        let less = count(of_less as u64, "direction");
        lines.push(format!(
            "not used: {less} with less payload; --connection ADDR:PORT selects one"
        ));
    }
    let closed = summary.quic.iter().filter(|one| one.connection.is_none());
    match closed.count() as u64 {
        0 => {}
        closed => lines.push(format!(
            "not used: {} of QUIC without keys; --keys FILE opens {}",
            count(closed, "connection"),
            if closed == 1 { "it" } else { "them" }
        )),
    }
    lines
}

fn flows(summary: &Summary) -> impl Iterator<Item = &FlowSummary> {
    summary.connections.iter().flat_map(|one| &one.flows)
}

/// Explains in one line why no wanted direction shows a path, and what to capture instead.
pub fn untellable(summary: &Summary, is_wanted: impl Fn(&FlowSummary) -> bool) -> String {
    let closed = summary.quic.iter().filter(|one| one.connection.is_none());
    let closed = closed.count() as u64;
    let most = flows(summary).filter(|flow| is_wanted(flow));
    let Some(flow) = most.max_by_key(|flow| flow.sent_bytes) else {
        return if closed > 0 {
            format!(
                "{} of QUIC without keys, which {} no path; give --keys FILE, the file that SSLKEYLOGFILE names in the program, or \
                 its qlog",
                count(closed, "connection"),
                if closed == 1 { "shows" } else { "show" }
            )
        } else {
            let packets = count(summary.read.packets, "packet");
            format!(
                "no connection of TCP or QUIC with data in {packets}; capture the sender of a transfer for 10 s or more: {}",
                command(None)
            )
        };
    };
    let capture = format!(
        "capture at the sender, {}, from before the connection begins, for 10 s or more: {}",
        host(&flow.from),
        command(Some(&flow.to))
    );
    let name = named(flow);
    let lack = match flow.lacks() {
        Some(lack) if !flow.is_brief() => lack,
        _ => return format!("{name} has no more payload than an initial window; {capture}"),
    };
    let why = match lack {
        "RTprop" => "neither its handshake nor TCP timestamps were captured",
        "BtlBw" if flow.acks == 0 => "no acknowledgement was captured",
        "BtlBw" => "it was captured away from the sender, without TCP timestamps",
        "path" => "its BDP is too small to be that of a path",
        _ => "packets were captured twice, and copies cannot be told from retransmissions",
    };
    format!("the {lack} of {name} is unknown, because {why}; {capture}")
}

/// The host of an endpoint: `192.0.2.7` of `192.0.2.7:443`.
fn host(end: &str) -> &str {
    let host = end.rsplit_once(':').map_or(end, |(host, _)| host);
    host.trim_start_matches('[').trim_end_matches(']')
}

fn command(to: Option<&str>) -> String {
    let which = to.map_or("tcp".to_owned(), |end| format!("host {}", host(end)));
    format!("tcpdump -s 128 -w again.pcap {which}")
}

#[cfg(test)]
mod tests {
    use super::*;
    use trace::Trace;

    fn captured(has_keys: bool) -> Summary {
        let mut trace = Trace::new();
        if has_keys {
            let keys = &include_bytes!("../../../trace/data/quic.keys")[..];
            trace.read_keys(keys).expect("secrets");
        }
        let capture = &include_bytes!("../../../trace/data/quic.pcap")[..];
        trace.read(capture, &|| true).expect("a capture");
        Summary::alone(trace)
    }

    #[test]
    fn what_shows_no_path_is_told_with_what_to_capture() {
        let nothing = untellable(&Summary::alone(Trace::new()), |_| true);
        assert!(
            nothing.contains("in 0 packets") && nothing.contains("tcpdump "),
            "{nothing}"
        );
        let closed = untellable(&captured(false), |_| true);
        assert!(
            closed.contains("1 connection of QUIC without keys, which shows no path")
                && closed.contains("--keys FILE"),
            "{closed}"
        );
        let summary = captured(true);
        let to = host(&summary.connections[0].flows[0].to).to_owned();
        type Change = fn(&mut FlowSummary);
        let changes: [(Change, &str); 4] = [
            (|flow| flow.sent_bytes = 14_600, "an initial window"),
            (|flow| flow.rtprop_ms = None, "the RTprop of "),
            (|flow| flow.btl_bw_ip_bps = None, "the BtlBw of "),
            (|flow| flow.lost = None, "the number of losses of "),
        ];
        for (change, part) in changes {
            let mut summary = summary.clone();
            summary.connections[0].flows.truncate(1);
            change(&mut summary.connections[0].flows[0]);
            let line = untellable(&summary, |_| true);
            assert!(line.contains(part) && !line.contains('\n'), "{line}");
            assert!(
                line.ends_with(&format!("tcpdump -s 128 -w again.pcap host {to}")),
                "{line}"
            );
        }
    }

    #[test]
    fn others_are_named_with_the_reason() {
        let mut summary = captured(true);
        let mut larger = summary.connections[0].clone();
        for flow in &mut larger.flows {
            flow.sent_bytes += 1 << 20;
            (flow.rtprop_ms, flow.path) = (None, None);
        }
        summary.connections.insert(0, larger);
        let direction = Direction::of(&summary, |_| true).expect("a path");
        let lines = not_used(&summary, &direction);
        assert!(lines[0].starts_with("not used: ") && lines[0].ends_with("its RTprop is unknown"));
        assert!(
            lines
                .iter()
                .all(|line| !line.contains(&named(direction.flow))),
            "{lines:?}"
        );
    }

    #[test]
    fn a_shared_bottleneck_is_not_a_pipe_that_was_not_filled() {
        let mut flow = captured(true).connections[0].flows[0].clone();
        flow.btl_bw_ip_bps = Some(96_100_000);
        for (is_pipe_filled, share, part) in [
            (true, Some(0.9), "BtlBw 96.1 Mbit/s,"),
            (false, Some(0.5), "other traffic had part"),
            (false, Some(0.4), "did not fill the pipe"),
            (false, None, "did not fill the pipe"),
        ] {
            flow.is_pipe_filled = is_pipe_filled;
            flow.limited_by = Some(LimitedBy {
                application: 0.0,
                receiver: 0.0,
                congestion: 1.0,
                slow_start: None,
                window: None,
                bottleneck: share,
                buffer: None,
            });
            let line = path(&flow);
            assert!(line.contains(part), "{line}");
        }
    }

    #[test]
    fn who_has_the_best_controller_gains_nothing() {
        let mut flow = captured(true).connections[0].flows[0].clone();
        flow.limited_by = None;
        let mut choice = Choice {
            goal: Goal::Throughput,
            choice: "cubic",
            place: 0,
            is_met: true,
            met_on: 1,
            neighbour_goodput: None,
            neighbour_rtt_p95: None,
            rivals: Vec::new(),
        };
        flow.controller = None;
        assert_eq!(
            gain(&flow, &choice),
            "nothing: cubic has the most goodput. Nothing shows the connection's own controller; cubic is the usual default"
        );
        flow.controller = Some(Guess {
            controller: "cubic",
            probability: 0.97,
            probabilities: Vec::new(),
            signs: Vec::new(),
        });
        assert_eq!(
            gain(&flow, &choice),
            "nothing: the connection probably has cubic already (97 %), which has the most goodput"
        );
        flow.controller = None;
        choice.goal = Goal::Latency;
        assert!(gain(&flow, &choice).starts_with("nothing: cubic is best for latency. "));
    }

    #[test]
    fn an_address_is_a_host() {
        assert_eq!(host("192.0.2.7:443"), "192.0.2.7");
        assert_eq!(host("[2001:db8::1]:443"), "2001:db8::1");
    }
}
