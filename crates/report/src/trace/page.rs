//! Connections as a self-contained page.

use askama::Template;
use trace::{Summary, Timeline};

use super::{charts, table};
use crate::page::{self, Origin, Page};
use crate::table::Table;
use tables::numbers::count;

/// The maximum numbers of connections with a picture, and in the table.
const MAX_PICTURES: usize = 20;
const MAX_ROWS: usize = 200;

/// Long addresses are broken before columns are hidden.
const STYLE: &str = "td:nth-child(-n + 2) { min-width: 9.5rem; white-space: normal; overflow-wrap: anywhere } \
                     @media print { td:nth-child(-n + 2) { min-width: 5.4rem } } \
                     :is(th, td):nth-child(2) { text-align: left }";

/// The page's contents between header and footer.
#[derive(Template)]
#[template(path = "trace.html")]
struct Body {
    notes: Vec<String>,
    pictures: Vec<String>,
    tables: Vec<Table>,
}

/// Returns the summary's connections, in its order, as a page: distributions, the largest ones over time, and tables,
/// which may be long.
pub fn html(summary: &Summary, timelines: &[Timeline], origin: &Origin) -> String {
    let start = charts::origin(timelines.iter().map(|timeline| timeline.first));
    let flows = summary.connections.iter().zip(timelines).take(MAX_PICTURES);
    let pictures = flows.filter_map(|(summary, timeline)| {
        charts::flow(timeline.flows.first()?, summary.flows.first()?, start)
    });
    let pictures = charts::distributions(summary).into_iter().chain(pictures);
    let mut notes = table::notes(summary);
    if summary.connections.len() > MAX_PICTURES {
        notes.push(format!(
            "The {MAX_PICTURES} connections with the most payload have a picture."
        ));
    }
    if summary.connections.len() > MAX_ROWS {
        notes.push(format!(
            "The {MAX_ROWS} connections with the most payload are in the table; connections.parquet has all."
        ));
    }
    let page = Page {
        title: "Captured connections",
        about: &about(summary),
        body: Body {
            notes,
            pictures: pictures.map(|picture| picture.html()).collect(),
            tables: table::all(summary, MAX_ROWS),
        },
        facts: &[count(summary.read.packets, "packet")],
        source: None,
        style: STYLE,
        script: page::PLAIN,
        data: &(),
        origin,
    };
    page.html()
}

/// Describes the number of connections.
fn about(summary: &Summary) -> String {
    let closed = summary.quic.iter().filter(|one| one.connection.is_none());
    let (open, closed) = (summary.connections.len(), closed.count());
    let mut parts = Vec::new();
    if open > 0 || closed == 0 {
        parts.push(count(open as u64, "connection"));
    }
    if closed > 0 {
        let closed = count(closed as u64, "connection");
        parts.push(format!("{closed} of QUIC without keys"));
    }
    parts.join(", ")
}

#[cfg(test)]
mod tests {
    use std::net::{Ipv4Addr, SocketAddrV4};
    use std::time::SystemTime;

    use capture::packet::Flags;
    use capture::write::{TcpPacket, Writer};
    use units::{Duration, Time};

    use super::*;
    use trace::Trace;

    fn page(capture: &[u8]) -> String {
        let mut trace = Trace::new();
        trace.read(capture, &|| true).expect("a capture");
        let (summary, timelines) = Summary::of(trace);
        let origin = Origin {
            command: String::new(),
            generated: SystemTime::UNIX_EPOCH,
        };
        html(&summary, &timelines, &origin)
    }

    #[test]
    fn charts_come_first_and_say_how_many_connections_have_data() {
        let mut writer = Writer::new(Vec::new(), "page").expect("a vector takes everything");
        let server = SocketAddrV4::new(Ipv4Addr::new(10, 0, 0, 2), 80);
        for number in 0..7_u16 {
            let client = SocketAddrV4::new(Ipv4Addr::new(10, 0, 0, 1), 1_000 + number);
            // The last one has no data.
            let len = if number < 6 { 1_000 } else { 0 };
            let ways = [(client, server, 1, 1, len), (server, client, 1, 1 + len, 0)];
            for (place, (from, to, seq, ack, len)) in ways.into_iter().enumerate() {
                let packet = TcpPacket {
                    from,
                    to,
                    id: number,
                    ecn: 0,
                    seq,
                    ack,
                    flags: Flags::ACK,
                    window: 60_000,
                    options: &[],
                    len,
                };
                let at = u64::from(number) * 100 + place as u64 * 20;
                let at = Time::ZERO + Duration::from_millis(at);
                writer
                    .packet(at, &packet)
                    .expect("a vector takes everything");
            }
        }
        let page = page(&writer.finish().expect("a vector takes everything"));
        let of = |part: &str| page.find(part).unwrap_or_else(|| panic!("{part}"));
        assert!(of("<svg") < of("<table"));
        of("6 of 7 connections: those with data");
    }

    #[test]
    fn a_capture_with_only_quic_has_only_the_table_for_quic() {
        let page = page(include_bytes!("../../../trace/data/quic.pcap"));
        assert!(page.contains("1 connection of QUIC without keys"));
        assert!(!page.contains("0 connections"));
        assert_eq!(page.matches("<table").count(), 1);
    }
}
