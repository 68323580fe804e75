//! Regions of clients: networks that the user has given a name.

use std::collections::BTreeMap;
use std::fs::File;
use std::io::{BufRead, BufReader};
use std::net::IpAddr;
use std::sync::Arc;

use hashbrown::HashMap;
use rules::Prefix;
use text::{Lines, TextError};

use super::networks::ByOwner;
use super::ranges::{Collected, Ranges};
use super::text::LineError;
use super::{MAX_LINE_BYTES, MAX_NETWORKS, SystemsError};

/// The maximum size of a file in bytes.
const MAX_BYTES: u64 = 128 << 20;

/// The maximum length of a region's name in bytes, so that it fits into a table.
const MAX_NAME_BYTES: usize = 64;

/// Networks, and the regions that they belong to.
#[derive(Debug)]
pub struct Regions {
    ranges: Ranges,
    names: Vec<Arc<str>>,
}

impl Regions {
    /// Reads a file with a network and the name of its region in each line: `192.0.2.0/24 north`. A name may have
    /// spaces. `#` begins a comment. The most specific network with an address counts.
    ///
    /// # Errors
    ///
    /// A line is invalid, there is no network, or the file is too large.
    pub fn read(file: File) -> Result<Regions, SystemsError> {
        if file.metadata()?.len() > MAX_BYTES {
            return Err(TextError::Large(MAX_BYTES).into());
        }
        Regions::of(BufReader::new(file))
    }

    /// Reads regions from any source.
    pub fn of(source: impl BufRead) -> Result<Regions, SystemsError> {
        let mut collected = Collected::default();
        let mut places: HashMap<Arc<str>, u32> = HashMap::new();
        let mut names = Vec::new();
        let mut lines = Lines::new(source, MAX_LINE_BYTES).without_blank();
        while let Some(line) = lines.next_valid()? {
            let said = line.split('#').next().unwrap_or_default().trim();
            if said.is_empty() {
                continue;
            }
            let added = parse(said).and_then(|(network, name)| {
                let place = match places.get(name) {
                    Some(place) => *place,
                    None => {
                        let name: Arc<str> = Arc::from(name);
                        let place = u32::try_from(names.len()).unwrap_or(u32::MAX);
                        names.push(Arc::clone(&name));
                        places.insert(name, place);
                        place
                    }
                };
                Ok(collected.add(network.first(), network.last(), place)?)
            });
            added.map_err(|why| LineError::Wrong(lines.number(), why))?;
            if collected.len() > MAX_NETWORKS {
                return Err(LineError::Many(MAX_NETWORKS).into());
            }
        }
        if collected.is_empty() {
            return Err(LineError::NoRegion.into());
        }
        Ok(Regions {
            ranges: collected.finish(),
            names,
        })
    }

    /// The networks of each region, without the networks of other regions within them.
    ///
    /// # Errors
    ///
    /// There are more than `most` networks.
    pub fn networks(&self, most: usize) -> Result<BTreeMap<String, Vec<Prefix>>, SystemsError> {
        let mut found = ByOwner::new(most);
        for (first, last, place) in self.ranges.all() {
            if let Some(name) = self.names.get(place as usize) {
                found.add(name.to_string(), Prefix::of_range(first, last))?;
            }
        }
        Ok(found.networks)
    }

    /// The region of an address.
    pub fn of_address(&self, address: IpAddr) -> Option<&Arc<str>> {
        self.of_network(Prefix::around(address.to_canonical(), 128))
    }

    /// The region of a client that is recorded as an address or as a network. A pseudonym has none.
    pub fn of_client(&self, client: &str) -> Option<&Arc<str>> {
        self.of_network(client.parse().ok()?)
    }

    /// The region that has all of a network.
    pub fn of_network(&self, network: Prefix) -> Option<&Arc<str>> {
        let place = self.ranges.of_all(network.first(), network.last())?;
        self.names.get(place as usize)
    }
}

/// The network and the name in a line.
fn parse(said: &str) -> Result<(Prefix, &str), String> {
    let (network, name) = said
        .split_once(char::is_whitespace)
        .ok_or("expected a network and a name, such as 192.0.2.0/24 north")?;
    let network = network.parse()?;
    let name = name.trim_start();
    if name.len() > MAX_NAME_BYTES || name.contains(char::is_control) {
        let why = format!("a name has at most {MAX_NAME_BYTES} bytes, all of them printable");
        return Err(why);
    }
    Ok((network, name))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn regions(text: &str) -> Result<Regions, String> {
        Regions::of(text.as_bytes()).map_err(|error| error.to_string())
    }

    #[test]
    fn the_most_specific_network_names_the_region() {
        let text = "# ours\n10.0.0.0/8 north # most\n10.1.0.0/16\tsouth west\n\n2001:db8::/32 north\n10.0.9.128/25 east\n";
        let regions = regions(text).unwrap();
        let address = |text: &str| {
            regions
                .of_address(text.parse().unwrap())
                .map(|name| &**name)
        };
        assert_eq!(address("10.0.0.1"), Some("north"));
        assert_eq!(address("::ffff:10.1.0.1"), Some("south west"));
        assert_eq!(address("2001:db8::1"), Some("north"));
        assert_eq!((address("11.0.0.1"), address("::1")), (None, None));
        let network = |text: &str| {
            regions
                .of_network(text.parse().unwrap())
                .map(|name| &**name)
        };
        assert_eq!(network("10.1.2.0/24"), Some("south west"));
        // Its halves are in two regions.
        assert_eq!(
            (network("10.0.9.0/24"), network("10.0.0.0/7")),
            (None, None)
        );
    }

    #[test]
    fn the_networks_of_regions_are_bounded() {
        let regions = regions("10.0.0.0/30 north\n10.0.0.1/32 south\n").unwrap();
        assert_eq!(regions.networks(3).unwrap()["north"].len(), 2);
        assert!(regions.networks(2).is_err());
    }

    #[test]
    fn what_makes_no_sense_is_named_by_its_line() {
        let long = format!("10.0.0.0/8 {}", "x".repeat(MAX_NAME_BYTES + 1));
        for (text, part) in [
            ("", "no network"),
            ("# 10.0.0.0/8 north\n", "no network"),
            ("10.0.0.0/8 north\n10.0.0.0/33 south\n", "line 2"),
            ("10.0.0.0/8\n", "line 1: expected a network and a name"),
            (&long, "at most 64 bytes"),
            ("10.0.0.0/8 nor\u{1b}th\n", "printable"),
        ] {
            let error = regions(text).unwrap_err();
            assert!(error.contains(part), "{text:?}: {error}");
        }
    }
}
