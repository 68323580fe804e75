//! Decodes captured packets: link, tunnels, IP, and TCP or UDP.
//!
//! A capture may hold only the beginning of a packet. Lengths are those in the headers.

mod aggregate;
mod bytes;
mod ip;
mod link;
mod segment;
mod tunnel;
mod unread;
mod wireless;

use std::fmt;
use std::net::{IpAddr, SocketAddr};

use units::Time;

use crate::read::Frame;

pub use aggregate::Aggregate;
pub(crate) use bytes::word;
pub use segment::{Flags, Segment};
pub use tunnel::Tunnel;
pub use unread::{Unread, link_name};

/// One end of a connection.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Endpoint {
    /// The IP address.
    pub address: IpAddr,
    /// The port.
    pub port: u16,
}

/// `10.0.0.1:80`, `[2001:db8::1]:80`.
impl fmt::Display for Endpoint {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        SocketAddr::new(self.address, self.port).fmt(f)
    }
}

/// A packet with TCP or UDP.
#[derive(Debug, Clone, Copy)]
pub struct Packet<'f> {
    /// When it passed the capture, since the Unix epoch.
    pub at: Time,
    /// The sender.
    pub from: Endpoint,
    /// The receiver.
    pub to: Endpoint,
    /// The length of the IP packet.
    pub ip_len: u32,
    /// The IPv4 identification that its sender gave it (RFC 6864); 0 if there is none.
    pub id: u16,
    /// True if the network has marked it "congestion experienced" (RFC 3168).
    pub is_marked: bool,
    /// The innermost tunnel that carried it.
    pub tunnel: Option<Tunnel>,
    /// The transport and its contents.
    pub body: Body<'f>,
}

/// The transport of a packet.
#[derive(Debug, Clone, Copy)]
pub enum Body<'f> {
    /// A TCP segment.
    Tcp(Segment),
    /// A UDP datagram.
    Udp {
        /// The length of its payload.
        len: u32,
        /// The captured part of the payload.
        payload: &'f [u8],
    },
}

/// The result of decoding a frame.
#[derive(Debug, Clone, Copy)]
pub enum Decoded<'f> {
    /// A packet with TCP or UDP.
    Packet(Packet<'f>),
    /// A fragment of an IP packet other than the first. Its connection is unknown.
    Fragment,
    /// A packet in a tunnel that cannot be decoded.
    Opaque(Tunnel),
    /// A packet with neither TCP nor UDP.
    Other(Unread),
    /// A frame with several packets.
    Several(Aggregate<'f>),
    /// Too little of the frame was captured.
    Short,
    /// A frame of an unknown link type.
    UnknownLink(u32),
}

/// Decodes a frame.
pub fn parse<'f>(frame: &Frame<'f>) -> Decoded<'f> {
    link::parse(frame)
}
