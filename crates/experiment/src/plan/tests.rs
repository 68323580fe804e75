use super::*;

pub(crate) const TEXT: &str = r#"
name = "clients"
cgroup = "system.slice/nginx.service"
unit = "prefix"
duration = "168h"

[connections]
listen = [443, "8000-8010"]
except = ["10.0.0.0/8"]

[[arm]]
controller = "cubic"
share = "50%"

[[arm]]
controller = "bbr"
share = "50%"

[[guard]]
measure = "resent"
worse = "100%"
"#;

#[test]
fn a_plan_says_what_it_says() {
    let plan = Plan::parse(TEXT).unwrap();
    assert_eq!(plan.unit, Unit::Prefix { v4: 24, v6: 48 });
    assert_eq!(plan.names(), ["cubic", "bbr"]);
    assert_eq!(plan.shares().shares(), [0.5, 0.5]);
    assert_eq!(plan.connections.listen[1].ends(), (8000, 8010));
    assert_eq!(plan.address, KeptAddress::Prefix);
    assert_eq!(plan.guards[0].measure, Measure::Resent);
    assert_ne!(plan.key("one"), plan.key("two"));
}

#[test]
fn what_makes_no_sense_is_named_with_its_line() {
    for (from, to, parts) in [
        (
            "unit = \"prefix\"",
            "unit = \"slot\"",
            &["slot", "is missing"][..],
        ),
        (
            "unit = \"prefix\"",
            "unit = \"host\"",
            &["line 4", "unit", "host", "connection"],
        ),
        (
            "unit = \"prefix\"",
            "unit = \"prefix\"\nprefix_v4 = 33",
            &["prefix_v4", "33"],
        ),
        (
            "unit = \"prefix\"",
            "unit = \"prefix\"\nslot = \"1s\"",
            &["slot", "leave it out"],
        ),
        (
            "unit = \"prefix\"",
            "unit = \"slot\"\nslot = \"10s\"\nwashout = \"10s\"",
            &["washout", "shorter"],
        ),
        ("duration = \"168h\"", "duration = \"0s\"", &["duration"]),
        (
            "duration = \"168h\"",
            "durations = \"1h\"",
            &["durations", "duration"],
        ),
        (
            "[443, \"8000-8010\"]",
            "[0]",
            &["connections.listen", "65535"],
        ),
        (
            "[443, \"8000-8010\"]",
            "[]",
            &["connections", "names no port"],
        ),
        (
            "10.0.0.0/8",
            "10.0.0.0/40",
            &["connections.except", "0 to 32"],
        ),
        (
            "except = [\"10.0.0.0/8\"]",
            "interface = [\"eth 0\"]",
            &["line 9", "connections.interface", "eth 0", "such as eth0"],
        ),
        (
            "except = [\"10.0.0.0/8\"]",
            "interface = [1, 2, 3, 4, 5, 6, 7, 8, 9]",
            &["line 9", "connections.interface", "8 or fewer"],
        ),
        (
            "controller = \"bbr\"",
            "controller = \"cubic\"",
            &["arm[1].controller", "already"],
        ),
        (
            "controller = \"bbr\"",
            "controller = \"a name of 16 b\"",
            &["arm[1].controller"],
        ),
        (
            "controller = \"bbr\"",
            "controller = \"bbr\"\nname = \"cubic\"",
            &["arm[1].name", "another arm"],
        ),
        (
            "controller = \"bbr\"",
            "controller = \"bbr\"\nname = \"a b\"",
            &["arm[1].name", "letters"],
        ),
        ("share = \"50%\"", "share = \"0%\"", &["arm[0].share"]),
        ("worse = \"100%\"", "worse = \"0%\"", &["guard", "worse"]),
        (
            "measure = \"resent\"",
            "measure = \"resend\"",
            &["guard", "resent"],
        ),
    ] {
        assert!(TEXT.contains(from), "{from}");
        let error = Plan::parse(&TEXT.replacen(from, to, 1))
            .unwrap_err()
            .to_string();
        for part in parts {
            assert!(error.contains(part), "{to}: {error}");
        }
    }
}

#[test]
fn a_controller_is_compared_with_itself_if_the_arms_have_names() {
    let named = |name: &str| format!("controller = \"cubic\"\nname = \"{name}\"");
    let text = TEXT
        .replace("controller = \"cubic\"", &named("a"))
        .replace("controller = \"bbr\"", &named("b"));
    let plan = Plan::parse(&text).unwrap();
    assert_eq!(plan.names(), ["a", "b"]);
    assert_eq!(plan.controllers(), ["cubic", "cubic"]);
    assert_eq!(plan.controller("b"), "cubic");
}

#[test]
fn what_routes_cannot_do_is_refused() {
    let text = TEXT
        .replace(
            "cgroup = \"system.slice/nginx.service\"",
            "assign = \"route\"",
        )
        .replace("except", "prefix = [\"192.0.2.0/23\"]\nexcept");
    assert_eq!(Plan::parse(&text).unwrap().cgroup, None);
    for (from, to, parts) in [
        (
            "unit = \"prefix\"",
            "unit = \"connection\"",
            &["unit", "prefix"][..],
        ),
        (
            "unit = \"prefix\"",
            "unit = \"slot\"\nslot = \"1s\"",
            &["unit", "prefix"],
        ),
        (
            "assign = \"route\"",
            "assign = \"route\"\ncgroup = \"a\"",
            &["cgroup", "leave it out"],
        ),
        ("assign = \"route\"", "", &["cgroup", "is missing", "route"]),
        (
            "assign = \"route\"",
            "assign = \"root\"",
            &["assign", "route"],
        ),
        (
            "prefix = [\"192.0.2.0/23\"]",
            "",
            &["connections.prefix", "prefix_file"],
        ),
        (
            "except",
            "interface = [\"eth0\"]\nexcept",
            &["connections.interface", "connections.prefix"],
        ),
        (
            "\"resent\"",
            "\"unfinished\"",
            &["guard[0].measure", "objects"],
        ),
    ] {
        assert!(text.contains(from), "{from}");
        let error = Plan::parse(&text.replacen(from, to, 1)).unwrap_err();
        for part in parts {
            assert!(error.to_string().contains(part), "{to}: {error}");
        }
    }
}

#[test]
fn networks_may_be_in_a_file() {
    let text = TEXT.replace("except", "prefix_file = \"clients.txt\"\nexcept");
    let mut plan = Plan::parse(&text).unwrap();
    let network: Prefix = "192.0.2.0/24".parse().unwrap();
    for (read, why) in [
        (Ok(Vec::new()), "no network"),
        (
            Ok(vec![Ok(network); crate::MAX_NETWORKS]),
            "more than 2000000",
        ),
        (Err("is not there"), "is not there"),
    ] {
        let error = plan.clone().place_list(|_| read).unwrap_err().to_string();
        assert!(
            error.contains("connections.prefix_file: clients.txt") && error.contains(why),
            "{error}"
        );
    }
    plan.place_list(|_| Ok::<_, &str>([Ok(network)])).unwrap();
    assert_eq!(plan.connections.prefix, [network]);
}

#[test]
fn the_washout_of_a_slot_is_not_evaluated() {
    let text = TEXT.replace(
        "unit = \"prefix\"",
        "unit = \"slot\"\nslot = \"10s\"\nwashout = \"2s\"",
    );
    let plan = Plan::parse(&text).unwrap();
    let is_evaluated = |second| plan.is_evaluated(Duration::from_secs(second));
    assert!(!is_evaluated(20) && !is_evaluated(21) && is_evaluated(22) && is_evaluated(29));
    // A tenth by default.
    let washout = |text: &str| Plan::parse(text).unwrap().washout;
    let tenth = Duration::from_secs(1);
    assert_eq!(washout(&text.replace("washout = \"2s\"", "")), tenth);
    assert_eq!(washout(&text.replace("\"2s\"", "\"0s\"")), Duration::ZERO);
    assert_eq!(washout(TEXT), Duration::ZERO);
}
