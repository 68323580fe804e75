//! Populations: reading, drawing, and the results of their flows.

use std::iter;
use std::path::Path;

use cdn::population::{self, AS_ASSUMED, Contender, Member, Spec};
use lab::Cancel;
use lab::EngineKind;
use record::Summary;
use scenario::Bbr1Variant;
use studies::runs::Batch;

const TEXT: &str = r#"name = "two"
[scenario]
duration = "10s"
[[scenario.flow]]
controller = "bbr1"
bytes = "500kb"
[[access]]
region = "Here"
name = "line"
share = "25%"
path = { rate = { median = "10mbit", sigma = 0.8, min = "5mbit", max = "40mbit" }, rtt = { from = "10ms", to = "100ms" }, buffer = "500kb" }
[[access]]
region = "There"
name = "mobile"
share = "75%"
swing = { every = "500ms", sigma = 0.4 }
[access.path]
rate = ["2mbit", "4mbit"]
rtt = { median = "80ms", sigma = 0.3 }
buffer = "1mb"
loss = { median = "0.1%", sigma = 1.0, max = "2%" }
aggregation.interval = { from = "2ms", to = "10ms" }
"#;

fn spec(text: &str) -> Spec {
    Spec::parse(text, Path::new("")).unwrap()
}

fn texts(members: &[Member]) -> Vec<String> {
    members.iter().map(|one| one.scenario.to_string()).collect()
}

#[test]
fn members_are_what_the_distributions_say() {
    let members = spec(TEXT).draw(1, 400).unwrap();
    let (here, there) = members.split_at(100);
    assert!(
        here.iter()
            .all(|one| (one.region.as_str(), one.access.as_str()) == ("Here", "line"))
    );
    assert!(there.iter().all(|one| one.region == "There"));
    let rate = |one: &Member| one.scenario.path.data.rate.unwrap().bits_per_sec();
    let rtt = |one: &Member| one.scenario.path.rtt.as_millis_f64();
    let mut rates: Vec<u64> = here.iter().map(rate).collect();
    rates.sort_unstable();
    // The median of a hundred log-normal draws with a sigma of 0.8: its standard error is a tenth.
    assert!(
        (7_000_000..14_000_000).contains(&rates[50]),
        "{}",
        rates[50]
    );
    let is_at = |end: u64| rates.iter().filter(|rate| rate.abs_diff(end) < 8).count();
    assert!(is_at(5_000_000) > 5, "the least is taken for those below");
    assert!(
        rates
            .iter()
            .all(|rate| (4_999_992..=40_000_000).contains(rate))
    );
    assert!(here.iter().all(|one| (10.0..=100.001).contains(&rtt(one))));
    let below = here.iter().filter(|one| rtt(one) < 31.6).count();
    assert!((30..70).contains(&below), "half of a logarithm: {below}");
    assert!(
        there
            .iter()
            .all(|one| [2_000_000, 4_000_000].contains(&rate(one)))
    );
    let slow = there.iter().filter(|one| rate(one) == 2_000_000).count();
    assert!((110..190).contains(&slow), "{slow} of 300");
    for member in there {
        let changes = &member.scenario.path.data.changes;
        assert_eq!(changes.len(), 19, "one every half second of ten");
        assert!(changes.windows(2).all(|pair| pair[0].rate != pair[1].rate));
        assert!(member.scenario.path.aggregation.is_some());
    }
    assert!(
        here.iter()
            .all(|one| one.scenario.path.data.changes.is_empty())
    );
}

#[test]
fn a_seed_makes_the_same_members_and_more_of_them_change_none() {
    let spec = spec(TEXT);
    let few = texts(&spec.draw(7, 40).unwrap());
    assert_eq!(texts(&spec.draw(7, 40).unwrap()), few);
    let many = texts(&spec.draw(7, 80).unwrap());
    assert_eq!((&many[..10], &many[20..50]), (&few[..10], &few[10..]));
    assert!(
        texts(&spec.draw(8, 40).unwrap())
            .iter()
            .zip(&few)
            .all(|(one, other)| one != other)
    );
    // Another field leaves the others as they are.
    let without = TEXT.replace(
        "buffer = \"1mb\"",
        "buffer = \"1mb\"\nack_loss = [\"0%\", \"1%\"]",
    );
    let other = self::spec(&without).draw(7, 40).unwrap();
    let members = spec.draw(7, 40).unwrap();
    let same = |one: &Member, other: &Member| one.scenario.path.data == other.scenario.path.data;
    assert!(
        members
            .iter()
            .zip(&other)
            .all(|(one, other)| same(one, other))
    );
    let mut seeds: Vec<u64> = members.iter().map(|one| one.scenario.seed).collect();
    seeds.sort_unstable();
    seeds.dedup();
    assert_eq!(seeds.len(), 40);
}

#[test]
fn quotas_add_up() {
    let spec = spec(&TEXT.replace("25%", "33%").replace("75%", "34%"));
    for count in [0, 1, 2, 3, 10, 99] {
        assert_eq!(spec.draw(1, count).unwrap().len(), count);
    }
}

#[test]
fn what_makes_no_sense_is_answered_with_its_place() {
    let mut wrong = Vec::new();
    for (from, to, expected) in [
        (
            "name = \"two\"",
            "name = \"two\"\nshare = 1",
            "line 2: share: unknown key; known: name, scenario, access, version",
        ),
        (
            "[scenario]",
            "[scenario]\npath = { rate = \"1mbit\" }",
            "line 3: scenario.path: is drawn for each member",
        ),
        (
            "region = \"Here\"",
            "",
            "line 9: access[0].region: is missing",
        ),
        ("\"25%\"", "\"0%\"", "line 10: access[0].share: 0% is zero"),
        (
            "median = \"10mbit\"",
            "median = \"10\"",
            "line 11: access[0].path.rate.min: 5mbit is not of the same kind",
        ),
        (
            "median = \"10mbit\"",
            "median = \"fast\"",
            "line 11: access[0].path.rate.median: fast is not a number",
        ),
        (
            "sigma = 0.8",
            "sigma = -1",
            "line 11: access[0].path.rate.sigma: -1 is not a number from 0 to 10",
        ),
        (
            "max = \"40mbit\"",
            "most = \"40mbit\"",
            "line 11: access[0].path.rate.most: unknown key",
        ),
        (
            "max = \"40mbit\"",
            "max = \"4mbit\"",
            "line 11: access[0].path.rate.max: is below min",
        ),
        (
            "from = \"10ms\"",
            "from = \"0ms\"",
            "line 11: access[0].path.rtt.from: 0ms has no logarithm",
        ),
        (
            "every = \"500ms\"",
            "every = \"0s\"",
            "line 16: access[1].swing.every: 0s is less than 1ns",
        ),
        (
            "[\"2mbit\", \"4mbit\"]",
            "[]",
            "line 18: access[1].path.rate: has no values to choose from",
        ),
        (
            "region = \"There\"\nname = \"mobile\"",
            "region = \"Here\"\nname = \"line\"",
            "line 14: access[1].name: there is a line in Here already",
        ),
    ] {
        let text = TEXT.replace(from, to);
        let error = Spec::parse(&text, Path::new("")).unwrap_err().to_string();
        if !error.starts_with(expected) {
            wrong.push(format!("{to}: {error}"));
        }
    }
    // Errors that only a scenario can find appear when it is drawn.
    for (from, to, expected) in [
        (
            "buffer = \"500kb\"",
            "bufer = \"500kb\"",
            "line 8: access: member 0 of Here, line: path.bufer: unknown key",
        ),
        (
            "buffer = \"1mb\"",
            "buffer = \"1b\"",
            "line 13: access: member 0 of There, mobile: path.buffer: 1b is smaller",
        ),
        (
            "duration = \"10s\"\n",
            "",
            "line 12: access: member 0 of There, mobile: swing: needs a scenario.duration",
        ),
    ] {
        let drawn = spec(&TEXT.replace(from, to)).draw(1, 4);
        let error = drawn.unwrap_err().to_string();
        if !error.starts_with(expected) {
            wrong.push(format!("{to}: {error}"));
        }
    }
    assert_eq!(wrong, [""; 0]);
}

const VERSION: &str = r#"
[[version]]
name = "deep"
[version.scenario]
duration = "7s"
"flow.bytes" = "900kb"
[[version.change]]
region = ["There"]
path = { buffer = "3mb", loss = "0%" }
swing = { every = "1s", sigma = 0.1 }
[[version.change]]
access = ["line"]
path = { jitter = "3ms" }
"#;

#[test]
fn a_version_changes_what_it_names_and_nothing_else() {
    let spec = spec(&format!("{TEXT}{VERSION}"));
    let drawn = |name| spec.version(name).unwrap().draw(1, 40).unwrap();
    let (as_assumed, deep) = (drawn(AS_ASSUMED), drawn("deep"));
    assert_eq!(texts(&as_assumed), texts(&spec.draw(1, 40).unwrap()));
    for (before, after) in as_assumed.iter().zip(&deep) {
        let (path, of) = (&before.scenario.path, &after.scenario.path);
        assert_eq!((path.data.rate, path.rtt), (of.data.rate, of.rtt));
        assert_eq!(before.scenario.seed, after.scenario.seed);
        let text = after.scenario.to_string();
        assert!(text.contains("duration = \"7s\""), "{text}");
        assert!(text.contains("bytes = \"900kb\""), "{text}");
        let is_there = after.region == "There";
        assert_eq!(text.contains("buffer = \"3mb\""), is_there, "{text}");
        assert_eq!(text.contains("up_to = \"3ms\""), !is_there, "{text}");
        assert_eq!(of.data.changes.len(), if is_there { 6 } else { 0 });
    }
    let error = spec.version("deap").unwrap_err().to_string();
    assert_eq!(error, "version: there is no deap; did you mean `deep`?");
    for (from, to, expected) in [
        (
            "\"There\"",
            "\"Their\"",
            "version[0].change[0].region: names no access",
        ),
        (
            "\"deep\"",
            "\"as assumed\"",
            "version[0].name: there is a version as assumed already",
        ),
        (
            "path = { jitter = \"3ms\" }",
            "",
            "change[1].path: is missing, and swing too",
        ),
        ("flow.bytes", "flow.bites", "bites: unknown key"),
    ] {
        let text = format!("{TEXT}{}", VERSION.replace(from, to));
        let drawn =
            Spec::parse(&text, Path::new("")).and_then(|spec| spec.version("deep")?.draw(1, 4));
        let error = drawn.unwrap_err().to_string();
        assert!(error.contains(expected), "{error}");
    }
}

#[test]
fn more_than_any_population_needs_is_refused() {
    let with = |lines: &mut dyn Iterator<Item = String>| {
        let text = TEXT.to_owned() + &lines.collect::<String>();
        let read = Spec::parse(&text, Path::new(""));
        let read = read.map(|spec| (spec.accesses.len(), spec.versions.len()));
        read.map_err(|error| error.to_string())
    };
    let (accesses, _) = with(&mut iter::empty()).unwrap();
    let access = |number| {
        format!(
            "[[access]]\nregion = \"{number}\"\nname = \"line\"\nshare = 1\npath = {{ rate = \"1mbit\", rtt = \"1ms\" }}\n"
        )
    };
    let version = |number| format!("[[version]]\nname = \"{number}\"\n");
    let change = |_| "[[version.change]]\npath = { jitter = \"3ms\" }\n".to_owned();
    let changes = |count| iter::once(version(0)).chain((0..count).map(change));
    assert_eq!(with(&mut (accesses..1000).map(access)), Ok((1000, 0)));
    assert_eq!(with(&mut (0..100).map(version)), Ok((accesses, 100)));
    assert_eq!(with(&mut changes(100)), Ok((accesses, 1)));
    for (read, said) in [
        (
            with(&mut (accesses..1001).map(access)),
            "access: 1001 are more than 1000; give fewer",
        ),
        (
            with(&mut (0..101).map(version)),
            "version: 101 are more than 100; give fewer",
        ),
        (
            with(&mut changes(101)),
            "version[0].change: 101 are more than 100; give fewer",
        ),
    ] {
        let error = read.unwrap_err();
        assert!(error.ends_with(said), "{error}");
    }
}

#[test]
fn every_member_runs_with_every_controller_and_jobs_change_nothing() {
    let members = spec(TEXT).draw(3, 8).unwrap();
    let contenders = [
        ("bbr1", Bbr1Variant::Linux419),
        ("bbr1", Bbr1Variant::Linux),
        ("cubic", Bbr1Variant::Linux),
    ];
    let contenders = contenders.map(|(controller, bbr1)| Contender {
        controller: controller.parse().unwrap(),
        bbr1,
    });
    let mut batch = Batch::new(EngineKind::Sim);
    let plan = population::plan(&spec(TEXT), &[AS_ASSUMED], [3, 8], &contenders).unwrap();
    let variants = plan.points.iter().map(|point| {
        let flow = &point.scenario.flows[0];
        (
            point.values[3].as_str(),
            flow.bbr1.expect("set").variant.name(),
        )
    });
    assert!(
        variants
            .into_iter()
            .all(|(told, is)| told == is && told != "paper")
    );
    batch.add("population.toml", plan).unwrap();
    let run = |jobs| {
        let mut found = Vec::new();
        batch.run(jobs, &|_| (), &Cancel::new(), |_, findings| {
            assert!(findings.failed.is_empty(), "{:?}", findings.failed);
            found = findings.runs;
        });
        let mut summaries: Vec<Summary> = found.into_iter().map(|run| run.record.summary).collect();
        // The only number that depends on the clock.
        summaries
            .iter_mut()
            .for_each(|summary| summary.wall_s = 0.0);
        summaries
    };
    let summaries = run(2);
    assert_eq!(run(1), summaries);
    let order: Vec<(&str, &str)> = summaries
        .iter()
        .map(|one| (one.scenario.as_str(), one.flows[0].controller.as_str()))
        .collect();
    let expected: Vec<(&str, &str)> = members
        .iter()
        .flat_map(|one| {
            ["bbr1", "bbr1", "cubic"].map(|controller| (one.scenario.name.as_str(), controller))
        })
        .collect();
    assert_eq!(order, expected);
    let mut flows = summaries.iter().flat_map(|one| &one.flows);
    assert!(flows.all(|flow| flow.goodput_bps > 0));
}

#[test]
fn the_population_that_comes_along_can_be_drawn() {
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("../..");
    let spec = Spec::load(&root.join("scenarios/population.toml")).unwrap();
    let check = |member: &Member| member.scenario.check();
    let own = spec.versions.iter().map(|version| version.name.as_str());
    for version in own {
        let members = spec.version(version).unwrap().draw(1, 130).unwrap();
        assert!(members.iter().all(|member| check(member).is_ok()));
    }
    let members = spec.draw(1, 3000).unwrap();
    assert!(members.iter().all(|member| check(member).is_ok()));
    let mut regions: Vec<&str> = members
        .iter()
        .map(|member| member.region.as_str())
        .collect();
    regions.dedup();
    assert_eq!(regions.len(), 7);
}

#[test]
fn a_plan_of_too_many_runs_flows_or_changes_is_refused() {
    let contender = |bbr1| Contender {
        controller: "bbr1".parse().unwrap(),
        bbr1,
    };
    let two = [Bbr1Variant::Linux, Bbr1Variant::Linux419].map(contender);
    let said = |spec: &Spec, versions: &[&str], count: u64| {
        let plan = population::plan(spec, versions, [1, count], &two);
        plan.map(|plan| plan.runs.len())
            .map_err(|error| error.to_string())
    };
    let path = "path = { rate = '9mbit', rtt = '20ms', buffer = '1bdp' }";
    let text = |flows: usize, more: &str| {
        let flow = "[[scenario.flow]]\ncontroller = 'cubic'\n".repeat(flows);
        spec(&format!(
            "name = 'x'\n[scenario]\nduration = '500s'\n{flow}[[access]]\nregion = 'r'\nname = 'n'\nshare = '1%'\n{path}\n{more}\n"
        ))
    };
    let twice = [AS_ASSUMED; 2];
    assert_eq!(said(&text(1, ""), &twice, 2), Ok(8));
    let few = text(1, "");
    let error = said(&few, &twice, 25_001).unwrap_err();
    assert_eq!(error, "more than 100000 runs; give fewer members");
    assert!(
        said(&few, &twice, u64::MAX)
            .unwrap_err()
            .starts_with("more than 100000 runs")
    );
    let error = said(&text(1000, ""), &[AS_ASSUMED], 501).unwrap_err();
    assert!(
        error.starts_with("more than 1000000 flows in all runs; "),
        "{error}"
    );
    let swing = text(1, "swing = { every = '50ms', sigma = 0.3 }");
    let error = said(&swing, &[AS_ASSUMED], 501).unwrap_err();
    assert!(
        error.starts_with("more than 10000000 changes of paths"),
        "{error}"
    );
}
