//! Tables of connections, one line for each.

use std::cmp::Reverse;

use trace::quic::{QuicFlow, QuicSummary};
use trace::{ConnectionSummary, Counts, FlowSummary, LimitedBy, Summary, link_name};
use units::Bytes;

use crate::table::Table;
use crate::text::{below, without_middle};
use tables::numbers::{bits_per_sec, count, known, percent, size, span};

/// The maximum number of kinds of unread packets with a line each.
const MAX_KINDS: usize = 3;

/// The maximum length of a server's name, in characters. Longer ones are shortened.
const MAX_NAME_CHARS: usize = 40;

/// Less reordering than this changes no RTT that is shown: an RTT below 0.1 ms is unknown.
const OUT_OF_ORDER_MS: f64 = 0.1;

/// With fewer packets, acknowledgements may be missing by chance.
const MIN_UNHEARD_PACKETS: u64 = 4;

/// Returns the connections with the most payload, at most `top` of them, for a terminal of `width` columns.
pub fn table(summary: &Summary, top: usize, width: Option<usize>) -> String {
    let mut notes = notes(summary);
    let left_out = summary.connections.len().saturating_sub(top);
    if left_out > 0 {
        let less = count(left_out as u64, "connection");
        notes.insert(
            0,
            format!("{less} with less payload: --top N shows more, --json all"),
        );
    }
    let tables = all(summary, top).into_iter();
    let mut tables: Vec<String> = tables.map(|table| table.lines(width)).collect();
    if tables.is_empty() {
        let packets = count(summary.read.packets, "packet");
        tables.push(format!("no connection of TCP or QUIC in {packets}\n"));
    }
    below(&tables, notes, width)
}

/// Returns the tables that have rows.
pub fn all(summary: &Summary, top: usize) -> Vec<Table> {
    let tables = [connections(summary, top), quic(summary, top)];
    tables
        .into_iter()
        .filter(|table| !table.rows.is_empty())
        .collect()
}

/// Returns the connections whose packets can be read: TCP, and QUIC with keys or from a qlog.
fn connections(summary: &Summary, top: usize) -> Table {
    let headings = [
        "from",
        "to",
        "payload",
        "goodput",
        "RTprop",
        "RTT p95",
        "BtlBw",
        "lost",
        "resent",
        "limited by",
        "controller",
        "captured at",
    ];
    let shown = summary.connections.iter().take(top);
    let rows = shown.map(|connection| match connection.flows.first() {
        Some(flow) => row(flow),
        None => without_data(connection),
    });
    let table = Table {
        text: vec![0, 1, 9, 10, 11],
        ..Table::new(headings, rows)
    };
    table
        .sparing(&["captured at", "resent", "RTT p95", "controller", "BtlBw"])
        .apart(&["from", "to"], "controller")
}

/// Returns the visible values of QUIC connections without keys.
fn quic(summary: &Summary, top: usize) -> Table {
    let headings = [
        "QUIC client",
        "server",
        "name",
        "version",
        "sent",
        "received",
        "received/s",
        "handshake",
        "spin RTT",
        "largest",
        "moved",
        "lost before",
    ];
    let rows = summary.quic.iter().take(top).map(quic_row);
    let table = Table {
        text: vec![0, 1, 2, 3],
        ..Table::new(headings, rows)
    };
    table
        .sparing(&["lost before", "largest", "moved", "version", "name"])
        .apart(&["QUIC client", "server"], "name")
}

fn quic_row(one: &QuicSummary) -> Vec<String> {
    let of = |from: &str| one.flows.iter().find(|flow| flow.from == from);
    let (sent, received) = (of(&one.client), of(&one.server));
    let bytes = |flow: Option<&QuicFlow>| size(Bytes::new(flow.map_or(0, |flow| flow.bytes)));
    let largest = one.flows.iter().map(|flow| flow.largest_bytes).max();
    let losses = one.flows.iter().filter_map(|flow| flow.losses);
    let losses: Vec<_> = losses.map(|losses| percent(losses.before)).collect();
    vec![
        one.client.clone(),
        one.server.clone(),
        one.server_name.as_deref().map_or("–".to_owned(), |name| {
            without_middle(name, MAX_NAME_CHARS)
        }),
        one.version.clone().unwrap_or_else(|| "–".to_owned()),
        bytes(sent),
        bytes(received),
        known(
            received
                .and_then(|flow| flow.rate_bps)
                .map(|rate| rate as f64),
            bits_per_sec,
        ),
        known(one.handshake_ms, span),
        known(one.spin.as_ref().map(|spin| spin.rtt_ms.p50), span),
        size(Bytes::new(largest.unwrap_or(0).into())),
        one.migrations.to_string(),
        if losses.is_empty() {
            "–".to_owned()
        } else {
            losses.join(", ")
        },
    ]
}

fn row(flow: &FlowSummary) -> Vec<String> {
    let bound = if flow.is_pipe_filled { "" } else { "≥ " };
    let packets = flow.packets.max(1) as f64;
    let controller = flow.controller.as_ref();
    let share = |some: u64| (some as f64 / packets).min(1.0);
    let of_packets = |some: Option<u64>| known(some.map(share), percent);
    vec![
        flow.from.clone(),
        flow.to.clone(),
        size(Bytes::new(flow.sent_bytes)),
        known(flow.goodput_bps.map(|rate| rate as f64), bits_per_sec),
        known(flow.rtprop_ms, span),
        known(flow.rtt_ms.map(|rtt| rtt.p95), span),
        flow.btl_bw_ip_bps.map_or("–".to_owned(), |rate| {
            format!("{bound}{}", bits_per_sec(rate as f64))
        }),
        of_packets(flow.lost),
        of_packets(flow.lost.map(|_| flow.retransmitted)),
        flow.limited_by.as_ref().map_or("–".to_owned(), limits),
        controller.map_or("–".to_owned(), |guess| {
            format!("{} {:.0} %", guess.controller, guess.probability * 100.0)
        }),
        flow.place.to_owned(),
    ]
}

fn without_data(connection: &ConnectionSummary) -> Vec<String> {
    let mut row = vec![connection.client.clone(), connection.server.clone()];
    row.push(size(Bytes::ZERO));
    row.push("–".to_owned());
    row.push(known(connection.handshake_ms, span));
    row.resize(12, "–".to_owned());
    row
}

/// Returns the main limit with its share of the time, and a second one if it has a tenth or more.
pub fn limits(by: &LimitedBy) -> String {
    let is_apart = by.window.is_some();
    let shares = LimitedBy::SHARES.iter();
    let shares = shares.filter(|share| !(is_apart && share.name == "congestion"));
    let shares = shares.map(|share| (share.name.replace('_', " "), (share.of)(by).unwrap_or(0.0)));
    let mut all: Vec<(String, f64)> = shares.collect();
    all.sort_by(|one, other| other.1.total_cmp(&one.1));
    let shown = all.iter().enumerate();
    let shown = shown.filter(|(place, (_, share))| *place == 0 || *place == 1 && *share >= 0.1);
    let words = shown.map(|(_, (name, share))| format!("{name} {:.0} %", share * 100.0));
    words.collect::<Vec<_>>().join(", ")
}

/// Describes the unread packets by their kind: the most frequent kinds each, and the others together.
fn unread(mut kinds: Vec<(String, u64)>) -> Vec<String> {
    let say = |packets: u64, of: &str| {
        let verb = if packets == 1 { "is" } else { "are" };
        format!("{} of {of} {verb} not read", count(packets, "packet"))
    };
    kinds.sort_by_key(|(_, packets)| Reverse(*packets));
    let rest = kinds.split_off(kinds.len().min(MAX_KINDS));
    let first = kinds.iter().map(|(kind, packets)| say(*packets, kind));
    let mut said: Vec<String> = first.collect();
    if !rest.is_empty() {
        let packets = rest.iter().map(|(_, packets)| packets).sum();
        said.push(say(packets, &count(rest.len() as u64, "further kind")));
    }
    said
}

/// Describes the unread packets that may belong to connections.
fn lost_sight(read: &Counts) -> Vec<String> {
    let links = read.unknown_links.iter().map(|(link, packets)| {
        let name = link_name(*link).map_or(String::new(), |name| format!(" ({name})"));
        (format!("link type {link}{name}"), *packets)
    });
    let others = read.others.iter().filter(|(kind, _)| !kind.is_control());
    let others = others.map(|(kind, packets)| (kind.to_string(), *packets));
    unread(links.chain(others).collect())
}

/// Returns notes on the captures.
pub fn notes(summary: &Summary) -> Vec<String> {
    let read = &summary.read;
    let of = |number: u64, thing: &str, what: &str| {
        (number > 0).then(|| format!("{} {what}", count(number, thing)))
    };
    let opaque = read.opaque.iter().map(|(tunnel, packets)| {
        let packets = count(*packets, "packet");
        Some(format!("{packets} in {tunnel}, which nobody can look into"))
    });
    let unread = lost_sight(read).into_iter().map(Some);
    let flows = || {
        let connections = summary.connections.iter();
        connections.flat_map(|connection| &connection.flows)
    };
    let of_quic = |number: fn(&QuicFlow) -> u64| {
        let flows = summary.quic.iter().flat_map(|one| &one.flows);
        flows.map(number).sum()
    };
    let missed: u64 = flows().map(|flow| flow.missed_bytes).sum();
    let is_twice = |flow: &&FlowSummary| flow.copies > 0 && flow.copies * 3 >= flow.packets;
    let is_untold = |flow: &&FlowSummary| flow.lost.is_none();
    let is_windowless = |flow: &&FlowSummary| {
        flow.acks > 0 && flow.limited_by.is_none() && flow.packets >= MIN_UNHEARD_PACKETS
    };
    let is_unheard = |flow: &&FlowSummary| flow.acks == 0 && flow.packets >= MIN_UNHEARD_PACKETS;
    let (twice, unheard) = (flows().filter(is_twice), flows().filter(is_unheard));
    [
        of(
            summary.evicted,
            "connection",
            "with the least payload left out: there were too many at once",
        ),
        of(
            read.cut,
            "file",
            "cut within a packet: what is before it was read",
        ),
        of(
            read.damaged,
            "file",
            "damaged: what is before the damage was read",
        ),
        of(
            twice.count() as u64,
            "direction",
            "captured twice, at several interfaces or at both ends: each packet counts once",
        ),
        of(
            flows().filter(is_untold).count() as u64,
            "direction",
            "of which nothing tells what was sent again from what was captured twice: losses are unknown",
        ),
        of(
            unheard.count() as u64,
            "direction",
            "captured without acknowledgements: nothing tells what arrived, nor what was in the way",
        ),
        of(
            flows().filter(is_windowless).count() as u64,
            "direction",
            "far from its sender, without the handshake: its receive window is unknown, and so is what limited it",
        ),
        of(read.short, "packet", "of which too little was captured to tell what it is"),
        of(
            read.cut_options,
            "segment",
            "captured without all options (timestamps, SACK, the window's scale): capture 128 bytes of each",
        ),
        of(
            read.damaged_options,
            "segment",
            "with an option of an impossible length: the options behind it do not count",
        ),
        of(
            read.cut_datagrams,
            "datagram",
            "of QUIC captured in part, which keys do not open: capture whole packets (tcpdump -s 0)",
        ),
        of(
            read.untimed,
            "packet",
            "without a time left out",
        ),
        (read.backward_ms > OUT_OF_ORDER_MS).then(|| {
            let most = span(read.backward_ms);
            format!("packets are up to {most} out of order: RTTs may be wrong by as much; reordercap sorts a capture")
        }),
        (read.set_back > 0).then(|| {
            let times = count(read.set_back, "time");
            format!("the clock was set back {times}: nothing is measured across that")
        }),
        of(read.fragments, "fragment", "of IP packets left out"),
        of(
            of_quic(|flow| flow.offloaded),
            "datagram",
            "captured joined, before segmentation offload (GSO) or after receive offload (GRO): their lengths are inferred, and those of a packet share its time, so limits are rough",
        ),
        of(
            of_quic(|flow| flow.undivided),
            "packet",
            "of QUIC captured joined (GSO, GRO), and nothing tells the datagrams apart: each counts as one",
        ),
        (missed > 0).then(|| {
            format!(
                "{} were acknowledged and not captured",
                size(Bytes::new(missed))
            )
        }),
    ]
    .into_iter()
    .chain(opaque)
    .chain(unread)
    .flatten()
    .collect()
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeMap;

    use capture::packet::Unread;

    use super::*;

    #[test]
    fn a_capture_without_packets_says_so() {
        let summary = Summary::alone(trace::Trace::new());
        let text = table(&summary, 20, None);
        assert!(
            text.starts_with("no connection of TCP or QUIC in 0 packets\n"),
            "{text}"
        );
    }

    #[test]
    fn of_many_unread_kinds_the_most_frequent_are_named() {
        let kinds = |kinds: u64| {
            (0..kinds)
                .map(|kind| (format!("kind {kind}"), kind + 1))
                .collect()
        };
        assert!(unread(kinds(0)).is_empty());
        assert_eq!(unread(kinds(1)), ["1 packet of kind 0 is not read"]);
        let said = unread(kinds(100));
        assert_eq!(said.len(), MAX_KINDS + 1);
        assert_eq!(said[0], "100 packets of kind 99 are not read");
        let rest = 100 - MAX_KINDS as u64;
        let packets = rest * (rest + 1) / 2;
        assert_eq!(
            said[MAX_KINDS],
            format!("{packets} packets of {rest} further kinds are not read")
        );
    }

    #[test]
    fn only_what_may_be_traffic_is_said() {
        let read = Counts {
            others: BTreeMap::from([
                (Unread::EtherType(0x0806), 5),
                (Unread::IpProtocol(1), 4),
                (Unread::IpProtocol(132), 3),
            ]),
            unknown_links: BTreeMap::from([(253, 2), (40_000, 1)]),
            ..Counts::default()
        };
        let said = [
            "3 packets of IP protocol 132 (SCTP) are not read",
            "2 packets of link type 253 (netlink) are not read",
            "1 packet of link type 40000 is not read",
        ];
        assert_eq!(lost_sight(&read), said);
    }
}
