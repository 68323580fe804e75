//! Paths in one line for people.

use path::{Aggregation, Discipline, Distribution, Loss, LossAt};
use units::{Duration, Rate, Ratio};

use scenario::{BufferSpec, ChangeSpec, LinkSpec, PathSpec, Scenario};
use tables::numbers::{bits_per_sec, bytes, count, millis, percent, spaced};

/// The maximum number of changes that are listed.
const MAX_LISTED_CHANGES: usize = 3;

/// The maximum number of links with names that are described.
const MAX_DESCRIBED_LINKS: usize = 8;

/// Describes all bottlenecks of the scenario in one line: [`describe`] of each, in the order of the path; those of a
/// network with their names and sites.
pub fn describe_hops(scenario: &Scenario) -> String {
    if scenario.links.is_empty() {
        return scenario
            .hops()
            .map(describe)
            .collect::<Vec<_>>()
            .join("; then ");
    }
    let links = scenario.links.iter().take(MAX_DESCRIBED_LINKS);
    let mut told: Vec<String> = links
        .map(|link| {
            let path = describe(&link.path);
            format!("{} from {} to {}: {path}", link.name, link.from, link.to)
        })
        .collect();
    let more = scenario.links.len().saturating_sub(MAX_DESCRIBED_LINKS);
    if more > 0 {
        told.push(format!("{} more", count(more as u64, "link")));
    }
    told.join("; ")
}

/// Describes the path in one line, with all its settings:
/// `20.0 Mbit/s, RTprop 40 ms, buffer 8 BDP (800 kB), queue codel, loss 1 %`.
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
        parts.push(format!("ACK loss {}", spaced(path.ack_loss)));
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
        (Some(of), _) => Some(rate(of)),
        (None, Some(trace)) => Some(format!("trace {}", trace.display())),
        (None, None) => None,
    }
}

/// Describes the other settings of a link on a path with this RTprop.
fn link(link: &LinkSpec, rtt: Duration) -> Vec<String> {
    let buffer = link.buffer.map(|buffer| {
        let size = link.buffer_bytes(rtt).map(bytes);
        let told = match buffer {
            BufferSpec::Bytes(size) => return format!("buffer {}", bytes(size)),
            BufferSpec::Packets(packets) => count(packets, "packet"),
            BufferSpec::Bdp { .. } => spaced(buffer).replace("bdp", "BDP"),
            BufferSpec::Time(span) => spaced(span),
        };
        match size {
            Some(size) => format!("buffer {told} ({size})"),
            None => format!("buffer {told}"),
        }
    });
    let loss = match link.effects.loss {
        Loss::Independent(loss) => (loss > Ratio::ZERO).then(|| format!("loss {}", spaced(loss))),
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
        let up_to = spaced(jitter.up_to);
        let text = format!("jitter up to {up_to}{distribution}{overtaking}");
        (!jitter.up_to.is_zero()).then_some(text)
    });
    let reorder = link.effects.reorder.and_then(|reorder| {
        let (share, by) = (spaced(reorder.share), spaced(reorder.by));
        let text = format!("{share} held back by {by}");
        (!reorder.by.is_zero()).then_some(text)
    });
    let duplicate = (link.effects.duplicate > Ratio::ZERO)
        .then(|| format!("{} duplicated", spaced(link.effects.duplicate)));
    let corruption = link
        .may_corrupt()
        .then(|| format!("{} corrupted", spaced(link.effects.corruption)));
    let mtu = link.effects.mtu.map(|mtu| format!("MTU {mtu}"));
    let policer = link.effects.policer.map(|policer| {
        format!(
            "policer {} after {}",
            rate(policer.rate),
            bytes(policer.burst)
        )
    });
    let demand = link.effects.demand.map(|demand| {
        let (within, least) = (spaced(demand.within), rate(demand.least));
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
    parts.chain(changes(&link.changes, link.rate)).collect()
}

/// Describes the aggregation, if it holds anything.
fn every(what: &str, aggregation: Aggregation) -> Option<String> {
    let interval = aggregation.interval;
    (!interval.is_zero()).then(|| format!("{what} every {}", spaced(interval)))
}

/// Describes the queue discipline, unless it is drop-tail, with its settings that differ from the defaults.
fn queue(discipline: Discipline) -> Option<String> {
    let codel = |codel: path::CoDel, usual: path::CoDel| {
        let mut text = String::new();
        if codel.target != usual.target {
            text += &format!(" target {}", spaced(codel.target));
        }
        if codel.interval != usual.interval {
            text += &format!(" interval {}", spaced(codel.interval));
        }
        text
    };
    let (settings, marks) = match discipline {
        Discipline::DropTail => return None,
        Discipline::CoDel(of) => (codel(of, path::CoDel::default()), of.ecn),
        Discipline::FqCoDel(of) => (codel(of.codel(), path::FqCoDel::default().codel()), of.ecn),
        Discipline::Red(red) if red.min == red.max => (format!(" {}", bytes(red.min)), red.ecn),
        Discipline::Red(red) => (
            format!(" {} to {}", bytes(red.min), bytes(red.max)),
            red.ecn,
        ),
        Discipline::DualPi2(of) => (dualpi2(of), false),
    };
    let kind = discipline.name();
    let marks = if marks { " with ECN" } else { "" };
    Some(format!("queue {kind}{settings}{marks}"))
}

/// The delays of a DualPI2 queue that differ from the defaults. It marks by itself.
fn dualpi2(of: path::DualPi2) -> String {
    let usual = path::DualPi2::default();
    let mut text = String::new();
    if of.target != usual.target {
        text += &format!(" target {}", spaced(of.target));
    }
    if of.step_thresh != usual.step_thresh {
        text += &format!(" step {}", spaced(of.step_thresh));
    }
    text
}

/// Lists the first changes of a path with this rate, and the number of the others.
fn changes(changes: &[ChangeSpec], usual: Option<Rate>) -> Vec<String> {
    let mut told = Vec::new();
    let mut now = usual;
    let mut rest = changes;
    while let Some((change, after)) = rest
        .split_first()
        .filter(|_| told.len() < MAX_LISTED_CHANGES)
    {
        rest = after;
        let mut new = Vec::new();
        let mut when = format!("from {}", spaced(change.at));
        if change.rate == Some(Rate::ZERO) {
            new.push("an outage".to_owned());
            if let Some(end) = after.iter().find(|later| later.rate.is_some()) {
                when += &format!(" to {}", spaced(end.at));
                // Nothing else changes at its end.
                let is_outage_alone = change.rtt.is_none() && change.mtu.is_none();
                if is_outage_alone && after.first() == Some(end) && is_end(end, now) {
                    rest = &after[1..];
                }
            }
        } else {
            now = change.rate.or(now);
            new.extend(change.rate.map(rate));
        }
        let rtt = |rtt: Duration| format!("RTprop {}", millis(rtt.as_millis_f64()));
        new.extend(change.rtt.map(rtt));
        new.extend(change.mtu.map(|mtu| format!("MTU {mtu}")));
        told.push(format!("{when} {}", new.join(" and ")));
    }
    let more = (!rest.is_empty()).then(|| format!("{} more", rest.len()));
    let more = more.map(|more| {
        let s = if rest.len() == 1 { "" } else { "s" };
        format!("{more} change{s}")
    });
    told.into_iter().chain(more).collect()
}

/// True if a change only ends an outage, with the rate before it.
fn is_end(change: &ChangeSpec, before: Option<Rate>) -> bool {
    change.rtt.is_none() && change.mtu.is_none() && change.rate == before
}

fn rate(of: Rate) -> String {
    bits_per_sec(of.bits_per_sec() as f64)
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
            (("buffer", "8bdp"), "buffer 8 BDP (800 kB)"),
            (("queue", "codel"), "queue codel"),
            (
                ("queue", "kind=codel,target=10ms,ecn=true"),
                "queue codel target 10 ms with ECN",
            ),
            (("queue", "fq_codel"), "queue fq_codel with ECN"),
            (
                ("queue", "kind=red,min=30kb,max=90kb"),
                "queue red 30 kB to 90 kB",
            ),
            (
                ("queue", "kind=threshold,at=30kb"),
                "queue threshold 30 kB with ECN",
            ),
            (
                ("queue", "kind=dualpi2,target=20ms,step_thresh=500us"),
                "queue dualpi2 target 20 ms step 500 us",
            ),
            (("loss", "1%"), "loss 1 %"),
            (("ack_loss", "2%"), "ACK loss 2 %"),
            (("jitter", "5ms"), "jitter up to 5 ms"),
            (
                ("jitter", "up_to=5ms,reorders=true"),
                "jitter up to 5 ms, overtaking",
            ),
            (("reorder", "share=1%,by=10ms"), "1 % held back by 10 ms"),
            (("duplicate", "3%"), "3 % duplicated"),
            (("corruption", "0.1%"), "0.1 % corrupted"),
            (("mtu", "1400"), "MTU 1400"),
            (("uplink", "mtu=1280"), "uplink (MTU 1280)"),
            (("change", "at=5s,mtu=1400"), "from 5 s MTU 1400"),
            (
                ("policer", "rate=10mbit,burst=100kb"),
                "policer 10.0 Mbit/s after 100 kB",
            ),
            (
                ("demand", "within=20ms,least=500kbit"),
                "granted for what waits within 20 ms, at least 500 kbit/s",
            ),
            (("aggregation", "interval=10ms"), "ACKs every 10 ms"),
            (
                ("uplink", "rate=1mbit,buffer=100p,queue=codel"),
                "uplink (1.00 Mbit/s, buffer 100 packets (150 kB), queue codel)",
            ),
            (
                ("change", "at=5s,rate=10mbit,rtt=80ms"),
                "from 5 s 10.0 Mbit/s and RTprop 80 ms",
            ),
            (("buffer", "250kb"), "buffer 250 kB"),
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
        assert!(describe(&exit).ends_with(", loss 1 % behind the bottleneck"));
        assert_eq!(describe(&PathSpec::default()), "no rate limit, RTprop 0 ms");
        let changes: Vec<_> = (1..=5).map(|at| format!("at={at}s,rate=1mbit")).collect();
        let changes: Vec<_> = changes
            .iter()
            .map(|text| ("change", text.as_str()))
            .collect();
        let many = path(&[&[rate][..], &changes].concat());
        assert!(describe(&many).ends_with("from 3 s 1.00 Mbit/s, 2 more changes"));
    }

    #[test]
    fn an_outage_has_its_end() {
        let told = |changes: &[&str]| {
            let mut options = vec![("rate", "20mbit")];
            options.extend(changes.iter().map(|change| ("change", *change)));
            let all = describe(&path(&options));
            let (_, changes) = all.split_once("RTprop 0 ms, ").expect("changes");
            changes.to_owned()
        };
        let begin = "at=20s,rate=0";
        for (changes, expected) in [
            (&[begin][..], "from 20 s an outage"),
            (
                &[begin, "at=23s,rate=20mbit"],
                "from 20 s to 23 s an outage",
            ),
            (
                &[begin, "at=23s,rate=10mbit"],
                "from 20 s to 23 s an outage, from 23 s 10.0 Mbit/s",
            ),
            (
                &[
                    "at=9s,rate=10mbit",
                    begin,
                    "at=21s,rtt=80ms",
                    "at=23s,rate=10mbit",
                ],
                "from 9 s 10.0 Mbit/s, from 20 s to 23 s an outage, from 21 s RTprop 80 ms, 1 more change",
            ),
        ] {
            assert_eq!(told(changes), expected);
        }
    }

    #[test]
    fn links_are_told_with_their_names() {
        let link = |place: usize| {
            format!(
                "[[link]]\nname = 'l{place}'\nfrom = 's{place}'\nto = 's{}'\nrate = '9mbit'\n",
                place + 1
            )
        };
        let scenario = |links: usize| -> Scenario {
            let all: String = (0..links).map(link).collect();
            let flow = format!("[[flow]]\ncontroller = 'bbr1'\nfrom = 's0'\nto = 's{links}'\n");
            let text = format!("name = 'x'\nduration = '1s'\n{all}{flow}");
            text.parse().unwrap()
        };
        assert_eq!(
            describe_hops(&scenario(2)),
            "l0 from s0 to s1: 9.00 Mbit/s, RTprop 0 ms; l1 from s1 to s2: 9.00 Mbit/s, RTprop 0 ms"
        );
        assert!(describe_hops(&scenario(12)).ends_with("; 4 links more"));
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
