//! The record of an object: a part of the data that a connection sent.

use std::sync::Arc;

use experiment::{Observation, Scope};
use kernel::ReportedObject;
use tables::stored::{Stored, StoredColumn};
use units::Duration;

use super::columns::{MAX_TEXT_BYTES, Recorded};
use super::directory::OBJECTS;
use super::row::{Maker, Now};

/// An object of a study.
#[derive(Debug, Clone, Default, PartialEq)]
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
    /// True if it is evaluated. It is not if its connection began in the washout of a slot.
    pub is_evaluated: bool,
    /// The local port.
    pub port: u16,
    /// The client, in the form that the plan keeps.
    pub client: Option<Arc<str>>,
    /// The number of the client's autonomous system.
    pub system: Option<u32>,
    /// The client's region, if the user has named it.
    pub region: Option<Arc<str>>,
    /// The time when its first packet was sent, in seconds since 1970.
    pub begun_unix_s: f64,
    /// The time from its first packet until all of it was acknowledged, without pauses.
    pub busy: Duration,
    /// Payload acknowledged, in bytes.
    pub bytes: u64,
    /// Data packets sent, including retransmissions.
    pub packets: u64,
    /// Retransmitted packets among them.
    pub resent: u64,
    /// True if all of it was acknowledged. It was not if its connection ended earlier.
    pub is_whole: bool,
}

impl Maker {
    /// The row of an object.
    pub fn object(&self, of: &ReportedObject, now: Now) -> ObjectRow {
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

impl Recorded for ObjectRow {
    const START: &'static str = OBJECTS;
}

impl Stored for ObjectRow {
    const MAX_TEXT_BYTES: usize = MAX_TEXT_BYTES;

    const COLUMNS: &'static [StoredColumn<ObjectRow>] = tables::stored!(ObjectRow {
        /// the number of the study's start
        "sitting": sitting needed,
        /// the kernel's number of the connection's socket, unique within this start
        "connection": connection needed,
        /// the number of the object in its connection, from 1
        "object": object,
        /// the random number of the unit of randomisation
        "unit": unit (as Word) needed,
        /// the arm's position in the plan
        "arm": arm needed,
        /// the arm's controller
        "assigned": assigned,
        /// 1 if it is evaluated, 0 if the connection began in a washout
        "evaluated": is_evaluated needed,
        /// this side's port
        "port": port,
        /// the other side's address, as `address` says
        "client": client,
        /// the number of the other side's autonomous system, with `--as`
        "as_number": system,
        /// the region of the other side, with [`--region`](#regions)
        "region": region,
        /// the time when the object's first packet left
        "begun_unix_s": begun_unix_s (as Named) needed,
        /// the time from the object's first packet until all of it was acknowledged, without pauses
        "busy_s": busy needed,
        /// payload acknowledged
        "bytes": bytes needed,
        /// packets with data sent
        "sent_packets": packets needed,
        /// packets with data retransmitted
        "retransmitted_packets": resent needed,
        /// 1 if all of the object was acknowledged, 0 if its connection ended before
        "whole": is_whole needed,
    });
}

impl ObjectRow {
    /// The object as it is evaluated.
    pub(super) fn observation(&self, groups: Vec<String>) -> Observation {
        Observation {
            scope: if self.is_whole {
                Scope::Object
            } else {
                Scope::Part
            },
            unit: self.unit,
            arm: self.arm,
            acknowledged: self.bytes,
            busy: self.busy,
            packets: self.packets,
            resent: self.resent,
            rtt: None,
            groups,
        }
    }
}
