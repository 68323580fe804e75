//! A line for each connection.

use std::collections::BTreeMap;

use capture::quic::{QuicFlow, QuicSummary};
use capture::{ConnectionSummary, FlowSummary, LimitedBy, Summary};
use units::Bytes;

use crate::table::Table;
use crate::text::{below, bits_per_sec, count, known, percent, size, span, without_middle};

/// So many links that are not known have a line of their own.
const LINKS: usize = 3;

/// A longer name of a server is shortened.
const NAME: usize = 40;

/// Packets that are less out of order change no RTT that is shown: an RTT of less than 0.1 ms is unknown.
const OUT_OF_ORDER_MS: f64 = 0.1;

/// Of fewer packets, acknowledgements may be missing by chance.
const UNHEARD: u64 = 4;

/// The connections with the most payload, no more than `top` of them, for a terminal of so many columns.
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
    below(&tables, notes)
}

/// The tables that have rows.
pub fn all(summary: &Summary, top: usize) -> Vec<Table> {
    let tables = [connections(summary, top), quic(summary, top)];
    tables
        .into_iter()
        .filter(|table| !table.rows.is_empty())
        .collect()
}

/// The connections whose packets can be read: TCP, and QUIC with keys or from a qlog.
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

/// What QUIC connections show without keys.
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
        one.server_name
            .as_deref()
            .map_or("–".to_owned(), |name| without_middle(name, NAME)),
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

/// What limits most, and the share of it; a second one if it is a tenth of the time.
pub fn limits(by: &LimitedBy) -> String {
    let mut all = [
        ("application", Some(by.application)),
        ("receiver", Some(by.receiver)),
        (
            "congestion",
            Some(by.congestion).filter(|_| by.window.is_none()),
        ),
        ("slow start", by.slow_start),
        ("window", by.window),
        ("bottleneck", by.bottleneck),
        ("buffer", by.buffer),
    ]
    .map(|(name, share)| (name, share.unwrap_or(0.0)));
    all.sort_by(|one, other| other.1.total_cmp(&one.1));
    let shown = all.iter().enumerate();
    let shown = shown.filter(|(place, (_, share))| *place == 0 || *place == 1 && *share >= 0.1);
    let words = shown.map(|(_, (name, share))| format!("{name} {:.0} %", share * 100.0));
    words.collect::<Vec<_>>().join(", ")
}

/// What is to be said of links that are not known, by their types: of so many each, and of the rest together.
fn links(unknown: &BTreeMap<u32, u64>) -> Vec<String> {
    let say = |packets: u64, of: &str| format!("{} of {of}", count(packets, "packet"));
    let mut all = unknown.iter();
    let first = all.by_ref().take(LINKS).map(|(link, packets)| {
        let link = format!("a link that is not known (LINKTYPE {link})");
        say(*packets, &link)
    });
    let mut said: Vec<String> = first.collect();
    let (links, packets) = all.fold((0, 0), |(links, sum), (_, packets)| {
        (links + 1, sum + packets)
    });
    if links > 0 {
        said.push(say(packets, &count(links, "further link")));
    }
    said
}

/// What is to be said of the captures.
pub fn notes(summary: &Summary) -> Vec<String> {
    let read = &summary.read;
    let of = |number: u64, thing: &str, what: &str| {
        (number > 0).then(|| format!("{} {what}", count(number, thing)))
    };
    let opaque = read.opaque.iter().map(|(tunnel, packets)| {
        let packets = count(*packets, "packet");
        Some(format!("{packets} in {tunnel}, which nobody can look into"))
    });
    let links = links(&read.unknown_links).into_iter().map(Some);
    let flows = || {
        let connections = summary.connections.iter();
        connections.flat_map(|connection| &connection.flows)
    };
    let missed: u64 = flows().map(|flow| flow.missed_bytes).sum();
    let is_twice = |flow: &&FlowSummary| flow.copies > 0 && flow.copies * 3 >= flow.packets;
    let is_untold = |flow: &&FlowSummary| flow.lost.is_none();
    let is_windowless =
        |flow: &&FlowSummary| flow.acks > 0 && flow.limited_by.is_none() && flow.packets >= UNHEARD;
    let is_unheard = |flow: &&FlowSummary| flow.acks == 0 && flow.packets >= UNHEARD;
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
        of(read.short, "packet", "captured too short to be told"),
        of(
            read.cut_options,
            "segment",
            "captured without all options (timestamps, SACK, the window's scale): capture 128 bytes of each",
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
        (missed > 0).then(|| {
            format!(
                "{} were acknowledged and not captured",
                size(Bytes::new(missed))
            )
        }),
    ]
    .into_iter()
    .chain(opaque)
    .chain(links)
    .flatten()
    .collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_capture_without_packets_says_so() {
        let summary = Summary::alone(capture::Trace::new());
        let text = table(&summary, 20, None);
        assert!(
            text.starts_with("no connection of TCP or QUIC in 0 packets\n"),
            "{text}"
        );
    }

    #[test]
    fn of_many_unknown_links_the_first_are_named() {
        let unknown = |links: u32| (200..200 + links).map(|link| (link, 2)).collect();
        assert!(links(&unknown(0)).is_empty());
        let said = links(&unknown(1));
        assert_eq!(
            said,
            ["2 packets of a link that is not known (LINKTYPE 200)"]
        );
        let said = links(&unknown(60_000));
        assert_eq!(said.len(), LINKS + 1);
        assert_eq!(said[LINKS], "119994 packets of 59997 further links");
    }
}
