//! The control group of a socket: the kernel returns the inode of its directory (cgroups(7)).

use std::fs;
use std::os::unix::fs::MetadataExt;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use hashbrown::HashMap;

/// The mount points of version 2: alone, or beside version 1.
const MOUNT_POINTS: [&str; 2] = ["/sys/fs/cgroup", "/sys/fs/cgroup/unified"];

/// A file that only the root of version 2 has.
const ROOT_FILE: &str = "cgroup.controllers";

/// The maximum number of known groups.
const MAX_GROUPS: usize = 1 << 17;

/// The root of all control groups of version 2, if there are any.
pub fn root() -> Option<&'static Path> {
    let mut places = MOUNT_POINTS.iter().map(Path::new);
    places.find(|place| place.join(ROOT_FILE).exists())
}

/// The control groups of this machine.
#[derive(Debug, Default)]
pub struct Cgroups {
    root: Option<PathBuf>,
    names: HashMap<u64, Arc<str>>,
}

impl Cgroups {
    /// The existing groups. Without version 2, there are none.
    pub fn new() -> Cgroups {
        Cgroups::at(root())
    }

    /// The groups below a directory.
    fn at(root: Option<&Path>) -> Cgroups {
        let mut cgroups = Cgroups {
            root: root.map(Path::to_owned),
            names: HashMap::new(),
        };
        cgroups.read();
        cgroups
    }

    /// The path of the group with this inode, from the root on: `/system.slice/ssh.service`.
    pub fn of(&self, inode: u64) -> Option<&Arc<str>> {
        self.names.get(&inode)
    }

    /// Reads the groups again.
    pub fn read(&mut self) {
        let Some(root) = &self.root else { return };
        let mut names = HashMap::new();
        let mut waiting = vec![root.clone()];
        while let Some(directory) = waiting.pop() {
            let Ok(about) = fs::metadata(&directory) else {
                continue;
            };
            let path = directory.strip_prefix(root).unwrap_or(&directory);
            names.insert(about.ino(), format!("/{}", path.display()).into());
            let entries = fs::read_dir(&directory).into_iter().flatten().flatten();
            let inner = entries.filter(|entry| entry.file_type().is_ok_and(|kind| kind.is_dir()));
            waiting.extend(inner.map(|entry| entry.path()));
            if names.len() + waiting.len() > MAX_GROUPS {
                break;
            }
        }
        self.names = names;
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_group_goes_by_its_path() {
        let root = tempfile::tempdir().unwrap();
        let deep = root.path().join("system.slice/ssh.service");
        fs::create_dir_all(&deep).unwrap();
        fs::write(root.path().join(ROOT_FILE), "").unwrap();
        let mut cgroups = Cgroups::at(Some(root.path()));
        let name = |cgroups: &Cgroups, path: &Path| {
            let inode = fs::metadata(path).unwrap().ino();
            cgroups.of(inode).map(|name| name.to_string())
        };
        assert_eq!(name(&cgroups, root.path()).as_deref(), Some("/"));
        assert_eq!(
            name(&cgroups, &deep).as_deref(),
            Some("/system.slice/ssh.service")
        );
        let new = root.path().join("new");
        fs::create_dir(&new).unwrap();
        assert_eq!(name(&cgroups, &new), None);
        cgroups.read();
        assert_eq!(name(&cgroups, &new).as_deref(), Some("/new"));
        assert!(Cgroups::at(None).of(1).is_none());
    }
}
