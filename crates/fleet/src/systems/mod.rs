//! Autonomous systems (AS) of addresses, from a file of the user: MaxMind's format (`.mmdb`), or a table as text.
//! Either may be compressed with gzip.

mod columns;
#[cfg(any(test, fuzzing))]
pub mod fuzz;
mod list;
mod networks;
mod ranges;
mod regions;
mod text;
mod tree;

use std::fmt;
use std::fs::File;
use std::io::{self, BufRead, Read};
use std::net::IpAddr;
use std::sync::Arc;

use ::text::{TextError, is_utf_16};
use hashbrown::HashMap;
use maxminddb::{Reader, WithinOptions};
use rules::Prefix;
use serde::Deserialize;
use serde::de::{Deserializer, Error, Visitor};

use ranges::Ranges;
pub use regions::Regions;
pub use text::LineError;

use crate::unzipped::unzipped;

/// A network's operator, as routing knows it.
#[derive(Debug, Clone, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct System {
    /// Its number.
    pub number: u32,
    /// Its name; empty if the file has none.
    pub name: String,
}

/// The maximum length of a name in bytes. Longer names are cut.
const MAX_NAME_BYTES: usize = 256;

impl System {
    fn new(number: u32, name: &str) -> System {
        let name = name[..name.floor_char_boundary(MAX_NAME_BYTES)].to_owned();
        System { number, name }
    }
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

/// A file that is not a table of networks.
#[derive(Debug, thiserror::Error)]
pub enum SystemsError {
    /// It cannot be read.
    #[error(transparent)]
    Read(#[from] io::Error),
    /// It is not text, or too large.
    #[error(transparent)]
    Text(#[from] TextError),
    /// MaxMind's format, but damaged, or of another kind.
    #[error("is not a MaxMind database of AS numbers: {0}")]
    MaxMind(String),
    /// Text with an invalid line.
    #[error(transparent)]
    Line(#[from] LineError),
}

/// The maximum length of a line of these files in bytes.
const MAX_LINE_BYTES: usize = 64 << 10;

/// The maximum size of a table in bytes, decompressed. Tables of the whole internet have some tens of megabytes.
const MAX_BYTES: u64 = 512 << 20;

/// The maximum number of networks of a table. The largest have some millions.
const MAX_NETWORKS: usize = 10_000_000;

/// The maximum number of systems of a table. Some 120,000 are in use (2026), and each takes up to half a kilobyte.
const MAX_SYSTEMS: usize = 500_000;

/// The number of networks to search for an AS number before a database is refused.
const MAX_TRIED_NETWORKS: usize = 100_000;

/// The bytes before the metadata at the end of MaxMind's format.
const MAXMIND: &[u8] = b"\xab\xcd\xefMaxMind.com";

/// Networks and the systems that they belong to.
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

/// The data of a network in MaxMind's format, as MaxMind (GeoLite2-ASN) or IPinfo write them.
#[derive(Debug, Deserialize)]
struct Entry {
    autonomous_system_number: Option<Number>,
    autonomous_system_organization: Option<String>,
    asn: Option<Number>,
    as_name: Option<String>,
    name: Option<String>,
}

/// The number of a system, in any of the format's types. `None` if the value is not such a number.
#[derive(Debug, Clone, Copy)]
struct Number(Option<u32>);

impl<'de> Deserialize<'de> for Number {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Number, D::Error> {
        struct Any;
        impl Visitor<'_> for Any {
            type Value = Number;

            fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                f.write_str("the number of an AS")
            }

            fn visit_u64<E: Error>(self, number: u64) -> Result<Number, E> {
                Ok(Number(number.try_into().ok()))
            }

            fn visit_i64<E: Error>(self, number: i64) -> Result<Number, E> {
                Ok(Number(number.try_into().ok()))
            }

            fn visit_str<E: Error>(self, text: &str) -> Result<Number, E> {
                Ok(Number(columns::number(text)))
            }
        }
        deserializer.deserialize_any(Any)
    }
}

impl Entry {
    fn system(self) -> Option<System> {
        let numbers = [self.autonomous_system_number, self.asn];
        let number = numbers.into_iter().flatten().find_map(|number| number.0)?;
        let names = [self.autonomous_system_organization, self.as_name, self.name];
        let name = names.into_iter().flatten().next().unwrap_or_default();
        Some(System::new(number, &name))
    }
}

impl Systems {
    /// Reads a file in one of the formats, recognised by its content.
    ///
    /// # Errors
    ///
    /// The file is in none of the formats, or a line is invalid.
    pub fn read(file: File) -> Result<Systems, SystemsError> {
        Systems::of(file)
    }

    /// Reads a table from any source.
    pub fn of(source: impl Read) -> Result<Systems, SystemsError> {
        Systems::plain(unzipped(source, MAX_BYTES)?)
    }

    fn plain(mut source: impl BufRead) -> Result<Systems, SystemsError> {
        let mut named = HashMap::new();
        let head = source.fill_buf()?;
        if is_utf_16(head) {
            return Err(TextError::Utf16.into());
        }
        // A binary file has a zero among its first bytes; text has none.
        let is_text = !head.contains(&0);
        let table = if is_text {
            Table::Ranges(text::read(source, &mut named)?)
        } else {
            let mut bytes = Vec::new();
            source.read_to_end(&mut bytes)?;
            Table::MaxMind(maxmind(bytes)?)
        };
        Ok(Systems { table, named })
    }

    /// The number of the system that a network belongs to, if both of its ends belong to the same one.
    pub fn of_network(&mut self, network: Prefix) -> Option<u32> {
        let first = self.of_address(network.first())?.number;
        let last = self.of_address(network.last())?.number;
        (first == last).then_some(first)
    }

    /// The system that the address belongs to.
    pub fn of_address(&mut self, address: IpAddr) -> Option<Arc<System>> {
        let address = address.to_canonical();
        match &self.table {
            Table::Ranges(ranges) => self.named.get(&ranges.of(address)?).cloned(),
            Table::MaxMind(reader) => {
                let entry = reader.lookup(address).ok()?.decode::<Entry>().ok()??;
                let system = entry.system()?;
                if self.named.len() >= MAX_SYSTEMS && !self.named.contains_key(&system.number) {
                    return Some(Arc::new(system));
                }
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
    let damaged = |error: maxminddb::MaxMindDbError| SystemsError::MaxMind(error.to_string());
    let parsed = Reader::from_source(&bytes[..]).map_err(damaged)?;
    let networks = tree::networks(&bytes, parsed.metadata());
    if networks.is_none_or(|count| count as usize > MAX_NETWORKS) {
        let lack = format!("its tree goes in circles, or has more than {MAX_NETWORKS} networks");
        return Err(SystemsError::MaxMind(lack));
    }
    let reader = Reader::from_source(bytes).map_err(damaged)?;
    has_systems(&reader).map_err(damaged)?.then_some(reader).ok_or_else(|| {
        let lack = "no network has autonomous_system_number or asn; give one of AS numbers, such as GeoLite2-ASN";
        SystemsError::MaxMind(lack.to_owned())
    })
}

/// True if some network has an AS number. Otherwise, all systems would be unknown.
fn has_systems(reader: &Reader<Vec<u8>>) -> Result<bool, maxminddb::MaxMindDbError> {
    for found in reader
        .networks(WithinOptions::default())?
        .take(MAX_TRIED_NETWORKS)
    {
        let entry = found?.decode::<Entry>().ok().flatten();
        if entry.and_then(Entry::system).is_some() {
            return Ok(true);
        }
    }
    Ok(false)
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
    fn tables_without_names_of_columns_are_known_by_their_cells() {
        for (what, text, name) in [
            ("pyasn", "192.0.2.0/24\t64500\n1.0.0.0/24\t13335\n", ""),
            (
                "iptoasn",
                "0.0.0.0\t0.255.255.255\t0\tNone\tNot routed\n1.0.0.0\t1.0.0.255\t13335\tUS\tCLOUDFLARENET - Cloudflare, Inc.\n",
                "CLOUDFLARENET - Cloudflare, Inc.",
            ),
            (
                "DB-IP",
                "1.0.0.0,1.0.0.255,13335,\"Cloudflare, Inc.\"\n",
                "Cloudflare, Inc.",
            ),
            (
                "IP2Location",
                "\"0\",\"16777215\",\"0.0.0.0/8\",\"-\",\"-\"\n\"16777216\",\"16777471\",\"1.0.0.0/24\",\"13335\",\"CloudFlare Inc.\"\n",
                "CloudFlare Inc.",
            ),
            (
                "prefix, AS, name",
                "1.0.0.0/24,AS13335,Cloudflare\n",
                "Cloudflare",
            ),
            ("AS, prefix", "as13335,1.0.0.0/24\n", ""),
            ("IPinfo's rows", "1.0.0.0/24,US,AS13335,HP\n", "HP"),
            ("CAIDA", "1.0.0.0\t24\t13335_64500\n", ""),
            (
                "a mark",
                "\u{feff}network,asn,name\r\n1.0.0.0/24,13335,Cloudflare\r\n",
                "Cloudflare",
            ),
            (
                "names in capitals and tabs",
                "Prefix\tAS_Number\tAS_Name\n1.0.0.0/24\t13335\tx\n",
                "x",
            ),
        ] {
            let mut systems = systems(text).unwrap_or_else(|error| panic!("{what}: {error}"));
            let found = of(&mut systems, "1.0.0.9");
            let expected = format!("AS13335 {name}");
            assert_eq!(found.as_deref(), Some(expected.trim()), "{what}");
            assert_eq!(of(&mut systems, "0.0.0.9"), None, "{what}");
        }
    }

    #[test]
    fn a_damaged_tree_is_no_endless_walk() {
        let whole = database("autonomous_system_number", &[0xc2, 0xfb, 0xf4]);
        // The only node leads to itself.
        let mut circle = whole.clone();
        circle[5] = 0;
        let error = Systems::of(&circle[..]).unwrap_err().to_string();
        assert!(error.contains("in circles"), "{error}");
        // Of 120 nodes, each has the next one twice: 2^120 networks, all without data.
        let nodes = 120_u32;
        let tree: Vec<u8> = (1..=nodes)
            .flat_map(|next| [next.to_be_bytes(); 2])
            .flat_map(|bytes| [bytes[1], bytes[2], bytes[3]])
            .collect();
        let count = [&b"\x4anode_count"[..], &[0xc1, 1]].concat();
        let place = whole
            .windows(count.len())
            .position(|window| window == count)
            .unwrap();
        let mut many = [&tree[..], &whole[6..]].concat();
        many[place - 6 + tree.len() + count.len() - 1] = nodes as u8;
        let error = Systems::of(&many[..]).unwrap_err().to_string();
        assert!(error.contains("networks"), "{error}");
        for length in 0..whole.len() {
            assert!(Systems::of(&whole[..length]).is_err(), "{length}");
        }
    }

    #[test]
    fn a_small_file_takes_no_gigabyte() {
        let table = |cell: Vec<u8>| {
            let begin = b"network,asn,name\n1.0.0.0/24,1,".to_vec();
            let zipped = zipped(&[begin, cell].concat());
            assert!(zipped.len() < 100_000);
            Systems::of(&zipped[..])
        };
        let error = table(vec![b'x'; 20 << 20]).unwrap_err().to_string();
        assert_eq!(error, "line 2: is longer than 64 KiB");
        let entry = Entry {
            autonomous_system_number: Some(Number(Some(1))),
            autonomous_system_organization: Some("\u{e4}".repeat(1 << 20)),
            asn: None,
            as_name: None,
            name: None,
        };
        assert_eq!(entry.system().unwrap().name.len(), MAX_NAME_BYTES);
        let systems = (0..=MAX_SYSTEMS).map(|number| format!("10.0.0.0/24,{}\n", number + 1));
        let systems = systems.collect::<String>();
        let error = Systems::of(systems.as_bytes()).unwrap_err().to_string();
        assert!(error.contains("more than 500000 AS numbers"), "{error}");
        // A quote ends with its line.
        let quoted = table([&b"\""[..], &b"x\n".repeat(10 << 20)].concat());
        let error = quoted.unwrap_err().to_string();
        assert!(error.starts_with("line 3: expected an address"), "{error}");
    }

    /// A file of gzip.
    fn zipped(bytes: &[u8]) -> Vec<u8> {
        let mut gzip = flate2::write::GzEncoder::new(Vec::new(), flate2::Compression::fast());
        std::io::Write::write_all(&mut gzip, bytes).unwrap();
        gzip.finish().unwrap()
    }

    #[test]
    fn maxmind_has_networks_and_names_in_a_csv_too_and_any_file_may_be_zipped() {
        let csv = "network,autonomous_system_number,autonomous_system_organization\n\
                   1.0.0.0/24,13335,\"Cloudflare, Inc.\"\n2001:db8::/32,64502,Doc\n";
        for bytes in [csv.as_bytes().to_vec(), zipped(csv.as_bytes())] {
            let mut systems = Systems::of(&bytes[..]).unwrap();
            let name = of(&mut systems, "1.0.0.9");
            assert_eq!(name.as_deref(), Some("AS13335 Cloudflare, Inc."));
            assert_eq!(
                of(&mut systems, "2001:db8::1").as_deref(),
                Some("AS64502 Doc")
            );
        }
        let database = zipped(&database("autonomous_system_number", &[0xc2, 0xfb, 0xf4]));
        assert!(Systems::of(&database[..]).is_ok());
        let cut = zipped(csv.as_bytes());
        assert!(Systems::of(&cut[..cut.len() / 2]).is_err());
    }

    /// A database in MaxMind's format (version 2.0) in which half of IPv4 has an entry with this field.
    fn database(field: &str, value: &[u8]) -> Vec<u8> {
        let text = |text: &str| [&[0x40 | text.len() as u8], text.as_bytes()].concat();
        // A tree of a node: zeros lead to the data's beginning, ones nowhere.
        let tree = [0, 0, 1 + 16, 0, 0, 1];
        let data = [&[0xe1], &text(field)[..], value].concat();
        let about = [
            ("node_count", vec![0xc1, 1]),
            ("record_size", vec![0xa1, 24]),
            ("ip_version", vec![0xa1, 4]),
            ("database_type", text("x")),
            ("languages", vec![0x00, 0x04]),
            ("binary_format_major_version", vec![0xa1, 2]),
            ("binary_format_minor_version", vec![0xa0]),
            ("build_epoch", vec![0x01, 0x02, 1]),
            ("description", vec![0xe0]),
        ];
        let about = about.map(|(name, value)| [text(name), value].concat());
        let head = [&[0xe9], &about.concat()[..]].concat();
        [&tree[..], &[0; 16], &data, MAXMIND, &head].concat()
    }

    #[test]
    fn numbers_of_any_type_are_read_and_a_database_without_them_is_refused() {
        let number = 64500_u32.to_be_bytes();
        for (field, value) in [
            ("autonomous_system_number", vec![0xc2, 0xfb, 0xf4]),
            (
                "autonomous_system_number",
                [&[0x04, 0x01], &number[..]].concat(),
            ),
            ("asn", [&[0x04, 0x02], &number[..]].concat()),
            ("asn", b"\x47AS64500".to_vec()),
        ] {
            let mut systems = Systems::of(&database(field, &value)[..]).unwrap();
            assert_eq!(
                of(&mut systems, "1.2.3.4").as_deref(),
                Some("AS64500"),
                "{value:?}"
            );
            assert_eq!(of(&mut systems, "201.2.3.4"), None);
        }
        for (field, value) in [("country", &b"\x42DE"[..]), ("asn", b"\x42DE")] {
            let error = Systems::of(&database(field, value)[..]).unwrap_err();
            assert!(error.to_string().contains("GeoLite2-ASN"), "{error}");
        }
    }

    #[test]
    fn what_makes_no_sense_is_named_by_its_line() {
        for (text, part) in [
            ("", "no network"),
            ("192.0.2.0/24 64500 x\n", "line 1"),
            ("192.0.2.0/24\t64500\n192.0.2.0/33\t1\n", "line 2"),
            ("192.0.2.0/24\tx\n", "line 1"),
            (
                "1.0.0.0,24,13335\n",
                "line 1: 24 may be the length of a prefix or an AS number",
            ),
            (
                "1.0.0.0/24,1\n1.0.1.0/24,AS\n",
                "line 2: expected an AS number",
            ),
            (
                "net,as\n1.0.0.0/24,1\n",
                "line 1: expected a network, or names of columns",
            ),
            (&format!("1.0.0.0/24,1{}\n", ",".repeat(99)), "columns"),
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
