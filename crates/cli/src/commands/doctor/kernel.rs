//! The kernel's controllers, Fullpipe's controllers in the kernel, and the mechanisms that assign them to connections.

use kernel::Requirement;
use rustix::thread::{CapabilitySet, capabilities};

use super::finding::{Finding, by_root};

/// The parts of the kernel.
pub fn all() -> Vec<Finding> {
    vec![
        controllers(),
        needed(
            "kernel",
            "controllers can be loaded",
            kernel::check(),
            "fullpipe kernel load bbr1",
        ),
        steering(),
        routes(),
    ]
}

/// The kernel's own controllers.
fn controllers() -> Finding {
    let name = "kernel's controllers";
    let load = || by_root("modprobe tcp_bbr");
    match linux::controllers_here() {
        Ok(all) if all.iter().any(|one| one == "bbr") => Finding::ok(name, all.join(", ")),
        Ok(all) => Finding::note(name, format!("{}; not bbr", all.join(", ")), load()),
        Err(error) => {
            Finding::lacking(name, error.to_string(), by_root("mount -t proc proc /proc"))
        }
    }
}

/// The assignment of controllers to the connections of a control group.
fn steering() -> Finding {
    let name = "study, steer";
    if fleet::who::root().is_none() {
        return Finding::lacking(
            name,
            "there is no file system of control groups of version 2",
            by_root("mount -t cgroup2 none /sys/fs/cgroup"),
        );
    }
    let required = kernel::check_steering();
    let command = "fullpipe study PLAN.toml --out DIR";
    needed(
        name,
        "controllers can be assigned to connections",
        required,
        command,
    )
}

/// A study by route.
fn routes() -> Finding {
    let name = "study by route";
    let held = capabilities(None).map_or(CapabilitySet::empty(), |held| held.effective);
    if held.contains(CapabilitySet::NET_ADMIN) {
        Finding::ok(name, "routes can be set")
    } else {
        let command = "fullpipe study PLAN.toml --out DIR";
        Finding::lacking(name, "routes take root: CAP_NET_ADMIN", by_root(command))
    }
}

/// A part with requirements. `command` is what root then runs.
fn needed(name: &'static str, works: &str, required: Vec<Requirement>, command: &str) -> Finding {
    let mut lacking = required
        .into_iter()
        .filter_map(|one| Some((one.what, one.lack?)));
    let Some((what, lack)) = lacking.next() else {
        return Finding::ok(name, works);
    };
    let more: Vec<&str> = lacking.map(|(what, _)| what).collect();
    let more = match more.len() {
        0 => String::new(),
        _ => format!("; also lacking: {}", more.join(", ")),
    };
    let fix = match what {
        "permission" => by_root(command),
        "program" => "cargo install --path crates/cli --features kernel (needs clang, libelf and zlib: apt-get install clang \
                      libelf-dev zlib1g-dev)"
            .to_owned(),
        "BPF file system" => by_root("mount -t bpf bpf /sys/fs/bpf"),
        _ => lack.clone(),
    };
    Finding::lacking(name, format!("{what}: {lack}{more}"), fix)
}
