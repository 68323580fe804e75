//! Connections as a page that holds everything it needs.

use askama::Template;
use capture::{Summary, Timeline};

use super::{charts, table};
use crate::page::{Origin, Page};
use crate::table::Table;
use crate::text::count;

/// So many connections have a picture, and so many are in the table.
const PICTURES: usize = 20;
const ROWS: usize = 200;

/// Long addresses are broken before columns would be hidden.
const STYLE: &str = "figure { margin: 1.5rem 0; max-width: 860px } figure svg { width: 100%; height: auto } \
                     .scroll td:nth-child(-n + 2) { min-width: 9.5rem; white-space: normal; overflow-wrap: anywhere } \
                     .scroll :is(th, td):nth-child(2) { text-align: left }";

/// What is between the page's header and footer.
#[derive(Template)]
#[template(path = "trace.html")]
struct Body {
    connections: Table,
    quic: Option<Table>,
    notes: Vec<String>,
    pictures: Vec<String>,
}

/// The summary's connections, in its order, as a page: a table, distributions, and the largest ones over time.
pub fn html(summary: &Summary, timelines: &[Timeline], origin: &Origin) -> String {
    let start = charts::origin(timelines.iter().map(|timeline| timeline.first));
    let flows = summary.connections.iter().zip(timelines).take(PICTURES);
    let pictures = flows.filter_map(|(summary, timeline)| {
        charts::flow(timeline.flows.first()?, summary.flows.first()?, start)
    });
    let pictures = charts::distributions(summary).into_iter().chain(pictures);
    let mut notes = table::notes(summary);
    if summary.connections.len() > PICTURES {
        notes.push(format!(
            "The {PICTURES} connections with the most payload have a picture."
        ));
    }
    if summary.connections.len() > ROWS {
        notes.push(format!(
            "The {ROWS} connections with the most payload are in the table; connections.parquet has all."
        ));
    }
    let page = Page {
        title: "Captured connections",
        about: &count(summary.connections.len() as u64, "connection"),
        body: Body {
            connections: table::lines(summary, ROWS),
            quic: (!summary.quic.is_empty()).then(|| table::quic(summary, ROWS)),
            notes,
            pictures: pictures.map(|picture| picture.svg()).collect(),
        },
        facts: &[count(summary.read.packets, "packet")],
        source: None,
        style: STYLE,
        script: "",
        data: &(),
        origin,
    };
    page.html()
}
