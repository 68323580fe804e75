//! A whole capture, or several, as connections.

use std::collections::BTreeMap;
use std::io::Read;

use serde::Serialize;

use crate::connection::Connection;
use crate::packet::{self, Body, Seen, Tunnel};
use crate::quic::qlog;
use crate::quic::{self, KeyLogError, QuicConnection};
use crate::read::{End, Frames, ReadError, compression};
use crate::table::Table;

/// What was read.
#[derive(Debug, Clone, Default, Serialize)]
pub struct Counts {
    /// Packets of all kinds.
    pub packets: u64,
    /// Segments of TCP.
    pub tcp: u64,
    /// Datagrams of UDP.
    pub udp: u64,
    /// Those of them that are of QUIC.
    pub quic: u64,
    /// Further fragments of IP packets.
    pub fragments: u64,
    /// Neither TCP nor UDP.
    pub other: u64,
    /// Packets of which too little was captured.
    pub short: u64,
    /// Packets in tunnels that cannot be looked into, by the tunnel's name.
    pub opaque: BTreeMap<&'static str, u64>,
    /// Packets of links that are not known, by the link's type.
    pub unknown_links: BTreeMap<u32, u64>,
    /// Files that end within a packet.
    pub cut: u64,
    /// Files that are damaged, and read as far as they are not.
    pub damaged: u64,
}

/// Takes captures, and makes connections of them.
#[derive(Default)]
pub struct Trace {
    counts: Counts,
    table: Table,
    quic: quic::Table,
    /// Connections that qlogs have told of.
    logged: Vec<Connection>,
}

impl Trace {
    /// Nothing yet.
    pub fn new() -> Trace {
        Trace::default()
    }

    /// Reads a capture or a qlog to its end, or until `goes_on` says no, which is asked now and then. The captures of one trace are read in
    /// the order of their times.
    ///
    /// # Errors
    /// It is no capture, or cannot be read. What it had before that is kept.
    pub fn read(
        &mut self,
        source: impl Read,
        mut goes_on: impl FnMut(&Counts) -> bool,
    ) -> Result<(), ReadError> {
        let mut plain = compression::plain(source)?;
        let mut first = [0];
        let read = plain.read(&mut first)?;
        let source = first[..read].chain(plain);
        if read > 0 && qlog::is_one(first[0]) {
            self.logged.extend(qlog::read(source)?);
            return Ok(());
        }
        let mut frames = Frames::new(source)?;
        while let Some(frame) = frames.next_frame()? {
            self.counts.packets += 1;
            if self.counts.packets.is_multiple_of(1 << 14) && !goes_on(&self.counts) {
                return Ok(());
            }
            self.on_frame(packet::parse(&frame));
        }
        match frames.end() {
            End::Whole => {}
            End::Cut => self.counts.cut += 1,
            End::Damaged(_) => self.counts.damaged += 1,
        }
        Ok(())
    }

    #[inline]
    fn on_frame(&mut self, seen: Seen<'_>) {
        let counts = &mut self.counts;
        match seen {
            Seen::Packet(packet) => match &packet.body {
                Body::Tcp(segment) => {
                    counts.tcp += 1;
                    self.table.on_segment(&packet, segment);
                }
                Body::Udp { len, payload } => {
                    counts.udp += 1;
                    counts.quic += u64::from(self.quic.on_datagram(&packet, *len, payload));
                }
            },
            Seen::Fragment => counts.fragments += 1,
            Seen::Opaque(tunnel) => *counts.opaque.entry(Tunnel::name(tunnel)).or_default() += 1,
            Seen::Other => counts.other += 1,
            Seen::Short => counts.short += 1,
            Seen::UnknownLink(link) => *counts.unknown_links.entry(link).or_default() += 1,
        }
    }

    /// Takes the secrets of a key log, as SSLKEYLOGFILE names it: before the captures, whose QUIC connections they open.
    ///
    /// # Errors
    /// It cannot be read, or has none.
    pub fn read_keys(&mut self, source: impl Read) -> Result<(), KeyLogError> {
        self.quic.keys.read(source)
    }

    /// What was read so far.
    pub fn counts(&self) -> &Counts {
        &self.counts
    }

    /// The connections of TCP, those of QUIC, and how many were let go because there were too many.
    pub fn into_connections(self) -> (Vec<Box<Connection>>, Vec<QuicConnection>, u64) {
        let (connections, evicted) = self.table.into_connections();
        let evicted = evicted + self.quic.left_out;
        let connections = connections
            .chain(self.logged.into_iter().map(Box::new))
            .collect();
        (connections, self.quic.into_connections(), evicted)
    }
}
