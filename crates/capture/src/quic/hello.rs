//! What a client says first (RFC 8446, section 4.1.2). Everybody can read it: Initial packets are protected by keys that are known.

use super::wire::Reader;

/// No first message is looked at beyond.
const MOST: usize = 1 << 14;

/// What a client says, in pieces that may come in any order.
#[derive(Debug, Clone, Default)]
pub struct Pieces {
    bytes: Vec<u8>,
    /// Which of them are there.
    have: Vec<(usize, usize)>,
}

/// What it means.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct ClientHello {
    /// By which a key log names the connection.
    pub random: [u8; 32],
    /// The server's name.
    pub server_name: Option<String>,
    /// The protocols that it offers.
    pub protocols: Vec<String>,
}

impl ClientHello {
    /// How many bytes its texts take.
    pub fn held(&self) -> usize {
        let texts = self.protocols.iter().chain(&self.server_name);
        let lists = self.protocols.capacity() * size_of::<String>();
        lists + texts.map(String::capacity).sum::<usize>()
    }
}

impl Pieces {
    /// How many bytes they take.
    pub fn held(&self) -> usize {
        self.bytes.capacity() + self.have.capacity() * size_of::<(usize, usize)>()
    }

    /// Takes the CRYPTO frames of an Initial packet's payload; gives the message once it is whole.
    pub fn add(&mut self, payload: &[u8]) -> Option<ClientHello> {
        let mut reader = Reader {
            data: payload,
            at: 0,
        };
        while reader.has_more() {
            match reader.number()? {
                0 | 1 => {}
                6 => {
                    let offset = usize::try_from(reader.number()?).ok()?;
                    let len = usize::try_from(reader.number()?).ok()?;
                    self.put(offset, reader.bytes(len)?);
                }
                // Others come behind acknowledgements only, which a client's first packets have none of.
                _ => break,
            }
        }
        self.whole()
    }

    fn put(&mut self, from: usize, piece: &[u8]) {
        let Some(to) = from.checked_add(piece.len()).filter(|to| *to <= MOST) else {
            return;
        };
        if self.bytes.len() < to {
            self.bytes.resize(to, 0);
        }
        self.bytes[from..to].copy_from_slice(piece);
        self.have.push((from, to));
        self.have.sort_unstable();
    }

    fn whole(&self) -> Option<ClientHello> {
        let mut end = 0;
        for (from, to) in &self.have {
            if *from > end {
                break;
            }
            end = end.max(*to);
        }
        let known = &self.bytes[..end];
        let [1, a, b, c, rest @ ..] = known else {
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
            // server_name (RFC 6066, section 3): a list, of which the first is a name.
            0 => {
                body.skip(3)?;
                let len = body.half()?;
                hello.server_name = text(body.bytes(len.into())?);
            }
            // application_layer_protocol_negotiation (RFC 7301, section 3.1).
            16 => {
                body.skip(2)?;
                while body.has_more() {
                    let len = body.byte()?;
                    hello.protocols.extend(text(body.bytes(len.into())?));
                }
            }
            _ => {}
        }
    }
    Some(hello)
}

/// What came from the network, if a terminal can show it.
fn text(bytes: &[u8]) -> Option<String> {
    let is_plain = bytes.iter().all(u8::is_ascii_graphic);
    is_plain.then(|| String::from_utf8_lossy(bytes).into_owned())
}
