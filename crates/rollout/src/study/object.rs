//! What is recorded of an object: a part of the data that a connection sent.

use std::borrow::Cow;
use std::fs::File;
use std::io::BufWriter;
use std::sync::Arc;

use kernel::ToldObject;
use tables::Column;
use tables::parquet::{WriteError, write};
use units::Duration;

use super::row::{Maker, Now, word};
use fleet::systems::System;

/// An object of a study.
#[derive(Debug, Clone, PartialEq)]
pub struct ObjectRow {
    /// The sitting of its connection, as in [`Row`](super::Row).
    pub sitting: u64,
    /// The socket cookie of its connection, as in [`Row`](super::Row).
    pub connection: u64,
    /// Its number in the connection, from 1.
    pub object: u64,
    /// The draw of its unit of randomisation.
    pub unit: u64,
    /// The index of its arm in the plan.
    pub arm: usize,
    /// The controller of its arm.
    pub assigned: Arc<str>,
    /// Whether it is evaluated. It is not if its connection began in the washout of a slot.
    pub is_evaluated: bool,
    /// The local port.
    pub port: u16,
    /// The client, as far as the plan keeps it.
    pub client: Option<String>,
    /// The client's autonomous system.
    pub system: Option<Arc<System>>,
    /// The client's region, if the user has named it.
    pub region: Option<Arc<str>>,
    /// When its first packet was sent, in seconds since 1970.
    pub begun_unix_s: f64,
    /// The time from its first packet until all of it was acknowledged, without pauses.
    pub busy: Duration,
    /// Payload acknowledged, in bytes.
    pub bytes: u64,
    /// Data packets sent, including retransmissions.
    pub packets: u64,
    /// Retransmitted packets among them.
    pub resent: u64,
    /// Whether all of it was acknowledged. It was not if its connection ended earlier.
    pub is_whole: bool,
}

impl Maker {
    /// The row of an object.
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
            region: None,
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
        Column::text("region", |row: &&'r ObjectRow| {
            Some(Cow::Borrowed(row.region.as_deref()?))
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
    to: &mut BufWriter<&File>,
    rows: &[ObjectRow],
) -> Result<(), WriteError> {
    let about = [("fullpipe.version", env!("CARGO_PKG_VERSION").to_owned())];
    write(to, &columns(), rows, &about)
}
