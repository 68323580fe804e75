//! `claims --document` and `calibrate --document`, killed at any moment and on a full disk: each file is complete or
//! untouched, and the next run removes the rest.

use std::fs;
use std::path::{Path, PathBuf};
use std::thread;
use std::time::{Duration, Instant};

use rustix::process::Signal;

use crate::support::Running;

/// The number of tested moments of a run.
const KILLS: u32 = 16;

const CLAIM: &str = "[[claim]]\nid = \"line\"\nsource = \"a paper\"\nsetting = \"a line\"\npublished = \"it is full\"\n\
    engines = [\"sim\"]\n[[claim.expect]]\nwhat = \"goodput\"\nmeasure = \"limit_share\"\nat_least = \"80%\"\n";
const LINE: &str = "name = \"line\"\nduration = \"2s\"\npath = { rate = \"5mbit\", rtt = \"20ms\", buffer = \"2bdp\" }\n\
    [[flow]]\ncontroller = \"bbr1\"\n";
const CASES: &str = "name = \"small\"\ncase = \"{flow.controller}-small\"\n[axes]\n\
    \"flow.controller\" = [\"bbr1\", \"cubic\"]\n[scenario]\nname = \"small\"\nduration = \"2s\"\n\
    path = { rate = \"5mbit\", rtt = \"20ms\", buffer = \"2bdp\" }\n[[scenario.flow]]\ncontroller = \"bbr1\"\n";

/// A command that replaces a section of results.md, and its scenarios.
struct Case {
    name: &'static str,
    scenarios: &'static [(&'static str, &'static str)],
    arguments: &'static str,
    /// The other files that it writes.
    out: &'static [&'static str],
    /// A row of the complete section.
    row: &'static str,
}

const ALL: [Case; 2] = [
    Case {
        name: "claims",
        scenarios: &[("claims.toml", CLAIM), ("line.toml", LINE)],
        arguments: "claims --scenarios cases --document results.md --out out --quiet",
        out: &["claims.json", "records"],
        row: "Study `line`",
    },
    Case {
        name: "calibrate",
        scenarios: &[("small.toml", CASES)],
        arguments: "calibrate --scenarios cases --engines sim,sim --repeats 1 --document results.md --out out --quiet",
        out: &[
            "calibration-sim-sim.html",
            "calibration-sim-sim.parquet",
            "runs.jsonl",
        ],
        row: "| cubic-small |",
    },
];

impl Case {
    /// A directory with the scenarios and the document.
    fn directory(&self) -> tempfile::TempDir {
        let directory = tempfile::tempdir().expect("a directory");
        let cases = directory.path().join("cases");
        fs::create_dir(&cases).expect("made");
        for (name, text) in self.scenarios {
            fs::write(cases.join(name), text).expect("written");
        }
        fs::write(directory.path().join("results.md"), self.document()).expect("written");
        directory
    }

    /// The original document, which is longer than a disk's block.
    fn document(&self) -> String {
        let name = self.name;
        let by_hand = "By hand.\n".repeat(2000);
        format!("# Results\n<!-- {name}: begin -->\nold\n<!-- {name}: end -->\n{by_hand}")
    }

    /// Asserts that the document is the original, or has the complete section.
    fn check(&self, directory: &Path) {
        let before = self.document();
        let now = fs::read_to_string(directory.join("results.md")).expect("there");
        if now == before {
            return;
        }
        let (_, by_hand) = before.split_once("\nold\n").expect("a section");
        assert!(now.starts_with("# Results\n") && now.ends_with(by_hand));
        assert!(now.contains(self.row) && !now.contains("\nold\n"), "{now}");
    }

    /// The files that are neither input nor results.
    fn strange(&self, directory: &Path) -> Vec<PathBuf> {
        let files = [directory.to_owned(), directory.join("out")];
        let files = files.iter().filter_map(|at| fs::read_dir(at).ok());
        let files = files.flatten().map(|entry| entry.expect("listed").path());
        let known = ["cases", "results.md", "out"];
        let known: Vec<&str> = known.iter().chain(self.out).copied().collect();
        let is_known = |path: &PathBuf| known.iter().any(|name| path.ends_with(name));
        let records = fs::read_dir(directory.join("out/records"))
            .into_iter()
            .flatten();
        let records = records.map(|entry| entry.expect("listed").path());
        files
            .filter(|path| !is_known(path))
            .chain(records.filter(|path| is_part(path)))
            .collect()
    }
}

/// True if it has the name of an incomplete file.
fn is_part(path: &Path) -> bool {
    path.extension().is_some_and(|ending| ending == "part")
}

#[test]
fn a_kill_leaves_each_file_whole_or_untouched() {
    for case in ALL {
        let directory = case.directory();
        let at = directory.path();
        let begun = Instant::now();
        let whole = Running::start(at, case.arguments.split(' '));
        let (status, _, stderr) = whole.finish();
        assert!(status.success(), "{stderr}");
        let took = begun.elapsed();
        assert_eq!(case.strange(at), [] as [PathBuf; 0]);
        let mut killed = 0;
        for kill in 0..KILLS {
            let directory = case.directory();
            let at = directory.path();
            let running = Running::start(at, case.arguments.split(' '));
            // The moment is arbitrary.
            thread::sleep(took * kill / KILLS + Duration::from_micros(u64::from(kill) * 37));
            running.signal(Signal::KILL);
            let (status, ..) = running.finish();
            killed += u32::from(!status.success());
            case.check(at);
            let strange = case.strange(at);
            assert!(strange.iter().all(|path| is_part(path)), "{strange:?}");
            let again = Running::start(at, case.arguments.split(' '));
            let (status, _, stderr) = again.finish();
            assert!(status.success(), "{stderr}");
            case.check(at);
            assert_eq!(case.strange(at), [] as [PathBuf; 0], "{kill}");
        }
        assert!(killed > 0, "none was killed");
    }
}

#[test]
fn a_full_disk_is_told_and_leaves_each_file_as_it_was() {
    for case in ALL {
        for blocks in [0, 1, 8, 24] {
            let directory = case.directory();
            let at = directory.path();
            // The limit is in blocks of 512 bytes. A write beyond it fails as on a full disk.
            let full = format!("ulimit -f {blocks}");
            let running = Running::start_after(at, &full, case.arguments.split(' '));
            let (status, _, stderr) = running.finish();
            assert_eq!(status.code(), Some(1), "{} {blocks}: {stderr}", case.name);
            assert!(stderr.contains("File too large"), "{stderr}");
            let now = fs::read_to_string(at.join("results.md")).expect("there");
            assert_eq!(now, case.document(), "{stderr}");
            assert_eq!(case.strange(at), [] as [PathBuf; 0], "{stderr}");
        }
    }
}
