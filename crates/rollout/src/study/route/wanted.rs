//! The wanted entries of a study's routing table: `main`'s routes to the study's networks, each with a controller.

use std::collections::BTreeMap;

use experiment::Members;
use rules::Prefix;

/// An entry of the table.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Wanted<W> {
    /// Route packets this way, with the controller of this arm.
    Way(W, usize),
    /// Skip this table: the lookup continues with the next rule.
    LookOn,
}

/// All wanted entries. `networks` are the networks that take part, with their arms. `main` has the way of each of its
/// routes; nothing for a route that is not a unicast route.
///
/// A network has the way of `main`'s longest covering prefix, and of `main`'s more specific routes within it.
pub fn wanted<W: Clone>(
    networks: &[(Prefix, usize)],
    members: &Members,
    main: &BTreeMap<Prefix, Option<W>>,
) -> BTreeMap<Prefix, Wanted<W>> {
    let entry = |way: &Option<W>, arm| match way {
        Some(way) => Wanted::Way(way.clone(), arm),
        None => Wanted::LookOn,
    };
    let mut all = BTreeMap::new();
    for &(network, arm) in networks {
        let mut around = (0..=network.length())
            .rev()
            .filter_map(|length| main.get(&Prefix::around(network.first(), length)));
        if let Some(way) = around.next() {
            all.insert(network, entry(way, arm));
        }
        let end = Prefix::around(network.last(), u8::MAX);
        for (&inside, way) in main.range(network..=end) {
            if inside == network {
                continue;
            }
            let entry = if members.has(inside) {
                entry(way, arm)
            } else {
                Wanted::LookOn
            };
            all.insert(inside, entry);
        }
    }
    all.extend(members.excepted().map(|except| (except, Wanted::LookOn)));
    all
}

#[cfg(test)]
mod tests {
    use experiment::Plan;

    use super::*;

    fn found(prefix: &str, except: &str, main: &[(&str, Option<&str>)]) -> Vec<String> {
        let text = format!(
            "name = 'a'\nassign = 'route'\nunit = 'prefix'\nduration = '1h'\n\
             connections = {{ listen = [80], prefix = [{prefix}], except = [{except}] }}\n\
             arm = [{{ controller = 'cubic', share = '1%' }}, {{ controller = 'bbr', share = '1%' }}]\n"
        );
        let plan = Plan::parse(&text).unwrap();
        let members = Members::of(&plan);
        let networks = members.networks(plan.unit).unwrap();
        // Alternate between the two arms.
        let networks: Vec<_> = networks.into_iter().zip((0..2).cycle()).collect();
        let main = main.iter().map(|(network, way)| {
            let way = way.map(str::to_owned);
            (network.parse().unwrap(), way)
        });
        let all = wanted(&networks, &members, &main.collect());
        all.iter()
            .map(|(network, wanted)| match wanted {
                Wanted::Way(way, arm) => format!("{network} {way} {arm}"),
                Wanted::LookOn => format!("{network} on"),
            })
            .collect()
    }

    #[test]
    fn a_network_has_the_way_that_it_has_anyway() {
        let main = [
            ("0.0.0.0/0", Some("up")),
            ("10.0.0.0/23", Some("left")),
            ("::/0", Some("six")),
        ];
        assert_eq!(
            found("'10.0.1.0/24', '10.0.2.0/24', '2001:db8::/48'", "", &main),
            [
                "10.0.1.0/24 left 0",
                "10.0.2.0/24 up 1",
                "2001:db8::/48 six 0"
            ]
        );
        // Where `main` has no route, the table has none.
        assert!(found("'10.0.2.0/24'", "", &main[1..]).is_empty());
    }

    #[test]
    fn parts_go_their_own_way_and_have_the_arm() {
        let main = [
            ("0.0.0.0/0", Some("up")),
            ("10.0.0.0/25", Some("left")),
            ("10.0.0.64/26", None),
            ("10.0.1.0/24", Some("right")),
        ];
        assert_eq!(
            found("'10.0.0.0/24'", "", &main),
            ["10.0.0.0/24 up 0", "10.0.0.0/25 left 0", "10.0.0.64/26 on"]
        );
    }

    #[test]
    fn who_is_excepted_is_left_alone() {
        let main = [("0.0.0.0/0", Some("up")), ("10.0.0.16/28", Some("left"))];
        assert_eq!(
            found("'10.0.0.0/23'", "'10.0.0.0/27', '10.0.1.0/24'", &main),
            [
                "10.0.0.0/24 up 0",
                "10.0.0.0/27 on",
                "10.0.0.16/28 on",
                "10.0.1.0/24 on"
            ]
        );
    }
}
