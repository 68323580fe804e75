//! Other programs: for captures of packets, and Python.

use std::env;
use std::fs;
use std::io::{self, Read};
use std::os::unix::fs::PermissionsExt;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::thread;
use std::time::{Duration, Instant};

use rustix::thread::{CapabilitySet, capabilities};

use super::finding::{Finding, by_root};

/// The timeout for an answer of Python, which usually answers at once.
const PYTHON_TIMEOUT: Duration = Duration::from_secs(5);

/// The interval of checks for Python's answer.
const PYTHON_POLL: Duration = Duration::from_millis(10);

/// The maximum length of a version in bytes.
const MAX_VERSION: u64 = 256;

/// The checks of other programs.
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

/// True if the file has capabilities of its own.
fn xattr(file: &Path) -> bool {
    let mut value = [0; 64];
    rustix::fs::getxattr(file, "security.capability", &mut value).is_ok_and(|length| length > 0)
}

/// Finds an executable file of this name in the directories of programs, including those that only root's `PATH` has.
/// Relative directories of `PATH` do not count: the owner of the working directory must not decide which program runs.
fn find(program: &str) -> Option<PathBuf> {
    let path = env::var_os("PATH").unwrap_or_default();
    let usual = ["/usr/sbin", "/sbin", "/usr/bin"].map(PathBuf::from);
    let places = env::split_paths(&path).chain(usual);
    let places = places.filter(|place| place.is_absolute());
    let mut files = places.map(|place| place.join(program));
    files.find(|file| {
        fs::metadata(file)
            .is_ok_and(|about| about.is_file() && about.permissions().mode() & 0o111 != 0)
    })
}

/// The Python package, and its version.
fn python() -> Finding {
    let name = "Python package";
    let install = "pip install . (in the directory of Fullpipe's source)";
    let Some(python) = find("python3") else {
        let command = by_root("apt-get install python3 python3-pip");
        return Finding::lacking(name, "there is no python3", command);
    };
    let version = match version(&python) {
        Ok(Some(version)) => version,
        Ok(None) => return Finding::lacking(name, "python3 has no package fullpipe", install),
        Err(error) => {
            let path = python.display();
            return Finding::lacking(name, format!("{path}: {error}"), install);
        }
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

/// The version of the Python package, if it is installed. The package itself does not run: Python reads only its
/// metadata, with no module from the working directory or from `PYTHONPATH`.
fn version(python: &Path) -> io::Result<Option<String>> {
    let mut asked = Command::new(python)
        .args(["-E", "-B", "-c"])
        .arg("import importlib.metadata as m; print(m.version('fullpipe'))")
        .current_dir("/")
        .stdin(Stdio::null())
        .stdout(Stdio::piped())
        .stderr(Stdio::null())
        .spawn()?;
    let started = Instant::now();
    // A process that writes more than the pipe holds waits, and is ended.
    let status = loop {
        if let Some(status) = asked.try_wait()? {
            break status;
        }
        if started.elapsed() > PYTHON_TIMEOUT {
            asked.kill()?;
            asked.wait()?;
            return Err(io::Error::other("did not answer"));
        }
        thread::sleep(PYTHON_POLL);
    };
    let mut text = String::new();
    if let Some(answer) = asked.stdout.take() {
        answer.take(MAX_VERSION).read_to_string(&mut text)?;
    }
    Ok(status.success().then(|| text.trim().to_owned()))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn script(directory: &Path, text: &str) -> PathBuf {
        let file = directory.join("python3");
        fs::write(&file, text).unwrap();
        fs::set_permissions(&file, fs::Permissions::from_mode(0o755)).unwrap();
        file
    }

    #[test]
    fn the_working_directory_and_the_environment_give_no_module() {
        let directory = tempfile::tempdir().unwrap();
        let python = script(directory.path(), "#!/bin/sh\npwd\necho \"$1\"\n");
        let version = version(&python).unwrap();
        assert_eq!(version.as_deref(), Some("/\n-E"));
    }

    #[test]
    fn a_python_that_goes_on_writing_is_ended() {
        let directory = tempfile::tempdir().unwrap();
        let python = script(directory.path(), "#!/bin/sh\nexec cat /dev/zero\n");
        let error = version(&python).unwrap_err();
        assert_eq!(error.to_string(), "did not answer");
    }
}
