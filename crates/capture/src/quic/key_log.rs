//! Key logs: the secrets of connections in the format of SSLKEYLOGFILE (RFC 9850).

use std::io::{BufRead, BufReader, Read};

use hashbrown::HashMap;

/// The most connections whose secrets are kept.
const MOST: usize = 1 << 20;

/// The same for the key logs in captures, which come from strangers.
const MOST_CAPTURED: usize = 1 << 16;

/// The lengths of a secret: those of the hashes in QUIC's cipher suites (RFC 8446, section 7.1).
const LENGTHS: [usize; 2] = [32, 48];

/// The longest line that is read.
const LONGEST: u64 = 1024;

/// Why a key log cannot be used.
#[derive(Debug, thiserror::Error)]
pub enum KeyLogError {
    /// It cannot be read.
    #[error("cannot be read: {0}")]
    Io(#[from] std::io::Error),
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
    /// Reads a key log. Lines of other kinds are ignored.
    ///
    /// # Errors
    /// The log cannot be read, or has no usable secret.
    pub fn read(&mut self, source: impl Read) -> Result<(), KeyLogError> {
        let mut source = BufReader::new(source);
        let mut line = Vec::new();
        let mut found = false;
        loop {
            line.clear();
            if (&mut source).take(LONGEST).read_until(b'\n', &mut line)? == 0 {
                break;
            }
            found |= self.line(&line, MOST).is_some();
        }
        if found {
            Ok(())
        } else {
            Err(KeyLogError::Nothing)
        }
    }

    /// Adds the key log in a capture. It need not have a usable secret.
    pub(crate) fn add_captured(&mut self, log: &[u8]) {
        for line in log.split(|byte| *byte == b'\n') {
            self.line(line, MOST_CAPTURED);
        }
    }

    /// Reads a line, if there are secrets of fewer than `most` connections.
    fn line(&mut self, line: &[u8], most: usize) -> Option<()> {
        let mut words = line.trim_ascii().split(|byte| *byte == b' ');
        let side = match words.next()? {
            b"CLIENT_TRAFFIC_SECRET_0" => 0,
            b"SERVER_TRAFFIC_SECRET_0" => 1,
            _ => return None,
        };
        let random = hexadecimal(words.next()?)?.try_into().ok()?;
        let secret = hexadecimal(words.next()?)?;
        if !LENGTHS.contains(&secret.len()) {
            return None;
        }
        if self.secrets.len() < most || self.secrets.contains_key(&random) {
            self.secrets.entry(random).or_default()[side] = Some(secret);
        }
        Some(())
    }

    /// The secrets of client and server for the connection with this client random.
    pub(super) fn of(&self, random: &[u8; 32]) -> Option<[&[u8]; 2]> {
        let [client, server] = self.secrets.get(random)?;
        Some([client.as_deref()?, server.as_deref()?])
    }
}

fn hexadecimal(text: &[u8]) -> Option<Vec<u8>> {
    let digit = |byte: u8| char::from(byte).to_digit(16);
    let pairs = text.chunks(2).map(|pair| match pair {
        [high, low] => u8::try_from(digit(*high)? << 4 | digit(*low)?).ok(),
        _ => None,
    });
    pairs.collect()
}

#[cfg(test)]
mod tests {
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
}
