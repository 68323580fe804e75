//! The module gives the same bytes in a host of WebAssembly as natively, and it is small.

use std::fs;
use std::io::Write;
use std::path::{Path, PathBuf};
use std::process::Command;

use flate2::Compression;
use flate2::write::GzEncoder;
use play::{Advising, Play};
use scenario::Draft;

/// The exit code of `crates/play/module` on a machine that cannot compile it.
const MODULE_UNAVAILABLE: i32 = 3;

/// The maximum size of the compressed module: what a page loads before its first picture.
const MAX_MODULE_BYTES: usize = 1_500_000;

/// The memory of the module, of which `crates/play/module` sets the maximum.
const MAX_MEMORY_BYTES: &[u8] = b"1572864000";

/// The number of steps before the first record.
const EARLY_STEPS: u32 = 30;

/// Files in `scenarios`, here for a shorter time.
const FILES: &str = "branch-office bufferbloat cellular dumbbell edge-server home loss-1pct parking-lot web-and-video";

/// Other scenarios, each with its name: every controller, kind of loss, queue discipline, application and change.
const TEXTS: &str = "
one flow|path={rate='20mbit',rtt='40ms',buffer='2bdp'};flow=[{controller='bbr1'}]
three flows|path={rate='20mbit',rtt='40ms',buffer='2bdp'};flow=[{controller='bbr3'},{controller='cubic',start='1s'},{controller='reno'}]
rivals|path={rate='50mbit',rtt='20ms',buffer='1bdp'};flow=[{controller='bbr3'},{controller='bbr1'}]
random loss|path={rate='100mbit',rtt='100ms',loss='1%'};flow=[{controller='bbr3'},{controller='cubic'}]
bursts of loss|path={rate='20mbit',rtt='40ms',loss={kind='gilbert',p='1%',r='20%'}};flow=[{controller='bbr1'}]
codel|path={rate='20mbit',rtt='40ms',buffer='8bdp',queue='codel'};flow=[{controller='cubic',count=3}]
fq-codel|path={rate='20mbit',rtt='40ms',buffer='8bdp',queue='fq_codel'};host={ecn=true};flow=[{controller='cubic'},{controller='bbr3'}]
red|path={rate='20mbit',rtt='40ms',buffer='8bdp',queue={kind='red',min='50kb',max='200kb'}};flow=[{controller='reno',count=3}]
marks|path={rate='200mbit',rtt='1ms',queue={kind='threshold',at='100kb'}};host={nic='1gbit',ecn=true};flow=[{controller='cubic',count=5}]
l4s|path={rate='20mbit',rtt='20ms',buffer='4bdp',queue='dualpi2'};flow=[{controller='prague'},{controller='cubic'}]
video|path={rate='9mbit',rtt='40ms',jitter='3ms'};flow=[{controller='bbr1',app={kind='video',ladder=['1mbit','5mbit']}}]
changes|path={rate='20mbit',rtt='40ms',buffer='200p',change=[{at='2s',rate='5mbit'},{at='3s',rtt='90ms'}]};flow=[{controller='bbr1'}]
jitter|path={rate='20mbit',rtt='40ms',jitter={up_to='20ms',distribution='paretonormal',reorders=true}};flow=[{controller='bbr3'}]
poisson|path={rate='20mbit',rtt='40ms'};flow=[{controller='cubic',app={kind='poisson',load='9mbit',sizes={kind='lognormal',median='20kb',sigma=1}}}]
lost ACKs|path={rate='20mbit',rtt='40ms',ack_loss='2%'};flow=[{controller='bbr1',bytes='5mb'}]
";

/// Scenarios whose Reno in JavaScript does what Reno in Rust does: losses, marks, timeouts and pauses.
const IN_JAVASCRIPT: &str = "
reno|path={rate='20mbit',rtt='40ms',buffer='2bdp'};flow=[{controller='js:Reno'},{controller='bbr3',start='1s'},{controller='js:Reno',start='2s'}]
reno lost|path={rate='50mbit',rtt='20ms',buffer='1bdp',loss={kind='gilbert',p='1%',r='20%'}};flow=[{controller='js:Reno'}]
reno marked|path={rate='20mbit',rtt='40ms',buffer='8bdp',queue='fq_codel'};host={ecn=true};flow=[{controller='js:Reno',count=3}]
reno pauses|path={rate='20mbit',rtt='40ms'};flow=[{controller='js:Reno',app={kind='poisson',load='9mbit',sizes={kind='lognormal',median='20kb',sigma=1}}}]
";

/// Scenarios that are refused.
const REFUSED: &str = "
unit|path={rate='1furlong'}
text|[[[[[[[[
trace|path={trace='/etc/passwd'};flow=[{controller='bbr1'}]
many|path={rate='1mbit',rtt='9ms'};flow=[{controller='bbr1',count=10000}]
long|duration='2h';path={rate='1mbit',rtt='9ms'};flow=[{controller='bbr1'}]
fast|path={rate='1tbit',rtt='9ms'};flow=[{controller='bbr1'}]
kernel|path={rate='1mbit'};flow=[{controller='kernel:bbr'}]
python|path={rate='1mbit'};flow=[{controller='python:Reno'}]
";

/// A scenario whose advice takes many short runs: on a slow path, few packets are simulated.
const ADVISED: &str = "
range of buffers|path={rate='300kbit',rtt='40ms',loss='0.1%'};flow=[{controller='bbr1'}]
";

/// The scenarios of such a list, by name.
fn listed(list: &str) -> impl Iterator<Item = (String, String)> {
    let lines = list.lines().filter_map(|line| line.split_once('|'));
    lines.map(|(name, text)| {
        let text = text.replace(';', "\n");
        let length = if text.starts_with("duration") {
            ""
        } else {
            "duration='5s'\n"
        };
        (name.to_owned(), format!("name='x'\n{length}{text}"))
    })
}

fn root() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../..")
}

/// Compiles the module. `None` if this machine cannot, which is printed.
fn module(directory: &Path) -> Option<PathBuf> {
    let file = directory.join("play.wasm");
    let build = Command::new(root().join("crates/play/module"))
        .arg(&file)
        .output()
        .expect("bash");
    let told = String::from_utf8_lossy(&build.stderr);
    if build.status.code() == Some(MODULE_UNAVAILABLE) {
        skipping::skip!("the module in WebAssembly: {}", told.trim());
        return None;
    }
    assert!(build.status.success(), "{told}");
    Some(file)
}

fn has_node() -> bool {
    let version = Command::new("node").arg("--version").output();
    version.is_ok_and(|output| output.status.success())
}

/// The texts of all scenarios, by name.
fn scenarios() -> Vec<(String, String)> {
    let file = |name: &str| {
        let file = root().join("scenarios").join(name).with_extension("toml");
        let mut draft = Draft::load(&file).expect("a scenario");
        for (field, value) in [("duration", "12s"), ("warmup", "1s")] {
            draft.set(field, value).expect("a field");
        }
        let scenario = draft.read().expect("a scenario");
        (name.to_owned(), scenario.to_string())
    };
    FILES.split(' ').map(file).chain(listed(TEXTS)).collect()
}

/// Runs natively; returns the early record and the whole one.
fn natively(text: &str) -> Result<[Vec<u8>; 2], String> {
    let mut play = Play::begin(text, None)?;
    play.step(EARLY_STEPS)?;
    let early = play.record();
    while play.step(100)? {}
    Ok([early, play.record()])
}

/// The plan of the runs for advice, and the advice.
fn advised_natively(text: &str) -> Result<[Vec<u8>; 2], String> {
    let mut advising = Advising::begin(text)?;
    for (place, case) in advising.cases().to_vec().iter().enumerate() {
        let scenario = advising.sampling().scenario(case);
        let text = scenario.to_string();
        assert_eq!(
            play::read(&text)?,
            scenario,
            "a run as text is the same run"
        );
        let mut play = Play::begin(&text, None)?;
        while play.step(100)? {}
        advising.note(place, play.measured())?;
    }
    Ok([advising.plan(), advising.answer()?])
}

#[test]
fn a_run_that_was_looked_at_has_the_same_record() {
    for (name, text) in scenarios() {
        let mut looked = Play::begin(&text, None).expect(&name);
        let mut other = Play::begin(&text, None).expect(&name);
        for _ in 0..4 {
            let (goes_on, also) = (looked.step(97), other.step(97));
            assert_eq!(goes_on, also, "{name}");
            looked.record();
        }
        assert!(looked.record() == other.record(), "{name}");
    }
}

#[test]
fn a_refusal_is_one_line() {
    for (name, text) in listed(REFUSED) {
        let error = natively(&text).expect_err(&name);
        assert!(!error.contains(char::is_control), "{name}: {error}");
        if name == "trace" {
            let told = "line 3: path.trace: no file is read here; give a rate";
            assert_eq!(error, told);
        }
    }
    let seeded = |seed| Play::begin(&scenarios()[0].1, seed).map(|play| play.record());
    assert_ne!(seeded(None), seeded(Some(7)));
}

#[test]
fn a_browser_s_bytes_are_those_of_this_machine() {
    let directory = tempfile::tempdir().expect("a directory");
    let Some(module) = module(directory.path()) else {
        return;
    };
    let bytes = fs::read(&module).expect("a module");
    let mut compressed = GzEncoder::new(Vec::new(), Compression::best());
    compressed.write_all(&bytes).expect("memory");
    let compressed = compressed.finish().expect("memory").len();
    println!("the module: {} bytes, {compressed} compressed", bytes.len());
    assert!(compressed <= MAX_MODULE_BYTES);
    if !has_node() {
        skipping::skip!("the module's bytes: node is not installed");
        return;
    }
    let all = scenarios();
    let refused: Vec<_> = listed(REFUSED).collect();
    let in_javascript: Vec<_> = listed(IN_JAVASCRIPT).collect();
    let (_, one) = all.iter().find(|(name, _)| name == "one flow").expect("it");
    let fails = [("fails".to_owned(), one.replace("bbr1", "js:Fails"))];
    let texts = all.iter().chain(&refused).chain(&in_javascript);
    for (name, text) in texts.chain(&fails) {
        let file = directory.path().join(format!("{name}.toml"));
        fs::write(file, text).expect("a file");
    }
    for (name, text) in listed(ADVISED) {
        let file = directory.path().join(format!("{name}.advise"));
        fs::write(file, text).expect("a file");
    }
    // Its samples and packets take more than an instance has when it begins.
    let full = one.replace("20mbit", "2gbit");
    fs::write(directory.path().join("full.full"), full).expect("a file");
    let mut node = Command::new("node");
    node.arg(root().join("crates/play/tests/run.mjs"));
    node.arg(&module)
        .arg(directory.path())
        .arg(EARLY_STEPS.to_string());
    let ran = node.output().expect("node");
    let told = String::from_utf8_lossy(&ran.stderr);
    assert!(ran.status.success(), "{told}");
    let seen = |name: &str, what: &str| {
        let file = directory.path().join(format!("{name}.{what}"));
        fs::read(file).unwrap_or_else(|error| format!("no {what}: {error}").into())
    };
    for (name, text) in &all {
        let own = natively(text).expect(name);
        for (own, what) in own.iter().zip(["early", "whole"]) {
            assert_same(own, &seen(name, what), &format!("{name}, {what}"));
        }
    }
    for (name, text) in refused {
        let error = natively(&text).expect_err(&name);
        assert_eq!(error.as_bytes(), seen(&name, "error"), "{name}");
    }
    for (name, text) in &in_javascript {
        let own = natively(&text.replace("js:Reno", "reno")).expect(name);
        for (own, what) in own.iter().zip(["early", "whole"]) {
            let its = with_names(&seen(name, what), "js:Reno", "reno");
            assert_same(own, &its, &format!("{name}, {what}"));
        }
    }
    for (name, text) in listed(ADVISED) {
        let own = advised_natively(&text).expect(&name);
        assert_same(&own[0], &seen(&name, "plan"), &format!("{name}, plan"));
        assert_same(&own[1], &seen(&name, "advice"), &name);
    }
    assert_eq!(seen("full", "bytes"), MAX_MEMORY_BYTES);
    assert_eq!(
        String::from_utf8_lossy(&seen("full", "error")),
        "the run takes more memory than it may have here: give lower rates, shorter delays or smaller buffers"
    );
    let error = seen("fails", "error");
    assert_eq!(
        String::from_utf8_lossy(&error),
        "TypeError: Cannot read properties of undefined (reading 'size') at line 4"
    );
}

fn assert_same(own: &[u8], its: &[u8], which: &str) {
    let same = own.iter().zip(its).take_while(|(own, its)| own == its);
    let same = same.count();
    let around = |bytes: &[u8]| {
        let part = &bytes[same.saturating_sub(80)..bytes.len().min(same + 80)];
        String::from_utf8_lossy(part).into_owned()
    };
    assert!(
        own == its,
        "{which}: byte {same}: {:?}, in the module {:?}",
        around(own),
        around(its)
    );
}

/// The record with another name of a controller in its head.
fn with_names(record: &[u8], from: &str, to: &str) -> Vec<u8> {
    let Some((length, rest)) = record.split_first_chunk() else {
        return record.to_owned();
    };
    let length = u32::from_le_bytes(*length) as usize;
    let cells = (length + 4).next_multiple_of(8) - 4;
    let head = String::from_utf8_lossy(&rest[..length]).replace(from, to);
    let mut renamed = u32::try_from(head.len())
        .expect("a head")
        .to_le_bytes()
        .to_vec();
    renamed.extend(head.as_bytes());
    renamed.resize(renamed.len().next_multiple_of(8), 0);
    renamed.extend(&rest[cells..]);
    renamed
}
