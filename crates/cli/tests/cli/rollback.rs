//! `fullpipe steer rollback`.

use std::fs;
use std::os::unix::fs::{MetadataExt, PermissionsExt, chown, symlink};
use std::path::Path;

use predicates::prelude::PredicateBooleanExt;
use predicates::str::contains;

use crate::steer::POLICY;
use crate::study::PLAN;
use crate::support::{fullpipe, refused};

#[test]
fn a_rollback_puts_the_policy_before_into_the_file() {
    let directory = tempfile::tempdir().expect("a directory");
    let path = |name: &str| directory.path().join(name).display().to_string();
    let (policy, journal) = (path("policy.toml"), path("journal"));
    let rollback = ["steer", "rollback", &policy, "--journal", &journal];
    refused(rollback, 2, &["--journal", &journal]);
    let next = POLICY.replace("reno", "bbr");
    fs::write(&journal, line("began", POLICY)).expect("a journal");
    own(&journal);
    refused(rollback, 2, &["--journal", "no policy before"]);
    fs::write(&journal, line("began", POLICY) + &line("reloaded", &next)).expect("a journal");
    fs::write(&policy, &next).expect("a policy");
    let done = fullpipe(rollback).assert().success();
    done.stderr(contains("no process has a policy in force").and(contains(&policy)));
    assert_eq!(fs::read_to_string(&policy).expect("a policy"), POLICY);
    assert_eq!(
        fs::read_dir(directory.path()).expect("a directory").count(),
        2
    );
    // A policy that was never in force is kept.
    let never = "cgroup = \"no/such/group\"\nrule = 7";
    fs::write(&policy, never).expect("a policy");
    let done = fullpipe(rollback).assert().success();
    done.stderr(contains("policy-2.toml"));
    assert_eq!(
        fs::read_to_string(path("policy-2.toml")).expect("it is kept"),
        never
    );
    // A policy in the journal is not.
    fullpipe(rollback).assert().success();
    assert!(!Path::new(&path("policy-3.toml")).exists());
    let other = line("began", POLICY) + &line("began", &next.replace("no/such", "other"));
    fs::write(&journal, other).expect("a journal");
    refused(rollback, 2, &["--journal", "another control group"]);
}

/// A journal's line.
fn line(what: &str, policy: &str) -> String {
    let line = serde_json::json!({ "unix_s": 1.0, "what": what, "about": { "rules": [], "policy": policy } });
    format!("{line}\n")
}

/// Makes a file writable only for its owner, whatever the umask.
fn own(path: &str) {
    fs::set_permissions(path, fs::Permissions::from_mode(0o600)).expect("a mode");
}

/// The arguments of a rollback of this policy by this journal.
fn rollback<'a>(policy: &'a str, journal: &'a str) -> [&'a str; 5] {
    ["steer", "rollback", policy, "--journal", journal]
}

/// A rollback writes as root. It leaves files alone that it does not understand, or that other users could have
/// created.
#[test]
fn a_rollback_overwrites_nothing_but_the_policy() {
    let directory = tempfile::tempdir().expect("a directory");
    let path = |name: &str| directory.path().join(name).display().to_string();
    let (policy, journal, link) = (path("policy.toml"), path("journal"), path("link"));
    let refused = |file: &str, parts: &[&str]| refused(rollback(file, &journal), 2, parts);
    let next = POLICY.replace("reno", "bbr");
    let text = line("began", POLICY) + &line("reloaded", &next);
    fs::write(&journal, &text).expect("a journal");
    own(&journal);
    let other = next.replace("no/such", "other");
    let broken = other.replace("rtt_from", "rtt_form");
    let large = next.clone() + &"#\n".repeat(3 << 20);
    let left: [(&[u8], &str); 7] = [
        (b"user www-data;\n", "not a policy"),
        (b"", "not a policy"),
        (PLAN.as_bytes(), "not a policy"),
        (b"\xff\xfe", "not a policy"),
        (other.as_bytes(), "another control group"),
        (broken.as_bytes(), "another control group"),
        (large.as_bytes(), "MiB"),
    ];
    for (contents, part) in left {
        fs::write(&policy, contents).expect("a file");
        refused(&policy, &[&policy, part, "not changed"]);
        assert!(fs::read(&policy).expect("a file") == contents, "{part}");
    }
    fs::remove_file(&policy).expect("removed");
    refused(&policy, &[&policy, "does not exist"]);
    assert!(!Path::new(&policy).exists());
    // The process reads another file.
    fs::write(&policy, &next).expect("a policy");
    fs::write(path("other.toml"), &next).expect("a policy");
    let of = serde_json::json!({ "rules": [], "file": path("other.toml") });
    let reloaded = serde_json::json!({ "unix_s": 1.0, "what": "reloaded", "about": of });
    fs::write(&journal, format!("{text}{reloaded}\n")).expect("a journal");
    refused(&policy, &[&policy, "other.toml"]);
    assert_eq!(fs::read_to_string(&policy).expect("a policy"), next);
    fs::write(&journal, &text).expect("a journal");
    let within = path("within");
    fs::create_dir(&within).expect("a directory");
    refused(&within, &[&within, "directory"]);
    fs::write(&policy, &next).expect("a policy");
    fs::set_permissions(&policy, fs::Permissions::from_mode(0o640)).expect("a mode");
    symlink("policy.toml", &link).expect("a link");
    let set = |mode| {
        fs::set_permissions(directory.path(), fs::Permissions::from_mode(mode)).expect("a mode");
    };
    set(0o777);
    refused(&link, &[&link, "symbolic link", "every user"]);
    // Another user could redirect root's copy or policy while it is written.
    if fs::metadata("/proc/self").is_ok_and(|own| own.uid() == 0) {
        refused(
            &policy,
            &[&policy, "every user, who could put something else"],
        );
    }
    assert_eq!(fs::read_to_string(&policy).expect("a policy"), next);
    fs::set_permissions(&journal, fs::Permissions::from_mode(0o666)).expect("a mode");
    refused(&policy, &["--journal", &journal, "every user"]);
    own(&journal);
    fs::rename(&journal, path("moved")).expect("moved");
    symlink("moved", &journal).expect("a link");
    refused(&policy, &["--journal", "symbolic link"]);
    set(0o700);
    fullpipe(rollback(&link, &journal)).assert().success();
    assert_eq!(fs::read_to_string(&policy).expect("a policy"), POLICY);
    // Each copy has a name of its own, and the mode of the original.
    for number in 2..5 {
        let text = format!("{POLICY}# {number}\n");
        fs::write(&policy, &text).expect("a policy");
        fullpipe(rollback(&policy, &journal)).assert().success();
        let kept = path(&format!("policy-{number}.toml"));
        assert_eq!(fs::read_to_string(&kept).expect("it is kept"), text);
        let mode = fs::metadata(&kept)
            .expect("it is kept")
            .permissions()
            .mode();
        assert_eq!(mode & 0o777, 0o640);
    }
    let huge = text.replace("cgroup", &"#".repeat(33 << 20));
    fs::write(path("moved"), huge).expect("a journal");
    refused(&policy, &["--journal", "line 1", "32 MiB"]);
    if chown(path("moved"), Some(65_534), None).is_err() {
        skipping::skip!("a journal of another user: this takes root");
        return;
    }
    refused(&policy, &["--journal", "another user (65534)"]);
}

/// The journal names the file, so that is the one to restore, whatever has happened to it.
#[test]
fn a_rollback_restores_a_file_that_is_broken_or_gone() {
    let directory = tempfile::tempdir().expect("a directory");
    let path = |name: &str| directory.path().join(name).display().to_string();
    let (policy, journal, moved) = (path("policy.toml"), path("journal"), path("moved.toml"));
    let next = POLICY.replace("reno", "bbr");
    let about = serde_json::json!({ "rules": [], "policy": next, "file": policy });
    let reloaded = serde_json::json!({ "unix_s": 1.0, "what": "reloaded", "about": about });
    let text = line("began", POLICY) + &format!("{reloaded}\n");
    fs::write(&journal, text).expect("a journal");
    own(&journal);
    let broken: [&[u8]; 4] = [b"", b"[[rule", b"\xff\xfe", PLAN.as_bytes()];
    for (number, contents) in (2..).zip(broken) {
        fs::write(&policy, contents).expect("a file");
        fullpipe(rollback(&policy, &journal)).assert().success();
        assert_eq!(fs::read_to_string(&policy).expect("a policy"), POLICY);
        let kept = path(&format!("policy-{number}.toml"));
        assert_eq!(fs::read(kept).expect("it is kept"), contents);
    }
    fs::remove_file(&policy).expect("removed");
    refused(rollback(&moved, &journal), 2, &[&moved, "does not exist"]);
    fullpipe(rollback(&policy, &journal)).assert().success();
    assert_eq!(fs::read_to_string(&policy).expect("a policy"), POLICY);
    let mode = fs::metadata(&policy).expect("there").permissions().mode();
    assert_eq!(mode & 0o777, 0o600);
    // Another file is restored if the journal's is gone, and is a policy for the same control group.
    fs::write(&moved, &next).expect("a policy");
    refused(rollback(&moved, &journal), 2, &[&moved, "give that file"]);
    fs::remove_file(&policy).expect("removed");
    fullpipe(rollback(&moved, &journal)).assert().success();
    assert_eq!(fs::read_to_string(&moved).expect("a policy"), POLICY);
    fs::write(&moved, "").expect("a file");
    refused(rollback(&moved, &journal), 2, &[&moved, "not a policy"]);
    // A link leads to the journal's own file, and the file is large.
    let large = POLICY.to_owned() + &"#\n".repeat(3 << 20);
    fs::write(&policy, large).expect("a file");
    symlink("policy.toml", path("link")).expect("a link");
    refused(rollback(&path("link"), &journal), 2, &["link", "4 MiB"]);
}
