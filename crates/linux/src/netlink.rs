//! Devices, addresses and routes of the calling thread's namespace (rtnetlink(7)).

use std::io;
use std::net::IpAddr;

use netlink_packet_core::{
    NLM_F_ACK, NLM_F_CREATE, NLM_F_DUMP, NLM_F_DUMP_INTR, NLM_F_EXCL, NLM_F_REQUEST, NetlinkBuffer,
    NetlinkHeader, NetlinkMessage, NetlinkPayload,
};
use netlink_packet_route::address::{AddressAttribute, AddressFlags, AddressMessage};
use netlink_packet_route::link::{LinkAttribute, LinkFlags, LinkMessage};
use netlink_packet_route::route::{
    RouteAddress, RouteAttribute, RouteHeader, RouteMessage, RouteMetric, RouteProtocol,
    RouteScope, RouteType,
};
use netlink_packet_route::{AddressFamily, RouteNetlinkMessage};
use netlink_sys::protocols::NETLINK_ROUTE;
use netlink_sys::{Socket, SocketAddr};

/// The table of the host's own addresses (linux/rtnetlink.h, RT_TABLE_LOCAL).
const TABLE_LOCAL: u8 = 255;

/// The most attempts at a dump that is interrupted by changes.
const MAX_DUMP_ATTEMPTS: usize = 5;

/// A socket to the kernel's routing tables.
pub(crate) struct Netlink {
    socket: Socket,
    sequence: u32,
}

impl Netlink {
    /// Opens a socket in the thread's namespace.
    pub(crate) fn open() -> io::Result<Netlink> {
        let mut socket = Socket::new(NETLINK_ROUTE)?;
        socket.bind_auto()?;
        socket.connect(&SocketAddr::new(0, 0))?;
        Ok(Netlink {
            socket,
            sequence: 0,
        })
    }

    /// Sets `attributes` of the device, and switches the device on.
    pub(crate) fn up(&mut self, device: u32, attributes: Vec<LinkAttribute>) -> io::Result<()> {
        let mut message = LinkMessage::default();
        message.header.index = device;
        message.header.flags = LinkFlags::Up;
        // Multicast is switched off: IPv6 would use it to report its listeners (RFC 3810) to a network that does not
        // exist.
        message.header.change_mask = LinkFlags::Up | LinkFlags::Multicast;
        message.attributes = attributes;
        self.request(RouteNetlinkMessage::SetLink(message), 0)
    }

    /// Gives the device an address of its own, usable at once.
    pub(crate) fn add_address(&mut self, device: u32, address: IpAddr) -> io::Result<()> {
        let mut message = AddressMessage::default();
        message.header.family = family(address);
        message.header.prefix_len = if address.is_ipv4() { 32 } else { 128 };
        message.header.index = device;
        message.attributes = vec![
            AddressAttribute::Local(address),
            AddressAttribute::Address(address),
            // The address is unique, so there is no duplicate address detection (RFC 4862, section 5.4).
            AddressAttribute::Flags(AddressFlags::Nodad),
        ];
        self.request(
            RouteNetlinkMessage::NewAddress(message),
            NLM_F_CREATE | NLM_F_EXCL,
        )
    }

    /// Routes everything of the family of `source` through the device, with `source` as the default source address.
    pub(crate) fn add_default_route(
        &mut self,
        device: u32,
        source: IpAddr,
        metrics: Vec<RouteMetric>,
    ) -> io::Result<()> {
        let mut message = RouteMessage::default();
        message.header.address_family = family(source);
        message.header.table = RouteHeader::RT_TABLE_MAIN;
        message.header.protocol = RouteProtocol::Static;
        message.header.scope = if source.is_ipv4() {
            RouteScope::Link
        } else {
            RouteScope::Universe
        };
        message.header.kind = RouteType::Unicast;
        message.attributes = vec![
            RouteAttribute::Oif(device),
            RouteAttribute::PrefSource(route_address(source)),
        ];
        if !metrics.is_empty() {
            message.attributes.push(RouteAttribute::Metrics(metrics));
        }
        self.request(
            RouteNetlinkMessage::NewRoute(message),
            NLM_F_CREATE | NLM_F_EXCL,
        )
    }

    /// Makes every address of a network local to this host, without one entry each: the kernel accepts packets to it,
    /// and lets sockets bind to it.
    pub(crate) fn add_own_network(
        &mut self,
        device: u32,
        network: IpAddr,
        length: u8,
    ) -> io::Result<()> {
        let mut message = RouteMessage::default();
        message.header.address_family = family(network);
        message.header.destination_prefix_length = length;
        message.header.table = TABLE_LOCAL;
        message.header.protocol = RouteProtocol::Static;
        message.header.scope = RouteScope::Host;
        message.header.kind = RouteType::Local;
        message.attributes = vec![
            RouteAttribute::Destination(route_address(network)),
            RouteAttribute::Oif(device),
        ];
        self.request(
            RouteNetlinkMessage::NewRoute(message),
            NLM_F_CREATE | NLM_F_EXCL,
        )
    }

    /// Makes the kernel apply the filter of a dump request, and refuse unknown fields. Since Linux 4.20.
    pub(crate) fn be_strict(&self) -> io::Result<()> {
        self.socket.set_netlink_get_strict_chk(true)
    }

    /// Sends one request and waits for the kernel's acknowledgement.
    pub(crate) fn request(&mut self, message: RouteNetlinkMessage, flags: u16) -> io::Result<()> {
        self.send(message, NLM_F_REQUEST | NLM_F_ACK | flags)?;
        let answer = self.receive()?;
        let answer = NetlinkMessage::<RouteNetlinkMessage>::deserialize(&answer)
            .map_err(io::Error::other)?;
        match answer.payload {
            // The acknowledgement is an error message with code zero (RFC 3549, section 2.3.2.2).
            NetlinkPayload::Error(error) if error.code.is_none() => Ok(()),
            NetlinkPayload::Error(error) => Err(error.to_io()),
            other => Err(io::Error::other(format!("unexpected answer {other:?}"))),
        }
    }

    /// Lists all objects that match a request.
    pub(crate) fn dump(
        &mut self,
        message: &RouteNetlinkMessage,
    ) -> io::Result<Vec<RouteNetlinkMessage>> {
        for _ in 0..MAX_DUMP_ATTEMPTS {
            if let Some(all) = self.try_dump(message.clone())? {
                return Ok(all);
            }
        }
        Err(io::Error::other("it kept changing while it was read"))
    }

    /// Tries to list all objects; returns `None` if they changed meanwhile.
    fn try_dump(
        &mut self,
        message: RouteNetlinkMessage,
    ) -> io::Result<Option<Vec<RouteNetlinkMessage>>> {
        self.send(message, NLM_F_REQUEST | NLM_F_DUMP)?;
        let (mut all, mut is_whole) = (Ok(Vec::new()), true);
        // An invalid message does not end the reading: the rest of this answer would be taken for the next one.
        loop {
            let datagram = self.receive()?;
            let mut rest = datagram.as_slice();
            while !rest.is_empty() {
                let about = NetlinkBuffer::new_checked(rest).map_err(io::Error::other)?;
                let length = (about.length() as usize).next_multiple_of(4);
                is_whole &= about.flags() & NLM_F_DUMP_INTR == 0;
                let one = NetlinkMessage::<RouteNetlinkMessage>::deserialize(rest);
                match one.map(|message| message.payload) {
                    Ok(NetlinkPayload::InnerMessage(one)) => {
                        if let Ok(all) = &mut all {
                            all.push(one);
                        }
                    }
                    Ok(NetlinkPayload::Done(done)) if done.code < 0 => {
                        return Err(io::Error::from_raw_os_error(-done.code));
                    }
                    Ok(NetlinkPayload::Done(_)) => return all.map(|all| is_whole.then_some(all)),
                    Ok(NetlinkPayload::Error(error)) => return Err(error.to_io()),
                    Ok(_) => {}
                    Err(error) => all = Err(io::Error::other(error)),
                }
                rest = rest.get(length..).unwrap_or_default();
            }
        }
    }

    /// The next datagram that answers the last request. Answers to earlier requests, which were not read to the end,
    /// are skipped.
    fn receive(&self) -> io::Result<Vec<u8>> {
        loop {
            let datagram = match self.socket.recv_from_full() {
                Ok((datagram, _)) => datagram,
                Err(error) if error.kind() == io::ErrorKind::Interrupted => continue,
                Err(error) => return Err(error),
            };
            let about = NetlinkBuffer::new_checked(&datagram).map_err(io::Error::other)?;
            if about.sequence_number() == self.sequence {
                return Ok(datagram);
            }
        }
    }

    fn send(&mut self, message: RouteNetlinkMessage, flags: u16) -> io::Result<()> {
        self.sequence = self.sequence.wrapping_add(1);
        let mut header = NetlinkHeader::default();
        header.sequence_number = self.sequence;
        header.flags = flags;
        let mut message = NetlinkMessage::new(header, NetlinkPayload::from(message));
        message.finalize();
        let mut bytes = vec![0; message.buffer_len()];
        message.serialize(&mut bytes);
        self.socket.send(&bytes, 0).map(drop)
    }
}

pub(crate) fn family(address: IpAddr) -> AddressFamily {
    if address.is_ipv4() {
        AddressFamily::Inet
    } else {
        AddressFamily::Inet6
    }
}

pub(crate) fn route_address(address: IpAddr) -> RouteAddress {
    match address {
        IpAddr::V4(address) => RouteAddress::Inet(address),
        IpAddr::V6(address) => RouteAddress::Inet6(address),
    }
}

#[cfg(test)]
mod tests {
    use netlink_packet_route::rule::RuleMessage;

    use super::*;

    #[test]
    fn an_answer_that_was_not_read_is_not_the_next_one() {
        let mut netlink = Netlink::open().unwrap();
        // A route that is in no table.
        let mut route = RouteMessage::default();
        route.header.address_family = AddressFamily::Inet;
        route.header.destination_prefix_length = 32;
        route.attributes = vec![RouteAttribute::Table(1)];
        let request = RouteNetlinkMessage::DelRoute(route);
        netlink.send(request, NLM_F_REQUEST | NLM_F_ACK).unwrap();
        let mut rules = RuleMessage::default();
        rules.header.family = AddressFamily::Inet;
        let found = netlink.dump(&RouteNetlinkMessage::GetRule(rules)).unwrap();
        assert!(!found.is_empty());
    }
}
