//! Other programs: what captures packets, and Python.

use std::env;
use std::fs;
use std::os::unix::fs::PermissionsExt;
use std::path::PathBuf;
use std::process::{Command, Stdio};

use rustix::thread::{CapabilitySet, capabilities};

use super::finding::{Finding, by_root};

/// What other programs are there for.
pub fn all() -> Vec<Finding> {
    vec![capture(), python()]
}

/// tcpdump, and the permission to use it.
fn capture() -> Finding {
    let name = "capture";
    let Some(tcpdump) = find("tcpdump") else {
        let install = by_root("apt-get install tcpdump");
        return Finding::lacking(name, "there is no tcpdump", install);
    };
    let held = capabilities(None).map_or(CapabilitySet::empty(), |held| held.effective);
    let path = tcpdump.display();
    // The file may have the capability instead (capabilities(7), file capabilities).
    let has_own = xattr(&tcpdump);
    if held.contains(CapabilitySet::NET_RAW) || has_own {
        return Finding::ok(
            name,
            format!("{path}; trace and diagnose read what it writes"),
        );
    }
    let command = format!("setcap cap_net_raw,cap_net_admin=eip {path}");
    Finding::lacking(
        name,
        format!("{path} may not capture: this takes CAP_NET_RAW"),
        by_root(&command),
    )
}

/// Whether the file has capabilities of its own.
fn xattr(file: &std::path::Path) -> bool {
    let mut value = [0; 64];
    rustix::fs::getxattr(file, "security.capability", &mut value).is_ok_and(|length| length > 0)
}

/// An executable file of this name in the directories of programs, also in those that only root's `PATH` has.
fn find(program: &str) -> Option<PathBuf> {
    let path = env::var_os("PATH").unwrap_or_default();
    let usual = ["/usr/sbin", "/sbin", "/usr/bin"].map(PathBuf::from);
    let places = env::split_paths(&path).chain(usual);
    let mut files = places.map(|place| place.join(program));
    files.find(|file| {
        fs::metadata(file)
            .is_ok_and(|about| about.is_file() && about.permissions().mode() & 0o111 != 0)
    })
}

/// The Python package, and whether it is of this version.
fn python() -> Finding {
    let name = "Python package";
    let install = "pip install . (in the directory of Fullpipe's source)";
    if find("python3").is_none() {
        let command = by_root("apt-get install python3 python3-pip");
        return Finding::lacking(name, "there is no python3", command);
    }
    let script = "import importlib.metadata as m, fullpipe; print(m.version('fullpipe'))";
    let asked = Command::new("python3")
        .args(["-B", "-c", script])
        .stdin(Stdio::null())
        .output();
    let version = match asked {
        Ok(output) if output.status.success() => {
            String::from_utf8_lossy(&output.stdout).trim().to_owned()
        }
        _ => return Finding::lacking(name, "python3 cannot import fullpipe", install),
    };
    let own = env!("CARGO_PKG_VERSION");
    if version == own {
        Finding::ok(name, format!("fullpipe {version}"))
    } else {
        Finding::note(
            name,
            format!("fullpipe {version}, and this program is {own}"),
            install,
        )
    }
}
