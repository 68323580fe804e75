//! Networks as text, one in a line.

use std::fs::File;
use std::io::{BufRead, BufReader};
use std::iter;

use rules::Prefix;
use text::{Lines, TextError};

use super::text::LineError;
use super::{MAX_LINE_BYTES, Systems, SystemsError};

/// The maximum size of a list in bytes. Reading it takes seconds, and a policy that is read again waits for it.
const MAX_BYTES: u64 = 128 << 20;

impl Systems {
    /// Reads the networks of a text file, one in a line: `192.0.2.0/24`, or an address. `#` begins a comment. Each is read
    /// when it is asked for, so a caller that stops bounds the memory and the time.
    ///
    /// # Errors
    ///
    /// The file is too large. The iterator returns an error for a line that is invalid or cannot be read.
    pub fn list(
        file: File,
    ) -> Result<impl Iterator<Item = Result<Prefix, SystemsError>>, SystemsError> {
        if file.metadata()?.len() > MAX_BYTES {
            return Err(TextError::Large(MAX_BYTES).into());
        }
        Ok(networks(BufReader::new(file)))
    }
}

/// The networks of a list from any source.
pub(crate) fn networks(source: impl BufRead) -> impl Iterator<Item = Result<Prefix, SystemsError>> {
    let mut lines = Lines::new(source, MAX_LINE_BYTES).without_blank();
    iter::from_fn(move || next(&mut lines).transpose())
}

/// The network of the next line that has one.
fn next(lines: &mut Lines<impl BufRead>) -> Result<Option<Prefix>, SystemsError> {
    while let Some(line) = lines.next_valid()? {
        let said = line.split('#').next().unwrap_or_default().trim();
        if !said.is_empty() {
            let network = said.parse();
            let network = network.map_err(|why| LineError::Wrong(lines.number(), why))?;
            return Ok(Some(network));
        }
    }
    Ok(None)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn list(text: &str) -> Result<Vec<String>, String> {
        let said = |network: Result<Prefix, SystemsError>| match network {
            Ok(network) => Ok(network.to_string()),
            Err(error) => Err(error.to_string()),
        };
        networks(text.as_bytes()).map(said).collect()
    }

    #[test]
    fn a_network_is_a_line_and_what_makes_no_sense_is_named() {
        let text = "# lossy\n192.0.2.9/24\n\n 2001:db8::/32 # a comment\r\n198.51.100.7";
        let networks = ["192.0.2.0/24", "2001:db8::/32", "198.51.100.7/32"];
        assert_eq!(list(text).unwrap(), networks);
        for (text, part) in [
            ("192.0.2.0/24\n192.0.2.0/33\n", "line 2"),
            ("192.0.2.0/24 64500\n", "line 1"),
        ] {
            let error = list(text).unwrap_err();
            assert!(error.contains(part), "{error}");
        }
        assert!(list("#\n").unwrap().is_empty());
    }

    #[test]
    fn what_would_take_minutes_is_refused() {
        let file = tempfile::tempfile().unwrap();
        file.set_len(MAX_BYTES + 1).unwrap();
        let error = Systems::list(file).map(drop).unwrap_err().to_string();
        assert_eq!(error, "is larger than 128 MiB");
    }
}
