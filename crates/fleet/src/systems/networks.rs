//! The networks of autonomous systems.

use std::collections::{BTreeMap, BTreeSet};
use std::net::IpAddr;

use maxminddb::{MaxMindDbError, Reader, WithinOptions};
use rules::Prefix;

use super::text::LineError;
use super::{Entry, Systems, SystemsError, Table};

impl Systems {
    /// The networks of each of these systems, without the networks of other systems within them.
    ///
    /// # Errors
    ///
    /// The file is damaged, or there are more than `most` networks.
    pub fn networks(
        &self,
        of: &BTreeSet<u32>,
        most: usize,
    ) -> Result<BTreeMap<u32, Vec<Prefix>>, SystemsError> {
        let mut found = ByOwner::new(most);
        match &self.table {
            Table::Ranges(ranges) => {
                for (first, last, owner) in ranges.all().filter(|range| of.contains(&range.2)) {
                    found.add(owner, Prefix::of_range(first, last))?;
                }
            }
            Table::MaxMind(reader) => maxmind(reader, of, &mut found)?,
        }
        Ok(found.networks)
    }
}

/// The networks of each owner, up to a maximum number. A range of addresses may be hundreds of networks.
pub(super) struct ByOwner<K> {
    pub networks: BTreeMap<K, Vec<Prefix>>,
    count: usize,
    most: usize,
}

impl<K: Ord> ByOwner<K> {
    pub fn new(most: usize) -> ByOwner<K> {
        ByOwner {
            networks: BTreeMap::new(),
            count: 0,
            most,
        }
    }

    pub fn add(&mut self, owner: K, networks: Vec<Prefix>) -> Result<(), SystemsError> {
        self.count += networks.len();
        if self.count > self.most {
            return Err(LineError::Many(self.most).into());
        }
        self.networks.entry(owner).or_default().extend(networks);
        Ok(())
    }
}

fn maxmind(
    reader: &Reader<Vec<u8>>,
    of: &BTreeSet<u32>,
    to: &mut ByOwner<u32>,
) -> Result<(), SystemsError> {
    let damaged = |error: MaxMindDbError| SystemsError::MaxMind(error.to_string());
    // A database with more than the maximum was refused when it was opened.
    let all = reader.networks(WithinOptions::default());
    for found in all.map_err(damaged)? {
        let found = found.map_err(damaged)?;
        let system = found.decode::<Entry>().map_err(damaged)?;
        let Some(system) = system.and_then(Entry::system) else {
            continue;
        };
        if of.contains(&system.number) {
            let network = found.network().map_err(damaged)?;
            let (address, length): (IpAddr, u8) = (network.ip(), network.prefix());
            to.add(system.number, vec![Prefix::around(address, length)])?;
        }
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
        let found = systems
            .networks(&BTreeSet::from([64500, 64999]), 3)
            .unwrap();
        let own: Vec<String> = found[&64500].iter().map(Prefix::to_string).collect();
        assert_eq!(own, ["192.0.2.0/25", "2001:db8::/32"]);
        assert_eq!(found.len(), 1);
    }

    #[test]
    fn ranges_of_more_networks_than_there_is_room_for_are_refused() {
        // Each of the two ranges is 30 networks.
        let text = "10.0.0.1\t10.0.255.254\t1\n10.2.0.1\t10.2.255.254\t1\n";
        let systems = Systems::of(text.as_bytes()).unwrap();
        let count = |most| {
            let found = systems.networks(&BTreeSet::from([1]), most);
            found
                .map(|found| found[&1].len())
                .map_err(|error| error.to_string())
        };
        assert_eq!(count(60), Ok(60));
        assert!(count(59).unwrap_err().contains("more than 59 networks"));
    }

    #[test]
    fn every_address_of_its_networks_is_of_the_system() {
        let csv =
            "start_ip,end_ip,asn,name,domain\n1.0.0.3,1.0.1.9,AS1,a,\n1.0.0.200,1.0.0.220,AS2,b,\n";
        let mut systems = Systems::of(csv.as_bytes()).unwrap();
        let found = systems.networks(&BTreeSet::from([1]), 99).unwrap();
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
