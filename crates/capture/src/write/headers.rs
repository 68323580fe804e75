//! The headers of a packet.

use std::net::SocketAddrV4;

use etherparse::{IpNumber, Ipv4Header, TcpHeader, TcpOptionElement};

use crate::packet::Flags;

/// The most bytes of options that fit into a header.
pub const MAX_OPTIONS: usize = 40;

/// Zeros for the checksum of the payload.
static ZEROS: [u8; 1 << 16] = [0; 1 << 16];

/// A TCP segment over IPv4 with a payload of zeros.
#[derive(Debug, Clone, Copy)]
pub struct TcpPacket<'p> {
    /// The sender.
    pub from: SocketAddrV4,
    /// The receiver.
    pub to: SocketAddrV4,
    /// The IP identification.
    pub id: u16,
    /// The ECN field: 0 is not-ECT, 2 is ECT(0), 3 is CE.
    pub ecn: u8,
    /// The sequence number of its first byte.
    pub seq: u32,
    /// The acknowledgement number.
    pub ack: u32,
    /// Its flags.
    pub flags: Flags,
    /// The window field, which is already scaled.
    pub window: u16,
    /// The options, at most [`MAX_OPTIONS`] bytes.
    pub options: &'p [TcpOptionElement],
    /// The length of the payload.
    pub len: u32,
}

impl TcpPacket<'_> {
    /// The IP and TCP headers.
    pub fn headers(&self) -> Vec<u8> {
        let mut tcp = TcpHeader::new(self.from.port(), self.to.port(), self.seq, self.window);
        tcp.acknowledgment_number = self.ack;
        tcp.fin = self.flags.has(Flags::FIN);
        tcp.syn = self.flags.has(Flags::SYN);
        tcp.rst = self.flags.has(Flags::RST);
        tcp.psh = self.flags.has(Flags::PSH);
        tcp.ack = self.flags.has(Flags::ACK);
        tcp.ece = self.flags.has(Flags::ECE);
        tcp.cwr = self.flags.has(Flags::CWR);
        tcp.ns = self.flags.has(Flags::AE);
        let fits = tcp.set_options(self.options);
        debug_assert!(fits.is_ok(), "too many options: {:?}", self.options);
        let payload = &ZEROS[..(self.len as usize).min(ZEROS.len() - 128)];
        let addresses = [self.from.ip().octets(), self.to.ip().octets()];
        let sum = tcp.calc_checksum_ipv4_raw(addresses[0], addresses[1], payload);
        tcp.checksum = sum.unwrap_or(0);
        let len = tcp.header_len() + payload.len();
        let mut ip = Ipv4Header {
            identification: self.id,
            dont_fragment: true,
            ecn: match self.ecn & 3 {
                0 => etherparse::IpEcn::ZERO,
                1 => etherparse::IpEcn::ONE,
                2 => etherparse::IpEcn::TWO,
                _ => etherparse::IpEcn::THREE,
            },
            total_len: u16::try_from(len + 20).unwrap_or(u16::MAX),
            time_to_live: 64,
            protocol: IpNumber::TCP,
            source: addresses[0],
            destination: addresses[1],
            ..Ipv4Header::default()
        };
        ip.header_checksum = ip.calc_header_checksum();
        let mut headers = ip.to_bytes().to_vec();
        headers.extend(tcp.to_bytes());
        headers
    }
}
