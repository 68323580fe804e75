//! The machine outside the namespaces stays as it was.

use std::collections::BTreeMap;
use std::fs;
use std::path::Path;

use libtest_mimic::Trial;
use linux::command::{Command, Init};
use linux::{Network, NetworkConfig, Settings};

use crate::{INIT, shell, trial};

pub fn trials() -> Vec<Trial> {
    vec![trial(
        "devices, addresses, routes and sysctls outside stay as they are",
        untouched,
    )]
}

/// The visible state of the machine's network, without counters and ages.
fn outside() -> BTreeMap<String, String> {
    let mut seen = BTreeMap::new();
    for (file, columns) in [
        ("dev", 0..1),
        ("route", 0..8),
        ("ipv6_route", 0..6),
        ("if_inet6", 0..6),
        ("fib_trie", 0..9),
        ("fib_triestat", 0..0),
        ("dev_mcast", 0..5),
    ] {
        let text = fs::read_to_string(format!("/proc/self/net/{file}")).unwrap_or_default();
        let lines = text.lines().map(|line| {
            let words: Vec<&str> = line.split_whitespace().collect();
            words.get(columns.clone()).unwrap_or(&words).join(" ")
        });
        seen.insert(file.to_owned(), lines.collect::<Vec<_>>().join("\n"));
    }
    sysctls(Path::new("/proc/sys/net"), &mut seen);
    seen
}

fn sysctls(directory: &Path, seen: &mut BTreeMap<String, String>) {
    for entry in fs::read_dir(directory).into_iter().flatten().flatten() {
        let path = entry.path();
        if path.is_dir() {
            sysctls(&path, seen);
        } else if let Ok(text) = fs::read_to_string(&path)
            && !path.ends_with("nf_conntrack_count")
        {
            seen.insert(path.display().to_string(), text);
        }
    }
}

fn untouched() {
    let before = outside();
    assert!(before.len() > 100, "{} sysctls seen", before.len());
    let host = Settings {
        ecn: true,
        initial_cwnd: Some(20),
        ..Settings::default()
    };
    let network = Network::create(&NetworkConfig {
        groups: 10,
        mtu: 1400,
        host,
    })
    .expect("a network");
    let mut command = Command::new(shell("true"))
        .spawn(&network.far, &Init::subcommand(INIT))
        .expect("a command");
    assert_eq!(outside(), before);
    assert_eq!(command.wait().expect("its end"), 0);
    drop(network);
    assert_eq!(outside(), before);
}
