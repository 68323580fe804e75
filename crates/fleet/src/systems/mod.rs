//! Which autonomous system (AS) an address belongs to, by a file that the user has: MaxMind's format (`.mmdb`), IPinfo's CSV,
//! or pyasn's text.

#[cfg(any(test, fuzzing))]
pub mod fuzz;
mod list;
mod networks;
mod ranges;
mod text;

use std::fmt;
use std::fs::File;
use std::io::{self, BufRead, BufReader, Read};
use std::net::IpAddr;
use std::sync::Arc;

use hashbrown::HashMap;
use maxminddb::Reader;
use serde::Deserialize;

use ranges::Ranges;
pub use text::LineError;

/// A network's operator, as routing knows it.
#[derive(Debug, Clone, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct System {
    /// Its number.
    pub number: u32,
    /// Its name; empty if the file has none.
    pub name: String,
}

impl fmt::Display for System {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "AS{}", self.number)?;
        if self.name.is_empty() {
            return Ok(());
        }
        write!(f, " {}", self.name)
    }
}

/// A file that is no table of networks.
#[derive(Debug, thiserror::Error)]
pub enum SystemsError {
    /// It cannot be read.
    #[error(transparent)]
    Read(#[from] io::Error),
    /// It is larger than any that there is.
    #[error("is larger than {} GiB", LARGEST >> 30)]
    Large,
    /// MaxMind's format, but damaged, or of another kind.
    #[error("is no MaxMind database of AS numbers: {0}")]
    MaxMind(String),
    /// Text with a line that makes no sense.
    #[error(transparent)]
    Line(#[from] LineError),
}

/// Tables of the whole internet have some tens of megabytes.
const LARGEST: u64 = 2 << 30;

/// What stands before the metadata at the end of MaxMind's format.
const MAXMIND: &[u8] = b"\xab\xcd\xefMaxMind.com";

/// Networks, and whose they are.
#[derive(Debug)]
pub struct Systems {
    table: Table,
    /// Each system once.
    named: HashMap<u32, Arc<System>>,
}

#[derive(Debug)]
enum Table {
    MaxMind(Reader<Vec<u8>>),
    Ranges(Ranges),
}

/// What databases of AS numbers in MaxMind's format say of a network: MaxMind's own (GeoLite2-ASN), or IPinfo's.
#[derive(Debug, Deserialize)]
struct Entry {
    autonomous_system_number: Option<u32>,
    autonomous_system_organization: Option<String>,
    asn: Option<String>,
    as_name: Option<String>,
    name: Option<String>,
}

impl Entry {
    fn system(self) -> Option<System> {
        let number = self.autonomous_system_number;
        let number = number.or_else(|| text::number(&self.asn?))?;
        let names = [self.autonomous_system_organization, self.as_name, self.name];
        let name = names.into_iter().flatten().next().unwrap_or_default();
        Some(System { number, name })
    }
}

impl Systems {
    /// Reads a file in one of the three formats; which one, its content says.
    ///
    /// # Errors
    ///
    /// It is none of them, or a line of it makes no sense.
    pub fn read(file: File) -> Result<Systems, SystemsError> {
        if file.metadata()?.len() > LARGEST {
            return Err(SystemsError::Large);
        }
        Systems::of(BufReader::new(file.take(LARGEST)))
    }

    /// The same, from wherever.
    pub(crate) fn of(mut source: impl BufRead) -> Result<Systems, SystemsError> {
        let mut named = HashMap::new();
        // A binary file has a zero soon; no text has one.
        let is_text = !source.fill_buf()?.contains(&0);
        let table = if is_text {
            Table::Ranges(text::read(source, &mut named)?)
        } else {
            let mut bytes = Vec::new();
            source.read_to_end(&mut bytes)?;
            Table::MaxMind(maxmind(bytes)?)
        };
        Ok(Systems { table, named })
    }

    /// The system that the address belongs to.
    pub fn of_address(&mut self, address: IpAddr) -> Option<Arc<System>> {
        let address = address.to_canonical();
        match &self.table {
            Table::Ranges(ranges) => self.named.get(&ranges.of(address)?).cloned(),
            Table::MaxMind(reader) => {
                let entry = reader.lookup(address).ok()?.decode::<Entry>().ok()??;
                let system = entry.system()?;
                let named = self.named.entry(system.number);
                Some(Arc::clone(named.or_insert_with(|| Arc::new(system))))
            }
        }
    }
}

fn maxmind(bytes: Vec<u8>) -> Result<Reader<Vec<u8>>, SystemsError> {
    let is_maxmind = bytes.windows(MAXMIND.len()).any(|window| window == MAXMIND);
    if !is_maxmind {
        return Err(SystemsError::MaxMind(
            "it is another binary file".to_owned(),
        ));
    }
    Reader::from_source(bytes).map_err(|error| SystemsError::MaxMind(error.to_string()))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn systems(text: &str) -> Result<Systems, SystemsError> {
        Systems::of(text.as_bytes())
    }

    fn of(systems: &mut Systems, address: &str) -> Option<String> {
        let system = systems.of_address(address.parse().unwrap())?;
        Some(system.to_string())
    }

    #[test]
    fn pyasn_is_longest_prefix() {
        let text = "; IP-ASN32-DAT file\n192.0.2.0/24\t64500\n192.0.2.128/25\t64501\n\n2001:db8::/32\t64502\n";
        let mut systems = systems(text).unwrap();
        assert_eq!(of(&mut systems, "192.0.2.1").as_deref(), Some("AS64500"));
        assert_eq!(of(&mut systems, "192.0.2.200").as_deref(), Some("AS64501"));
        assert_eq!(
            of(&mut systems, "::ffff:192.0.2.200").as_deref(),
            Some("AS64501")
        );
        assert_eq!(of(&mut systems, "192.0.3.0"), None);
        assert_eq!(of(&mut systems, "2001:db8::7").as_deref(), Some("AS64502"));
    }

    #[test]
    fn ipinfo_has_ranges_or_networks_and_names() {
        let old = "start_ip,end_ip,asn,name,domain\n1.0.0.0,1.0.0.255,AS13335,\"Cloudflare, Inc.\",c.com\n\
                   2001:db8::,2001:db8::ff,AS64502,Doc,\n";
        let mut old = systems(old).unwrap();
        assert_eq!(
            of(&mut old, "1.0.0.9").as_deref(),
            Some("AS13335 Cloudflare, Inc.")
        );
        assert_eq!(of(&mut old, "2001:db8::ff").as_deref(), Some("AS64502 Doc"));
        assert_eq!(of(&mut old, "1.0.1.0"), None);
        let lite = "network,country,asn,as_name\n1.0.0.0/24,AU,AS13335,Cloudflare\n1.0.4.1,AU,,\n";
        let mut lite = systems(lite).unwrap();
        assert_eq!(
            of(&mut lite, "1.0.0.9").as_deref(),
            Some("AS13335 Cloudflare")
        );
        assert_eq!(of(&mut lite, "1.0.4.1"), None);
    }

    #[test]
    fn what_makes_no_sense_is_named_by_its_line() {
        for (text, part) in [
            ("", "no network"),
            ("192.0.2.0/24 64500 x\n", "line 1"),
            ("192.0.2.0/24\t64500\n192.0.2.0/33\t1\n", "line 2"),
            ("192.0.2.0/24\tx\n", "line 1"),
            ("network,asn\n1.0.0.0/24,AS1\n1.0.0/24,AS1\n", "line 3"),
            ("start_ip,end_ip,asn\n1.0.0.9,1.0.0.1,AS1\n", "line 2"),
            ("start_ip,end_ip,asn\n1.0.0.9,::1,AS1\n", "line 2"),
            ("network,country\n1.0.0.0/24,AU\n", "asn"),
            ("a\u{0}b", "MaxMind"),
        ] {
            let error = systems(text).unwrap_err().to_string();
            assert!(error.contains(part), "{text:?}: {error}");
        }
    }
}
