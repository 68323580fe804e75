//! Networks as text, one in a line.

use std::fs::File;
use std::io::{BufRead, BufReader};

use rules::Prefix;
use text::{Lines, TextError};

use super::text::LineError;
use super::{MAX_LINE_BYTES, Systems, SystemsError};

/// The maximum size of a list in bytes. Reading it takes seconds, and a policy that is read again waits for it.
const MAX_BYTES: u64 = 128 << 20;

impl Systems {
    /// Reads the networks of a text file, one in a line: `192.0.2.0/24`, or an address. `#` begins a comment.
    ///
    /// # Errors
    ///
    /// A line is invalid, there are more than `most` networks, or the file is too large.
    pub fn list(file: File, most: usize) -> Result<Vec<Prefix>, SystemsError> {
        if file.metadata()?.len() > MAX_BYTES {
            return Err(TextError::Large(MAX_BYTES).into());
        }
        read(BufReader::new(file), most)
    }
}

/// Reads a list from any source.
pub(crate) fn read(source: impl BufRead, most: usize) -> Result<Vec<Prefix>, SystemsError> {
    let mut networks = Vec::new();
    let mut lines = Lines::new(source, MAX_LINE_BYTES).without_blank();
    while let Some(line) = lines.next_valid()? {
        let said = line.split('#').next().unwrap_or_default().trim();
        if said.is_empty() {
            continue;
        }
        let network = said.parse();
        networks.push(network.map_err(|why| LineError::Wrong(lines.number(), why))?);
        if networks.len() > most {
            return Err(LineError::Many(most).into());
        }
    }
    // The spare capacity of a million entries is megabytes.
    networks.shrink_to_fit();
    Ok(networks)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn list(text: &str, most: usize) -> Result<Vec<String>, String> {
        let networks = read(text.as_bytes(), most).map_err(|error| error.to_string())?;
        Ok(networks.iter().map(Prefix::to_string).collect())
    }

    #[test]
    fn a_network_is_a_line_and_what_makes_no_sense_is_named() {
        let text = "# lossy\n192.0.2.9/24\n\n 2001:db8::/32 # a comment\r\n198.51.100.7";
        let networks = ["192.0.2.0/24", "2001:db8::/32", "198.51.100.7/32"];
        assert_eq!(list(text, 3).unwrap(), networks);
        for (text, most, part) in [
            (text, 2, "more than 2 networks"),
            ("192.0.2.0/24\n192.0.2.0/33\n", 9, "line 2"),
            ("192.0.2.0/24 64500\n", 9, "line 1"),
        ] {
            let error = list(text, most).unwrap_err();
            assert!(error.contains(part), "{error}");
        }
        assert!(list("#\n", 9).unwrap().is_empty());
    }

    #[test]
    fn what_would_take_minutes_is_refused() {
        let file = tempfile::tempfile().unwrap();
        file.set_len(MAX_BYTES + 1).unwrap();
        let error = Systems::list(file, 9).unwrap_err().to_string();
        assert_eq!(error, "is larger than 128 MiB");
    }
}
