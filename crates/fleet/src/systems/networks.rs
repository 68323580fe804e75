//! The networks of autonomous systems.

use std::collections::{BTreeMap, BTreeSet};
use std::net::IpAddr;

use maxminddb::{Reader, WithinOptions};
use rules::Prefix;

use super::{Entry, MAX_NETWORKS, Systems, SystemsError, Table};

impl Systems {
    /// The networks of each of these systems, without the networks of other systems within them.
    ///
    /// # Errors
    ///
    /// The file is damaged.
    pub fn networks(&self, of: &BTreeSet<u32>) -> Result<BTreeMap<u32, Vec<Prefix>>, SystemsError> {
        let mut networks: BTreeMap<u32, Vec<Prefix>> = BTreeMap::new();
        match &self.table {
            Table::Ranges(ranges) => {
                for (first, last, owner) in ranges.all().filter(|range| of.contains(&range.2)) {
                    let prefixes = Prefix::of_range(first, last);
                    networks.entry(owner).or_default().extend(prefixes);
                }
            }
            Table::MaxMind(reader) => maxmind(reader, of, &mut networks)
                .map_err(|error| SystemsError::MaxMind(error.to_string()))?,
        }
        Ok(networks)
    }
}

fn maxmind(
    reader: &Reader<Vec<u8>>,
    of: &BTreeSet<u32>,
    networks: &mut BTreeMap<u32, Vec<Prefix>>,
) -> Result<(), maxminddb::MaxMindDbError> {
    for found in reader
        .networks(WithinOptions::default())?
        .take(MAX_NETWORKS)
    {
        let found = found?;
        let system = found.decode::<Entry>()?.and_then(Entry::system);
        let Some(system) = system.filter(|system| of.contains(&system.number)) else {
            continue;
        };
        let network = found.network()?;
        let (address, length): (IpAddr, u8) = (network.ip(), network.prefix());
        let prefix = Prefix::around(address, length);
        networks.entry(system.number).or_default().push(prefix);
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_systems_networks_are_its_own() {
        let text = "192.0.2.0/24\t64500\n192.0.2.128/25\t64501\n2001:db8::/32\t64500\n";
        let systems = Systems::of(text.as_bytes()).unwrap();
        let found = systems.networks(&BTreeSet::from([64500, 64999])).unwrap();
        let own: Vec<String> = found[&64500].iter().map(Prefix::to_string).collect();
        assert_eq!(own, ["192.0.2.0/25", "2001:db8::/32"]);
        assert_eq!(found.len(), 1);
    }

    #[test]
    fn every_address_of_its_networks_is_of_the_system() {
        let csv =
            "start_ip,end_ip,asn,name,domain\n1.0.0.3,1.0.1.9,AS1,a,\n1.0.0.200,1.0.0.220,AS2,b,\n";
        let mut systems = Systems::of(csv.as_bytes()).unwrap();
        let found = systems.networks(&BTreeSet::from([1])).unwrap();
        let mut addresses = 0_u64;
        for prefix in &found[&1] {
            addresses += 1 << (32 - prefix.length());
            for address in [prefix.first(), prefix.last()] {
                assert_eq!(systems.of_address(address).unwrap().number, 1);
            }
        }
        assert_eq!(addresses, 263 - 21);
    }
}
