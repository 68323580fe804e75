//! Writes a large capture to stdout: many TCP connections at once, each with windows of ten packets and an ACK for every second of
//! them, timestamps, and a loss with SACKs in every sixteenth window.
//!
//! ```console
//! $ cargo run --release --example many -- 100000 10000000000 | fullpipe trace - --top 3
//! ```

use std::cell::Cell;
use std::env;
use std::error::Error;
use std::io::{self, BufWriter, Write};
use std::net::{Ipv4Addr, SocketAddrV4};
use std::rc::Rc;

use capture::packet::Flags;
use capture::write::{TcpOption, TcpPacket, Writer};
use units::Time;

/// The round trip, in milliseconds: in each of them, another part of the connections sends.
const RTT: u32 = 40;
const WINDOW: u32 = 10;
const MSS: u32 = 1448;

/// Counts what passes.
struct Counted<W> {
    to: W,
    bytes: Rc<Cell<u64>>,
}

impl<W: Write> Write for Counted<W> {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        let written = self.to.write(bytes)?;
        self.bytes.set(self.bytes.get() + written as u64);
        Ok(written)
    }

    fn flush(&mut self) -> io::Result<()> {
        self.to.flush()
    }
}

/// A connection's packets.
struct Ends {
    client: SocketAddrV4,
    server: SocketAddrV4,
    /// The clock of timestamps, in milliseconds.
    now: u32,
}

impl Ends {
    fn of(number: u32, now: u32) -> Ends {
        let [_, a, b, c] = number.to_be_bytes();
        Ends {
            client: SocketAddrV4::new(Ipv4Addr::new(10, a, b, c), 40_000),
            server: SocketAddrV4::new(Ipv4Addr::new(192, 0, 2, 1), 443),
            now,
        }
    }

    /// A packet of the client, which sends the data, or of the server; behind its timestamp, it has these options.
    fn write(
        &self,
        writer: &mut Writer<impl Write>,
        is_client: bool,
        (seq, ack): (u32, u32),
        flags: Flags,
        more: &[TcpOption],
        len: u32,
    ) -> io::Result<()> {
        let (from, to) = if is_client {
            (self.client, self.server)
        } else {
            (self.server, self.client)
        };
        let echo = if is_client { self.now } else { self.now - RTT };
        let time = [
            TcpOption::Noop,
            TcpOption::Noop,
            TcpOption::Timestamp(self.now, echo),
        ];
        let options = [&time[..], more].concat();
        let packet = TcpPacket {
            from,
            to,
            id: 0,
            ecn: 0,
            seq,
            ack,
            flags,
            window: u16::MAX,
            options: &options,
            len: 0,
        };
        // Checksums over what is not there would take most of the time.
        let mut headers = packet.headers();
        let total = u16::try_from(headers.len())
            .map_err(io::Error::other)?
            .saturating_add(u16::try_from(len).map_err(io::Error::other)?);
        headers[2..4].copy_from_slice(&total.to_be_bytes());
        writer.raw(
            Time::from_nanos(u64::from(self.now) * 1_000_000),
            &headers,
            len,
        )
    }

    /// The SYN, or its answer.
    fn open(&self, writer: &mut Writer<impl Write>, is_client: bool) -> io::Result<()> {
        let options = [
            TcpOption::MaximumSegmentSize(1460),
            TcpOption::SelectiveAcknowledgementPermitted,
            TcpOption::WindowScale(8),
        ];
        let (ack, flags) = if is_client {
            (0, Flags::SYN)
        } else {
            (1, Flags::SYN.with(Flags::ACK))
        };
        self.write(writer, is_client, (0, ack), flags, &options, 0)
    }

    /// The ACKs of a window, and the window after it.
    fn window(&self, writer: &mut Writer<impl Write>, round: u32) -> io::Result<()> {
        let place = |packet: u32| 1_u32.wrapping_add(packet.wrapping_mul(MSS));
        let first = round.wrapping_mul(WINDOW);
        let before = first.wrapping_sub(WINDOW);
        let has_hole = round > 0 && round.is_multiple_of(16);
        if round > 0 {
            for acked in (2..=WINDOW).step_by(2) {
                let upto = place(before.wrapping_add(acked));
                if has_hole {
                    let block = (place(before.wrapping_add(1)), upto);
                    let sack = [TcpOption::SelectiveAcknowledgement(block, [None; 3])];
                    self.write(writer, false, (1, place(before)), Flags::ACK, &sack, 0)?;
                } else {
                    self.write(writer, false, (1, upto), Flags::ACK, &[], 0)?;
                }
            }
        }
        if has_hole {
            self.write(writer, true, (place(before), 1), Flags::ACK, &[], MSS)?;
        }
        for packet in 0..WINDOW {
            let seq = place(first.wrapping_add(packet));
            self.write(writer, true, (seq, 1), Flags::ACK, &[], MSS)?;
        }
        Ok(())
    }
}

fn main() -> Result<(), Box<dyn Error>> {
    let mut arguments = env::args().skip(1);
    let usage = "give the number of connections, up to 16777216, and of bytes";
    let connections: u32 = arguments.next().ok_or(usage)?.parse()?;
    let bytes: u64 = arguments.next().ok_or(usage)?.parse()?;
    let written = Rc::new(Cell::new(0));
    let to = Counted {
        to: BufWriter::with_capacity(1 << 20, io::stdout().lock()),
        bytes: Rc::clone(&written),
    };
    let mut writer = Writer::new(to, "many")?;
    let connections = connections.min(1 << 24);
    for (now, is_client) in [(RTT, true), (2 * RTT, false)] {
        for number in 0..connections {
            Ends::of(number, now).open(&mut writer, is_client)?;
        }
    }
    let mut now = 2 * RTT;
    loop {
        for number in (now % RTT..connections).step_by(RTT as usize) {
            Ends::of(number, now).window(&mut writer, (now - 2 * RTT) / RTT)?;
        }
        now += 1;
        if now.is_multiple_of(RTT) && written.get() >= bytes {
            break;
        }
    }
    writer.finish()?;
    Ok(())
}
