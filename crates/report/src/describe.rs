//! Paths in one line for people.

use path::{Aggregation, Discipline, Distribution, Loss, LossAt};
use units::{Duration, Rate, Ratio};

use super::text::{bits_per_sec, bytes, millis, percent};
use scenario::{ChangeSpec, LinkSpec, PathSpec, Scenario};

/// So many changes are told one by one.
const CHANGES: usize = 3;

/// All bottlenecks of the scenario in one line: [`describe`] of each, in the order of the path.
pub fn describe_hops(scenario: &Scenario) -> String {
    let hops = std::iter::once(&scenario.path).chain(&scenario.next);
    hops.map(describe).collect::<Vec<_>>().join("; then ")
}

/// The path in one line, with everything that is set of it:
/// `20.0 Mbit/s, RTprop 40 ms, buffer 8bdp (800 kB), queue codel, loss 1%`.
pub fn describe(path: &PathSpec) -> String {
    let mut parts = vec![
        capacity(&path.data).unwrap_or_else(|| "no rate limit".to_string()),
        format!("RTprop {}", millis(path.rtt.as_millis_f64())),
    ];
    parts.extend(path.forward_delay.map(|forward| {
        let back = path.rtt.saturating_sub(forward);
        let [forward, back] = [forward, back].map(|delay| millis(delay.as_millis_f64()));
        format!("{forward} forward and {back} back")
    }));
    parts.extend(link(&path.data, path.rtt));
    if path.ack_loss > Ratio::ZERO {
        parts.push(format!("ACK loss {}", path.ack_loss));
    }
    parts.extend(path.aggregation.and_then(|of| every("ACKs", of)));
    let uplink: Vec<String> = capacity(&path.uplink)
        .into_iter()
        .chain(link(&path.uplink, path.rtt))
        .collect();
    if !uplink.is_empty() {
        parts.push(format!("uplink ({})", uplink.join(", ")));
    }
    parts.join(", ")
}

/// The rate of a link, or its trace.
fn capacity(link: &LinkSpec) -> Option<String> {
    match (link.rate, &link.trace) {
        (Some(rate), _) => Some(bits_per_sec(rate.bits_per_sec() as f64)),
        (None, Some(trace)) => Some(format!("trace {}", trace.display())),
        (None, None) => None,
    }
}

/// What else there is to say of a link on a path with this RTprop.
fn link(link: &LinkSpec, rtt: Duration) -> Vec<String> {
    let buffer = link.buffer.map(|buffer| {
        let size = link.buffer_bytes(rtt).map(bytes);
        match size {
            Some(size) => format!("buffer {buffer} ({size})"),
            None => format!("buffer {buffer}"),
        }
    });
    let loss = match link.effects.loss {
        Loss::Independent(loss) => (loss > Ratio::ZERO).then(|| format!("loss {loss}")),
        Loss::GilbertElliott(_) => Some(format!(
            "loss {} in bursts",
            percent(link.effects.loss.mean())
        )),
    };
    let place = match link.effects.loss_at {
        LossAt::Exit => " behind the bottleneck",
        LossAt::Entry => "",
    };
    let jitter = link.effects.jitter.and_then(|jitter| {
        let overtaking = if jitter.reorders { ", overtaking" } else { "" };
        let distribution = match jitter.distribution {
            Distribution::Uniform => String::new(),
            other => format!(" ({})", other.name()),
        };
        let text = format!("jitter up to {}{distribution}{overtaking}", jitter.up_to);
        (!jitter.up_to.is_zero()).then_some(text)
    });
    let reorder = link.effects.reorder.and_then(|reorder| {
        let text = format!("{} held back by {}", reorder.share, reorder.by);
        (!reorder.by.is_zero()).then_some(text)
    });
    let duplicate = (link.effects.duplicate > Ratio::ZERO)
        .then(|| format!("{} duplicated", link.effects.duplicate));
    let corruption = link
        .may_corrupt()
        .then(|| format!("{} corrupted", link.effects.corruption));
    let mtu = link.effects.mtu.map(|mtu| format!("MTU {mtu}"));
    let policer = link
        .effects
        .policer
        .map(|policer| format!("policer {} after {}", policer.rate, policer.burst));
    let demand = link.effects.demand.map(|demand| {
        let (within, least) = (demand.within, demand.least);
        format!("granted for what waits within {within}, at least {least}")
    });
    let aggregation = link.effects.aggregation;
    let aggregation = aggregation.and_then(|of| every("packets", of));
    let parts = [
        buffer,
        queue(link.effects.queue),
        loss.map(|loss| loss + place),
        jitter,
        reorder,
        duplicate,
        corruption,
        mtu,
        policer,
        demand,
        aggregation,
    ];
    let parts = parts.into_iter().flatten();
    parts.chain(changes(&link.changes)).collect()
}

/// What is released together, and when, if anything is held.
fn every(what: &str, aggregation: Aggregation) -> Option<String> {
    let interval = aggregation.interval;
    (!interval.is_zero()).then(|| format!("{what} every {interval}"))
}

/// The queue discipline, unless it is drop-tail, and which of its settings are not the usual ones.
fn queue(discipline: Discipline) -> Option<String> {
    let codel = |codel: path::CoDel, usual: path::CoDel| {
        let mut text = String::new();
        if codel.target != usual.target {
            text += &format!(" target {}", codel.target);
        }
        if codel.interval != usual.interval {
            text += &format!(" interval {}", codel.interval);
        }
        text
    };
    let (settings, marks) = match discipline {
        Discipline::DropTail => return None,
        Discipline::CoDel(of) => (codel(of, path::CoDel::default()), of.ecn),
        Discipline::FqCoDel(of) => (codel(of.codel(), path::FqCoDel::default().codel()), of.ecn),
        Discipline::Red(red) if red.min == red.max => (format!(" {}", red.min), red.ecn),
        Discipline::Red(red) => (format!(" {} to {}", red.min, red.max), red.ecn),
    };
    let kind = discipline.name();
    let marks = if marks { " with ECN" } else { "" };
    Some(format!("queue {kind}{settings}{marks}"))
}

/// The first changes one by one, and how many more there are.
fn changes(changes: &[ChangeSpec]) -> Vec<String> {
    let told = changes.iter().take(CHANGES).map(|change| {
        let rate = change.rate.map(|rate| match rate {
            Rate::ZERO => "an outage".to_owned(),
            rate => bits_per_sec(rate.bits_per_sec() as f64),
        });
        let rtt = change
            .rtt
            .map(|rtt| format!("RTprop {}", millis(rtt.as_millis_f64())));
        let mtu = change.mtu.map(|mtu| format!("MTU {mtu}"));
        let new: Vec<String> = [rate, rtt, mtu].into_iter().flatten().collect();
        format!("from {} {}", change.at, new.join(" and "))
    });
    let more = changes.len().saturating_sub(CHANGES);
    let more = match more {
        0 => None,
        1 => Some("1 more change".to_string()),
        more => Some(format!("{more} more changes")),
    };
    told.chain(more).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn path(options: &[(&str, &str)]) -> PathSpec {
        let mut path = PathSpec::default();
        for (key, text) in options {
            path.set(key, text).unwrap();
        }
        path.check().unwrap();
        path
    }

    #[test]
    fn every_field_of_a_path_is_told() {
        let rate = ("rate", "20mbit");
        let rtt = ("rtt", "40ms");
        for (given, told) in [
            (("buffer", "8bdp"), "buffer 8bdp (800 kB)"),
            (("queue", "codel"), "queue codel"),
            (
                ("queue", "kind=codel,target=10ms,ecn=true"),
                "queue codel target 10ms with ECN",
            ),
            (("queue", "fq_codel"), "queue fq_codel with ECN"),
            (
                ("queue", "kind=red,min=30kb,max=90kb"),
                "queue red 30kb to 90kb",
            ),
            (
                ("queue", "kind=threshold,at=30kb"),
                "queue threshold 30kb with ECN",
            ),
            (("loss", "1%"), "loss 1%"),
            (("ack_loss", "2%"), "ACK loss 2%"),
            (("jitter", "5ms"), "jitter up to 5ms"),
            (
                ("jitter", "up_to=5ms,reorders=true"),
                "jitter up to 5ms, overtaking",
            ),
            (("reorder", "share=1%,by=10ms"), "1% held back by 10ms"),
            (("duplicate", "3%"), "3% duplicated"),
            (("corruption", "0.1%"), "0.1% corrupted"),
            (("mtu", "1400"), "MTU 1400"),
            (("uplink", "mtu=1280"), "uplink (MTU 1280)"),
            (("change", "at=5s,mtu=1400"), "from 5s MTU 1400"),
            (
                ("policer", "rate=10mbit,burst=100kb"),
                "policer 10mbit after 100kb",
            ),
            (
                ("demand", "within=20ms,least=500kbit"),
                "granted for what waits within 20ms, at least 500kbit",
            ),
            (("aggregation", "interval=10ms"), "ACKs every 10ms"),
            (
                ("uplink", "rate=1mbit,buffer=100p,queue=codel"),
                "uplink (1.00 Mbit/s, buffer 100p (150 kB), queue codel)",
            ),
            (
                ("change", "at=5s,rate=10mbit,rtt=80ms"),
                "from 5s 10.0 Mbit/s and RTprop 80 ms",
            ),
        ] {
            let expected = format!("20.0 Mbit/s, RTprop 40 ms, {told}");
            assert_eq!(describe(&path(&[rate, rtt, given])), expected);
        }
        let nothing = [
            ("jitter", "0"),
            ("reorder", "share=1%,by=0"),
            ("aggregation", "interval=0"),
        ];
        let nothing = path(&[&[rate, rtt][..], &nothing].concat());
        assert_eq!(describe(&nothing), "20.0 Mbit/s, RTprop 40 ms");
        let exit = path(&[rate, ("loss", "1%"), ("loss_at", "exit")]);
        assert!(describe(&exit).ends_with(", loss 1% behind the bottleneck"));
        assert_eq!(describe(&PathSpec::default()), "no rate limit, RTprop 0 ms");
        let changes: Vec<_> = (1..=5).map(|at| format!("at={at}s,rate=1mbit")).collect();
        let changes: Vec<_> = changes
            .iter()
            .map(|text| ("change", text.as_str()))
            .collect();
        let many = path(&[&[rate][..], &changes].concat());
        assert!(describe(&many).ends_with("from 3s 1.00 Mbit/s, 2 more changes"));
    }

    #[test]
    fn chains_are_told_hop_by_hop() {
        let text = "name = 'x'\nduration = '1s'\n[path]\nrate = '9mbit'\n[[path.next]]\nrate = '5mbit'\nrtt = '2ms'\n\
                    [[flow]]\ncontroller = 'bbr1'\n";
        let scenario: Scenario = text.parse().unwrap();
        assert_eq!(
            describe_hops(&scenario),
            "9.00 Mbit/s, RTprop 0 ms; then 5.00 Mbit/s, RTprop 2 ms"
        );
    }
}
