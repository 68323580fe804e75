//! The report at the end of a relay.

use std::time::Duration;

use emulator::{DirectionCounters, RelayCounters};
use program::human;
use tables::numbers;
use tables::numbers::count;
use units::Bytes;

use crate::terminal::relay_status::{dropped, lost};

/// The summary in one line.
pub fn summary(counters: &RelayCounters, span: Duration) -> String {
    let direction = |one: &DirectionCounters| {
        let packets = count(one.delivered_packets, "packet");
        format!(
            "{packets} ({})",
            numbers::bytes(Bytes::new(one.delivered_bytes))
        )
    };
    format!(
        "relayed {} forward and {} back in {}, {} dropped, {} lost, {}",
        direction(&counters.forward),
        direction(&counters.reverse),
        human::duration(span.into()),
        dropped(counters),
        lost(counters),
        count(counters.clients_seen, "client"),
    )
}

/// The counters as a table: one line for each, forward and reverse side by side. Counters at zero are left out.
pub fn table(counters: &RelayCounters) -> String {
    let RelayCounters {
        forward, reverse, ..
    } = counters;
    let always = [
        "entered packets",
        "entered bytes",
        "delivered packets",
        "delivered bytes",
    ];
    let mut table = format!("{:<20}{:>16}{:>16}\n", "", "forward", "reverse");
    for ((name, forward), (_, reverse)) in rows(forward).into_iter().zip(rows(reverse)) {
        if always.contains(&name) || forward > 0 || reverse > 0 {
            table += &format!("{name:<20}{forward:>16}{reverse:>16}\n");
        }
    }
    table += &format!("{:<20}{:>16}", "clients", counters.clients_seen);
    for (name, count) in [
        ("evicted clients", counters.clients_evicted),
        ("refused packets", counters.refused_packets),
        ("overload drops", counters.overload_drops),
        ("loop drops", counters.loop_drops),
        ("unreachable reports", counters.unreachable_reports),
        ("socket overflows", counters.socket_overflows),
    ] {
        if count > 0 {
            table += &format!("\n{name:<20}{count:>16}");
        }
    }
    table
}

fn rows(direction: &DirectionCounters) -> [(&'static str, u64); 19] {
    let micros = |nanos| nanos / 1_000;
    let waited = direction.queueing_total_ns / direction.delivered_packets.max(1);
    [
        ("entered packets", direction.entered_packets),
        ("entered bytes", direction.entered_bytes),
        ("delivered packets", direction.delivered_packets),
        ("delivered bytes", direction.delivered_bytes),
        ("buffer drops", direction.buffer_drops),
        ("marked packets", direction.marked_packets),
        ("random losses", direction.random_losses),
        ("policer drops", direction.policer_drops),
        ("too big packets", direction.too_big_packets),
        ("corrupted packets", direction.corrupted_packets),
        ("duplicated packets", direction.duplicated_packets),
        ("in transit packets", direction.in_transit_packets),
        ("send errors", direction.send_errors),
        ("send overflows", direction.send_overflows),
        ("orphaned packets", direction.orphaned_packets),
        ("mean queueing, us", micros(waited)),
        ("max queueing, us", micros(direction.queueing_max_ns)),
        ("late packets", direction.late_packets),
        ("max lateness, us", micros(direction.lateness_max_ns)),
    ]
}

/// A warning about this machine's own delay and loss, which make the relay differ from the requested path.
pub fn warning(counters: &RelayCounters) -> Option<String> {
    let directions = [&counters.forward, &counters.reverse];
    let sum = |count: fn(&DirectionCounters) -> u64| directions.into_iter().map(count).sum::<u64>();
    let late = sum(|direction| direction.late_packets);
    let delivered = sum(|direction| direction.delivered_packets);
    let mut faults = Vec::new();
    // Fewer do not affect the common percentiles.
    if late * 100 > delivered {
        faults.push(format!(
            "{late} of {delivered} packets left more than 1 ms late"
        ));
    }
    if counters.socket_overflows > 0 {
        faults.push(format!(
            "{} datagrams were lost before the relay could read them",
            counters.socket_overflows
        ));
    }
    let unsent = sum(|direction| direction.send_overflows);
    if unsent > 0 {
        faults.push(format!(
            "{unsent} datagrams were lost after the path, because the system had no room for them"
        ));
    }
    let slow = (!faults.is_empty()).then(|| {
        format!(
            "warning: this machine was too slow for this path: {}",
            faults.join("; ")
        )
    });
    let full = (counters.overload_drops > 0).then(|| {
        format!(
            "warning: {} never entered the path, because those on it took all the memory that they may take (256 MiB); \
             a smaller --buffer holds fewer",
            count(counters.overload_drops, "packet")
        )
    });
    let forged = (counters.loop_drops > 0).then(|| {
        format!(
            "warning: {} went no further, because the relay would get them or their answers back for ever: the source is the \
             relay's own address or the server's, or another relay may forward to this one",
            count(counters.loop_drops, "datagram")
        )
    });
    let warnings: Vec<String> = slow.into_iter().chain(full).chain(forged).collect();
    (!warnings.is_empty()).then(|| warnings.join("\n"))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn counters(delivered_packets: u64, late_packets: u64, socket_overflows: u64) -> RelayCounters {
        RelayCounters {
            reverse: DirectionCounters {
                delivered_packets,
                late_packets,
                lateness_max_ns: 2_500_000,
                ..DirectionCounters::default()
            },
            socket_overflows,
            ..RelayCounters::default()
        }
    }

    #[test]
    fn a_machine_that_is_too_slow_is_named() {
        let warned = |late, overflows| warning(&counters(1_000, late, overflows));
        assert_eq!(warned(10, 0), None);
        let late = warned(11, 0).unwrap();
        assert!(late.ends_with("path: 11 of 1000 packets left more than 1 ms late"));
        let lost = warned(0, 7).unwrap();
        assert!(lost.ends_with("path: 7 datagrams were lost before the relay could read them"));
        assert_eq!(warning(&RelayCounters::default()), None);
        let mut unsent = counters(1_000, 0, 0);
        unsent.reverse.send_overflows = 3;
        let unsent = warning(&unsent).unwrap();
        assert!(unsent.contains("path: 3 datagrams were lost after the path"));
        let full = RelayCounters {
            overload_drops: 1,
            ..RelayCounters::default()
        };
        let full = warning(&full).unwrap();
        assert!(full.starts_with("warning: 1 packet never entered the path"));
        let forged = RelayCounters {
            loop_drops: 2,
            ..RelayCounters::default()
        };
        let forged = warning(&forged).unwrap();
        assert!(forged.starts_with("warning: 2 datagrams went no further"));
        assert!(forged.contains("another relay may forward"));
    }

    #[test]
    fn the_end_is_told_in_one_line() {
        let mut counters = counters(3_542, 0, 0);
        counters.forward.delivered_packets = 1;
        counters.forward.delivered_bytes = 1_228;
        counters.reverse.delivered_bytes = 808_000;
        counters.reverse.buffer_drops = 4;
        counters.forward.random_losses = 32;
        counters.reverse.random_losses = 1;
        counters.clients_seen = 2;
        assert_eq!(
            summary(&counters, Duration::from_millis(14_200)),
            "relayed 1 packet (1.23 kB) forward and 3542 packets (808 kB) back in 14.2 s, 4 dropped, 33 lost, 2 clients"
        );
    }

    #[test]
    fn late_packets_are_in_the_table() {
        let table = table(&counters(1_000, 3, 0));
        let row = |name: &str| {
            let line = table.lines().find_map(|line| line.strip_prefix(name));
            line.map(|line| line.split_whitespace().collect::<Vec<_>>())
        };
        assert_eq!(row("late packets"), Some(vec!["0", "3"]));
        assert_eq!(row("max lateness, us"), Some(vec!["0", "2500"]));
        assert_eq!(row("buffer drops"), None);
    }
}
