//! The network interfaces that exist.

use std::cell::LazyCell;
use std::collections::{BTreeSet, HashSet};
use std::fs;
use std::os::unix::fs::MetadataExt;
use std::path::Path;

use rules::Interface;

/// Checks that interfaces exist, in this process's network namespace or in that of a process of the control group. Each
/// interface comes with the place that names it. If one does not exist, returns its place, with the reason.
pub(crate) fn check<P>(
    interfaces: impl IntoIterator<Item = (P, Interface)>,
    group: &Path,
) -> Result<(), (P, String)> {
    check_with(interfaces, || known(group, Path::new("/proc")))
}

/// Most plans and policies name no interfaces. So `known` is only called for the first interface, and only once,
/// because the group may have many processes.
fn check_with<P>(
    interfaces: impl IntoIterator<Item = (P, Interface)>,
    known: impl FnOnce() -> BTreeSet<String>,
) -> Result<(), (P, String)> {
    let known = LazyCell::new(known);
    let mut interfaces = interfaces.into_iter();
    match interfaces.find(|(_, interface)| !known.contains(interface.name())) {
        None => Ok(()),
        Some((place, name)) => {
            let known: Vec<&str> = known.iter().map(String::as_str).collect();
            let known = known.join(", ");
            let reason = format!("there is no network interface {name}; there are: {known}");
            Err((place, reason))
        }
    }
}

/// The interfaces in the namespaces of this process and of the group's processes. Each namespace is read once.
fn known(group: &Path, proc: &Path) -> BTreeSet<String> {
    let processes = fs::read_to_string(group.join("cgroup.procs")).unwrap_or_default();
    let mut namespaces = HashSet::new();
    let all = ["thread-self"].into_iter().chain(processes.lines());
    let directories = all.map(|process| proc.join(process));
    let new = directories.filter(|directory| {
        // Only root sees the namespaces of other users' processes (namespaces(7)). Their tables are for everybody.
        let namespace = fs::metadata(directory.join("ns/net"));
        namespace.map_or(true, |about| namespaces.insert(about.ino()))
    });
    // A process may have ended.
    let tables = new.map(|directory| fs::read_to_string(directory.join("net/dev")));
    let tables = tables.map(Result::unwrap_or_default);
    tables.flat_map(|table| names(&table)).collect()
}

/// The names in `/proc/net/dev`. A name never has a colon.
fn names(table: &str) -> Vec<String> {
    let lines = table.lines().skip(2);
    let names = lines.filter_map(|line| line.split_once(':'));
    names.map(|(name, _)| name.trim().to_owned()).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn all_names_are_read() {
        let table = "Inter-|   Receive                            |  Transmit\n face |bytes    packets errs|bytes    packets errs\n    \
                     lo: 1 2 0 3 4 0\n  eth0.7:1 2 0 3 4 0\n";
        assert_eq!(names(table), ["lo", "eth0.7"]);
        assert!(names("").is_empty());
    }

    fn of(name: &str) -> Interface {
        name.parse().unwrap()
    }

    #[test]
    fn an_interface_that_does_not_exist_is_named() {
        let group = Path::new("/no/such/group");
        check([("one", of("lo"))], group).unwrap();
        let all = [("one", of("lo")), ("two", of("no-such"))];
        let (place, reason) = check(all, group).unwrap_err();
        assert_eq!(place, "two");
        assert!(
            reason.contains("no-such; there are: ") && reason.contains("lo"),
            "{reason}"
        );
    }

    #[test]
    fn nothing_is_read_without_an_interface() {
        check_with(None::<((), Interface)>, || unreachable!()).unwrap();
    }

    #[test]
    fn each_namespace_is_read_once() {
        let directory = tempfile::tempdir().unwrap();
        let at = |path: &str| directory.path().join(path);
        for (process, interface) in [("thread-self", "a0"), ("1", "a1"), ("2", "b0"), ("3", "b1")] {
            fs::create_dir_all(at(process).join("ns")).unwrap();
            fs::create_dir(at(process).join("net")).unwrap();
            fs::write(at(process).join("net/dev"), format!("\n\n{interface}: 0")).unwrap();
        }
        for (first, second) in [("thread-self", "1"), ("2", "3")] {
            fs::write(at(first).join("ns/net"), "").unwrap();
            fs::hard_link(at(first).join("ns/net"), at(second).join("ns/net")).unwrap();
        }
        // The process 4 has ended.
        fs::write(at("cgroup.procs"), "4\n1\n2\n3\n").unwrap();
        let known = known(directory.path(), directory.path());
        assert_eq!(Vec::from_iter(known), ["a0", "b0"]);
    }
}
