//! Every kind of page, in a browser: on a phone, in the dark and on paper.

use std::fs;

use crate::browser::Browser;
use crate::calibrate::SET;
use crate::support::Running;

/// The commands that make a page, each with the page's name.
const PAGES: [(&str, &str); 2] = [
    (
        "calibrate --scenarios cases --engines sim,sim --quiet --out calibration",
        "calibration/calibration-sim-sim.html",
    ),
    (
        "figures paper-4 versions-boundary --quick --quiet --out figures",
        "figures/figures.html",
    ),
];

#[test]
fn every_page_fits_a_phone_and_paper() {
    let Some(mut browser) = Browser::start() else {
        return skipping::skip!("Chromium is not installed");
    };
    let directory = tempfile::tempdir().expect("a directory");
    let at = directory.path();
    fs::create_dir(at.join("cases")).expect("made");
    fs::write(at.join("cases/small.toml"), SET).expect("written");
    let mut faults = Vec::new();
    for (command, page) in PAGES {
        let (status, _, stderr) = Running::start(at, command.split(' ')).finish();
        assert!(status.success(), "{command}: {stderr}");
        faults.extend(browser.faults(&at.join(page)));
    }
    assert!(faults.is_empty(), "{faults:#?}");
}
