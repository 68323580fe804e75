//! Links with names, and the routes over them.

use proptest::prelude::*;
use scenario::{Crossing, Route, Scenario};
use units::Duration;

const HEAD: &str = "name = 'x'\nduration = '9s'\n";

/// Links `name: from to rtt`, one a line, and flows with these fields.
fn network(links: &[(&str, &str, &str, u64)], flows: &[&str]) -> String {
    let link = |(name, from, to, rtt): &(&str, &str, &str, u64)| {
        format!(
            "[[link]]\nname = '{name}'\nfrom = '{from}'\nto = '{to}'\nrate = '9mbit'\nrtt = '{rtt}ms'\n"
        )
    };
    let flow = |fields: &&str| format!("[[flow]]\ncontroller = 'bbr1'\n{fields}\n");
    let links: String = links.iter().map(link).collect();
    let flows: String = flows.iter().map(flow).collect();
    format!("{HEAD}{links}{flows}")
}

fn read(text: &str) -> Scenario {
    text.parse()
        .unwrap_or_else(|error| panic!("{error} in\n{text}"))
}

/// A triangle of sites with a tail: a–b–c, a–c, c–d.
const TRIANGLE: [(&str, &str, &str, u64); 4] = [
    ("ab", "a", "b", 10),
    ("bc", "b", "c", 20),
    ("ca", "c", "a", 40),
    ("cd", "c", "d", 80),
];

/// The crossings of a route: the letters of a link, in capitals if it is crossed from `to` to `from`.
fn told(scenario: &Scenario, crossings: &[Crossing]) -> Vec<String> {
    let name = |crossing: &Crossing| {
        let name = scenario.links[crossing.link].name.to_string();
        if crossing.is_back {
            name.to_uppercase()
        } else {
            name
        }
    };
    crossings.iter().map(name).collect()
}

#[test]
fn data_take_the_fewest_links_and_acks_the_same_ones_back() {
    let scenario = read(&network(
        &TRIANGLE,
        &[
            "from = 'a'\nto = 'd'",
            "from = 'd'\nto = 'b'",
            "route = ['ab', 'bc', 'cd']",
            "from = 'c'\nto = 'b'\nroute = ['ca', 'ab']\nback = ['bc']",
            "route = ['cd', 'bc']",
        ],
    ));
    let network = scenario.network();
    for group in 0..6 {
        let alone = scenario.network_within(group..group + 1);
        for (other, route) in alone.routes().iter().enumerate() {
            let expected = if other == group {
                network.route(group)
            } else {
                &Route::default()
            };
            assert_eq!(route, expected, "{group}, {other}");
        }
    }
    let expected: [(&[&str], &[&str], u64); 5] = [
        (&["CA", "cd"], &["CD", "ca"], 120),
        (&["CD", "BC"], &["bc", "cd"], 100),
        (&["ab", "bc", "cd"], &["CD", "BC", "AB"], 110),
        (&["ca", "ab"], &["bc"], 35),
        (&["CD", "BC"], &["bc", "cd"], 100),
    ];
    for (group, (there, back, rtt)) in expected.into_iter().enumerate() {
        let route = network.route(group);
        assert_eq!(told(&scenario, &route.there), there);
        assert_eq!(told(&scenario, &route.back), back);
        assert_eq!(network.rtprop(group), Duration::from_millis(rtt), "{group}");
    }
    assert_eq!(read(&scenario.to_string()), scenario);
}

#[test]
fn a_longer_rtt_is_an_access_line_and_links_keep_theirs() {
    let text = network(&TRIANGLE[..1], &["from = 'a'\nto = 'b'\nrtt = '25ms'"]);
    let scenario = read(&text);
    let network = scenario.network();
    let delays = network.link_delays();
    assert_eq!(delays, [Duration::from_millis(10)]);
    let access = network.access_delay(0, &delays);
    assert_eq!(access, Duration::from_millis(15));
}

#[test]
fn what_is_wrong_is_told_in_one_line() {
    let direct = "from = 'a'\nto = 'b'";
    let link = |name, from, to| (name, from, to, 1);
    let ab = link("ab", "a", "b");
    for (links, flow, expected) in [
        (
            vec![ab, link("cd", "c", "d")],
            "from = 'a'\nto = 'd'",
            "line 18: flow.to: no way of at most 64 links leads from a to d; add a [[link]] between them",
        ),
        (
            vec![ab],
            "from = 'a'\nto = 'a'",
            "line 12: flow.to: is a, where the flow begins; name another site",
        ),
        (
            vec![link("core", "server", "client")],
            "from = 'server'\nto = 'cleint'",
            "line 12: flow.to: no link begins or ends at cleint; did you mean `client`?",
        ),
        (
            vec![ab],
            "to = 'b'",
            "line 10: flow.from: is missing; name a site, or give a route",
        ),
        (
            vec![ab, link("bc", "b", "c")],
            "route = ['ab', 'cb']",
            "line 17: flow.route[1]: there is no link cb",
        ),
        (
            vec![ab, link("cd", "c", "d")],
            "route = ['ab', 'cd']",
            "line 17: flow.route[1]: link cd joins c and d, but the route is at b; give a link from there",
        ),
        (
            vec![ab, link("bc", "b", "c"), link("cd", "c", "d")],
            "route = ['cd', 'bc', 'xx']",
            "line 23: flow.route[2]: there is no link xx",
        ),
        (
            vec![ab, link("bc", "b", "c"), link("cd", "c", "d")],
            "route = ['cd', 'bc', 'cd']",
            "line 23: flow.route[2]: link cd joins c and d, but the route is at b; give a link from there",
        ),
        (
            vec![ab, link("bc", "b", "c"), link("ca", "c", "a")],
            "route = ['ab', 'bc', 'ca']",
            "line 23: flow.route[2]: link ca leads back to a: a loop; leave its links out",
        ),
        (
            vec![ab, link("bc", "b", "c")],
            "to = 'b'\nroute = ['ab', 'bc']",
            "line 18: flow.route: ends at c, and not at b, which is the flow's to",
        ),
        (
            vec![ab, link("bc", "b", "c")],
            "route = ['ab', 'bc']\nback = ['bc']",
            "line 18: flow.back: ends at b, and not where the flow begins, at a",
        ),
        (
            vec![ab, link("ab2", "a", "b")],
            direct,
            "line 18: flow.to: several ways of the same length lead from a to b; give one as route, such as [\"ab\"]",
        ),
        (
            vec![ab, link("bc", "b", "c")],
            direct,
            "line 10: link[1]: no flow crosses link bc; leave it out, or give a flow a route over it",
        ),
        (
            vec![ab, link("ab", "b", "c")],
            direct,
            "line 10: link[1].name: ab is the name of link[0] already; give another one",
        ),
        (
            vec![link("loop", "a", "a")],
            direct,
            "line 6: link.to: a is where the link begins: a loop; name another site",
        ),
        (
            vec![ab],
            "from = 'a'\nto = 'b'\nhops = '0'",
            "line 13: flow.hops: is for the hops of [path]; give from and to, or a route",
        ),
        (
            vec![ab],
            "from = 'a'\nto = 'b'\nreverse = true",
            "line 13: flow.reverse: is for [path]; exchange from and to instead",
        ),
        (
            vec![link("ab", "a", "b")],
            "from = 'a'\nto = 'b'\nrtt = '500us'",
            "line 13: flow.rtt: 500us is shorter than the flow's route, which takes 1ms; leave it out, or give more",
        ),
        (
            vec![link("a b", "a", "b")],
            direct,
            "line 4: link.name: \"a b\": expected a name of at most 40 letters, digits, - and _, such as core-1",
        ),
    ] {
        let text = network(&links, &[flow]);
        let error = text.parse::<Scenario>().expect_err(&text).to_string();
        assert_eq!(error, expected, "in\n{text}");
    }
    let both = network(&[ab], &[direct]) + "[path]\nrate = '1mbit'\n";
    let error = both.parse::<Scenario>().unwrap_err().to_string();
    assert_eq!(
        error,
        "line 13: path: is the short form of a network, and there is a [[link]] already; give one of the two"
    );
    let without = format!("{HEAD}[[flow]]\ncontroller = 'bbr1'\nroute = ['ab']\n");
    let error = without.parse::<Scenario>().unwrap_err().to_string();
    assert_eq!(
        error,
        "line 5: flow.route: there are no links with names; add [[link]], or leave it out"
    );
    let placed = network(&[ab], &[direct]).replace("rtt = ", "loss_at = 'exit'\nrtt = ");
    let error = placed.parse::<Scenario>().unwrap_err().to_string();
    assert_eq!(
        error,
        "line 8: link.loss_at: has no effect without loss; give a loss such as 1%"
    );
}

/// A row of so many links from the site 0 on, and a flow over all of them.
fn row(links: usize) -> String {
    let names: Vec<[String; 3]> = (0..links)
        .map(|place| {
            [
                format!("l{place}"),
                place.to_string(),
                (place + 1).to_string(),
            ]
        })
        .collect();
    let links: Vec<_> = names
        .iter()
        .map(|[name, from, to]| (name.as_str(), from.as_str(), to.as_str(), 1))
        .collect();
    network(&links, &[&format!("from = '0'\nto = '{}'", links.len())])
}

#[test]
fn a_way_has_at_most_64_links() {
    let scenario = read(&row(64));
    assert_eq!(scenario.network().route(0).there.len(), 64);
    let error = row(65).parse::<Scenario>().unwrap_err().to_string();
    let expected =
        "flow.to: no way of at most 64 links leads from 0 to 65; add a [[link]] between them";
    assert!(error.ends_with(expected), "{error}");
}

/// The largest network: 10,000 sites around one, and 100,000 groups of flows to two of them in turn. With a search for
/// each group, this test takes minutes.
#[test]
fn groups_with_alternating_destinations_have_their_routes() {
    let mut scenario = read(&network(
        &[
            ("first", "hub", "leaf-0", 1),
            ("second", "hub", "leaf-1", 1),
        ],
        &[
            "from = 'hub'\nto = 'leaf-0'",
            "from = 'leaf-0'\nto = 'leaf-1'",
        ],
    ));
    let link = scenario.links[0].clone();
    scenario
        .links
        .extend((2..10_000).map(|place| scenario::NamedLink {
            name: format!("link-{place}").parse().unwrap(),
            to: format!("leaf-{place}").parse().unwrap(),
            ..link.clone()
        }));
    let two = scenario.flows.clone();
    scenario.flows = two.iter().cycle().take(100_000).cloned().collect();
    let network = scenario.network();
    assert_eq!(told(&scenario, &network.route(99_998).there), ["first"]);
    assert_eq!(
        told(&scenario, &network.route(99_999).there),
        ["FIRST", "second"]
    );
}

/// A tree of links, each from an earlier site, in either direction, with its round-trip time.
fn any_tree() -> impl Strategy<Value = Vec<(usize, bool, u64)>> {
    let link = |site: usize| (0..=site, any::<bool>(), 1u64..50);
    (1usize..12).prop_flat_map(move |links| (0..links).map(link).collect::<Vec<_>>())
}

/// The sites on the way from one to the first one.
fn ancestors(tree: &[(usize, bool, u64)], mut site: usize) -> Vec<usize> {
    let mut all = vec![site];
    while let Some(link) = site.checked_sub(1) {
        site = tree[link].0;
        all.push(site);
    }
    all
}

proptest! {
    /// In a tree, there is one way between two sites: to their nearest common ancestor, and on from there.
    #[test]
    fn a_tree_has_one_way_whose_delays_add_up(tree in any_tree(), pairs in prop::collection::vec((0usize..12, 0usize..12), 1..6)) {
        let sites = tree.len() + 1;
        let pairs = pairs.into_iter().map(|(from, to)| (from % sites, to % sites));
        let pairs: Vec<_> = pairs.filter(|(from, to)| from != to).collect();
        let mut text = HEAD.to_string();
        for (link, (site, is_up, rtt)) in tree.iter().enumerate() {
            let ends = if *is_up { (link + 1, *site) } else { (*site, link + 1) };
            text += &format!("[[link]]\nname = 'l{link}'\nfrom = 's{}'\nto = 's{}'\nrate = '9mbit'\nrtt = '{rtt}ms'\n", ends.0, ends.1);
        }
        // Every link is on the way of a flow to its end.
        let every = (1..sites).map(|site| (0, site));
        let flows: Vec<_> = every.chain(pairs).collect();
        for (from, to) in &flows {
            text += &format!("[[flow]]\ncontroller = 'reno'\nfrom = 's{from}'\nto = 's{to}'\n");
        }
        let scenario: Scenario = text.parse().map_err(|error| TestCaseError::fail(format!("{error} in\n{text}")))?;
        let network = scenario.network();
        for (group, (from, to)) in flows.iter().enumerate() {
            let [up, down] = [*from, *to].map(|site| ancestors(&tree, site));
            let is_common = |site: &&usize| up.contains(site) && down.contains(site);
            let top = *up.iter().find(is_common).unwrap();
            let below = |way: &[usize]| -> Vec<usize> { way.iter().take_while(|site| **site != top).copied().collect() };
            let crossed: Vec<usize> = below(&up).into_iter().chain(below(&down).into_iter().rev()).collect();
            let route = network.route(group);
            let links: Vec<usize> = route.there.iter().map(|crossing| crossing.link + 1).collect();
            prop_assert_eq!(&links, &crossed);
            let rtt: u64 = crossed.iter().map(|site| tree[site - 1].2).sum();
            prop_assert_eq!(network.rtprop(group), Duration::from_millis(rtt));
        }
        prop_assert_eq!(scenario.to_string().parse(), Ok(scenario));
    }

    #[test]
    fn any_name_is_answered_in_one_line(name in "\\PC{0,50}", site in "[a-c]", route in prop::collection::vec("[a-d]{1,2}", 0..4)) {
        let text = network(&TRIANGLE, &[&format!("from = '{site}'\nto = 'd'\nroute = {route:?}")]);
        let text = text.replacen("'ab'", &format!("{name:?}"), 1);
        if let Err(error) = text.parse::<Scenario>() {
            prop_assert_eq!(error.to_string().lines().count(), 1, "{}", error);
        }
    }
}

#[test]
fn delays_that_add_up_to_more_than_a_time_can_be_are_refused() {
    let most = u64::MAX / 1_000_000;
    let of = |first: u64, second: u64, more: &str| {
        let links = [("one", "a", "b", first), ("two", "b", "c", second)];
        let text = network(&links, &["from = 'a'\nto = 'c'"]);
        let changed = text.replacen("[[link]]", &format!("[[link]]\n{more}"), 1);
        changed
            .parse::<Scenario>()
            .map_err(|error| error.to_string())
    };
    of(most - 9, 9, "").expect("the longest RTprop");
    let change = format!("change = [{{ at = '1s', rtt = '{most}ms' }}]");
    for (first, second, more) in [(most, 9, ""), (most, most, ""), (9, 9, &change)] {
        let error = of(first, second, more).expect_err("too long");
        assert!(
            error.contains("flow: the links of its route add up to more than"),
            "{error}"
        );
        assert_eq!(error.lines().count(), 1);
    }
}
