//! One capture or several, read as connections.

use std::collections::BTreeMap;
use std::io::{self, Cursor, Read};
use std::sync::{Arc, PoisonError};

use capture::clock::Clock;
use capture::packet::{self, Body, Decoded, Tunnel, Unread};
use capture::quic::KeyLogError;
use capture::read::{End, Frame, Frames, Opened, Pieces, ReadError, Wanted, Windows, plain};
use connection::Connection;
use connection::memory::{Holder, Memory, Room};
use serde::Serialize;

use crate::quic::qlog;
use crate::quic::{self, QuicConnection};
use crate::table::Table;

/// So often connections are dropped at once if they hold too much memory.
const MAX_DROPS: usize = 4;

/// Counts of what was read.
#[derive(Debug, Clone, Default, Serialize)]
pub struct Counts {
    /// Packets of all kinds.
    pub packets: u64,
    /// TCP segments.
    pub tcp: u64,
    /// UDP datagrams.
    pub udp: u64,
    /// UDP datagrams with QUIC.
    pub quic: u64,
    /// Fragments of IP packets, other than the first.
    pub fragments: u64,
    /// Packets with neither TCP nor UDP.
    pub other: u64,
    /// Packets of which too little was captured.
    pub short: u64,
    /// TCP segments whose options were not captured completely.
    pub cut_options: u64,
    /// TCP segments with an option whose length is impossible.
    pub damaged_options: u64,
    /// QUIC datagrams that were captured in part, although there are keys, which need all of it.
    pub cut_datagrams: u64,
    /// Packets without a timestamp, which are ignored.
    pub untimed: u64,
    /// Packets whose timestamp is before that of the packet before.
    pub backward: u64,
    /// By how much at most, in milliseconds, if the clock was not set back.
    pub backward_ms: f64,
    /// How often the clock of the capture was set back.
    pub set_back: u64,
    /// Packets in tunnels that cannot be decoded, by the tunnel's name.
    pub opaque: BTreeMap<&'static str, u64>,
    /// The packets with neither TCP nor UDP, by what they are.
    pub others: BTreeMap<Unread, u64>,
    /// Packets of unknown link types, by the link type.
    pub unknown_links: BTreeMap<u32, u64>,
    /// Files that end within a packet.
    pub cut: u64,
    /// Damaged files, which are read up to the damage.
    pub damaged: u64,
}

/// Reads captures, and follows their connections.
#[derive(Default)]
pub struct Trace {
    counts: Counts,
    table: Table,
    quic: quic::Table,
    memory: Memory,
}

/// A stream after decompression.
type Plain<'s> = Box<dyn Read + 's>;

impl Trace {
    /// An empty trace.
    pub fn new() -> Trace {
        Trace::default()
    }

    /// An empty trace whose connections may hold this many bytes of memory. At this bound, they keep fewer samples.
    pub fn within(bytes: usize) -> Trace {
        Trace {
            memory: Memory::new(bytes),
            ..Trace::default()
        }
    }

    /// Reads a capture or a qlog to its end, or until `goes_on` returns false. `goes_on` is called for each piece of some
    /// hundred kilobytes.
    ///
    /// # Errors
    /// The file cannot be read, or is neither a capture nor a qlog. What was read before the error is kept.
    pub fn read<'s>(
        &mut self,
        source: impl Read + 's,
        goes_on: &'s dyn Fn() -> bool,
    ) -> Result<(), ReadError> {
        let mut source = Some(source);
        let open = |_: usize| -> io::Result<Opened<'s>> {
            let source = source.take().ok_or(io::ErrorKind::NotFound)?;
            Ok(Opened {
                source: Box::new(source),
                is_lasting: false,
            })
        };
        self.read_all(1, open, goes_on).map_err(|(_, error)| error)
    }

    /// Reads this many captures and qlogs as one. Packets are taken in the order of their timestamps, in whatever order the
    /// files are given. `open` opens a file; a file that is not a pipe may be opened twice.
    ///
    /// # Errors
    /// As with [`Trace::read`], with the number of the file.
    pub fn read_all<'s>(
        &mut self,
        files: usize,
        mut open: impl FnMut(usize) -> io::Result<Opened<'s>>,
        goes_on: &'s dyn Fn() -> bool,
    ) -> Result<(), (usize, ReadError)> {
        let windows = Windows::default();
        let decompressed = |file| -> Result<(Plain<'s>, bool), ReadError> {
            let Opened { source, is_lasting } = open(file)?;
            let source = plain(Wanted { source, goes_on }, &windows)?;
            Ok((Box::new(Wanted { source, goes_on }), is_lasting))
        };
        match self.merge(files, decompressed, &windows, goes_on) {
            // The error only says that the caller wants no more.
            Err(_) if !goes_on() => Ok(()),
            read => read,
        }
    }

    fn merge<'s>(
        &mut self,
        files: usize,
        mut plain: impl FnMut(usize) -> Result<(Plain<'s>, bool), ReadError>,
        windows: &Windows,
        goes_on: &dyn Fn() -> bool,
    ) -> Result<(), (usize, ReadError)> {
        let mut pieces = Pieces::default();
        for file in 0..files {
            let looked = plain(file).and_then(|opened| {
                self.look(file, files == 1, opened, windows, &mut pieces, goes_on)
            });
            looked.map_err(|error| (file, error))?;
        }
        let secrets = Arc::clone(&self.quic.secrets);
        let mut again = |file| Frames::of_plain(plain(file)?.0, windows, &secrets);
        let mut clock = Clock::default();
        while let Some(frame) = pieces.next_frame(&mut again)? {
            let (at, is_step) = clock.on_packet(frame.at);
            if is_step {
                self.on_clock_step();
            }
            self.on_frame(packet::parse(&Frame { at, ..frame }));
        }
        self.counts.backward += clock.backward;
        self.counts.backward_ms = self.counts.backward_ms.max(clock.most.as_millis_f64());
        self.counts.set_back += clock.set_back;
        self.counts.untimed += pieces.untimed;
        self.counts.cut_datagrams = self.quic.cut;
        for end in pieces.ends.into_iter().filter(|_| goes_on()) {
            match end {
                End::Whole => {}
                End::Cut => self.counts.cut += 1,
                End::Damaged(_) => self.counts.damaged += 1,
            }
        }
        Ok(())
    }

    /// Reads the file if it is a qlog. Otherwise, looks up the time of its first packet.
    fn look<'s>(
        &mut self,
        file: usize,
        is_alone: bool,
        (mut source, is_lasting): (Plain<'s>, bool),
        windows: &Windows,
        pieces: &mut Pieces<'s>,
        goes_on: &dyn Fn() -> bool,
    ) -> Result<(), ReadError> {
        let mut first = Vec::new();
        source.by_ref().take(4).read_to_end(&mut first)?;
        let is_log = qlog::is_one(&first);
        let source: Plain<'s> = Box::new(Cursor::new(first).chain(source));
        if is_log {
            let (logged, is_cut) = qlog::read(source, &mut self.memory, goes_on)?;
            for one in logged {
                self.table.keep(Box::new(one), &mut self.memory);
            }
            self.counts.cut += u64::from(is_cut);
            if self.memory.is_full() {
                self.thin();
            }
            return Ok(());
        }
        let mut frames = Frames::of_plain(source, windows, &self.quic.secrets)?;
        match frames.next_at()? {
            Some(first) => {
                let is_kept = is_alone || !is_lasting;
                pieces.add(file, first, is_kept.then_some(frames));
            }
            None => pieces.end(&frames),
        }
        Ok(())
    }

    #[inline]
    fn on_frame(&mut self, seen: Decoded<'_>) {
        let counts = &mut self.counts;
        counts.packets += 1;
        match seen {
            Decoded::Packet(packet) => {
                match &packet.body {
                    Body::Tcp(segment) => {
                        counts.tcp += 1;
                        counts.cut_options += u64::from(segment.is_cut);
                        counts.damaged_options += u64::from(segment.is_damaged);
                        self.table.on_segment(&packet, segment, &mut self.memory);
                    }
                    Body::Udp { len, payload } => {
                        counts.udp += 1;
                        let memory = &mut self.memory;
                        let is_quic = self.quic.on_datagram(&packet, *len, payload, memory);
                        counts.quic += u64::from(is_quic);
                    }
                }
                if self.memory.is_full() {
                    self.thin();
                }
            }
            Decoded::Fragment => counts.fragments += 1,
            Decoded::Opaque(tunnel) => *counts.opaque.entry(Tunnel::name(tunnel)).or_default() += 1,
            Decoded::Other(unread) => {
                counts.other += 1;
                *counts.others.entry(unread).or_default() += 1;
            }
            Decoded::Several(packets) => {
                counts.packets -= 1;
                packets.for_each(|seen| self.on_frame(seen));
            }
            Decoded::Short => counts.short += 1,
            Decoded::UnknownLink(link) => *counts.unknown_links.entry(link).or_default() += 1,
        }
    }

    /// The clock was set back.
    #[cold]
    fn on_clock_step(&mut self) {
        self.table.all().for_each(Connection::on_clock_step);
        self.quic.all().for_each(QuicConnection::on_clock_step);
    }

    /// Connections hold too much memory: thins them out.
    #[cold]
    fn thin(&mut self) {
        let tcp = self.table.all().map(|one| one as &mut dyn Holder);
        let quic = self.quic.all().map(|one| one as &mut dyn Holder);
        let mut all: Vec<&mut dyn Holder> = tcp.chain(quic).collect();
        self.memory.thin(&mut all);
        if self.memory.is_overfull() {
            for _ in 0..MAX_DROPS {
                if self.memory.room() == Room::Little {
                    self.table.make_room(&mut self.memory);
                }
            }
        }
    }

    /// Reads the secrets of a key log, in the format of SSLKEYLOGFILE. Give key logs before the captures whose QUIC
    /// connections they decrypt.
    ///
    /// # Errors
    /// The file cannot be read, or has no usable secret.
    pub fn read_keys(&mut self, source: impl Read) -> Result<(), KeyLogError> {
        let secrets = self.quic.secrets.lock();
        secrets.unwrap_or_else(PoisonError::into_inner).read(source)
    }

    /// The counts so far.
    pub fn counts(&self) -> &Counts {
        &self.counts
    }

    /// The number of bytes of memory that connections hold.
    pub fn held(&self) -> usize {
        self.memory.held()
    }

    /// The TCP connections, the QUIC connections, and how many connections were dropped because there were too many.
    pub fn into_connections(self) -> (Vec<Box<Connection>>, Vec<QuicConnection>, u64) {
        let (connections, evicted) = self.table.into_connections();
        let evicted = evicted + self.quic.left_out;
        (connections.collect(), self.quic.into_connections(), evicted)
    }
}
