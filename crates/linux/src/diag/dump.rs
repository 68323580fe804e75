//! The request to the kernel, and the parsing of its answer.

use std::os::fd::{AsFd, OwnedFd};

use netlink_packet_core::{NLM_F_DUMP, NLM_F_REQUEST, NLMSG_DONE, NLMSG_ERROR, NetlinkBuffer};
use netlink_sys::{Socket, protocols::NETLINK_SOCK_DIAG};

use super::message::{CONG, INFO, SKMEMINFO, VEGASINFO};
use super::native::array_at;
use super::{Filter, SocketState, storage};
use crate::error::Context;
use crate::namespace::enter;
use crate::network::on_a_thread;
use crate::{Error, Host};

/// A netlink connection to the kernel about the TCP sockets of one network namespace.
///
/// A dump walks the namespace's table of connections and briefly takes each socket's lock. It is cheap compared with
/// the sockets' own work, but not free. An interval of ten milliseconds is short enough.
pub struct Diag {
    socket: Socket,
    /// The maps in which BPF programs store data of sockets.
    maps: Vec<OwnedFd>,
    sequence: u32,
    message: Vec<u8>,
}

/// The size of the receive buffer, in bytes. The kernel fills a datagram as long as the reader's buffer, up to 32 KiB
/// (`netlink_dump` in `net/netlink/af_netlink.c`).
const DATAGRAM_BYTES: usize = 32 << 10;

/// The type of a request for the TCP sockets of both IP versions in one walk (`include/uapi/linux/inet_diag.h`). The
/// newer `SOCK_DIAG_BY_FAMILY` requests one version only, and would walk twice.
const TCPDIAG_GETSOCK: u16 = 18;

/// The attribute of the request that carries the filter.
const INET_DIAG_REQ_BYTECODE: u16 = 1;

/// The length of `struct nlmsghdr`, `struct inet_diag_req` and `struct nlattr`.
const HEADER_BYTES: usize = 16;
const REQUEST_BYTES: usize = 60;
const ATTRIBUTE_BYTES: usize = 4;

/// The states (`1 << TCP_…`) of a connection that carries data or will: all except TIME-WAIT, CLOSE and LISTEN.
const STATES: u32 = 0b1011_0011_1110;

/// The requested attributes of each socket: a bit each, counted from 1. `VEGASINFO` stands for the controller's own
/// information, whichever controller it is (`bbr_get_info` in `net/ipv4/tcp_bbr.c`).
const EXTENSIONS: u8 =
    1 << (INFO - 1) | 1 << (VEGASINFO - 1) | 1 << (CONG - 1) | 1 << (SKMEMINFO - 1);

impl Diag {
    /// Opens a connection about `host`'s namespace.
    ///
    /// # Errors
    ///
    /// The namespace cannot be entered, or the kernel has no netlink socket for it.
    pub fn open(host: &Host) -> Result<Diag, Error> {
        host.inside(Diag::open_here)?
    }

    /// Opens a connection about this network namespace: an open file such as `/proc/PID/ns/net`.
    ///
    /// # Errors
    ///
    /// It is no network namespace, or cannot be entered (CAP_SYS_ADMIN).
    pub fn open_in(namespace: impl AsFd + Send) -> Result<Diag, Error> {
        on_a_thread(|| {
            enter(namespace)?;
            Diag::open_here()
        })
    }

    /// Opens a connection about the calling thread's namespace. It stays with that namespace, whichever thread uses it.
    ///
    /// # Errors
    ///
    /// The kernel has no netlink socket for it.
    pub fn open_here() -> Result<Diag, Error> {
        let socket =
            Socket::new(NETLINK_SOCK_DIAG).context("cannot open a netlink socket for sock_diag")?;
        Ok(Diag {
            socket,
            maps: Vec::new(),
            sequence: 0,
            message: Vec::with_capacity(DATAGRAM_BYTES),
        })
    }

    /// Also requests the data that BPF programs store with sockets, in maps of the type `BPF_MAP_TYPE_SK_STORAGE`. It
    /// takes CAP_BPF.
    #[must_use]
    pub fn with_storage(mut self, maps: Vec<OwnedFd>) -> Diag {
        self.maps = maps;
        self
    }

    /// Calls `each` for every connection that passes `filter`, in no particular order.
    ///
    /// The kernel answers in several datagrams while the sockets stay active: a connection that opens or closes
    /// meanwhile may be missing. Nothing is allocated per socket.
    ///
    /// # Errors
    ///
    /// The kernel refuses the request (a kernel without `CONFIG_INET_DIAG`), or its answer is invalid. `each` was
    /// called for the sockets before.
    pub fn sockets(
        &mut self,
        filter: &Filter,
        mut each: impl FnMut(&SocketState),
    ) -> Result<(), Error> {
        const ASK: &str = "cannot ask sock_diag about TCP sockets (it takes CONFIG_INET_DIAG and its module tcp_diag)";
        self.sequence = self.sequence.wrapping_add(1);
        request(filter, &self.maps, self.sequence, &mut self.message);
        self.socket.send(&self.message, 0).context(ASK)?;

        // An invalid message does not end the reading: the rest of this answer would be taken for the next one.
        let mut outcome = Ok(());
        loop {
            self.message.clear();
            self.socket.recv(&mut self.message, 0).context(ASK)?;
            for answer in Answers::new(&self.message, self.sequence) {
                match answer {
                    Answer::Socket(payload) => match SocketState::parse(payload) {
                        Ok(Some(state)) => each(&state),
                        Ok(None) => {}
                        Err(what) => outcome = outcome.and(Err(Error::Answer(what))),
                    },
                    Answer::Stale => {}
                    Answer::Done => return outcome,
                    Answer::Refused(errno) => {
                        return Err(Error::system(ASK, std::io::Error::from_raw_os_error(errno)));
                    }
                    Answer::Invalid(what) => outcome = outcome.and(Err(Error::Answer(what))),
                }
            }
        }
    }
}

/// Writes the request number `sequence` into `to`.
fn request(filter: &Filter, maps: &[OwnedFd], sequence: u32, to: &mut Vec<u8>) {
    let bytecode = filter.bytecode_length();
    let attribute = if bytecode == 0 {
        0
    } else {
        ATTRIBUTE_BYTES as u16 + bytecode
    };
    let attributes = u32::from(attribute) + u32::from(storage::request_length(maps));
    let length = (HEADER_BYTES + REQUEST_BYTES) as u32 + attributes;

    to.clear();
    // struct nlmsghdr
    to.extend(length.to_ne_bytes());
    to.extend(TCPDIAG_GETSOCK.to_ne_bytes());
    to.extend((NLM_F_REQUEST | NLM_F_DUMP).to_ne_bytes());
    to.extend(sequence.to_ne_bytes());
    to.extend(0u32.to_ne_bytes());
    // struct inet_diag_req: family, the lengths of two prefixes, extensions; no particular socket; states, tables
    to.extend([0, 0, 0, EXTENSIONS]);
    to.extend([0; 48]);
    to.extend(STATES.to_ne_bytes());
    to.extend(0u32.to_ne_bytes());
    // struct nlattr
    if bytecode > 0 {
        to.extend(attribute.to_ne_bytes());
        to.extend(INET_DIAG_REQ_BYTECODE.to_ne_bytes());
        filter.append_bytecode(to);
    }
    storage::append_request(maps, to);
}

/// One message of the kernel's answer.
#[derive(Debug)]
pub(super) enum Answer<'a> {
    /// A socket: the message's payload.
    Socket(&'a [u8]),
    /// A message that answers an earlier request.
    Stale,
    /// The answer is complete.
    Done,
    /// The kernel refuses to answer, with this error number.
    Refused(i32),
    /// An invalid message.
    Invalid(&'static str),
}

/// The messages of one datagram.
pub(super) struct Answers<'a> {
    rest: &'a [u8],
    sequence: u32,
}

impl<'a> Answers<'a> {
    pub(super) fn new(datagram: &'a [u8], sequence: u32) -> Answers<'a> {
        Answers {
            rest: datagram,
            sequence,
        }
    }
}

impl<'a> Iterator for Answers<'a> {
    type Item = Answer<'a>;

    fn next(&mut self) -> Option<Answer<'a>> {
        if self.rest.is_empty() {
            return None;
        }
        let Ok(message) = NetlinkBuffer::new_checked(self.rest) else {
            self.rest = &[];
            return Some(Answer::Invalid("truncated netlink message"));
        };
        let aligned = (message.length() as usize).next_multiple_of(4);
        self.rest = self.rest.get(aligned..).unwrap_or_default();
        if message.sequence_number() != self.sequence {
            return Some(Answer::Stale);
        }
        Some(match message.message_type() {
            NLMSG_DONE => match errno(message.payload()) {
                None => Answer::Done,
                Some(errno) => Answer::Refused(errno),
            },
            NLMSG_ERROR => Answer::Refused(errno(message.payload()).unwrap_or_default()),
            TCPDIAG_GETSOCK => Answer::Socket(message.payload()),
            _ => Answer::Invalid("netlink message of an unknown type"),
        })
    }
}

/// The error number at the start of the payload of an error or a final message; `None` if it reports no error.
fn errno(payload: &[u8]) -> Option<i32> {
    array_at(payload, 0)
        .map(i32::from_ne_bytes)
        .filter(|&code| code < 0)
        .map(i32::saturating_neg)
}

#[cfg(test)]
pub(super) mod tests {
    use super::*;

    /// A netlink message of `kind` that answers request number `sequence`.
    pub(in crate::diag) fn message(kind: u16, sequence: u32, payload: &[u8]) -> Vec<u8> {
        let mut message = Vec::new();
        message.extend(((HEADER_BYTES + payload.len()) as u32).to_ne_bytes());
        message.extend(kind.to_ne_bytes());
        message.extend([0, 0]);
        message.extend(sequence.to_ne_bytes());
        message.extend([0; 4]);
        message.extend(payload);
        message
    }

    fn answers(datagram: &[u8]) -> Vec<String> {
        Answers::new(datagram, 7)
            .map(|answer| format!("{answer:?}"))
            .collect()
    }

    #[test]
    fn the_question_is_as_long_as_it_says() {
        for (filter, length) in [
            (Filter::default(), 76),
            (
                Filter {
                    local_ports: Some(1..=2),
                    remote_ports: Some(3..=4),
                },
                76 + 4 + 32,
            ),
        ] {
            let mut to = Vec::new();
            request(&filter, &[], 7, &mut to);
            assert_eq!(to.len(), length);
            assert_eq!(array_at(&to, 0), Some((length as u32).to_ne_bytes()));
        }
    }

    #[test]
    fn a_datagram_holds_many_messages() {
        let datagram = [
            message(TCPDIAG_GETSOCK, 7, &[1, 2, 3, 4]),
            message(TCPDIAG_GETSOCK, 6, &[5; 4]),
            message(NLMSG_DONE, 7, &0i32.to_ne_bytes()),
        ]
        .concat();
        assert_eq!(
            answers(&datagram),
            ["Socket([1, 2, 3, 4])", "Stale", "Done"]
        );
    }

    #[test]
    fn an_error_is_a_refusal_wherever_it_stands() {
        let code = (-22i32).to_ne_bytes();
        assert_eq!(answers(&message(NLMSG_ERROR, 7, &code)), ["Refused(22)"]);
        assert_eq!(answers(&message(NLMSG_DONE, 7, &code)), ["Refused(22)"]);
    }

    #[test]
    fn what_is_cut_short_is_odd() {
        let whole = message(TCPDIAG_GETSOCK, 7, &[1; 8]);
        for length in 1..whole.len() {
            assert_eq!(
                answers(&whole[..length]),
                [r#"Invalid("truncated netlink message")"#]
            );
        }
    }
}
