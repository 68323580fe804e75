//! The network interfaces that exist.

use std::collections::BTreeSet;
use std::fs;
use std::path::Path;

use experiment::Interface;

/// Checks that interfaces exist, in this process's network namespace or in that of a process of the control group. The
/// first one that does not is named by its index, with the reason.
pub(crate) fn check(interfaces: &[Interface], group: &Path) -> Result<(), (usize, String)> {
    let known = known(group);
    let is_known = |interface: &Interface| known.contains(interface.name());
    match interfaces.iter().position(|interface| !is_known(interface)) {
        None => Ok(()),
        Some(place) => {
            let known: Vec<&str> = known.iter().map(String::as_str).collect();
            let (name, known) = (interfaces[place], known.join(", "));
            let reason = format!("there is no network interface {name}; there are: {known}");
            Err((place, reason))
        }
    }
}

fn known(group: &Path) -> BTreeSet<String> {
    let processes = fs::read_to_string(group.join("cgroup.procs")).unwrap_or_default();
    let tables = processes.lines().chain(["thread-self"]).map(|process| {
        // The process may have ended.
        fs::read_to_string(format!("/proc/{process}/net/dev")).unwrap_or_default()
    });
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

    #[test]
    fn an_interface_that_does_not_exist_is_named() {
        let group = Path::new("/no/such/group");
        let of = |name: &str| name.parse().unwrap();
        check(&[of("lo")], group).unwrap();
        let (place, reason) = check(&[of("lo"), of("no-such")], group).unwrap_err();
        assert_eq!(place, 1);
        assert!(
            reason.contains("no-such; there are: ") && reason.contains("lo"),
            "{reason}"
        );
    }
}
