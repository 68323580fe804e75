//! The ClientHello (RFC 8446, section 4.1.2). Its Initial packets can always be decrypted, because their keys are public.

use super::delays::Delays;
use super::frames;
use super::wire::Reader;

/// The longest ClientHello that is read.
const MAX_HELLO_BYTES: usize = 1 << 14;

/// The longest server name (RFC 1035, section 2.3.4).
const MAX_NAME_BYTES: usize = 255;

/// The most protocols that are kept.
const MAX_PROTOCOLS: usize = 16;

/// The ClientHello's bytes, in pieces that may come in any order.
#[derive(Debug, Clone, Default)]
pub struct Pieces {
    bytes: Vec<u8>,
    /// Which bytes have come.
    is_there: Vec<bool>,
    /// The number of bytes at the beginning that have all come.
    known: usize,
}

/// The contents of a ClientHello.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct ClientHello {
    /// The client random, by which a key log names the connection.
    pub random: [u8; 32],
    /// The server name.
    pub server_name: Option<String>,
    /// The offered protocols.
    pub protocols: Vec<String>,
    /// The client's parameters of ACK delays.
    pub delays: Delays,
}

impl ClientHello {
    /// The number of bytes that its strings hold.
    pub fn held(&self) -> usize {
        let texts = self.protocols.iter().chain(&self.server_name);
        let lists = self.protocols.capacity() * size_of::<String>();
        lists + texts.map(String::capacity).sum::<usize>()
    }
}

impl Pieces {
    /// The number of bytes that they hold.
    pub fn held(&self) -> usize {
        self.bytes.capacity() + self.is_there.capacity()
    }

    /// Adds the CRYPTO frames of an Initial packet's payload. Returns the ClientHello once it is complete.
    pub fn add(&mut self, payload: &[u8]) -> Option<ClientHello> {
        let mut reader = Reader {
            data: payload,
            at: 0,
        };
        while reader.has_more() {
            match reader.number()? {
                0 | 1 => {}
                kind @ (2 | 3) => {
                    frames::ack(&mut reader, kind == 3, 0)?;
                }
                6 => {
                    let offset = usize::try_from(reader.number()?).ok()?;
                    let len = usize::try_from(reader.number()?).ok()?;
                    self.put(offset, reader.bytes(len)?);
                }
                // An Initial packet has no other frames with data (RFC 9000, section 12.4).
                _ => break,
            }
        }
        self.whole()
    }

    fn put(&mut self, from: usize, piece: &[u8]) {
        let Some(to) = from
            .checked_add(piece.len())
            .filter(|to| *to <= MAX_HELLO_BYTES)
        else {
            return;
        };
        if self.bytes.len() < to {
            self.bytes.resize(to, 0);
            self.is_there.resize(to, false);
        }
        self.bytes[from..to].copy_from_slice(piece);
        self.is_there[from..to].fill(true);
    }

    fn whole(&mut self) -> Option<ClientHello> {
        let more = self.is_there[self.known..].iter();
        self.known += more.take_while(|is_there| **is_there).count();
        let [1, a, b, c, rest @ ..] = &self.bytes[..self.known] else {
            return None;
        };
        let len = usize::from(*a) << 16 | usize::from(*b) << 8 | usize::from(*c);
        parse(rest.get(..len)?)
    }
}

fn parse(message: &[u8]) -> Option<ClientHello> {
    let mut reader = Reader {
        data: message,
        at: 2,
    };
    let mut hello = ClientHello {
        random: reader.bytes(32)?.try_into().ok()?,
        ..ClientHello::default()
    };
    let session = reader.byte()?;
    reader.skip(session.into())?;
    let suites = reader.half()?;
    reader.skip(suites.into())?;
    let compressions = reader.byte()?;
    reader.skip(compressions.into())?;
    let extensions = reader.half()?;
    let mut extensions = Reader {
        data: reader.bytes(extensions.into())?,
        at: 0,
    };
    while extensions.has_more() {
        let (kind, len) = (extensions.half()?, extensions.half()?);
        let mut body = Reader {
            data: extensions.bytes(len.into())?,
            at: 0,
        };
        match kind {
            // server_name (RFC 6066, section 3): a list whose first entry is the name.
            0 => {
                body.skip(3)?;
                let len = body.half()?;
                let name = body.bytes(len.into())?;
                hello.server_name = text(&name[..name.len().min(MAX_NAME_BYTES)]);
            }
            // application_layer_protocol_negotiation (RFC 7301, section 3.1).
            16 => {
                body.skip(2)?;
                while body.has_more() && hello.protocols.len() < MAX_PROTOCOLS {
                    let len = body.byte()?;
                    hello.protocols.extend(text(body.bytes(len.into())?));
                }
            }
            // quic_transport_parameters (RFC 9001, section 8.2).
            57 => hello.delays = Delays::of(body.data),
            _ => {}
        }
    }
    Some(hello)
}

/// Text from the network, if a terminal can show it.
fn text(bytes: &[u8]) -> Option<String> {
    let is_plain = bytes.iter().all(u8::is_ascii_graphic);
    is_plain.then(|| String::from_utf8_lossy(bytes).into_owned())
}

#[cfg(test)]
mod tests {
    use units::Duration;

    use super::{ClientHello, MAX_HELLO_BYTES, MAX_NAME_BYTES, MAX_PROTOCOLS, Pieces};

    /// A ClientHello with a `max_ack_delay` of 50 ms.
    fn hello(name: &[u8], protocols: usize) -> Vec<u8> {
        let half = |len: usize| u16::try_from(len).expect("short").to_be_bytes();
        let mut extensions = Vec::new();
        let mut extend = |kind: u8, head: &[u8], body: &[u8]| {
            extensions.extend([0, kind]);
            extensions.extend(half(head.len() + body.len()));
            extensions.extend([head, body].concat());
        };
        let [a, b] = half(name.len());
        extend(0, &[0, 0, 0, a, b], name);
        extend(16, &[0, 0], &b"\x02h3".repeat(protocols));
        extend(57, &[], &[0x0b, 1, 50]);
        let mut body = vec![3; 34];
        body.extend([0, 0, 0, 0]);
        body.extend(half(extensions.len()));
        body.extend(extensions);
        let [a, b] = half(body.len());
        [&[1, 0, a, b], &body[..]].concat()
    }

    /// A CRYPTO frame.
    fn frame(offset: usize, piece: &[u8]) -> Vec<u8> {
        let number = |number: usize| (0x8000_0000 | number as u32).to_be_bytes();
        [&[6], &number(offset)[..], &number(piece.len()), piece].concat()
    }

    #[test]
    fn pieces_come_in_any_order_and_overlap() {
        let message = hello(b"example.org", 2);
        let mut pieces = Pieces::default();
        let mut whole = None;
        for from in (0..message.len()).rev().step_by(3) {
            assert_eq!(whole, None);
            let to = message.len().min(from + 5);
            whole = pieces.add(&frame(from, &message[from..to]));
        }
        whole = whole.or_else(|| pieces.add(&frame(0, &message[..4])));
        let ClientHello {
            server_name,
            protocols,
            delays,
            ..
        } = whole.expect("all of it");
        assert_eq!(delays.longest, Duration::from_millis(50));
        assert_eq!(server_name.as_deref(), Some("example.org"));
        assert_eq!(protocols, ["h3", "h3"]);
    }

    /// The server has acknowledged the first piece before the second one is sent.
    #[test]
    fn a_piece_may_follow_an_acknowledgement() {
        let message = hello(b"example.org", 2);
        let (first, second) = message.split_at(40);
        for ack in [&[2, 3, 0, 1, 0, 0, 0][..], &[3, 1, 0, 0, 1, 9, 0, 0]] {
            let mut pieces = Pieces::default();
            assert_eq!(pieces.add(&frame(0, first)), None);
            let rest = [ack, &[1, 0, 0], &frame(40, second)].concat();
            assert!(pieces.add(&rest).is_some());
        }
    }

    #[test]
    fn names_and_protocols_are_no_more_than_there_can_be() {
        let message = hello(&[b'a'; 12_000], 1_000);
        let whole = Pieces::default().add(&frame(0, &message)).expect("whole");
        assert_eq!(
            whole.server_name.map(|name| name.len()),
            Some(MAX_NAME_BYTES)
        );
        assert_eq!(whole.protocols.len(), MAX_PROTOCOLS);
    }

    /// A sender that splits the message into pieces of one byte must not use up memory.
    #[test]
    fn many_pieces_take_no_more_than_one() {
        let mut pieces = Pieces::default();
        for _ in 0..16 {
            let frames: Vec<u8> = (0..MAX_HELLO_BYTES)
                .rev()
                .flat_map(|at| frame(at, b"x"))
                .collect();
            assert_eq!(pieces.add(&frames), None);
        }
        assert!(
            pieces.held() <= 4 * MAX_HELLO_BYTES,
            "{} bytes",
            pieces.held()
        );
    }
}
