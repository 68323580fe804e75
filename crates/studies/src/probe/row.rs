//! The rows of a data set of probes.

use std::borrow::Cow;

use serde::Serialize;

use record::LimitShares;
use tables::Column;

/// One probe: the transfer over one connection in one round, or the reason why it failed.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct Row {
    /// The round, from zero. Numbers continue over all probing into the same dataset.
    pub round: u64,
    /// The name of the destination.
    pub destination: String,
    /// The engine or protocol: `sim`, `linux`, `tcp` or `quic`.
    pub over: String,
    /// The controller.
    pub controller: String,
    /// The start, in seconds from the start of the probing; on paths, in the path's own time.
    pub at_s: f64,
    /// The start, in milliseconds of Unix time. Nothing in virtual time.
    pub unix_ms: Option<u64>,
    /// The bytes to send.
    pub bytes: u64,
    /// The time from the first byte until the sender knew of the last one's arrival; on paths, from the receiver's
    /// request until the last byte. Nothing if the probe failed.
    pub took_ms: Option<f64>,
    /// The bytes over that time.
    pub goodput_bps: Option<f64>,
    /// The sender's limits, from the request or the first byte to the last byte. Nothing if the probe failed, or if the
    /// kernel does not report them for TCP.
    pub limited_by: Option<LimitShares>,
    /// Whether the probe was the first over its connection.
    pub is_first: bool,
    /// The seed of the run, for paths.
    pub seed: Option<u64>,
    /// The reason of the failure, if it failed.
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
