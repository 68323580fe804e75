//! The record of one connection, at its end or while it is open.

use std::net::IpAddr;
use std::sync::Arc;

use experiment::plan::KeptAddress;
use experiment::{Key, Observation, Scope};
use kernel::{EndedConnection, SteeredConnection};
use linux::diag::{EndedSocket, SocketState, TcpInfo};
use rules::Prefix;
use units::{Bytes, Duration, Rate};

use super::columns::{MAX_TEXT_BYTES, Recorded};
use super::directory::{START, StudyDirectory};
use fleet::connection::{acknowledged, retransmitted};

tables::stored! {
    /// A connection of a study.
    pub struct Row, texts up to MAX_TEXT_BYTES {
        /// the number of the study's start
        pub sitting: u64 = "sitting", needed;
        /// the kernel's number of the socket, unique within this start
        pub connection: u64 = "connection", needed;
        /// the random number of the unit of randomisation
        pub unit: u64 = "unit" as Word, needed;
        /// the arm's position in the plan
        pub arm: usize = "arm", needed;
        /// the arm's controller
        pub assigned: Arc<str> = "assigned";
        /// 1 if it is evaluated, 0 if the connection began in a washout
        pub is_evaluated: bool = "evaluated", needed;
        /// 1 if this row is the connection's end, else 0
        pub has_ended: bool = "ended", needed;
        /// the time of the connection's set-up
        pub set_up_unix_s: f64 = "set_up_unix_s" as Named, needed;
        /// the time of this row
        pub unix_s: f64 = "unix_s" as Named, needed;
        /// this side's port
        pub port: u16 = "port";
        /// the other side's address, as `address` says
        pub client: Option<Arc<str>> = "client";
        /// a keyed hash of the other side's address and port, if the plan asks for it
        pub end: Option<u64> = "client_end" as Word;
        /// the number of the other side's autonomous system, with `--as`
        pub system: Option<u32> = "as_number";
        /// the region of the other side, with [`--region`](#regions)
        pub region: Option<Arc<str>> = "region";
        /// the actual controller, also at the end (not in a study by route)
        pub controller: Option<Arc<str>> = "controller";
        /// payload acknowledged so far
        pub acknowledged: Bytes = "acknowledged_bytes", needed;
        /// packets with data sent so far
        pub packets: u64 = "sent_packets", needed;
        /// packets with data retransmitted so far. 0 if only SYNs, SYN-ACKs or FINs were sent again; otherwise these count,
        /// too
        pub resent: u64 = "retransmitted_packets", needed;
        /// packets that TCP considered lost; known at the connection's end
        pub lost: Option<u64> = "lost_packets";
        /// the RTT of the handshake, before the connection had an arm. It is missing with Fast Open, after a SYN cookie
        /// without time stamps, if a SYN was sent again, and in a study by route
        pub handshake_rtt: Option<Duration> = "handshake_rtt_ms";
        /// the kernel's latest smoothed RTT
        pub rtt: Option<Duration> = "srtt_ms";
        /// the minimum RTT. While the connection is open: the kernel's minimum of the last minutes
        pub min_rtt: Option<Duration> = "min_rtt_ms";
        /// the median RTT; known at the connection's end
        pub median_rtt: Option<Duration> = "median_rtt_ms";
        /// the number of the connection's objects, including those without a row; known at the connection's end
        pub objects: Option<u64> = "objects";
        /// the kernel's latest delivery-rate sample
        pub delivery_rate: Option<Rate> = "delivery_rate_bps";
        /// the time with data to send or unacknowledged
        pub busy: Duration = "busy_s", needed;
        /// the part of `busy_s` in which the other side's window was the limit
        pub rwnd_limited: Duration = "rwnd_limited_s";
        /// the part of `busy_s` in which the send buffer was the limit
        pub sndbuf_limited: Duration = "sndbuf_limited_s";
    }
}

/// The data for rows apart from the connection.
#[derive(Debug)]
pub(super) struct Maker {
    pub sitting: u64,
    pub arms: Vec<Arc<str>>,
    pub kept: KeptAddress,
    pub keeps_ends: bool,
    pub key: Key,
}

/// The present, as time since boot and by the calendar.
#[derive(Debug, Clone, Copy)]
pub(super) struct Now {
    pub boot: Duration,
    pub unix_s: f64,
}

impl Now {
    /// The calendar time of a time since boot.
    pub fn unix_s(&self, boot: Duration) -> f64 {
        self.unix_s - self.boot.as_secs_f64() + boot.as_secs_f64()
    }
}

impl Maker {
    /// The maker of rows for this study, in its latest sitting.
    pub fn of(place: &StudyDirectory) -> Maker {
        let plan = &place.plan;
        Maker {
            sitting: place.about.sittings,
            arms: plan.controllers().into_iter().map(Arc::from).collect(),
            kept: plan.address,
            keeps_ends: plan.keeps_ends(),
            key: place.key(),
        }
    }

    /// The part of an address that the plan keeps.
    pub fn client(&self, address: IpAddr) -> Option<Arc<str>> {
        match self.kept {
            KeptAddress::Full => Some(address.to_string().into()),
            KeptAddress::Prefix => Some(network(address).to_string().into()),
            KeptAddress::Hashed => Some(format!("{:016x}", self.key.pseudonym(address)).into()),
            KeptAddress::None => None,
        }
    }

    fn row(&self, of: &SteeredConnection, connection: u64, now: Now) -> Row {
        Row {
            sitting: self.sitting,
            connection,
            unit: of.unit,
            arm: of.arm,
            assigned: self.arms.get(of.arm).cloned().unwrap_or_default(),
            is_evaluated: true,
            set_up_unix_s: now.unix_s(of.set_up),
            unix_s: now.unix_s,
            port: of.ports[0],
            client: self.client(of.client),
            end: self
                .keeps_ends
                .then(|| self.key.end(of.client, of.ports[1])),
            handshake_rtt: of.handshake_rtt,
            ..Row::default()
        }
    }

    /// The row of a connection that has ended.
    pub fn ended(&self, of: &EndedConnection, now: Now) -> Row {
        Row {
            has_ended: true,
            unix_s: now.unix_s(of.ended),
            controller: of.controller.map(|name| name.as_str().into()),
            acknowledged: Bytes::new(of.acknowledged),
            packets: of.packets,
            resent: of.resent,
            lost: Some(of.lost),
            rtt: of.rtt,
            min_rtt: of.min_rtt,
            median_rtt: of.median_rtt,
            objects: Some(of.objects),
            delivery_rate: of.delivery_rate.map(Rate::from_bytes_per_sec),
            busy: of.busy,
            rwnd_limited: of.rwnd_limited,
            sndbuf_limited: of.sndbuf_limited,
            ..self.row(&of.steered, of.cookie, now)
        }
    }

    /// The row of an open connection.
    pub fn open(&self, of: &SteeredConnection, socket: &SocketState, now: Now) -> Row {
        Row {
            controller: Some(socket.controller.as_str().into()),
            ..self.seen(of, socket.cookie, &socket.info, now)
        }
    }

    /// The row of a connection that has ended, if only the kernel's last view of it is known.
    pub fn gone(&self, of: &SteeredConnection, socket: &EndedSocket, now: Now) -> Row {
        Row {
            has_ended: true,
            ..self.seen(of, socket.cookie, &socket.info, now)
        }
    }

    fn seen(&self, of: &SteeredConnection, connection: u64, info: &TcpInfo, now: Now) -> Row {
        Row {
            acknowledged: acknowledged(info),
            packets: info.data_segs_out.into(),
            resent: retransmitted(info),
            rtt: Some(info.rtt).filter(|rtt| !rtt.is_zero()),
            min_rtt: info.min_rtt,
            delivery_rate: info.known_delivery_rate(),
            busy: info.busy_time,
            rwnd_limited: info.rwnd_limited,
            sndbuf_limited: info.sndbuf_limited,
            ..self.row(of, connection, now)
        }
    }
}

/// The network of an address, for the evaluation by groups.
pub(super) fn network(address: IpAddr) -> Prefix {
    Prefix::around(address, if address.is_ipv4() { 24 } else { 48 })
}

impl Recorded for Row {
    const START: &'static str = START;
}

impl Row {
    /// The connection as it is evaluated. If it has objects, the objects have the sizes and times.
    pub(super) fn observation(&self, groups: Vec<String>) -> Observation {
        let has_objects = self.objects.is_some_and(|count| count > 0);
        Observation {
            scope: if has_objects {
                Scope::Carrier
            } else {
                Scope::Connection
            },
            unit: self.unit,
            arm: self.arm,
            acknowledged: self.acknowledged.get(),
            busy: self.busy,
            packets: self.packets,
            resent: self.resent,
            rtt: self.median_rtt.or(self.rtt),
            groups,
        }
    }
}

#[cfg(test)]
pub(super) mod tests {
    use super::*;

    /// A maker for a study whose first arm is bbr, a connection of it, and the beginning of time.
    fn example() -> (Maker, SteeredConnection, Now) {
        let maker = Maker {
            sitting: 1,
            arms: vec!["bbr".into()],
            kept: KeptAddress::None,
            keeps_ends: false,
            key: Key::of_seed("a"),
        };
        let of = SteeredConnection {
            unit: 0,
            rule: 0,
            arm: 0,
            set_up: Duration::ZERO,
            client: [192, 0, 2, 7].into(),
            ports: [443, 50_000],
            handshake_rtt: None,
        };
        let now = Now {
            boot: Duration::ZERO,
            unix_s: 0.0,
        };
        (maker, of, now)
    }

    /// A connection of the arm bbr that has this controller.
    pub fn row(connection: u64, controller: Option<&str>) -> Row {
        let (maker, of, now) = example();
        Row {
            controller: controller.map(Arc::from),
            ..maker.row(&of, connection, now)
        }
    }

    fn socket() -> SocketState {
        let digits = include_str!("../../../fleet/src/captured.hex");
        let digits: Vec<u8> = digits.bytes().filter(u8::is_ascii_hexdigit).collect();
        let byte = |pair: &[u8]| u8::from_str_radix(str::from_utf8(pair).unwrap(), 16).unwrap();
        let payload: Vec<u8> = digits.chunks(2).map(byte).collect();
        SocketState::parse(&payload).unwrap().unwrap()
    }

    #[test]
    fn a_syn_that_was_sent_again_is_no_retransmitted_packet_of_an_open_connection() {
        let (maker, of, now) = example();
        let mut socket = socket();
        (socket.info.data_segs_out, socket.info.total_retrans) = (10, 2);
        for (bytes, resent) in [(0, 0), (2896, 2)] {
            socket.info.bytes_retrans = Bytes::new(bytes);
            assert_eq!(maker.open(&of, &socket, now).resent, resent);
        }
    }

    /// The SYN of an outgoing connection counts. An incoming one's does not: its sequence numbers begin behind it.
    #[test]
    fn syn_and_fin_are_no_payload_while_open_and_when_gone() {
        let (maker, of, now) = example();
        let mut socket = socket();
        for (sent, again, acked, payload) in [
            (0, 0, 0, 0),
            // Outgoing, and with a FIN.
            (0, 0, 1, 0),
            (0, 0, 2, 0),
            (3000, 1000, 2002, 2000),
            // Data are outstanding.
            (3000, 1000, 1000, 1000),
        ] {
            let info = &mut socket.info;
            (info.bytes_sent, info.bytes_retrans) = (Bytes::new(sent), Bytes::new(again));
            info.bytes_acked = Bytes::new(acked);
            let ended = EndedSocket {
                cookie: socket.cookie,
                local: socket.local,
                remote: socket.remote,
                info: socket.info,
            };
            let rows = [maker.open(&of, &socket, now), maker.gone(&of, &ended, now)];
            let payload = Bytes::new(payload);
            assert_eq!(rows.map(|row| row.acknowledged), [payload; 2], "{acked}");
        }
    }
}
