//! Key logs: the secrets of connections in the format of SSLKEYLOGFILE (RFC 9850).

use std::io::{BufReader, Read};

use hashbrown::HashMap;
use text::{Lines, TextError};

/// The most connections whose secrets are kept.
const MAX_CONNECTIONS: usize = 1 << 20;

/// The same for the key logs in captures, which come from strangers.
const MAX_CAPTURED_CONNECTIONS: usize = 1 << 16;

/// The lengths of a secret: those of the hashes in QUIC's cipher suites (RFC 8446, section 7.1).
const SECRET_BYTES: [usize; 2] = [32, 48];

/// The most bytes of a key log: five lines (RFC 9850, section 2.1) of some 190 bytes for each of these connections. A pipe or
/// a device may have no end.
const MAX_BYTES: u64 = 1 << 30;

/// The longest line that is read.
const MAX_LINE_BYTES: usize = 1024;

/// Why a key log cannot be used.
#[derive(Debug, thiserror::Error)]
pub enum KeyLogError {
    /// It cannot be read, or is no text in UTF-8.
    #[error("cannot be read: {0}")]
    Text(#[from] TextError),
    /// It has no secret for the data of a client or a server.
    #[error(
        "has no traffic secret; give the file that SSLKEYLOGFILE named when the connection was set up"
    )]
    Nothing,
}

/// The secrets of connections, by the client random.
#[derive(Default)]
pub struct KeyLog {
    secrets: HashMap<[u8; 32], [Option<Vec<u8>>; 2]>,
}

/// Does not print secrets.
impl std::fmt::Debug for KeyLog {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "KeyLog of {} connections", self.secrets.len())
    }
}

impl KeyLog {
    /// Reads a key log, which takes precedence over those in captures. Lines of other kinds are ignored.
    ///
    /// # Errors
    /// The log cannot be read, is too large, or has no usable secret.
    pub fn read(&mut self, source: impl Read) -> Result<(), KeyLogError> {
        self.read_up_to(MAX_BYTES, source)
    }

    fn read_up_to(&mut self, most: u64, source: impl Read) -> Result<(), KeyLogError> {
        // One byte more tells a log that is too large from one that just fits.
        let mut source = source.take(most + 1);
        let mut lines = Lines::new(BufReader::new(&mut source), MAX_LINE_BYTES);
        let mut found = false;
        while let Some(line) = lines.next_line()? {
            let Some(secret) = line.ok().and_then(Secret::parse) else {
                continue;
            };
            found = true;
            if let Some(place) = self.place(&secret, MAX_CONNECTIONS) {
                *place = Some(secret.value);
            }
        }
        if source.limit() == 0 {
            return Err(TextError::Large(most).into());
        }
        if found {
            Ok(())
        } else {
            Err(KeyLogError::Nothing)
        }
    }

    /// Adds the key log in a capture. It need not have a usable secret, and replaces none.
    pub(crate) fn add_captured(&mut self, log: &[u8]) {
        let mut lines = Lines::new(log, MAX_LINE_BYTES);
        while let Ok(Some(line)) = lines.next_line() {
            if let Some(secret) = line.ok().and_then(Secret::parse)
                && let Some(place) = self.place(&secret, MAX_CAPTURED_CONNECTIONS)
            {
                place.get_or_insert(secret.value);
            }
        }
    }

    /// The place of a secret, if it is known or there are secrets of fewer than `most` connections.
    fn place(&mut self, secret: &Secret, most: usize) -> Option<&mut Option<Vec<u8>>> {
        let has_room = self.secrets.len() < most || self.secrets.contains_key(&secret.random);
        has_room.then(|| &mut self.secrets.entry(secret.random).or_default()[secret.side])
    }

    /// True if there are no secrets.
    pub fn is_empty(&self) -> bool {
        self.secrets.is_empty()
    }

    /// The secrets of client and server for the connection with this client random.
    pub fn of(&self, random: &[u8; 32]) -> Option<[&[u8]; 2]> {
        let [client, server] = self.secrets.get(random)?;
        Some([client.as_deref()?, server.as_deref()?])
    }
}

/// A secret of one side of a connection.
struct Secret {
    random: [u8; 32],
    side: usize,
    value: Vec<u8>,
}

impl Secret {
    /// Parses a line. `None` if it is of another kind.
    fn parse(line: &str) -> Option<Secret> {
        let mut words = line.trim_ascii().split(' ');
        let side = match words.next()? {
            "CLIENT_TRAFFIC_SECRET_0" => 0,
            "SERVER_TRAFFIC_SECRET_0" => 1,
            _ => return None,
        };
        let random = hexadecimal(words.next()?)?.try_into().ok()?;
        let value = hexadecimal(words.next()?)?;
        SECRET_BYTES.contains(&value.len()).then_some(Secret {
            random,
            side,
            value,
        })
    }
}

fn hexadecimal(text: &str) -> Option<Vec<u8>> {
    let digit = |byte: u8| char::from(byte).to_digit(16);
    let pairs = text.as_bytes().chunks(2).map(|pair| match pair {
        [high, low] => u8::try_from(digit(*high)? << 4 | digit(*low)?).ok(),
        _ => None,
    });
    pairs.collect()
}

#[cfg(test)]
mod tests {
    use std::io;

    use super::*;

    #[test]
    fn secrets_go_with_the_clients_random() {
        let [random, client, server] = ["0a", "01", "03"].map(|byte| byte.repeat(32));
        let text = format!(
            "# a comment\nCLIENT_RANDOM {random} 00\nCLIENT_TRAFFIC_SECRET_0 {random} {client}\r\n\
             SERVER_TRAFFIC_SECRET_0 {random} {server}0303"
        );
        let mut half = KeyLog::default();
        half.read(text.as_bytes()).expect("a secret");
        assert_eq!(half.of(&[10; 32]), None, "no hash is 34 bytes long");
        let text = text.strip_suffix("0303").expect("it ends so");
        let mut log = KeyLog::default();
        log.read(text.as_bytes()).expect("secrets");
        assert_eq!(log.of(&[10; 32]), Some([&[1; 32][..], &[3; 32]]));
        assert_eq!(log.of(&[11; 32]), None);
        assert!(!format!("{log:?}").contains("0101"));
        let long = format!("CLIENT_TRAFFIC_SECRET_0 {random} {}", "01".repeat(400));
        for nothing in ["", "CLIENT_TRAFFIC_SECRET_0 zz 01\n", "\u{0}\u{1}", &long] {
            assert!(KeyLog::default().read(nothing.as_bytes()).is_err());
        }
    }

    fn log(secret: &str) -> String {
        let random = "0a".repeat(32);
        ["CLIENT", "SERVER"]
            .map(|side| format!("{side}_TRAFFIC_SECRET_0 {random} {}\r\n", secret.repeat(32)))
            .concat()
    }

    #[test]
    fn a_key_log_without_an_end_is_refused() {
        let secrets = log("01");
        let most = secrets.len() as u64;
        KeyLog::default()
            .read_up_to(most, secrets.as_bytes())
            .expect("it just fits");
        let endless: [&mut dyn Read; 2] = [
            &mut io::repeat(0),
            &mut secrets.as_bytes().chain(io::repeat(b'#')),
        ];
        for source in endless {
            let error = KeyLog::default()
                .read_up_to(most, source)
                .expect_err("no end");
            assert!(error.to_string().contains("is larger than"), "{error}");
        }
    }

    #[test]
    fn a_key_log_is_text_as_windows_writes_it() {
        let marked = ["\u{feff}", &log("01")].concat();
        let mut read = KeyLog::default();
        read.read(marked.as_bytes()).expect("secrets");
        assert_eq!(read.of(&[10; 32]), Some([&[1; 32][..]; 2]));
        let utf_16: Vec<u8> = marked.encode_utf16().flat_map(u16::to_le_bytes).collect();
        let error = KeyLog::default().read(&utf_16[..]).expect_err("UTF-16");
        assert_eq!(
            error.to_string(),
            "cannot be read: this is UTF-16; save it as UTF-8"
        );
    }

    #[test]
    fn keys_that_are_given_win_over_those_in_a_capture() {
        let (given, captured, later) = (log("01"), log("02"), log("03"));
        for is_captured_first in [false, true] {
            let mut keys = KeyLog::default();
            if is_captured_first {
                keys.add_captured(captured.as_bytes());
            }
            keys.read(given.as_bytes()).expect("secrets");
            keys.add_captured(captured.as_bytes());
            assert_eq!(keys.of(&[10; 32]), Some([&[1; 32][..]; 2]));
        }
        // A later log that is given replaces an earlier one.
        let mut keys = KeyLog::default();
        keys.read(given.as_bytes()).expect("secrets");
        keys.read(later.as_bytes()).expect("secrets");
        assert_eq!(keys.of(&[10; 32]), Some([&[3; 32][..]; 2]));
    }
}
