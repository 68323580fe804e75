//! Lines that share a link, where the arms disturb each other.

use std::path::Path;

use cdn::found::{Estimate, OfNetwork};
use cdn::{Found, Laboratory, Spec};
use lab::Cancel;

/// A network whose lines share nothing.
const ALONE: &str = r#"
name = "shared"
duration = "10s"
arm = [{ controller = "cubic" }, { controller = "bbr1" }]
traffic = [{ interval = "1s", sizes = "8kb" }, { interval = "10s", sizes = "3mb" }]
[[network]]
name = "alone"
kind = "clients"
as = 64501
lines = 70
path = { rate = "20mbit", rtt = "20ms", buffer = "2bdp" }
traffic = [{ interval = "1s", sizes = "8kb" }, { interval = "6s", sizes = "3mb" }]
"#;

/// Two networks over one link, whose buffer is small for clients and large for the same site.
const OVER: &str = r#"
[[shared]]
name = "uplink"
path = { rate = "370mbit", rtt = "100us", buffer = "740kb" }
[[network]]
name = "clients"
kind = "clients"
as = 64502
lines = 70
over = "uplink"
path = { rtt = { from = "40ms", to = "60ms" } }
background = [{ controller = "cubic", bytes = "50kb", reverse = true }]
[[network]]
name = "own site"
kind = "intra-site"
as = 64503
lines = 70
over = "uplink"
path = { rtt = "500us" }
host = { initial_cwnd = 20 }
"#;

fn prove(text: &str) -> Found {
    let spec = Spec::parse(text, Path::new("")).unwrap_or_else(|error| panic!("{error}"));
    let laboratory = Laboratory::new(spec, "cdn.toml").expect("it can be run");
    let jobs = studies::runs::jobs(None, lab::EngineKind::Sim);
    let directory = tempfile::tempdir().expect("a directory");
    let found = laboratory.prove(directory.path(), &mut |batch, done| {
        batch.run(jobs, &|_| (), &Cancel::new(), done);
    });
    found.unwrap_or_else(|error| panic!("{error}"))
}

/// The truth, and the relative difference of the studies' mean from it.
fn interference(told: &[Estimate]) -> [f64; 2] {
    [told[0].truth, told[0].interference()].map(|of| of.expect("objects"))
}

#[test]
fn a_study_of_lines_that_share_a_link_measures_what_the_arms_do_to_each_other() {
    let text = ALONE.to_owned() + OVER;
    let found = prove(&text);
    let shown = cdn::tables::text(&found, None);
    eprintln!("{shown}");
    let [alone, clients, own] = &found.networks[..] else {
        panic!("three networks");
    };

    // BBR takes from CUBIC in a buffer that is small for clients. With BBR everywhere, there is nobody to take from.
    let [truth, more] = interference(&clients.throughput);
    assert!(truth > 0.2 && more > 0.2, "{truth} {more}");
    let [_, more] = interference(&own.throughput);
    assert!(more > 0.2, "{more}");
    // BBR everywhere fills this buffer more than CUBIC everywhere. In a mix, small objects of both arms wait equally.
    for network in [clients, own] {
        let [truth, less] = interference(&network.small);
        let mean = network.small[0].mean.expect("objects");
        assert!(truth > 0.1 && less < -0.1, "{truth} {less}");
        assert!(mean.abs() < 0.1, "{mean}");
    }
    // The policy has BBR for clients and CUBIC within the site, which loses more than with BBR everywhere.
    assert_eq!([&*clients.rule[1], &*own.rule[1]], ["bbr", "cubic"]);
    let [bbr, policy] = [1, 2].map(|choice| own.of_best(choice).expect("objects"));
    assert!(policy < bbr - 0.05, "{policy} {bbr}");
    assert_eq!(found.redraws.studies, 10);
    for part in [
        "interference",
        "each network whose lines share nothing",
        "unit = \"slot\"",
    ] {
        assert!(shown.contains(part), "{part}: {shown}");
    }

    // Lines that share nothing are as if there were no others.
    let without = prove(ALONE);
    let results = |of: &OfNetwork| {
        let truth = of.throughput.iter().chain(&of.small).map(|told| told.truth);
        let arms = of.changes[..2].to_vec();
        (truth.collect::<Vec<_>>(), arms, alone.over.clone())
    };
    assert_eq!(results(alone), results(&without.networks[0]));
    assert_eq!(alone.throughput[0].mean, None);
    assert_eq!(without.redraws.studies, 100);
    let shown = cdn::tables::text(&without, None);
    assert!(!shown.contains("interference") && !shown.contains("share nothing"));
}

#[test]
fn what_makes_no_sense_is_named() {
    for (from, to, line) in [
        (
            "over = \"uplink\"",
            "over = \"uplnk\"",
            "network[1].over: there is no [[shared]] uplnk; did you mean `uplink`?",
        ),
        (
            "over = \"uplink\"",
            "over = \"core\"",
            "network[1].over: there is no [[shared]] core; add it",
        ),
        (
            "[[shared]]",
            "[[shared]]\nname = \"core\"\npath = { rate = \"1gbit\" }\n[[shared]]",
            "shared[0]: no network goes over core; leave it out, or give a network over = \"core\"",
        ),
        (
            "[[shared]]",
            "[[shared]]\nname = \"uplink\"\npath = { rate = \"1gbit\" }\n[[shared]]",
            "shared[1].name: there is already a link uplink",
        ),
        (
            "rate = \"370mbit\", rtt = \"100us\", buffer = \"740kb\"",
            "rtt = \"100us\"",
            "shared[0].path.rate: without it, lines share nothing; give a rate",
        ),
        (
            "buffer = \"740kb\"",
            "bufer = \"740kb\"",
            "shared[0].path.bufer: unknown key; did you mean `shared[0].path.buffer`?",
        ),
        (
            "buffer = \"740kb\"",
            "next = [{ rate = \"1gbit\" }]",
            "shared[0].path.next: a shared link is one link; leave it out",
        ),
        (
            "initial_cwnd = 20",
            "nic = \"10gbit\"",
            "network[2].host.nic: the lines over a shared link have the same server",
        ),
        (
            "reverse = true",
            "rtt = \"5ms\"",
            "network[1].background[0].rtt: over a shared link",
        ),
        (
            "interval = \"1s\"",
            "interval = \"9ms\"",
            "connections in one run are more than 100000; give longer intervals, or fewer lines",
        ),
    ] {
        let whole = ALONE.to_owned() + OVER;
        let text = whole.replacen(from, to, 1);
        assert_ne!(text, whole);
        let made = Spec::parse(&text, Path::new("")).map_err(Into::into);
        let made = made.and_then(|spec| Laboratory::new(spec, "cdn.toml"));
        let error = made.map(drop).unwrap_err().to_string();
        assert!(
            error.contains(line) && !error.contains('\n'),
            "{to}: {error}"
        );
    }
}
