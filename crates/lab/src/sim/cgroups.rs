//! The memory that control groups leave to this process.

use std::path::{Component, Path};

/// A version of control groups.
struct Version {
    /// Whether a group with these controllers is of this version, and limits memory.
    is_of: fn(&str) -> bool,
    /// The files with the limit, and with what is taken.
    limit: &'static str,
    taken: &'static str,
    /// The fields of `memory.stat` that the kernel drops when memory is short: contents of files, and its own caches where it counts
    /// them.
    reclaimable: &'static [&'static str],
}

const V1: Version = Version {
    is_of: |controllers| controllers.split(',').any(|name| name == "memory"),
    limit: "memory.limit_in_bytes",
    taken: "memory.usage_in_bytes",
    reclaimable: &["total_inactive_file", "total_active_file"],
};

const V2: Version = Version {
    is_of: str::is_empty,
    limit: "memory.max",
    taken: "memory.current",
    reclaimable: &["inactive_file", "active_file", "slab_reclaimable"],
};

/// The files that say where the control groups are.
const GROUPS: &str = "/proc/self/cgroup";
const MOUNTS: &str = "/proc/self/mountinfo";

/// The least of what the control groups of this process leave: its own one, and those around it. `None` if none has a limit. `read`
/// returns the text of a file, if there is one.
pub(super) fn left(read: &dyn Fn(&Path) -> Option<String>) -> Option<u64> {
    let groups = read(Path::new(GROUPS))?;
    let mounts = read(Path::new(MOUNTS))?;
    let all = mounts.lines().filter_map(Mount::of).flat_map(|mount| {
        let group = groups.lines().find_map(|line| mount.group(line));
        let around = group.into_iter().flat_map(Path::ancestors);
        around.filter_map(move |it| mount.version.left(&mount.place.join(it), read))
    });
    all.min()
}

impl Version {
    /// What the group in this directory leaves.
    fn left(&self, group: &Path, read: &dyn Fn(&Path) -> Option<String>) -> Option<u64> {
        let number = |name| read(&group.join(name))?.trim().parse::<u64>().ok();
        let limit = number(self.limit)?;
        let taken = number(self.taken).unwrap_or_default();
        let stat = read(&group.join("memory.stat")).unwrap_or_default();
        let fields = stat.lines().filter_map(|line| line.split_once(' '));
        let reclaimable = fields
            .filter(|(name, _)| self.reclaimable.contains(name))
            .filter_map(|(_, bytes)| bytes.parse::<u64>().ok())
            .fold(0, u64::saturating_add);
        Some(limit.saturating_sub(taken.saturating_sub(reclaimable)))
    }
}

/// Where a hierarchy of control groups that can limit memory is mounted.
struct Mount<'a> {
    version: &'static Version,
    /// The group at the place of the mount. In a container, it may be the container's.
    root: &'a str,
    place: &'a Path,
}

impl Mount<'_> {
    /// The mount in a line of `/proc/self/mountinfo`.
    fn of(line: &str) -> Option<Mount<'_>> {
        let (mount, kind) = line.split_once(" - ")?;
        let mut mount = mount.split(' ').skip(3);
        let (root, place) = (mount.next()?, Path::new(mount.next()?));
        let mut kind = kind.split(' ');
        let version = match (kind.next()?, kind.next_back()?) {
            ("cgroup2", _) => &V2,
            ("cgroup", controllers) if (V1.is_of)(controllers) => &V1,
            _ => return None,
        };
        Some(Mount {
            version,
            root,
            place,
        })
    }

    /// The directory of the process's group below this mount, if that is what this line of `/proc/self/cgroup` says. A group that
    /// cannot be seen there is that at the place of the mount.
    fn group<'l>(&self, line: &'l str) -> Option<&'l Path> {
        let (_, line) = line.split_once(':')?;
        let (controllers, group) = line.split_once(':')?;
        let group = Path::new(group).strip_prefix(self.root).ok();
        let is_below = |group: &&Path| {
            group
                .components()
                .all(|it| matches!(it, Component::Normal(_)))
        };
        let group = group.filter(is_below).unwrap_or(Path::new(""));
        (self.version.is_of)(controllers).then_some(group)
    }
}

#[cfg(test)]
mod tests {
    use std::collections::HashMap;

    use super::*;

    /// What is left with these files.
    fn with(files: &[(&str, &str)]) -> Option<u64> {
        let files: HashMap<&Path, &str> = files
            .iter()
            .map(|(name, text)| (Path::new(*name), *text))
            .collect();
        left(&|file| files.get(file).map(|text| (*text).to_owned()))
    }

    const UNIFIED: &str = "21 20 0:19 / /proc rw,nosuid - proc proc rw\n\
                           30 20 0:26 / /sys/fs/cgroup rw,nosuid shared:4 - cgroup2 cgroup2 rw,nsdelegate\n";

    #[test]
    fn the_own_group_and_those_around_it() {
        let max = "/sys/fs/cgroup/system.slice/a.service/memory.max";
        let current = "/sys/fs/cgroup/system.slice/a.service/memory.current";
        let stat = "/sys/fs/cgroup/system.slice/a.service/memory.stat";
        let mut files = vec![
            (GROUPS, "0::/system.slice/a.service\n"),
            (MOUNTS, UNIFIED),
            (max, "max\n"),
        ];
        assert_eq!(with(&files), None);
        files.push(("/sys/fs/cgroup/system.slice/memory.max", "9000\n"));
        assert_eq!(with(&files), Some(9000));
        files[2] = (max, "5000\n");
        assert_eq!(with(&files), Some(5000));
        files.push((current, "4500\n"));
        assert_eq!(with(&files), Some(500));
        let text = "anon 1200\nfile 3300\ninactive_file 3000\nactive_file 200\nfile_mapped x\nslab_reclaimable 40\n";
        files.push((stat, text));
        assert_eq!(with(&files), Some(3740));
        files.push(("/sys/fs/cgroup/system.slice/memory.current", "9500\n"));
        assert_eq!(with(&files), Some(0));
    }

    /// A container that sees its own group as the first one, one that sees the names of the host's, and one whose group is elsewhere.
    #[test]
    fn a_container_has_its_group_at_the_place_of_the_mount() {
        for (group, root) in [
            ("/", "/"),
            ("/docker/a1", "/docker/a1"),
            ("/docker/a1", "/docker/b2"),
            ("/../b2", "/"),
        ] {
            let mounts = UNIFIED.replace("0:26 / ", &format!("0:26 {root} "));
            let files = [
                (GROUPS, &*format!("0::{group}\n")),
                (MOUNTS, &*mounts),
                ("/sys/fs/cgroup/memory.max", "7000"),
                ("/sys/fs/cgroup/memory.current", "1000"),
            ];
            assert_eq!(with(&files), Some(6000), "{group} {root}");
        }
    }

    /// Version 1 limits memory, with the hierarchy of version 2 beside it.
    #[test]
    fn version_1_limits_where_it_has_the_memory() {
        let mounts = "35 31 0:32 / /sys/fs/cgroup/memory rw,relatime - cgroup cgroup rw,memory\n\
                      36 31 0:33 / /sys/fs/cgroup/cpu rw,relatime - cgroup cgroup rw,cpu\n\
                      41 31 0:38 / /sys/fs/cgroup/unified rw,relatime - cgroup2 cgroup2 rw\n";
        let files = [
            (GROUPS, "4:memory:/a/b\n1:cpu:/\n0::/a\n"),
            (MOUNTS, mounts),
            (
                "/sys/fs/cgroup/memory/a/b/memory.limit_in_bytes",
                "9223372036854771712\n",
            ),
            ("/sys/fs/cgroup/memory/a/b/memory.usage_in_bytes", "4000\n"),
            ("/sys/fs/cgroup/memory/a/memory.limit_in_bytes", "8000\n"),
            ("/sys/fs/cgroup/memory/a/memory.usage_in_bytes", "7000\n"),
            (
                "/sys/fs/cgroup/memory/a/memory.stat",
                "inactive_file 1\ntotal_inactive_file 500\ntotal_active_file 1500\n",
            ),
            ("/sys/fs/cgroup/cpu/memory.limit_in_bytes", "1\n"),
        ];
        assert_eq!(with(&files), Some(3000));
    }

    #[test]
    fn without_groups_there_is_no_limit() {
        assert_eq!(with(&[]), None);
        assert_eq!(with(&[(GROUPS, "0::/\n"), (MOUNTS, "")]), None);
        let odd =
            "30\n30 20 0:26 - cgroup2\n30 20 0:26 / /x - cgroup2\n30 20 0:26 / /x - cgroup2 \n";
        assert_eq!(
            with(&[
                (GROUPS, "0\n0:\n0::\n"),
                (MOUNTS, odd),
                ("/x/memory.max", "-1")
            ]),
            None
        );
    }
}
