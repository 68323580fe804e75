//! The rows of a data set of probes.

use record::LimitShares;
use tables::Column;

/// One probe: the transfer over one connection in one round, or the reason why it failed.
#[derive(Debug, Clone, PartialEq)]
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
        tables::columns!(&'r Row {
            /// the number of the round, from 0; later commands continue the count
            "round": |row| row.round,
            /// the destination
            "destination": |row| &*row.destination,
            /// `sim`, `linux`, `tcp` or `quic`
            "over": |row| &*row.over,
            /// the controller
            "controller": |row| &*row.controller,
            /// when the probe began, in seconds from the start of the command, or in the path's own time
            "at_s" as_named: |row| row.at_s,
            /// when the probe began, in milliseconds of Unix time; null for paths
            "unix_ms" as_named: |row| row.unix_ms,
            /// the number of bytes to send
            "bytes": |row| row.bytes,
            /// the time from the first byte until the sender knew of the arrival of the last one; for paths, from the
            /// receiver's request until the last byte; null if the probe failed
            "took_ms" as_named: |row| row.took_ms,
            /// the bytes divided by `took_ms`; null if the probe failed
            "goodput_bps" as_named: |row| row.goodput_bps,
            /// the share of the probe's time in which the application limited the sender, like `limited_by` in
            /// [records](records.md). With hosts, the time of waiting for the answer is part of it
            "limited_application": |row| Some(row.limited_by?.application),
            /// the share of the probe's time in which the receive window was full. Over QUIC, it includes the moments in
            /// which the QUIC stack has not yet taken the data to send
            "limited_receiver": |row| Some(row.limited_by?.receiver),
            /// the share of the probe's time in which the send buffer was too small
            "limited_send_buffer": |row| Some(row.limited_by?.send_buffer),
            /// the share of the probe's time in which congestion control was the limit. All shares are null if the probe failed, and over TCP where the kernel
            /// does not report them
            "limited_congestion": |row| Some(row.limited_by?.congestion),
            /// 1 for the first probe over its connection, else 0
            "first": |row| row.is_first,
            /// the seed of a path's run
            "seed": |row| row.seed,
            /// why the probe failed, or null
            "failure": |row| row.failure.as_deref(),
        })
    }
}

#[cfg(test)]
mod tests {
    use std::path::Path;

    use super::*;

    #[test]
    fn the_documentation_has_the_columns() {
        let page = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../docs/probe.md");
        tables::page::assert_has(&page, "probes", &tables::page::table(&Row::columns()));
    }
}
