//! The network namespaces that this process can see: its own, those that other processes are in, and those with a name.

use std::collections::BTreeSet;
use std::fs::{self, File, OpenOptions};
use std::os::unix::fs::{MetadataExt, OpenOptionsExt};
use std::path::{Path, PathBuf};

use nix::fcntl::OFlag;
use nix::sys::statfs::{NSFS_MAGIC, fstatfs};

use crate::Error;
use crate::error::Context;
use crate::namespace::enter;
use crate::network::on_a_thread;

/// The directory of the names that `ip netns` gives to namespaces.
const NAMED_DIRECTORY: &str = "/run/netns";

/// The calling thread's own namespace.
const OWN_FILE: &str = "/proc/thread-self/ns/net";

/// A network namespace of this machine.
#[derive(Debug)]
pub struct Visible {
    namespace: File,
    name: String,
}

impl Visible {
    /// Its display name: `this namespace`, the name from `ip netns`, or else a process in it.
    pub fn name(&self) -> &str {
        &self.name
    }

    /// Calls `f` on a thread inside the namespace.
    ///
    /// # Errors
    ///
    /// The thread may not enter the namespace (CAP_SYS_ADMIN).
    pub fn inside<T: Send>(&self, f: impl FnOnce() -> T + Send) -> Result<T, Error> {
        on_a_thread(|| {
            enter(&self.namespace)?;
            Ok(f())
        })
    }
}

/// All visible namespaces, each once, starting with this one. Those of other users' processes need permission, and
/// one without processes is visible only if it has a name.
///
/// # Errors
///
/// `/proc` is not mounted.
pub fn network_namespaces() -> Result<Vec<Visible>, Error> {
    let own = File::open(OWN_FILE)
        .context("cannot open /proc/thread-self/ns/net; this takes a mounted /proc")?;
    let mut seen = BTreeSet::from([number(&own)?]);
    let mut all = vec![Visible {
        namespace: own,
        name: "this namespace".to_owned(),
    }];
    let named =
        entries(Path::new(NAMED_DIRECTORY)).map(|(name, path)| (format!("namespace {name}"), path));
    let processes = entries(Path::new("/proc"))
        .filter(|(name, _)| name.bytes().all(|byte| byte.is_ascii_digit()))
        .map(|(id, path)| {
            (
                format!("the namespace of process {id}"),
                path.join("ns/net"),
            )
        });
    for (name, path) in named.chain(processes) {
        // Processes may end meanwhile, and a name may remain of a namespace that is gone.
        let Some(namespace) = open(&path) else {
            continue;
        };
        if seen.insert(number(&namespace)?) {
            all.push(Visible { namespace, name });
        }
    }
    Ok(all)
}

/// Opens the file of a network namespace; `None` if the path is another file, which may be a pipe that nobody writes
/// to.
fn open(path: &Path) -> Option<File> {
    let options = OpenOptions::new()
        .read(true)
        .custom_flags(OFlag::O_NONBLOCK.bits())
        .open(path);
    let file = options.ok()?;
    let is_namespace = fstatfs(&file).is_ok_and(|about| about.filesystem_type() == NSFS_MAGIC);
    is_namespace.then_some(file)
}

/// The inode of a namespace, which is its identity (namespaces(7)).
fn number(namespace: &File) -> Result<u64, Error> {
    let about = namespace.metadata().context("cannot look at a namespace")?;
    Ok(about.ino())
}

fn entries(directory: &Path) -> impl Iterator<Item = (String, PathBuf)> + use<> {
    let entries = fs::read_dir(directory).into_iter().flatten().flatten();
    entries.map(|entry| {
        let name = entry.file_name().to_string_lossy().into_owned();
        (name, entry.path())
    })
}
