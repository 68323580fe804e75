//! Properties of any bytes read as a table or list of networks, for `fuzz/fuzz_targets` and the tests below.

use std::collections::BTreeSet;

use super::{Regions, Systems, Table, list};
use rules::Prefix;

/// The maximum number of networks of a list in these tests.
const MAX_NETWORKS: usize = 1000;

/// A table is read, or refused in one line. Look-ups end, and the networks of a system are its own.
pub fn systems(bytes: &[u8]) {
    match Systems::of(bytes) {
        Ok(mut systems) => {
            let addresses = [
                "0.0.0.0",
                "192.0.2.1",
                "255.255.255.255",
                "::",
                "2001:db8::1",
            ];
            for address in addresses {
                let address = address.parse().expect("an address");
                let Some(system) = systems.of_address(address) else {
                    continue;
                };
                let number = system.number;
                // In the other format, the networks of IPv4 are part of IPv6, possibly several times.
                if matches!(systems.table, Table::Ranges(_))
                    && let Ok(networks) = systems.networks(&BTreeSet::from([number]), MAX_NETWORKS)
                {
                    let own = networks.get(&number).into_iter().flatten();
                    assert!(own.clone().any(|network| network.has(address)), "{address}");
                }
            }
        }
        Err(error) => assert_eq!(error.to_string().lines().count(), 1, "{error}"),
    }
}

/// A list, with or without regions, is read, or refused in one line. Reading what it displays gives the same list.
pub fn lists(bytes: &[u8]) {
    if let Err(error) = Regions::of(bytes) {
        assert_eq!(error.to_string().lines().count(), 1, "{error}");
    }
    let read = |bytes| list::networks(bytes).collect::<Result<Vec<Prefix>, _>>();
    match read(bytes) {
        Ok(networks) => {
            let text: String = networks.iter().map(|one| format!("{one}\n")).collect();
            let again = read(text.as_bytes()).expect("what was read");
            assert_eq!(again, networks);
            assert!(networks.iter().all(|one: &Prefix| one.has(one.last())));
        }
        Err(error) => assert_eq!(error.to_string().lines().count(), 1, "{error}"),
    }
}

#[cfg(test)]
mod tests {
    use super::Systems;

    /// A MaxMind database (<https://maxmind.github.io/MaxMind-DB/>) of one node. Only 0.0.0.0/1 has a system.
    fn maxmind() -> Vec<u8> {
        let text = |text: &str| {
            let len = u8::try_from(text.len()).expect("short");
            let head = if len < 29 {
                vec![0x40 | len]
            } else {
                vec![0x5d, len - 29]
            };
            [&head[..], text.as_bytes()].concat()
        };
        let field = |name: &str, value: &[u8]| [&text(name)[..], value].concat();
        let tree = [0, 0, 1 + 16, 0, 0, 1];
        let data = [
            vec![0xe2],
            field("autonomous_system_number", &[0xc2, 0xfb, 0xf4]),
            field("autonomous_system_organization", &text("one")),
        ];
        let about = [
            b"\xab\xcd\xefMaxMind.com\xe9".to_vec(),
            field("node_count", &[0xc1, 1]),
            field("record_size", &[0xa1, 24]),
            field("ip_version", &[0xa1, 4]),
            field("database_type", &text("GeoLite2-ASN")),
            field("languages", &[0x01, 4, 0x42, b'e', b'n']),
            field("binary_format_major_version", &[0xa1, 2]),
            field("binary_format_minor_version", &[0xa0]),
            field("build_epoch", &[0x04, 2, 0x65, 0, 0, 0]),
            field("description", &[0xe0]),
        ];
        [&tree[..], &[0; 16], &data.concat(), &about.concat()].concat()
    }

    #[test]
    fn any_systems() {
        let maxmind = maxmind();
        let mut read = Systems::of(&maxmind[..]).expect("a database");
        let address = "10.0.0.1".parse().expect("an address");
        assert_eq!(read.of_address(address).map(|one| one.number), Some(64_500));
        let corpus = [
            &b"192.0.2.0/24\t64500\n2001:db8::/32\t64502\n"[..],
            b"start_ip,end_ip,asn,name,domain\n1.0.0.0,1.0.0.255,AS13335,\"a, b\",c\n",
            b"network,country,asn,as_name\n1.0.0.0/24,AU,AS13335,Cloudflare\n",
            b"\x00\xab\xcd\xefMaxMind.com\xe1\x44name",
        ];
        let mut corpus = corpus.map(<[u8]>::to_vec).to_vec();
        corpus.push(maxmind);
        fuzzing::run("fleet_systems", &corpus, super::systems);
    }

    #[test]
    fn any_lists() {
        let corpus = [
            &b"# mine\n192.0.2.0/24\n2001:db8::/32 # a\r\n\n"[..],
            b"198.51.100.7\n0.0.0.0/0\n::ffff:192.0.2.1/128",
            b"192.0.2.0/24 north\n2001:db8::/32\tsouth west # a\r\n",
        ];
        let corpus = corpus.map(<[u8]>::to_vec);
        fuzzing::run("fleet_lists", &corpus, super::lists);
    }
}
