//! The record of an object: a part of the data that a connection sent.

use std::sync::Arc;

use experiment::{Observation, Scope};
use kernel::ReportedObject;
use units::Duration;

use super::columns::{MAX_TEXT_BYTES, Recorded};
use super::directory::OBJECTS;
use super::row::{Maker, Now};

tables::stored! {
    /// An object of a study.
    pub struct ObjectRow, texts up to MAX_TEXT_BYTES {
        /// the number of the study's start
        pub sitting: u64 = "sitting", needed;
        /// the kernel's number of the connection's socket, unique within this start
        pub connection: u64 = "connection", needed;
        /// the number of the object in its connection, from 1
        pub object: u64 = "object";
        /// the random number of the unit of randomisation
        pub unit: u64 = "unit" as Word, needed;
        /// the arm's position in the plan
        pub arm: usize = "arm", needed;
        /// the arm's controller
        pub assigned: Arc<str> = "assigned";
        /// 1 if it is evaluated, 0 if the connection began in a washout
        pub is_evaluated: bool = "evaluated", needed;
        /// this side's port
        pub port: u16 = "port";
        /// the other side's address, as `address` says
        pub client: Option<Arc<str>> = "client";
        /// the number of the other side's autonomous system, with `--as`
        pub system: Option<u32> = "as_number";
        /// the region of the other side, with [`--region`](#regions)
        pub region: Option<Arc<str>> = "region";
        /// the time when the object's first packet left
        pub begun_unix_s: f64 = "begun_unix_s" as Named, needed;
        /// the time from the object's first packet until all of it was acknowledged, without pauses
        pub busy: Duration = "busy_s", needed;
        /// payload acknowledged
        pub bytes: u64 = "bytes", needed;
        /// packets with data sent
        pub packets: u64 = "sent_packets", needed;
        /// packets with data retransmitted
        pub resent: u64 = "retransmitted_packets", needed;
        /// 1 if all of the object was acknowledged, 0 if its connection ended before
        pub is_whole: bool = "whole", needed;
    }
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
            begun_unix_s: now.unix_s(of.begun),
            busy: of.busy,
            bytes: of.bytes,
            packets: of.packets,
            resent: of.resent,
            is_whole: of.is_whole,
            ..ObjectRow::default()
        }
    }
}

impl Recorded for ObjectRow {
    const START: &'static str = OBJECTS;
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
