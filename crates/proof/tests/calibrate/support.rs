//! Sets and observations.

use std::fs;
use std::path::{Path, PathBuf};

use lab::EngineKind;
use proof::calibrate::{Calibration, Choice, Curves, Observation, Pair, Set, WildMatch};
use scenario::Scenario;
use serde_json::json;

/// The directory of the built-in set.
pub fn directory() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../../scenarios/calibration")
}

/// The built-in set.
pub fn sets() -> Vec<Set> {
    let entries = fs::read_dir(directory()).unwrap();
    let mut paths: Vec<PathBuf> = entries.map(|entry| entry.unwrap().path()).collect();
    paths.sort();
    let read = |path: &PathBuf| {
        let text = fs::read_to_string(path).unwrap();
        Set::parse(&text, &directory()).unwrap_or_else(|error| panic!("{path:?}: {error}"))
    };
    paths.iter().map(read).collect()
}

/// The cases of these sets with such names, in virtual time on both sides.
pub fn of_sim(sets: &[Set], patterns: &[&str], repeats: u64) -> Calibration {
    let choice = Choice {
        patterns: patterns.iter().map(|one| WildMatch::new(one)).collect(),
        is_quick: false,
    };
    Calibration::new(
        sets,
        &choice,
        &Pair::of_engines([EngineKind::Sim, EngineKind::Sim]),
        repeats,
    )
    .unwrap()
}

/// A set with one short case for each of `bbr1` and `cubic`, and the lines in `more`.
pub fn small(more: &str) -> Set {
    let text = format!(
        "name = \"small\"\ncase = \"{{flow.controller}}-small\"\n{more}\n[axes]\n\
         \"flow.controller\" = [\"bbr1\", \"cubic\"]\n[scenario]\nname = \"small\"\nduration = \"3s\"\n\
         path = {{ rate = \"5mbit\", rtt = \"20ms\", buffer = \"2bdp\" }}\n\
         [[scenario.flow]]\ncontroller = \"bbr1\"\n"
    );
    Set::parse(&text, Path::new("")).unwrap()
}

/// An observation with these values, in Mbit/s and ms.
pub fn seen(goodput_mbit: u64, srtt_ms: impl Into<Option<f64>>) -> Observation {
    let srtt_ms = srtt_ms.into();
    Observation {
        summary: serde_json::from_value(json!({
            "path": { "queue_ms": { "mean": 1.5, "p95": null }, "drops": 3 },
            "flows": [{
                "group": 0, "goodput_bps": goodput_mbit * 1_000_000, "timeouts": 0,
                "sent_bytes": 1_000, "retransmitted_bytes": 10, "delivered_bytes": 900,
            }],
            "together": { "goodput_bps": goodput_mbit * 1_000_000 },
        }))
        .unwrap(),
        srtt_p50_ms: srtt_ms,
        srtt_p95_ms: srtt_ms,
        startup_exit_s: Some(0.5),
        transfers: None,
        curves: Curves::default(),
    }
}

/// The scenario of a case.
pub fn scenarios(calibration: &Calibration) -> impl Iterator<Item = (&str, &Scenario)> {
    let cases = calibration.cases.iter();
    cases.map(|case| (case.name.as_str(), &case.scenario))
}
