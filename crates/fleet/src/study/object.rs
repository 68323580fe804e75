//! What is recorded of an object: a part of what a connection sent.

use std::borrow::Cow;
use std::fs::File;
use std::io::BufWriter;
use std::sync::Arc;

use kernel::ToldObject;
use report::parquet::{Column, WriteError, write};
use units::Duration;

use super::row::{Maker, Now, word};
use crate::systems::System;

/// An object of a study.
#[derive(Debug, Clone, PartialEq)]
pub struct ObjectRow {
    /// Its connection, as [`Row`](super::Row) has it.
    pub sitting: u64,
    /// See `sitting`.
    pub connection: u64,
    /// Its number in the connection, from 1.
    pub object: u64,
    /// The draw of its unit of randomisation.
    pub unit: u64,
    /// The place of its arm in the plan, and the controller that it was to get.
    pub arm: usize,
    /// See `arm`.
    pub assigned: Arc<str>,
    /// Whether it counts, or its connection began in the washout of a slot.
    pub is_evaluated: bool,
    /// This side's port.
    pub port: u16,
    /// The other side, as far as the plan keeps it.
    pub client: Option<String>,
    /// The other side's network.
    pub system: Option<Arc<System>>,
    /// When its first packet left, in seconds since 1970.
    pub begun_unix_s: f64,
    /// From then until everything was acknowledged, without pauses.
    pub busy: Duration,
    /// Payload acknowledged, in bytes.
    pub bytes: u64,
    /// Packets with data sent.
    pub packets: u64,
    /// Packets of these that were sent again.
    pub resent: u64,
    /// Whether all of it was acknowledged, or its connection ended before.
    pub is_whole: bool,
}

impl Maker {
    /// Of an object.
    pub fn object(&self, of: &ToldObject, now: Now) -> ObjectRow {
        ObjectRow {
            sitting: self.sitting,
            connection: of.cookie,
            object: of.number,
            unit: of.steered.unit,
            arm: of.steered.arm,
            assigned: self.arms.get(of.steered.arm).cloned().unwrap_or_default(),
            is_evaluated: true,
            port: of.steered.ports[0],
            client: self.client(of.steered.client),
            system: None,
            begun_unix_s: now.unix_s(of.begun),
            busy: of.busy,
            bytes: of.bytes,
            packets: of.packets,
            resent: of.resent,
            is_whole: of.is_whole,
        }
    }
}

fn columns<'r>() -> Vec<Column<'r, &'r ObjectRow>> {
    vec![
        Column::whole("sitting", |row: &&ObjectRow| Some(row.sitting)),
        Column::whole("connection", |row: &&ObjectRow| Some(row.connection)),
        Column::whole("object", |row: &&ObjectRow| Some(row.object)),
        Column::text("unit", |row: &&ObjectRow| Some(word(row.unit))),
        Column::whole("arm", |row: &&ObjectRow| Some(row.arm as u64)),
        Column::text("assigned", |row: &&'r ObjectRow| {
            Some(Cow::Borrowed(&*row.assigned))
        }),
        Column::whole("evaluated", |row: &&ObjectRow| {
            Some(row.is_evaluated.into())
        }),
        Column::whole("port", |row: &&ObjectRow| Some(row.port.into())),
        Column::text("client", |row: &&'r ObjectRow| {
            Some(Cow::Borrowed(row.client.as_deref()?))
        }),
        Column::whole("as_number", |row: &&ObjectRow| {
            Some(row.system.as_ref()?.number.into())
        }),
        Column::real("begun_unix_s", |row: &&ObjectRow| Some(row.begun_unix_s)),
        Column::real("busy_s", |row: &&ObjectRow| Some(row.busy.as_secs_f64())),
        Column::whole("bytes", |row: &&ObjectRow| Some(row.bytes)),
        Column::whole("sent_packets", |row: &&ObjectRow| Some(row.packets)),
        Column::whole("retransmitted_packets", |row: &&ObjectRow| Some(row.resent)),
        Column::whole("whole", |row: &&ObjectRow| Some(row.is_whole.into())),
    ]
}

pub(super) fn write_objects(
    to: &mut BufWriter<File>,
    rows: &[ObjectRow],
) -> Result<(), WriteError> {
    let about = [("fullpipe.version", env!("CARGO_PKG_VERSION").to_owned())];
    write(to, &columns(), rows, &about)
}
