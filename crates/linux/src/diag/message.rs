//! The message about one socket: `struct inet_diag_msg`, and the attributes behind it.

use std::fmt;
use std::net::{IpAddr, Ipv4Addr, Ipv6Addr, SocketAddr};

use netlink_packet_core::NlasIterator;
use nix::libc;
use units::Bytes;

use super::native::{array_at, size, two_words, u8_at, u32_at, u64_at};
use super::{BbrInfo, Memory, Storage, TcpInfo, TcpState};

/// The length of `struct inet_diag_msg`; the attributes begin here.
pub(super) const MESSAGE_BYTES: usize = 72;

/// Attributes: `INET_DIAG_…` in `include/uapi/linux/inet_diag.h`.
pub(super) const INFO: u16 = 2;
pub(super) const VEGASINFO: u16 = 3;
pub(super) const CONG: u16 = 4;
pub(super) const SKMEMINFO: u16 = 7;
const BBRINFO: u16 = 16;
const SK_BPF_STORAGES: u16 = 20;
const CGROUP_ID: u16 = 21;

/// The state of one TCP socket at one moment.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct SocketState {
    /// The local address (`idiag_src`, `idiag_sport`).
    pub local: SocketAddr,
    /// The remote address (`idiag_dst`, `idiag_dport`).
    pub remote: SocketAddr,
    /// The socket cookie, unique while this kernel runs: the value of `SO_COOKIE` (`idiag_cookie`).
    pub cookie: u64,
    /// The state of the connection (`idiag_state`).
    pub state: TcpState,
    /// Payload that has arrived in order and that the application has not read (`idiag_rqueue`).
    pub unread: Bytes,
    /// Payload that the application has written and the other side has not acknowledged, sent or not (`idiag_wqueue`).
    pub unacknowledged: Bytes,
    /// The user who created the socket (`idiag_uid`).
    pub user: u32,
    /// The inode of the socket in `/proc/PID/fd`; zero if no program holds it any more (`idiag_inode`).
    pub inode: u32,
    /// The control group of the socket: the inode of its directory in the cgroup2 file system (`INET_DIAG_CGROUP_ID`).
    /// Since Linux 5.9.
    pub cgroup: Option<u64>,
    /// The congestion controller's name (`INET_DIAG_CONG`).
    pub controller: ControllerName,
    /// TCP's own information (`INET_DIAG_INFO`).
    pub info: TcpInfo,
    /// BBR's model, if the controller is BBR (`INET_DIAG_BBRINFO`).
    pub bbr: Option<BbrInfo>,
    /// The data that the BPF programs of the [requested maps](super::Diag::with_storage) store with it
    /// (`INET_DIAG_SK_BPF_STORAGES`).
    pub storage: Option<Storage>,
    /// The buffers (`INET_DIAG_SKMEMINFO`).
    pub memory: Memory,
}

impl SocketState {
    /// Parses the payload of a netlink message of sock_diag. Returns `None` for connections that are not yet accepted
    /// or in TIME-WAIT: for these the kernel keeps neither buffers nor a window.
    ///
    /// # Errors
    ///
    /// A description of the invalid part.
    pub fn parse(payload: &[u8]) -> Result<Option<SocketState>, &'static str> {
        const TRUNCATED: &str = "truncated inet_diag_msg";
        let message = payload.get(..MESSAGE_BYTES).ok_or(TRUNCATED)?;
        let attributes = payload.get(MESSAGE_BYTES..).ok_or(TRUNCATED)?;

        let mut controller = ControllerName::default();
        let mut info = None;
        let mut bbr = None;
        let mut memory = None;
        let mut storage = None;
        let mut cgroup = None;
        for attribute in NlasIterator::new(attributes) {
            let attribute = attribute.map_err(|_| "truncated attribute")?;
            let value = attribute.value();
            match attribute.kind() {
                CGROUP_ID => cgroup = u64_at(value, 0),
                SK_BPF_STORAGES => storage = Storage::parse(value),
                INFO => {
                    info = Some(TcpInfo::at(value, 0).ok_or("tcp_info of a kernel older than 5.4")?)
                }
                CONG => controller = ControllerName::parse(value).ok_or("odd INET_DIAG_CONG")?,
                BBRINFO => bbr = Some(BbrInfo::at(value, 0).ok_or("truncated tcp_bbr_info")?),
                SKMEMINFO => {
                    memory = Some(Memory::at(value, 0).ok_or("truncated INET_DIAG_SKMEMINFO")?)
                }
                _ => {}
            }
        }
        let (Some(info), Some(memory)) = (info, memory) else {
            return Ok(None);
        };
        let fixed = || {
            let family = u8_at(message, 0)?;
            Some(SocketState {
                local: SocketAddr::new(ip_at(message, 8, family)?, port_at(message, 4)?),
                remote: SocketAddr::new(ip_at(message, 24, family)?, port_at(message, 6)?),
                cookie: two_words(message, 44)?,
                state: TcpState::from(u8_at(message, 1)?),
                unread: size(message, 56)?,
                unacknowledged: size(message, 60)?,
                user: u32_at(message, 64)?,
                inode: u32_at(message, 68)?,
                cgroup,
                controller,
                info,
                bbr,
                storage,
                memory,
            })
        };
        fixed().map(Some).ok_or("address of an unknown family")
    }
}

/// The port at `offset`, in network order.
pub(super) fn port_at(message: &[u8], offset: usize) -> Option<u16> {
    array_at(message, offset).map(u16::from_be_bytes)
}

/// The address of `family` at `offset`.
pub(super) fn ip_at(message: &[u8], offset: usize, family: u8) -> Option<IpAddr> {
    match i32::from(family) {
        libc::AF_INET => array_at::<4>(message, offset).map(|octets| Ipv4Addr::from(octets).into()),
        libc::AF_INET6 => {
            array_at::<16>(message, offset).map(|octets| Ipv6Addr::from(octets).into())
        }
        _ => None,
    }
}

/// The name of a congestion controller, at most 15 bytes (`TCP_CA_NAME_MAX` with its final zero).
#[derive(Clone, Copy, PartialEq, Eq, Hash, Default)]
pub struct ControllerName {
    bytes: [u8; ControllerName::MAX],
    length: usize,
}

impl ControllerName {
    /// The longest name.
    pub const MAX: usize = 15;

    /// The name as text; empty for a connection that is being closed and has no controller any more.
    pub fn as_str(&self) -> &str {
        let bytes = self.bytes.get(..self.length).unwrap_or_default();
        str::from_utf8(bytes).unwrap_or_default()
    }

    /// Parses a string that ends with a zero; `None` if it is too long or not text.
    pub fn parse(value: &[u8]) -> Option<ControllerName> {
        let text = value.split(|&byte| byte == 0).next()?;
        str::from_utf8(text).ok()?;
        let mut bytes = [0; ControllerName::MAX];
        bytes.get_mut(..text.len())?.copy_from_slice(text);
        Some(ControllerName {
            bytes,
            length: text.len(),
        })
    }
}

impl fmt::Display for ControllerName {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        out.pad(self.as_str())
    }
}

impl fmt::Debug for ControllerName {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        fmt::Debug::fmt(self.as_str(), out)
    }
}

#[cfg(test)]
pub(super) mod tests {
    use units::{Duration, Rate, Ratio};

    use super::*;
    use crate::diag::{AccEcn, BbrInfo, CaState, Negotiated, RtoCounts};

    /// The message of Linux 6.18.44 on x86-64 about a BBR connection over loopback whose receiver had stopped reading.
    const CAPTURED: &str = "0a010400badc8c3500000000000000000000000000000001000000000000000000000000000000010000000001100000\
         00000000c400000000000000b0ef390000000000bad00d00050008000000000008000f00000000000c00150001000000\
         000000000600160012000000280007000000000000000200000000000000400010070000f0a83a000000000000000000\
         000000001c010200010000000007aa00203c0300409c0000b8ff00001802000000000000000000000000000000000000\
         0000000028000000000000000c0100001000000000000100c4ff0000c92a0000bc3300000a00000020000000b8ff0000\
         0300000000000000c4ff0000020000009038566e09000000fffffffffffffffff1003000000000002c01000000000000\
         4300000017000000b0ef39000600000001000000400000000f3aa30000000000e01604000000000000e8030000000000\
         00000000000000004100000000000000a83a310000000000b839010000000000020000000000000000000000000c0000\
         000001000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000\
         08000400626272001800100000affa9e07000000060000004001000000020000";

    pub(in crate::diag) fn captured() -> Vec<u8> {
        CAPTURED
            .as_bytes()
            .chunks(2)
            .map(|digits| u8::from_str_radix(str::from_utf8(digits).unwrap(), 16).unwrap())
            .collect()
    }

    /// The expected values are those that `ss -tinm` printed of the same connection right after, except for the
    /// clocks. Where it prints nothing, they follow from the header's layout.
    #[test]
    #[cfg(target_endian = "little")]
    fn a_captured_message_is_read_field_by_field() {
        let micros = Duration::from_micros;
        let millis = Duration::from_millis;
        let bytes = Bytes::new;
        let expected = SocketState {
            local: "[::1]:47836".parse().unwrap(),
            remote: "[::1]:35893".parse().unwrap(),
            cookie: 0x1001,
            state: TcpState::Established,
            unread: bytes(0),
            unacknowledged: bytes(3_796_912),
            user: 0,
            inode: 0xd_d0ba,
            cgroup: Some(1),
            controller: ControllerName::parse(b"bbr\0").unwrap(),
            info: TcpInfo {
                ca_state: CaState::Open,
                retransmits: 0,
                probes: 0,
                backoff: 0,
                negotiated: Negotiated {
                    timestamps: true,
                    sack: true,
                    window_scaling: true,
                    ecn: false,
                    ecn_seen: false,
                    syn_data: false,
                    usec_timestamps: false,
                    snd_wscale: 10,
                    rcv_wscale: 10,
                },
                delivery_rate_app_limited: false,
                fastopen_client_fail: 0,
                rto: millis(212),
                ato: millis(40),
                snd_mss: bytes(65_464),
                rcv_mss: bytes(536),
                unacked: 0,
                sacked: 0,
                lost: 0,
                retrans: 0,
                last_data_sent: millis(40),
                last_data_recv: millis(268),
                last_ack_recv: millis(16),
                pmtu: bytes(65_536),
                rcv_ssthresh: bytes(65_476),
                rtt: micros(10_953),
                rttvar: micros(13_244),
                snd_ssthresh: Some(10),
                snd_cwnd: 32,
                advmss: bytes(65_464),
                reordering: 3,
                rcv_rtt: Duration::ZERO,
                rcv_space: bytes(65_476),
                total_retrans: 2,
                pacing_rate: Some(Rate::from_bits_per_sec(324_046_800_000)),
                max_pacing_rate: None,
                bytes_acked: bytes(3_145_969),
                bytes_received: bytes(300),
                segs_out: 67,
                segs_in: 23,
                notsent_bytes: bytes(3_796_912),
                min_rtt: Some(micros(6)),
                data_segs_in: 1,
                data_segs_out: 64,
                delivery_rate: Rate::from_bits_per_sec(85_577_848),
                busy_time: millis(268),
                rwnd_limited: millis(256),
                sndbuf_limited: Duration::ZERO,
                delivered: 65,
                delivered_ce: 0,
                bytes_sent: bytes(3_226_280),
                bytes_retrans: bytes(80_312),
                dsack_dups: 2,
                reord_seen: 0,
                rcv_ooopack: 0,
                snd_wnd: bytes(3_072),
                rcv_wnd: Some(bytes(65_536)),
                rehash: Some(0),
                total_rto: Some(RtoCounts {
                    timeouts: 0,
                    recoveries: 0,
                    time: Duration::ZERO,
                }),
                accecn: Some(AccEcn::default()),
            },
            bbr: Some(BbrInfo {
                bw: Rate::from_bits_per_sec(261_856_000_000),
                min_rtt: Some(micros(6)),
                pacing_gain: Ratio::new(5, 4),
                cwnd_gain: Ratio::new(2, 1),
            }),
            storage: None,
            memory: Memory {
                receive_buffer: bytes(131_072),
                send_buffer: bytes(4_194_304),
                reserved: bytes(1_808),
                send_queue: bytes(3_844_336),
                ..Memory::default()
            },
        };
        assert_eq!(SocketState::parse(&captured()), Ok(Some(expected)));
    }

    #[test]
    fn a_message_without_tcp_info_is_of_no_connection() {
        assert_eq!(SocketState::parse(&captured()[..MESSAGE_BYTES]), Ok(None));
    }

    #[test]
    fn a_truncated_message_is_refused() {
        assert_eq!(
            SocketState::parse(&captured()[..MESSAGE_BYTES - 1]),
            Err("truncated inet_diag_msg")
        );
        assert_eq!(
            SocketState::parse(&captured()[..MESSAGE_BYTES + 3]),
            Err("truncated attribute")
        );
    }

    #[test]
    fn a_message_cut_anywhere_is_refused_or_has_what_was_left() {
        let whole = captured();
        for length in 0..whole.len() {
            // Attributes end where a message does, so some cuts cannot be detected.
            if let Ok(Some(state)) = SocketState::parse(&whole[..length]) {
                assert_eq!(state.local, "[::1]:47836".parse().unwrap(), "{length}");
            }
        }
    }

    #[test]
    fn a_name_is_at_most_fifteen_bytes_long() {
        let name = |value: &[u8]| ControllerName::parse(value).map(|name| name.to_string());
        assert_eq!(name(b"cubic\0"), Some("cubic".to_owned()));
        assert_eq!(name(b""), Some(String::new()));
        assert_eq!(
            name(b"fifteen_letters\0"),
            Some("fifteen_letters".to_owned())
        );
        assert_eq!(name(b"sixteen_letters!\0"), None);
        assert_eq!(name(b"\xff\0"), None);
    }
}
