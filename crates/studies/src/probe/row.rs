//! One probe.

use std::borrow::Cow;

use serde::Serialize;

use record::LimitShares;
use report::parquet::Column;

/// One probe: what was sent over one connection in one round, or why it was not.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct Row {
    /// The round, from zero; it goes on from one probing to the next into the same dataset.
    pub round: u64,
    /// The destination's name.
    pub destination: String,
    /// What carried it: `sim`, `linux`, `tcp` or `quic`.
    pub over: String,
    /// The controller.
    pub controller: String,
    /// When it began, from the start of the probing; in a path's own time.
    pub at_s: f64,
    /// When it began, in milliseconds of Unix time; nothing in virtual time.
    pub unix_ms: Option<u64>,
    /// What was to be sent.
    pub bytes: u64,
    /// From the first byte until the sender knew, or the receiver had asked and got, the last one; nothing if it failed.
    pub took_ms: Option<f64>,
    /// The bytes in that time.
    pub goodput_bps: Option<f64>,
    /// What limited the sender, from the request or the first byte to the last byte; nothing if it failed, and over TCP where the
    /// kernel does not tell.
    pub limited_by: Option<LimitShares>,
    /// Whether it was the first one over its connection.
    pub is_first: bool,
    /// The seed of a path's run.
    pub seed: Option<u64>,
    /// Why it failed, if it did.
    pub failure: Option<String>,
}

impl Row {
    /// The columns of a round's Parquet file.
    pub(super) fn columns<'r>() -> Vec<Column<'r, &'r Row>> {
        type Table<'r> = Column<'r, &'r Row>;
        fn limited(row: &Row, by: fn(&LimitShares) -> f64) -> Option<f64> {
            row.limited_by.as_ref().map(by)
        }
        fn text(text: &str) -> Option<Cow<'_, str>> {
            Some(Cow::Borrowed(text))
        }
        vec![
            Table::whole("round", |row| Some(row.round)),
            Table::text("destination", |row| text(&row.destination)),
            Table::text("over", |row| text(&row.over)),
            Table::text("controller", |row| text(&row.controller)),
            Table::real("at_s", |row| Some(row.at_s)),
            Table::whole("unix_ms", |row| row.unix_ms),
            Table::whole("bytes", |row| Some(row.bytes)),
            Table::real("took_ms", |row| row.took_ms),
            Table::real("goodput_bps", |row| row.goodput_bps),
            Table::real("limited_application", |row| {
                limited(row, |by| by.application)
            }),
            Table::real("limited_receiver", |row| limited(row, |by| by.receiver)),
            Table::real("limited_send_buffer", |row| {
                limited(row, |by| by.send_buffer)
            }),
            Table::real("limited_congestion", |row| limited(row, |by| by.congestion)),
            Table::whole("first", |row| Some(row.is_first.into())),
            Table::whole("seed", |row| row.seed),
            Table::text("failure", |row| row.failure.as_deref().and_then(text)),
        ]
    }
}
