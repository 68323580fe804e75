//! Every kind of page, in a browser: on a phone, in the dark and on paper. A race's page is that of a run. A study's is
//! tested where its data can be made, in `rollout`; those of figures and calibrations in `proof`.

use std::fs;
use std::path::{Path, PathBuf};

use crate::browser::Browser;
use crate::support::Running;

/// Flows that pause, transfers, several bottlenecks, and many flows.
const PAUSES: &str = "name = \"pauses\"\nduration = \"8s\"\n[path]\nrate = \"20mbit\"\nrtt = \"40ms\"\nbuffer = \"2bdp\"\n\
    [[path.next]]\nrate = \"18mbit\"\nrtt = \"2ms\"\nbuffer = \"100kb\"\n\
    [[flow]]\ncontroller = \"bbr3\"\napp = { kind = \"requests\", response = \"500kb\", think = \"2s\" }\n\
    [[flow]]\ncontroller = \"cubic\"\nbytes = \"4mb\"\nstart = \"1s\"\n\
    [[flow]]\ncontroller = \"bbr1\"\nbytes = \"4mb\"\nstart = \"3s\"\n";
const CROWD: &str = "name = \"crowd\"\nduration = \"4s\"\n[path]\nrate = \"50mbit\"\nrtt = \"20ms\"\nbuffer = \"2bdp\"\n\
    [[flow]]\ncontroller = \"bbr1\"\ncount = 15\n[[flow]]\ncontroller = \"cubic\"\ncount = 15\n";
const SWEEP: &str = "name = \"buffers\"\nrepeats = 2\n[scenario]\nname = \"buffers\"\nduration = \"3s\"\n\
    path = { rate = \"5mbit\", rtt = \"20ms\", buffer = \"1bdp\" }\n[[scenario.flow]]\ncontroller = \"bbr1\"\n\
    [axes]\n\"path.buffer\" = [\"0.5bdp\", \"1bdp\", \"2bdp\", \"4bdp\", \"8bdp\", \"16bdp\"]\n\
    \"flow.controller\" = [\"bbr1\", \"cubic\", \"bbr3\"]\n";

/// The commands that make a page, each with the page's name. Each page is of another kind.
const PAGES: [(&str, &str); 6] = [
    (
        "run pauses.toml --out run --pcap packets --quiet",
        "run/report.html",
    ),
    ("run crowd.toml --out crowd --quiet", "crowd/report.html"),
    ("sweep sweep.toml --out sweep --quiet", "sweep/sweep.html"),
    (
        "advise --rate 4mbit..8mbit --rtt 20ms --buffer 0.5bdp..16bdp --paths 3 --duration 4s --quiet --report advice.html",
        "advice.html",
    ),
    (
        "advise --rate 4mbit --rtt 20ms --buffer 1bdp --paths 2 --duration 4s --quiet --report seeds.html",
        "seeds.html",
    ),
    (
        "shell --rate 20mbit --rtt 10ms --out shell --quiet -- true",
        "shell/report.html",
    ),
];

/// Makes a page; `None` if this machine cannot.
fn make(directory: &Path, command: &str, page: &str) -> Option<PathBuf> {
    let (status, _, stderr) = Running::start(directory, command.split(' ')).finish();
    if command.starts_with("shell") && status.code() == Some(125) {
        skipping::skip!("{page}: {stderr}");
        return None;
    }
    assert!(status.success(), "{command}: {stderr}");
    Some(directory.join(page))
}

#[test]
fn every_page_fits_a_phone_and_paper() {
    let Some(mut browser) = Browser::start() else {
        return skipping::skip!("Chromium is not installed");
    };
    let directory = tempfile::tempdir().expect("a directory");
    let at = directory.path();
    for (name, text) in [
        ("pauses.toml", PAUSES),
        ("crowd.toml", CROWD),
        ("sweep.toml", SWEEP),
    ] {
        fs::write(at.join(name), text).expect("written");
    }
    let mut faults = Vec::new();
    for (command, page) in PAGES {
        if let Some(page) = make(at, command, page) {
            faults.extend(browser.faults(&page));
        }
    }
    let packets = fs::read_dir(at.join("packets")).expect("captured");
    let packets = packets.map(|file| file.expect("listed").path().display().to_string());
    let trace = format!(
        "trace --out trace --quiet {}",
        packets.collect::<Vec<_>>().join(" ")
    );
    let page = make(at, &trace, "trace/report.html").expect("made");
    faults.extend(browser.faults(&page));
    assert!(faults.is_empty(), "{faults:#?}");
}
