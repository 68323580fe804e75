use std::cell::Cell;

use crate::networks::MAX_NETWORKS;
use rules::{MAX_INTERFACES, Span};

use super::*;

const TEXT: &str = r#"
cgroup = "system.slice/nginx.service"

[[rule]]
name = "inside"
prefix = ["10.0.0.0/8", "2001:db8::/32"]
listen = [443]
controller = "cubic"

[[rule]]
name = "lossy"
prefix = ["10.9.0.0/16", "192.0.2.0/24"]
listen = [443]
controller = "bbr"
evidence = "study of November: +12 %"

[[rule]]
name = "far"
listen = [443]
rtt_from = "100ms"
controller = "kernel:fullpipe_bbr3"
"#;

fn of(client: &str, port: u16, millis: u64) -> Connection {
    Connection::incoming(client.parse().unwrap(), port).with_rtt(Duration::from_millis(millis))
}

#[test]
fn the_first_rule_that_holds_counts() {
    let policy = Policy::parse(TEXT).unwrap();
    let rule = |client, port, millis| {
        let decided = policy.lowered().decide(&of(client, port, millis));
        decided.map(|decided| (decided.rule.name.clone(), decided.controller.to_owned()))
    };
    let is = |name: &str, controller: &str| Some((name.to_owned(), controller.to_owned()));
    assert_eq!(rule("10.9.1.1", 443, 1), is("inside", "cubic"));
    assert_eq!(rule("::ffff:192.0.2.1", 443, 200), is("lossy", "bbr"));
    assert_eq!(rule("198.51.100.1", 443, 100), is("far", "fullpipe_bbr3"));
    assert_eq!(rule("198.51.100.1", 443, 99), None);
    assert_eq!(rule("192.0.2.1", 80, 1), None);
}

#[test]
fn a_policy_that_makes_no_sense_still_has_its_group() {
    let group = |text: &str| Policy::group_in(text).map(|group| group.display().to_string());
    let own = Some("system.slice/nginx.service".to_owned());
    assert_eq!(group(TEXT), own);
    assert_eq!(group(&TEXT.replace("rtt_from", "rtt_form")), own);
    assert_eq!(group("rule = 7"), None);
    assert_eq!(group("cgroup = "), None);
    let error = Policy::parse(&TEXT.replace("cgroup = ", "seed = ")).unwrap_err();
    assert!(
        error.to_string().contains("cgroup: is missing; give "),
        "{error}"
    );
    let error = Policy::parse(&TEXT.replace("[[rule]]", "[rule]")).unwrap_err();
    assert!(error.to_string().contains("such as [[rule]]"), "{error}");
    let error = Policy::parse(&TEXT.replacen("listen = [443]", "listen = 443", 1)).unwrap_err();
    assert!(error.to_string().contains("write [443]"), "{error}");
    // A study's plan is for a control group, too.
    assert_eq!(group("cgroup = \"a\"\narm = []"), None);
}

#[test]
fn an_rtt_that_is_not_known_is_within_no_bounds() {
    let near = TEXT.replace("rtt_from = \"100ms\"", "rtt_below = \"10ms\"");
    let near = Policy::parse(&near).unwrap();
    assert!(near.lowered().decide(&of("198.51.100.1", 443, 9)).is_some());
    // The lower end is within the bounds, the upper end is not.
    assert!(
        near.lowered()
            .decide(&of("198.51.100.1", 443, 10))
            .is_none()
    );
    assert!(near.lowered().decide(&of("198.51.100.1", 443, 0)).is_none());
    assert!(near.lowered().decide(&of("10.0.0.1", 443, 0)).is_some());
}

#[test]
fn a_rule_is_lowered_with_all_of_its_conditions() {
    let bounds = "interface = [\"eth0\"]\nconnect = [\"80-81\"]\nrtt_from = \"1ms\"\nrtt_below = \"9ms\"\nresent_below = \"2%\"";
    let policy = Policy::parse(&TEXT.replace("rtt_from = \"100ms\"", bounds)).unwrap();
    let rule = policy.rules[2].conditions();
    assert_eq!(rule.listen, ["443".parse().unwrap()]);
    assert_eq!(rule.connect, ["80-81".parse().unwrap()]);
    assert_eq!(rule.interfaces, ["eth0".parse().unwrap()]);
    assert_eq!(
        rule.span(Quantity::Rtt),
        Span::new(1_000_000, Some(9_000_000))
    );
    assert_eq!(rule.span(Quantity::Resent), Span::new(0, Some(20_000)));
    let any = policy.rules[0].conditions();
    assert!(Quantity::ALL.iter().all(|one| !any.has_bounds(*one)));
}

#[test]
fn a_share_that_is_not_known_is_within_no_bounds() {
    let resent = |bounds: &str, share: Option<u32>| {
        let policy = Policy::parse(&TEXT.replace("rtt_from = \"100ms\"", bounds)).unwrap();
        let share = share.map(|billionths| Ratio::new(billionths, 1_000_000_000));
        let of = of("198.51.100.1", 443, 1).with_resent(share);
        policy.lowered().decide(&of).is_some()
    };
    for (bounds, share, is_in) in [
        ("", None, true),
        ("", Some(500_000_000), true),
        ("resent_from = \"1%\"", None, false),
        ("resent_from = \"1%\"", Some(9_999_999), false),
        ("resent_from = \"1%\"", Some(10_000_000), true),
        ("resent_from = \"1%\"", Some(1_000_000_000), true),
        ("resent_below = \"1%\"", None, false),
        ("resent_below = \"1%\"", Some(0), true),
        ("resent_below = \"1%\"", Some(10_000_000), false),
        // The kernel has whole millionths.
        ("resent_from = \"0.00009%\"", Some(500), false),
        ("resent_from = \"0.00009%\"", Some(1_000), true),
    ] {
        assert_eq!(resent(bounds, share), is_in, "{bounds}: {share:?}");
    }
}

#[test]
fn a_network_has_the_rules_of_those_around_it() {
    let networks = Policy::parse(TEXT).unwrap().lowered().networks;
    for (client, bits) in [
        ("10.0.0.1", 0b101),
        ("10.9.0.1", 0b111),
        ("192.0.2.1", 0b110),
        ("198.51.100.1", 0b100),
        ("2001:db8::1", 0b101),
        ("2001:db9::1", 0b100),
    ] {
        assert_eq!(networks.rules(client.parse().unwrap()), bits, "{client}");
    }
    // The policy's, and the whole of each version of IP.
    assert_eq!(networks.entries().len(), 4 + 2);
}

#[test]
fn a_system_is_its_networks_and_nowhere_without_them() {
    let text = TEXT.replace(
        "prefix = [\"10.9.0.0/16\", \"192.0.2.0/24\"]",
        "as = [64500]\nexpect = \"120%\"",
    );
    let mut policy = Policy::parse(&text).unwrap();
    let lossy = of("192.0.2.9", 443, 1);
    assert_eq!(policy.lowered().decide(&lossy), None);
    assert_eq!(policy.lowered().networks.rules(lossy.client), 0b100);
    let error = policy.place_systems(&BTreeMap::new()).unwrap_err();
    let error = error.to_string();
    assert!(
        error.contains("rule[1].as") && error.contains("AS64500"),
        "{error}"
    );
    let prefix = "192.0.2.0/24".parse().unwrap();
    let networks = BTreeMap::from([(64500, vec![prefix])]);
    assert_eq!(policy.systems().into_iter().collect::<Vec<_>>(), [64500]);
    policy.place_systems(&networks).unwrap();
    assert_eq!(policy.lowered().decide(&lossy).unwrap().rule.name, "lossy");
    assert_eq!(policy.lowered().networks.rules(lossy.client), 0b110);
}

#[test]
fn networks_of_a_file_are_a_rules_and_too_many_are_refused() {
    let text = TEXT.replace(
        "prefix = [\"10.9.0.0/16\", \"192.0.2.0/24\"]",
        "prefix_file = \"lossy.txt\"",
    );
    let policy = || Policy::parse(&text).unwrap();
    let lossy = of("192.0.2.9", 443, 1);
    // Before the file is read, the rule holds nowhere.
    assert_eq!(policy().lowered().decide(&lossy), None);
    let mut placed = policy();
    let network: Prefix = "192.0.2.0/24".parse().unwrap();
    let asked = |file: &Path| {
        assert_eq!(file, Path::new("lossy.txt"));
        Ok::<_, &str>([Ok(network)])
    };
    placed.place_lists(asked).unwrap();
    assert_eq!(placed.lowered().decide(&lossy).unwrap().rule.name, "lossy");
    for (read, part) in [
        (Err("is a pipe"), "lossy.txt: is a pipe"),
        (
            Ok(vec![Ok(network), Err("line 7: no prefix")]),
            "lossy.txt: line 7",
        ),
        (Ok(Vec::new()), "no network"),
    ] {
        let error = policy().place_lists(|_| read.clone()).unwrap_err();
        assert!(error.to_string().contains(part), "{error}");
    }
}

#[test]
fn networks_are_read_no_further_than_there_is_room() {
    let rule = |name: &str| {
        format!(
            "[[rule]]\nname = \"{name}\"\nprefix_file = \"{name}\"\nlisten = [443]\ncontroller = \"bbr\"\n"
        )
    };
    let text = format!("cgroup = \"web\"\n{}{}", rule("one"), rule("two"));
    let network: Prefix = "192.0.2.0/24".parse().unwrap();
    // Lists without an end.
    let read = &Cell::new(0);
    let mut policy = Policy::parse(&text).unwrap();
    let list = |file: &Path| {
        let length = if file == Path::new("one") {
            7
        } else {
            usize::MAX
        };
        Ok::<_, &str>(
            std::iter::repeat_n(Ok(network), length).inspect(move |_| read.set(read.get() + 1)),
        )
    };
    let error = policy.place_lists(list).unwrap_err().to_string();
    assert!(
        error.contains("rule[1].prefix_file") && error.contains("2000000"),
        "{error}"
    );
    assert_eq!(read.get(), MAX_NETWORKS + 1);
    // A system that is named again and again.
    let text = text.replace("prefix_file = \"two\"", &format!("as = {:?}", [64500; 3]));
    let mut policy = Policy::parse(&text).unwrap();
    let networks = BTreeMap::from([(64500, vec![network; MAX_NETWORKS])]);
    let error = policy.place_systems(&networks).unwrap_err().to_string();
    assert!(
        error.contains("rule[1].as") && error.contains("AS64500 brings more"),
        "{error}"
    );
    assert_eq!(policy.rules[1].prefix.len(), MAX_NETWORKS);
}

proptest::proptest! {
    /// For any networks in any rules: the most specific network with an address has the bits of all networks with it.
    #[test]
    fn the_most_specific_network_has_the_rules_of_all_around_it(
        said in proptest::collection::vec((0_usize..3, 0_u8..16, 24_u8..=32), 0..30), address: u8,
    ) {
        let mut policy = Policy::parse(TEXT).unwrap();
        policy.rules.iter_mut().for_each(|rule| rule.prefix.clear());
        let at = |low| std::net::Ipv4Addr::new(192, 0, 2, low).into();
        for (rule, low, length) in said {
            policy.rules[rule].prefix.push(Prefix::around(at(low << 4 | low), length));
        }
        let networks = policy.lowered().networks;
        let each: BTreeSet<_> = networks.entries().iter().map(|(first, length, _)| (first, length)).collect();
        proptest::prop_assert_eq!(each.len(), networks.entries().len());
        let address = at(address);
        let found = networks.rules(address);
        let each = policy.rules.iter().enumerate().filter(|(_, rule)| {
            rule.is_everywhere() || rule.prefix.iter().any(|prefix| prefix.has(address))
        });
        proptest::prop_assert_eq!(found, each.fold(0, |all, (place, _)| all | 1 << place));
    }
}

#[test]
fn some_explore_and_later_others() {
    let text = TEXT.replacen("controller", "explore = \"10%\"\ncontroller", 1);
    let policy = Policy::parse(&text).unwrap();
    assert!(policy.has_explorers());
    let lowered = policy.lowered();
    let mut others = BTreeSet::new();
    let mut explorers = |at: Duration| {
        let mut exploring = BTreeSet::new();
        for number in 0..4000_u32 {
            let client = std::net::Ipv4Addr::from_bits(10 << 24 | number << 8).into();
            let connection = Connection {
                client,
                at,
                ..of("::1", 443, 1)
            };
            let decided = lowered.decide(&connection).unwrap();
            assert_eq!(decided.is_exploring, decided.controller != "cubic");
            if decided.is_exploring {
                exploring.insert(number);
                others.insert(decided.controller.to_owned());
            }
        }
        exploring
    };
    let now = TURN * 500_000;
    let last = Duration::from_nanos((now + TURN).as_nanos() - 1);
    let (first, then) = (explorers(now), explorers(now + TURN));
    assert_eq!(first, explorers(last));
    // 400, within five standard deviations of 19.
    assert!((300..500).contains(&first.len()), "{}", first.len());
    // A tenth of them again by chance: 40, within five standard deviations of 6.
    let again = first.intersection(&then).count();
    assert!((10..70).contains(&again), "{again}");
    assert_eq!(others.len(), 2);
}

#[test]
fn a_rule_says_itself_how_much_it_explores_and_private_networks_have_no_part() {
    let arms = |rule: &str| {
        let text = format!(
            "cgroup = \"a\"\nexplore = \"10%\"\n[[rule]]\nname = \"one\"\nlisten = [443]\ncontroller = \"bbr\"\n{rule}\n\
                 [[rule]]\nname = \"rest\"\nlisten = [443]\ncontroller = \"cubic\"\n"
        );
        let policy = Policy::parse(&text).unwrap();
        assert_eq!(policy.text, text);
        let (names, shares) = policy.arms(&policy.rules[0]);
        let share = shares.shares().get(1).copied().unwrap_or(0.0);
        assert_eq!(names.len() == 1, share == 0.0);
        // The other rule still explores.
        assert!(policy.has_explorers());
        (share * 1000.0).round()
    };
    for (rule, permille) in [
        ("", 100.0),
        ("explore = \"0%\"", 0.0),
        ("explore = \"5%\"", 50.0),
        (
            "prefix = [\"10.0.0.0/8\", \"fd00::/8\", \"127.0.0.1\"]",
            0.0,
        ),
        ("prefix = [\"10.0.0.0/8\", \"11.0.0.0/8\"]", 100.0),
        ("prefix = [\"10.0.0.0/7\"]", 100.0),
        ("prefix = [\"0.0.0.0/0\"]", 100.0),
        ("prefix = [\"10.0.0.0/8\"]\nexplore = \"5%\"", 50.0),
    ] {
        assert_eq!(arms(rule), permille, "{rule}");
    }
}

#[test]
fn with_one_controller_there_is_nothing_to_explore() {
    let one = TEXT.replace("\"bbr\"", "\"cubic\"");
    let one = one.replace("\"kernel:fullpipe_bbr3\"", "\"cubic\"");
    let one = one.replacen("controller", "explore = \"10%\"\ncontroller", 1);
    let policy = Policy::parse(&format!("explore = \"10%\"\n{one}")).unwrap();
    assert!(!policy.has_explorers());
}

#[test]
fn what_makes_no_sense_is_named() {
    for (from, to, parts) in [
        (
            "name = \"lossy\"",
            "name = \"inside\"",
            &["rule[1].name", "no other rule"][..],
        ),
        (
            "rtt_from = \"100ms\"",
            "rtt_from = \"9ms\"\nrtt_below = \"9ms\"",
            &["rule[2].rtt_below", "rtt_from counts as 9ms"],
        ),
        (
            "rtt_from = \"100ms\"",
            "rtt_from = \"18446744073709551615ns\"",
            &["rule[2].rtt_from: leaves no value; give less"],
        ),
        (
            "rtt_from = \"100ms\"",
            "resent_from = \"2%\"\nresent_below = \"1%\"",
            &["rule[2].resent_below", "resent_from counts as 2%"],
        ),
        (
            "rtt_from = \"100ms\"",
            "resent_from = \"0.00001%\"\nresent_below = \"0.00002%\"",
            &["rule[2].resent_below", "resent_from counts as 0.0001%"],
        ),
        (
            "rtt_from",
            "resent_from = \"200%\"\nrtt_from",
            &["rule[2].resent_from", "100%"],
        ),
        (
            "listen = [443]\ncontroller = \"cubic\"",
            "controller = \"cubic\"",
            &["rule[0].listen"],
        ),
        (
            "controller = \"bbr\"",
            "controller = \"\"",
            &["rule[1].controller"],
        ),
        ("evidence", "evidense", &["evidense", "evidence"]),
        (
            "cgroup = ",
            "explore = \"60%\"\ncgroup = ",
            &["explore", "50%"],
        ),
        (
            "evidence",
            "explore = \"50%\"\nevidence",
            &["rule[1].explore", "50%"],
        ),
    ] {
        assert!(TEXT.contains(from), "{from}");
        let error = Policy::parse(&TEXT.replacen(from, to, 1))
            .unwrap_err()
            .to_string();
        for part in parts {
            assert!(error.contains(part), "{to}: {error}");
        }
    }
}

#[test]
fn connections_in_and_out_have_their_own_ports() {
    let text = TEXT.replacen(
        "listen = [443]",
        "listen = [443]\nconnect = [\"5000-5001\"]",
        1,
    );
    let policy = Policy::parse(&text).unwrap();
    let decided = |is_incoming, port| {
        let of = Connection {
            is_incoming,
            ..of("10.0.0.1", port, 1)
        };
        assert_eq!(policy.has_port(&of), policy.lowered().decide(&of).is_some());
        policy
            .lowered()
            .decide(&of)
            .map(|decided| decided.rule.name.as_str())
    };
    assert_eq!(decided(true, 443), Some("inside"));
    assert_eq!(decided(true, 5000), None);
    assert_eq!(decided(false, 443), None);
    for port in [5000, 5001] {
        assert_eq!(decided(false, port), Some("inside"));
    }
    assert_eq!(decided(false, 5002), None);
}

#[test]
fn a_rule_may_be_for_interfaces() {
    let text = TEXT.replacen("listen", "interface = [\"eth0\", \"wg0\"]\nlisten", 1);
    let policy = Policy::parse(&text).unwrap();
    let decided = |interface: &str| {
        let of = Connection {
            interface: interface.parse().ok(),
            ..of("10.9.0.1", 443, 1)
        };
        policy
            .lowered()
            .decide(&of)
            .map(|decided| decided.rule.name.as_str())
    };
    assert_eq!(decided("eth0"), Some("inside"));
    assert_eq!(decided("wg0"), Some("inside"));
    assert_eq!(decided("eth1"), Some("lossy"));
    assert_eq!(decided(""), Some("lossy"), "it is not known");
    let many = TEXT.replacen(
        "listen",
        "interface = [1, 2, 3, 4, 5, 6, 7, 8, 9]\nlisten",
        1,
    );
    let error = Policy::parse(&many).unwrap_err().to_string();
    assert!(
        error.contains("rule[0].interface") && error.contains("8 or fewer"),
        "{error}"
    );
}

#[test]
fn the_documentation_has_the_programs_bounds() {
    let millions = MAX_NETWORKS / 1_000_000;
    for (page, bound) in [
        (
            "steer.md",
            format!("at most {MAX_RULES} rules and {millions} million networks"),
        ),
        (
            "steer.md",
            format!("[interfaces](study.md#interfaces), at most {MAX_INTERFACES}."),
        ),
        (
            "study.md",
            format!("[interfaces](#interfaces), at most {MAX_INTERFACES}:"),
        ),
    ] {
        let docs = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../docs");
        let text = std::fs::read_to_string(docs.join(page)).unwrap();
        assert!(text.contains(&bound), "{page}: {bound}");
    }
}

#[test]
fn neighbours_explore_together() {
    let text = TEXT.replacen("controller", "explore = \"40%\"\ncontroller", 1);
    let policy = Policy::parse(&text).unwrap();
    let explores = |client: String| {
        policy
            .lowered()
            .decide(&of(&client, 443, 1))
            .unwrap()
            .is_exploring
    };
    let mut exploring = 0;
    for network in 0..200 {
        let own = explores(format!("10.0.{network}.1"));
        assert_eq!(own, explores(format!("10.0.{network}.254")));
        let other = explores(format!("2001:db8:{network:x}::1"));
        assert_eq!(other, explores(format!("2001:db8:{network:x}:ffff::1")));
        exploring += u32::from(own) + u32::from(other);
    }
    // 160 of 400, within five standard deviations of 10.
    assert!((110..210).contains(&exploring), "{exploring}");
}
