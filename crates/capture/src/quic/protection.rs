//! Packet protection (RFC 9001): keys from secrets, header protection, and payload encryption.

use std::ops::Range;

use ring::aead::quic::HeaderProtectionKey;
use ring::aead::{self, Aad, LessSafeKey, NONCE_LEN, Nonce, UnboundKey};
use ring::hkdf::{self, KeyType, Prk, Salt};

use super::wire::{Id, Version};

/// The salts for Initial packets: RFC 9001, section 5.2, and RFC 9369, section 3.3.1.
const SALT_V1: [u8; 20] = [
    0x38, 0x76, 0x2c, 0xf7, 0xf5, 0x59, 0x34, 0xb3, 0x4d, 0x17, 0x9a, 0xe6, 0xa4, 0xc8, 0x0c, 0xad,
    0xcc, 0xbb, 0x7f, 0x0a,
];
const SALT_V2: [u8; 20] = [
    0x0d, 0xed, 0xe3, 0xde, 0xf7, 0x00, 0xa6, 0xdb, 0x81, 0x93, 0x81, 0xbe, 0x6e, 0x26, 0x9d, 0xcb,
    0xf9, 0xbd, 0x2e, 0xd9,
];

/// The offset from the packet number to the sample for header protection (RFC 9001, section 5.4.2).
const SAMPLE_AT: usize = 4;
const SAMPLE: usize = 16;

/// The key phase bit of a short header.
const KEY_PHASE: u8 = 0x04;

/// The protected bits of a short header's first byte: five bits, or three bits if loss bits are used
/// (draft-ferrieux-hamchaoui-quic-lossbits, "Header Protection").
const PROTECTED: [u8; 2] = [0x1f, 0x07];

/// A cipher suite.
#[derive(Clone, Copy)]
struct Suite {
    hash: hkdf::Algorithm,
    aead: &'static aead::Algorithm,
    header: &'static aead::quic::Algorithm,
}

fn aes_128() -> Suite {
    Suite {
        hash: hkdf::HKDF_SHA256,
        aead: &aead::AES_128_GCM,
        header: &aead::quic::AES_128,
    }
}

fn aes_256() -> Suite {
    Suite {
        hash: hkdf::HKDF_SHA384,
        aead: &aead::AES_256_GCM,
        header: &aead::quic::AES_256,
    }
}

fn chacha20() -> Suite {
    Suite {
        hash: hkdf::HKDF_SHA256,
        aead: &aead::CHACHA20_POLY1305,
        header: &aead::quic::CHACHA20,
    }
}

/// The keys of one direction's packets.
pub struct Keys {
    suite: Suite,
    version: Version,
    header: HeaderProtectionKey,
    /// The present keys, and the keys after the next key update.
    generations: [Generation; 2],
    phase: bool,
    /// The protected bits of a short header's first byte.
    protected: u8,
}

impl std::fmt::Debug for Keys {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str("Keys")
    }
}

struct Generation {
    secret: Prk,
    key: LessSafeKey,
    iv: [u8; NONCE_LEN],
}

/// The length of an output of HKDF.
struct Len(usize);

impl KeyType for Len {
    fn len(&self) -> usize {
        self.0
    }
}

/// HKDF-Expand-Label of TLS 1.3 with an empty context (RFC 8446, section 7.1).
fn expand(secret: &Prk, label: &str, len: usize) -> Option<Vec<u8>> {
    let (label, whole) = (label.as_bytes(), u16::try_from(len).ok()?.to_be_bytes());
    let label_len = [u8::try_from(label.len() + 6).ok()?];
    let info = [&whole[..], &label_len, b"tls13 ", label, &[0]];
    let mut out = vec![0; len];
    secret.expand(&info, Len(len)).ok()?.fill(&mut out).ok()?;
    Some(out)
}

/// A label in the form of this version (RFC 9001, section 5.1; RFC 9369, section 3.3.2).
fn label(version: Version, name: &str) -> String {
    let quic = if version == Version::V2 {
        "quicv2"
    } else {
        "quic"
    };
    format!("{quic} {name}")
}

impl Generation {
    fn new(suite: Suite, version: Version, secret: Prk) -> Option<Generation> {
        let key = expand(&secret, &label(version, "key"), suite.aead.key_len())?;
        let iv = expand(&secret, &label(version, "iv"), NONCE_LEN)?;
        Some(Generation {
            secret,
            key: LessSafeKey::new(UnboundKey::new(suite.aead, &key).ok()?),
            iv: iv.try_into().ok()?,
        })
    }

    /// The keys after a key update (RFC 9001, section 6.1).
    fn next(&self, suite: Suite, version: Version) -> Option<Generation> {
        let len = suite.hash.len();
        let secret = expand(&self.secret, &label(version, "ku"), len)?;
        Generation::new(suite, version, Prk::new_less_safe(suite.hash, &secret))
    }

    /// Decrypts a payload in place. `header` is authenticated with it.
    fn open<'p>(&self, number: u64, header: &[u8], payload: &'p mut [u8]) -> Option<&'p [u8]> {
        let mut nonce = self.iv;
        for (byte, of_number) in nonce[4..].iter_mut().zip(number.to_be_bytes()) {
            *byte ^= of_number;
        }
        let nonce = Nonce::assume_unique_for_key(nonce);
        let opened = self.key.open_in_place(nonce, Aad::from(header), payload);
        opened.ok().map(|opened| &*opened)
    }
}

impl Keys {
    fn new(suite: Suite, version: Version, secret: Prk) -> Option<Keys> {
        let header = expand(&secret, &label(version, "hp"), suite.header.key_len())?;
        let present = Generation::new(suite, version, secret)?;
        let next = present.next(suite, version)?;
        Some(Keys {
            suite,
            version,
            header: HeaderProtectionKey::new(suite.header, &header).ok()?,
            generations: [present, next],
            phase: false,
            protected: PROTECTED[0],
        })
    }

    /// The keys of a client's Initial packets, which follow from the destination connection ID of the first one. `None` for
    /// drafts.
    pub fn of_client_initial(version: Version, first_to: &Id) -> Option<Keys> {
        let salt = match version {
            Version::V1 => &SALT_V1,
            Version::V2 => &SALT_V2,
            _ => return None,
        };
        let suite = aes_128();
        let common = Salt::new(suite.hash, salt).extract(first_to.as_bytes());
        let secret = expand(&common, "client in", suite.hash.len())?;
        Keys::new(suite, version, Prk::new_less_safe(suite.hash, &secret))
    }

    /// The candidate keys for a secret. Its length does not always determine the cipher.
    pub fn of_secret(version: Version, secret: &[u8]) -> Vec<Keys> {
        let suites = match secret.len() {
            32 => vec![aes_128(), chacha20()],
            48 => vec![aes_256()],
            _ => Vec::new(),
        };
        let keys = suites
            .into_iter()
            .filter_map(|suite| Keys::new(suite, version, Prk::new_less_safe(suite.hash, secret)));
        keys.collect()
    }

    /// Decrypts a packet whose packet number is at `number_at`. `largest` is the largest packet number so far. Returns the
    /// packet number and the payload, which is in `buffer`. `None` if the keys do not match.
    pub fn open<'b>(
        &mut self,
        packet: &[u8],
        number_at: usize,
        largest: Option<u64>,
        buffer: &'b mut Vec<u8>,
    ) -> Option<(u64, &'b [u8])> {
        let is_long = packet.first()? & 0x80 != 0;
        let mut opened = None;
        if is_long {
            opened = self.unprotect(packet, number_at, 0x0f, largest, buffer);
        } else {
            let other = PROTECTED.into_iter().find(|bits| *bits != self.protected);
            for bits in [self.protected].into_iter().chain(other) {
                opened = self.unprotect(packet, number_at, bits, largest, buffer);
                if opened.is_some() {
                    self.protected = bits;
                    break;
                }
            }
        }
        let (number, payload) = opened?;
        Some((number, &buffer[payload]))
    }

    /// Does the same for a packet in whose first byte these bits are protected. Returns the place of the payload in the
    /// buffer.
    fn unprotect(
        &mut self,
        packet: &[u8],
        number_at: usize,
        bits: u8,
        largest: Option<u64>,
        buffer: &mut Vec<u8>,
    ) -> Option<(u64, Range<usize>)> {
        let sample = packet.get(number_at + SAMPLE_AT..number_at + SAMPLE_AT + SAMPLE)?;
        let mask = self.header.new_mask(sample).ok()?;
        buffer.clear();
        buffer.extend_from_slice(packet);
        let is_long = packet[0] & 0x80 != 0;
        buffer[0] ^= mask[0] & bits;
        let first = buffer[0];
        let len = usize::from(first & 3) + 1;
        let mut truncated = 0;
        for (byte, mask) in buffer[number_at..number_at + len]
            .iter_mut()
            .zip(&mask[1..])
        {
            *byte ^= mask;
            truncated = truncated << 8 | u64::from(*byte);
        }
        let number = whole_number(truncated, len, largest);
        let from = number_at + len;
        let (header, payload) = buffer.split_at_mut(from);
        let is_next = !is_long && (first & KEY_PHASE != 0) != self.phase;
        let generation = &self.generations[usize::from(is_next)];
        let opened = generation.open(number, header, payload)?.len();
        if is_next {
            let after = self.generations[1].next(self.suite, self.version)?;
            self.generations.swap(0, 1);
            self.generations[1] = after;
            self.phase = !self.phase;
        }
        Some((number, from..from + opened))
    }
}

/// Completes a packet number from its lowest bytes (RFC 9000, appendix A.3).
fn whole_number(truncated: u64, len: usize, largest: Option<u64>) -> u64 {
    let expected = largest.map_or(0, |largest| largest + 1);
    let window = 1_u64 << (8 * len);
    let candidate = (expected & !(window - 1)) | truncated;
    if candidate + window / 2 <= expected && candidate < (1 << 62) - window {
        candidate + window
    } else if candidate > expected + window / 2 && candidate >= window {
        candidate - window
    } else {
        candidate
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbers_are_made_whole() {
        // RFC 9000, appendix A.3.
        assert_eq!(whole_number(0x9b32, 2, Some(0xa82f_30ea)), 0xa82f_9b32);
        assert_eq!(whole_number(0, 1, None), 0);
        assert_eq!(whole_number(0xff, 1, Some(0x100)), 0xff);
        assert_eq!(whole_number(0x01, 1, Some(0xff)), 0x101);
    }

    #[test]
    fn keys_are_those_of_the_standard() {
        // RFC 9001, appendix A.1 (the connection ID) and A.5 (a ChaCha20 packet).
        let id = Id::new(&[0x83, 0x94, 0xc8, 0xf0, 0x3e, 0x51, 0x57, 0x08]).expect("short");
        let keys = Keys::of_client_initial(Version::V1, &id).expect("keys");
        assert_eq!(
            keys.generations[0].iv,
            [
                0xfa, 0x04, 0x4b, 0x2f, 0x42, 0xa3, 0xfd, 0x3b, 0x46, 0xfb, 0x25, 0x5c
            ]
        );
        let secret = [
            0x9a, 0xc3, 0x12, 0xa7, 0xf8, 0x77, 0x46, 0x8e, 0xbe, 0x69, 0x42, 0x27, 0x48, 0xad,
            0x00, 0xa1, 0x54, 0x43, 0xf1, 0x82, 0x03, 0xa0, 0x7d, 0x60, 0x60, 0xf6, 0x88, 0xf3,
            0x0f, 0x21, 0x63, 0x2b,
        ];
        let packet = [
            0x4c, 0xfe, 0x41, 0x89, 0x65, 0x5e, 0x5c, 0xd5, 0x5c, 0x41, 0xf6, 0x90, 0x80, 0x57,
            0x5d, 0x79, 0x99, 0xc2, 0x5a, 0x5b, 0xfb,
        ];
        let mut opened = Keys::of_secret(Version::V1, &secret);
        let results = opened.iter_mut().map(|keys| {
            let mut buffer = Vec::new();
            let opened = keys.open(&packet, 1, Some(654_360_563), &mut buffer);
            opened.map(|(number, payload)| (number, payload.to_vec()))
        });
        assert_eq!(
            results.collect::<Vec<_>>(),
            [None, Some((654_360_564, vec![1]))],
            "a PING"
        );
    }

    #[test]
    fn packets_with_loss_bits_are_opened_too() {
        let secret = [7; 32];
        let [keys, _] = &mut Keys::of_secret(Version::V1, &secret)[..] else {
            panic!("two ciphers have keys of this length");
        };
        for number in 0..32_u8 {
            // A short header with both loss bits, a packet number of one byte, and 20 bytes of padding.
            let header = [0x40 | 0x18, number];
            let mut payload = vec![0; 20];
            let mut nonce = keys.generations[0].iv;
            nonce[NONCE_LEN - 1] ^= number;
            let nonce = Nonce::assume_unique_for_key(nonce);
            let key = &keys.generations[0].key;
            let sealed = key.seal_in_place_append_tag(nonce, Aad::from(header), &mut payload);
            sealed.expect("short");
            let mut packet = [&header[..], &payload].concat();
            let sample = &packet[1 + SAMPLE_AT..1 + SAMPLE_AT + SAMPLE];
            let mask = keys.header.new_mask(sample).expect("a sample");
            packet[0] ^= mask[0] & 0x07;
            packet[1] ^= mask[1];
            let mut buffer = Vec::new();
            let opened = keys.open(
                &packet,
                1,
                number.checked_sub(1).map(u64::from),
                &mut buffer,
            );
            assert_eq!(opened, Some((number.into(), &[0; 20][..])));
        }
    }
}
