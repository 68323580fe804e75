//! A small CDN on the kernel's own TCP: nginx, curl, emulated paths, a study of them, and its policy in force.
//!
//! The test does not check the throughput of this machine. It checks that every download was complete, that connections
//! had the right controllers, and that nothing is left behind, even by a process that was killed. On a machine that
//! kept up, it also checks that the study has the sign of large true effects.
//!
//! There is no standard test harness, because this program is also the first process of commands, and the laboratory
//! that is killed.

use std::env;
use std::ffi::OsStr;
use std::fs;
use std::path::{Path, PathBuf};
use std::process::{Child, Command, ExitCode};
use std::thread;
use std::time::{Duration, Instant};

use cdn::{Found, LabError, LineDraw, Live, STUDY, Spec, live, tables};
use lab::Cancel;
use libtest_mimic::{Arguments, Trial};
use linux::command::{Init, init_main};
use nix::sched::{CloneFlags, unshare};

/// The argument with which this program does not run tests.
const INIT: &str = "as-init";
const LABORATORY: &str = "as-laboratory";

/// The time that a short operation may take at most.
const WAIT_TIMEOUT: Duration = Duration::from_secs(60);

/// A study must have the sign of effects that are at least this large.
const MIN_LARGE_EFFECT: f64 = 0.5;

// Even on a machine that is busy with other work, each download is over long before the laboratory cuts it off, at twice
// the duration: few start in a second, and CUBIC needs 8 s for a large one at this loss.
const TEXT: &str = r#"
name = "two in real time"
duration = "30s"
[[arm]]
controller = "cubic"
[[arm]]
controller = "bbr1"
[[traffic]]
interval = "15s"
sizes = "8kb"
[[traffic]]
interval = "10s"
sizes = "3200kb"
[[network]]
name = "near"
kind = "clients"
as = 64501
lines = 60
path = { rate = "40mbit", rtt = { from = "10ms", to = "20ms" }, buffer = "250kb" }
[[network]]
name = "far and lossy"
kind = "clients"
as = 64502
lines = 60
path = { rate = "20mbit", rtt = "80ms", buffer = "2bdp", loss = "0.3%" }
"#;

fn main() -> ExitCode {
    let mut arguments = env::args_os().skip(1);
    match arguments.next().as_deref().and_then(OsStr::to_str) {
        Some(INIT) => return ExitCode::from(init_main(arguments)),
        Some(LABORATORY) => {
            let directory = arguments.next().expect("a directory");
            run(Path::new(&directory));
            return ExitCode::SUCCESS;
        }
        _ => (),
    }
    if let Some(lack) = lacking() {
        skipping::skip!("a small CDN in the kernel: {lack}");
        return ExitCode::SUCCESS;
    }
    let trial = Trial::test("a study of servers in this kernel has the truth", || {
        own_mounts();
        is_plain();
        is_killed();
        is_whole();
        Ok(())
    });
    libtest_mimic::run(&Arguments::from_args(), vec![trial]).exit_code()
}

fn lacking() -> Option<String> {
    live::lacking().or_else(|| {
        let offered = linux::controllers_here().unwrap_or_default();
        let mut needed = ["cubic", "bbr"].into_iter();
        let lack = needed.find(|name| !offered.iter().any(|one| one == name))?;
        Some(format!("the kernel offers no {lack}"))
    })
}

/// Gives this thread and its child processes a BPF file system and mounts that no other process sees.
fn own_mounts() {
    unshare(CloneFlags::CLONE_NEWNS).expect("a mount namespace");
    for arguments in [
        &["--make-rprivate", "/"][..],
        &["-t", "bpf", "bpf", "/sys/fs/bpf"],
    ] {
        let status = Command::new("mount").args(arguments).status();
        assert!(status.expect("mount runs").success(), "{arguments:?}");
    }
}

fn try_run(directory: &Path) -> Result<(Found, usize), LabError> {
    let spec = Spec::parse(TEXT, Path::new("")).expect("it makes sense");
    let lines = spec.lines(LineDraw::Study).expect("lines");
    let visits = lines.iter().map(|line| line.visits.len()).sum();
    let live = Live::new(&spec).expect("it can be in real time");
    let init = Init::subcommand(INIT);
    let mut tell = |text: &str| eprintln!("{text}");
    let found = live.run(directory, &init, &Cancel::new(), &mut tell);
    found.map(|found| (found, visits))
}

fn run(directory: &Path) -> (Found, usize) {
    try_run(directory).unwrap_or_else(|error| panic!("{error}"))
}

/// A path that nginx or a shell would interpret is refused.
fn is_plain() {
    let directory = tempfile::tempdir().expect("a directory");
    for name in ["a'b", "a\"b", "a$b"] {
        let path = directory.path().join(name);
        let error = try_run(&path).expect_err(name).to_string();
        assert!(error.contains("quotes"), "{error}");
        assert!(!path.exists());
    }
}

/// The control groups of laboratories.
fn groups() -> Vec<PathBuf> {
    let root = fleet::who::root().expect("control groups");
    let entries = fs::read_dir(root).expect("the root").flatten();
    let is_one = |path: &PathBuf| {
        let name = path.file_name().unwrap_or_default().to_string_lossy();
        name.starts_with("fullpipe-cdn-")
    };
    entries.map(|entry| entry.path()).filter(is_one).collect()
}

struct Killed(Child);

impl Drop for Killed {
    fn drop(&mut self) {
        let _ = self.0.kill();
        let _ = self.0.wait();
    }
}

/// A laboratory that is killed during its first downloads leaves no process.
fn is_killed() {
    let directory = tempfile::tempdir().expect("a directory");
    let laboratory = Command::new("/proc/self/exe")
        .arg(LABORATORY)
        .arg(directory.path())
        .spawn();
    let laboratory = Killed(laboratory.expect("this program starts once more"));
    let told = directory.path().join("downloads/cubic.txt");
    let own = format!("fullpipe-cdn-{}", laboratory.0.id());
    wait_until("downloads", || {
        fs::metadata(&told).is_ok_and(|about| about.len() > 0)
    });
    let group = groups().into_iter().find(|path| path.ends_with(&own));
    let group = group.expect("its control group");
    drop(laboratory);
    wait_until("nginx has gone", || {
        fs::read_to_string(group.join("cgroup.procs")).is_ok_and(|text| text.is_empty())
    });
}

fn wait_until(what: &str, mut is_so: impl FnMut() -> bool) {
    let begin = Instant::now();
    while !is_so() {
        assert!(begin.elapsed() < WAIT_TIMEOUT, "{what}");
        thread::sleep(Duration::from_millis(50));
    }
}

fn is_whole() {
    let directory = tempfile::tempdir().expect("a directory");
    let (found, visits) = run(directory.path());
    eprintln!("{}", tables::text(&found, None));
    assert!(groups().is_empty(), "{:?}", groups());
    let real = found.real.as_ref().expect("it was in real time");
    assert_eq!(real.whole, real.downloads);
    assert_eq!(real.downloads as usize, visits * 4);
    assert_eq!(real.first_other, None);
    assert!(real.looks > 1000, "{}", real.looks);
    let [assigned, refused] = real.assigned;
    assert!(assigned >= real.downloads && refused == 0, "{real:?}");
    // The machine may or may not keep up, but the laboratory must report it.
    let passes = real.machine.passes.iter();
    let passes: Vec<&str> = passes.map(|pass| pass.name.as_str()).collect();
    assert_eq!(passes, ["cubic", "bbr", "policy", "study"]);
    for pass in &real.machine.passes {
        assert!(pass.validity.is_trusted.is_some(), "{pass:?}");
        assert!(pass.busy_share.is_some_and(|share| share > 0.0), "{pass:?}");
        assert!(pass.full_share.is_some(), "{pass:?}");
    }

    // The study has seen each connection, with the arm that was drawn.
    assert_eq!(found.connections as usize, visits);
    let read = rollout::study::read(
        &[directory.path().join(STUDY)],
        Vec::new(),
        &mut rollout::study::Lookup::default(),
    )
    .expect("a study");
    assert_eq!(read.gathered.findings().verdict, found.verdict);
    // Connections on a busy machine share its processors rather than the paths, and the laboratory shows no results.
    if let Some(warning) = real.machine.warning() {
        skipping::skip!("the signs of effects, and the rules: {warning}");
        return;
    }
    has_the_truth(&found);
}

fn has_the_truth(found: &Found) {
    let told = found
        .networks
        .iter()
        .flat_map(|network| &network.throughput);
    let mut large = 0;
    for told in told {
        let truth = told.truth.expect("large objects");
        let effect = told.told.expect("enough lines of each arm");
        if truth.ln_1p().abs() > MIN_LARGE_EFFECT.ln_1p() {
            large += 1;
            assert_eq!(effect.change > 0.0, truth > 0.0, "{told:?}");
        }
    }
    assert!(large > 0, "{:?}", found.networks);
    let rules: Vec<&str> = found
        .networks
        .iter()
        .map(|network| network.rule[1].as_str())
        .collect();
    assert_eq!(rules[1], "bbr", "{}", found.policy);
}
