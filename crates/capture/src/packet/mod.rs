//! From what a capture has of a packet to what it says: link, tunnels, IP, TCP or UDP.
//!
//! A capture may hold no more than the beginning of a packet. Lengths are those that the headers give.

mod bytes;
mod ip;
mod link;
mod segment;
mod tunnel;

use std::fmt;
use std::net::{IpAddr, SocketAddr};

use units::Time;

use crate::read::Frame;

pub(crate) use bytes::word;
pub use segment::{Flags, Segment};
pub use tunnel::Tunnel;

/// One end of a connection.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Endpoint {
    /// Its address.
    pub address: IpAddr,
    /// Its port.
    pub port: u16,
}

/// `10.0.0.1:80`, `[2001:db8::1]:80`.
impl fmt::Display for Endpoint {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        SocketAddr::new(self.address, self.port).fmt(f)
    }
}

/// A packet of a transport that is looked at.
#[derive(Debug, Clone, Copy)]
pub struct Packet<'f> {
    /// When it passed, from the Unix epoch.
    pub at: Time,
    /// Who sent it.
    pub from: Endpoint,
    /// To whom.
    pub to: Endpoint,
    /// The length of the IP packet.
    pub ip_len: u32,
    /// The number that its sender gave an IPv4 packet (RFC 6864); 0 if there is none.
    pub id: u16,
    /// Whether the network has marked it "congestion experienced" (RFC 3168).
    pub is_marked: bool,
    /// What it was carried in, if that was not IP alone: the innermost.
    pub tunnel: Option<Tunnel>,
    /// What it carries.
    pub body: Body<'f>,
}

/// What a packet carries.
#[derive(Debug, Clone, Copy)]
pub enum Body<'f> {
    /// A segment of TCP.
    Tcp(Segment),
    /// A datagram of UDP: how long its payload is, and what was captured of it.
    Udp {
        /// The length of its payload.
        len: u32,
        /// What was captured of that.
        payload: &'f [u8],
    },
}

/// What became of a frame.
#[derive(Debug, Clone, Copy)]
pub enum Seen<'f> {
    /// It is looked at.
    Packet(Packet<'f>),
    /// A further fragment of an IP packet: nobody can tell whose.
    Fragment,
    /// It goes through a tunnel that cannot be looked into.
    Opaque(Tunnel),
    /// It is neither TCP nor UDP.
    Other,
    /// Too little of it was captured.
    Short,
    /// A link of a type that is not known.
    UnknownLink(u32),
}

/// What a frame says.
pub fn parse<'f>(frame: &Frame<'f>) -> Seen<'f> {
    link::parse(frame)
}
