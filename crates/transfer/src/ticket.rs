//! The ticket, which the receiver's user passes to the sender's: addresses, the fingerprint of a certificate, and a
//! secret.
//!
//! ```text
//! "fp1" ++ base32(count, count × (family, address, port), fingerprint, secret, CRC-32 of all before)
//! ```
//!
//! One word of lowercase letters and digits, so that it survives chats, terminals and a double click. A CRC-32 finds
//! every error that is confined to 32 bits in a row, hence every single wrong character.

use std::fmt;
use std::net::{IpAddr, SocketAddr};
use std::str::FromStr;

use data_encoding::{DecodeKind, Encoding, Specification};
use ring::rand::SystemRandom;

use quic::endpoint::Fingerprint;

/// The prefix of every ticket; the digit is the version.
const FAMILY: &str = "fp";
const VERSION: &str = "1";

/// The most addresses in a ticket.
pub(super) const MAX_ADDRESSES: usize = 8;

const CHECKSUM_LEN: usize = 4;
const FINGERPRINT_LEN: usize = 32;
const SECRET_LEN: usize = 16;

/// The one-time secret of a transfer: 128 random bits. Its holder may send.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(super) struct Secret(pub(super) [u8; SECRET_LEN]);

impl Secret {
    /// A fresh secret from the system's source of randomness; `None` if that fails.
    pub(super) fn generate() -> Option<Secret> {
        let bytes = ring::rand::generate(&SystemRandom::new()).ok()?;
        Some(Secret(bytes.expose()))
    }
}

impl fmt::Debug for Secret {
    /// Hides the secret, because debug output ends up in logs.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("Secret(…)")
    }
}

/// The information that a sender needs about a receiver. The `Display` form is the ticket as people pass it on,
/// including the secret.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Ticket {
    addresses: Vec<SocketAddr>,
    fingerprint: Fingerprint,
    secret: Secret,
}

impl Ticket {
    /// A ticket for the receiver at `addresses`. At most [`MAX_ADDRESSES`] are kept. The scope and flow label of an
    /// IPv6 address mean nothing on another host and are dropped.
    pub(super) fn new(
        addresses: impl IntoIterator<Item = SocketAddr>,
        fingerprint: Fingerprint,
        secret: Secret,
    ) -> Ticket {
        let addresses = addresses
            .into_iter()
            .map(|address| SocketAddr::new(address.ip(), address.port()))
            .take(MAX_ADDRESSES)
            .collect();
        Ticket {
            addresses,
            fingerprint,
            secret,
        }
    }

    /// The receiver's addresses.
    pub fn addresses(&self) -> &[SocketAddr] {
        &self.addresses
    }

    /// The fingerprint of the receiver's certificate.
    pub(super) fn fingerprint(&self) -> Fingerprint {
        self.fingerprint
    }

    pub(super) fn secret(&self) -> Secret {
        self.secret
    }
}

impl fmt::Display for Ticket {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let mut bytes = vec![self.addresses.len() as u8];
        for address in &self.addresses {
            match address.ip() {
                IpAddr::V4(ip) => {
                    bytes.push(4);
                    bytes.extend(ip.octets());
                }
                IpAddr::V6(ip) => {
                    bytes.push(6);
                    bytes.extend(ip.octets());
                }
            }
            bytes.extend(address.port().to_be_bytes());
        }
        bytes.extend(self.fingerprint.as_bytes());
        bytes.extend(self.secret.0);
        bytes.extend(crc32fast::hash(&bytes).to_be_bytes());
        let base32 = encoding().map_err(|_| fmt::Error)?;
        write!(f, "{FAMILY}{VERSION}{}", base32.encode(&bytes))
    }
}

/// The reason why a text is not a ticket.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum TicketError {
    /// The text is empty.
    #[error("the ticket is empty")]
    Empty,
    /// The prefix is wrong.
    #[error(
        "malformed ticket: it must start with `{FAMILY}{VERSION}`; the receiver prints it as one word"
    )]
    Prefix,
    /// The ticket has another version.
    #[error(
        "malformed ticket: version `{0}`, and this program knows version `{VERSION}`; use the same Fullpipe on both sides"
    )]
    Version(char),
    /// A character cannot be part of a ticket.
    #[error(
        "malformed ticket: {found:?}, character {position}, is none of `a`-`z` and `2`-`7`; copy it again"
    )]
    Character {
        /// The character.
        found: char,
        /// Its position, counted from 1.
        position: usize,
    },
    /// The length is wrong.
    #[error("malformed ticket: its length is wrong ({0} characters); copy it again, as a whole")]
    Length(usize),
    /// A character is wrong, or some are missing.
    #[error(
        "malformed ticket: the checksum does not match; a character is wrong or missing: copy it again"
    )]
    Checksum,
    /// The checksum is right, but the content is invalid.
    #[error(
        "malformed ticket: it holds no usable address; start `fullpipe recv` again for a new one"
    )]
    Addresses,
}

impl FromStr for Ticket {
    type Err = TicketError;

    /// Parses a ticket; surrounding white space is ignored.
    fn from_str(text: &str) -> Result<Ticket, TicketError> {
        let text = text.trim();
        if text.is_empty() {
            return Err(TicketError::Empty);
        }
        let versioned = text.strip_prefix(FAMILY).ok_or(TicketError::Prefix)?;
        let body =
            versioned
                .strip_prefix(VERSION)
                .ok_or_else(|| match versioned.chars().next() {
                    Some(version @ '0'..='9') => TicketError::Version(version),
                    _ => TicketError::Prefix,
                })?;
        let wrong = body
            .chars()
            .position(|c| !matches!(c, 'a'..='z' | '2'..='7'));
        if let Some((position, found)) = wrong.and_then(|at| Some((at, body.chars().nth(at)?))) {
            let position = position + FAMILY.len() + VERSION.len() + 1;
            return Err(TicketError::Character { found, position });
        }
        let length = || TicketError::Length(text.len());
        let bytes = encoding()
            .map_err(|_| length())?
            .decode(body.as_bytes())
            .map_err(|error| match error.kind {
                DecodeKind::Length => length(),
                _ => TicketError::Checksum,
            })?;
        let (content, checksum) = bytes.split_last_chunk().ok_or_else(length)?;
        let checksum: [u8; CHECKSUM_LEN] = *checksum;
        if crc32fast::hash(content).to_be_bytes() != checksum {
            return Err(TicketError::Checksum);
        }
        decode(content).ok_or(TicketError::Addresses)
    }
}

/// Decodes a ticket from `content`, which must hold it exactly.
pub(super) fn decode(content: &[u8]) -> Option<Ticket> {
    let (&count, mut rest) = content.split_first()?;
    if count == 0 || usize::from(count) > MAX_ADDRESSES {
        return None;
    }
    let mut addresses = Vec::new();
    for _ in 0..count {
        let (&family, after) = rest.split_first()?;
        let (ip, after) = match family {
            4 => take::<4>(after).map(|(ip, after)| (IpAddr::from(ip), after))?,
            6 => take::<16>(after).map(|(ip, after)| (IpAddr::from(ip), after))?,
            _ => return None,
        };
        let (port, after) = take::<2>(after)?;
        addresses.push(SocketAddr::new(ip, u16::from_be_bytes(port)));
        rest = after;
    }
    let (fingerprint, rest) = take::<FINGERPRINT_LEN>(rest)?;
    let (secret, rest) = take::<SECRET_LEN>(rest)?;
    let fingerprint = Fingerprint::from_bytes(fingerprint);
    rest.is_empty()
        .then(|| Ticket::new(addresses, fingerprint, Secret(secret)))
}

fn take<const N: usize>(bytes: &[u8]) -> Option<([u8; N], &[u8])> {
    let (head, rest) = bytes.split_first_chunk::<N>()?;
    Some((*head, rest))
}

/// RFC 4648's base32 in lowercase and without padding.
fn encoding() -> Result<Encoding, data_encoding::SpecificationError> {
    let mut specification = Specification::new();
    specification
        .symbols
        .push_str("abcdefghijklmnopqrstuvwxyz234567");
    specification.encoding()
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    fn tickets() -> impl Strategy<Value = Ticket> {
        let addresses = prop::collection::vec(any::<(IpAddr, u16)>(), 1..=MAX_ADDRESSES);
        (addresses, any::<[u8; 32]>(), any::<[u8; 16]>()).prop_map(
            |(addresses, fingerprint, secret)| {
                Ticket::new(
                    addresses.into_iter().map(SocketAddr::from),
                    Fingerprint::from_bytes(fingerprint),
                    Secret(secret),
                )
            },
        )
    }

    proptest! {
        #[test]
        fn round_trip(ticket in tickets()) {
            prop_assert_eq!(format!(" {ticket}\n").parse(), Ok(ticket));
        }

        #[test]
        fn every_wrong_character_is_found(ticket in tickets(), any_char in any::<char>()) {
            let text: Vec<char> = ticket.to_string().chars().collect();
            for at in 0..text.len() {
                let others = "abcdefghijklmnopqrstuvwxyz0123456789AZ .-".chars().chain([any_char]);
                for other in others.filter(|other| *other != text[at]) {
                    let mut changed = text.clone();
                    changed[at] = other;
                    let changed: String = changed.into_iter().collect();
                    prop_assert!(changed.parse::<Ticket>().is_err(), "{}", changed);
                }
            }
        }
    }

    fn sample() -> Ticket {
        let address = SocketAddr::from(([192, 0, 2, 1], 4433));
        Ticket::new([address], Fingerprint::from_bytes([7; 32]), Secret([9; 16]))
    }

    #[test]
    fn errors_name_what_is_wrong() {
        let text = sample().to_string();
        let error = |text: &str| text.parse::<Ticket>().unwrap_err();
        assert_eq!(error(""), TicketError::Empty);
        assert_eq!(error(" \n"), TicketError::Empty);
        assert_eq!(error("movie.mkv"), TicketError::Prefix);
        assert_eq!(
            error(&text.replacen('1', "2", 1)),
            TicketError::Version('2')
        );
        let at_ten = format!("{}!{}", &text[..9], &text[10..]);
        let character = TicketError::Character {
            found: '!',
            position: 10,
        };
        assert_eq!(error(&at_ten), character);
        assert_eq!(error(&text[..text.len() - 8]), TicketError::Checksum);
        assert!(matches!(error("fp1a"), TicketError::Length(4)));
        assert!(matches!(error("fp1"), TicketError::Length(3)));
    }

    #[test]
    fn debug_output_hides_the_secret() {
        assert!(format!("{:?}", sample()).contains("Secret(…)"));
    }
}
