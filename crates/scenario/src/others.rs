//! What other users have a hand in: a process that may do more than they do is not led by them.

use std::fs::{self, Metadata};
use std::io;
use std::os::unix::fs::MetadataExt;
use std::path::{Component, Path, PathBuf};

/// So many links on the way to a file are followed (Linux `MAXSYMLINKS`).
const MOST_LINKS: usize = 40;

/// Why somebody else may write to this file or directory; nothing if only this process's user may, and root.
pub fn may_write(about: &Metadata) -> Option<String> {
    if !is_own(about) {
        return Some(format!("belongs to another user ({})", about.uid()));
    }
    match about.mode() {
        mode if mode & 0o002 != 0 => Some("is open to every user".to_owned()),
        mode if mode & 0o020 != 0 => Some(format!("is open to its group ({})", about.gid())),
        _ => None,
    }
}

fn is_own(about: &Metadata) -> bool {
    [0, rustix::process::geteuid().as_raw()].contains(&about.uid())
}

/// The path of a directory, which may not exist yet, without symbolic links. Nobody else can put something else in its
/// place, or in the place of a directory above it. This is checked for root only: the directories of other users may be
/// below those of anybody.
///
/// # Errors
///
/// Somebody else could have made a link on the way, or a directory above is open to others. In a sticky directory, they
/// can replace only their own files (inode(7)), so it is allowed.
pub fn own_way(directory: &Path) -> io::Result<PathBuf> {
    check_links(directory)?;
    let real = real(directory)?;
    if !rustix::process::geteuid().is_root() || !is_in_first_user_namespace() {
        return Ok(real);
    }
    for above in real.ancestors().skip(1) {
        let about = match fs::symlink_metadata(above) {
            Err(error) if error.kind() == io::ErrorKind::NotFound => continue,
            about => about?,
        };
        let is_sticky = is_own(&about) && about.mode() & 0o1000 != 0;
        if let Some(why) = may_write(&about).filter(|_| !is_sticky) {
            return Err(io::Error::other(format!(
                "{} {why}, who could put another directory in the place of this one; give one that only you can change, such as \
                 /var/lib/fullpipe/NAME",
                above.display()
            )));
        }
    }
    Ok(real)
}

/// In another user namespace, root has only the rights of the user who made it, and does not see who owns what is outside
/// (user_namespaces(7)).
fn is_in_first_user_namespace() -> bool {
    let map = fs::read_to_string("/proc/self/uid_map").unwrap_or_default();
    map.split_whitespace().eq(["0", "0", "4294967295"])
}

/// The path without symbolic links. Its end may not exist yet.
///
/// # Errors
///
/// It cannot be read, or goes up from a directory that does not exist.
pub fn real(path: &Path) -> io::Result<PathBuf> {
    for above in path.ancestors() {
        let real = match fs::canonicalize(Path::new(".").join(above)) {
            Err(error) if error.kind() == io::ErrorKind::NotFound => continue,
            real => real?,
        };
        let rest = path.strip_prefix(above).unwrap_or(path).components();
        if rest.clone().any(|part| part == Component::ParentDir) {
            break;
        }
        return Ok(real.components().chain(rest).collect());
    }
    Err(io::ErrorKind::NotFound.into())
}

/// Checks that nobody else can have made or can change a symbolic link on the way to a file.
///
/// # Errors
///
/// One is in a directory that others can write to.
pub fn check_links(path: &Path) -> io::Result<()> {
    let mut rest = MOST_LINKS;
    follow(path, &mut rest)
}

fn follow(path: &Path, rest: &mut usize) -> io::Result<()> {
    // With a slash at its end, the path of a link names the link's end.
    let path: PathBuf = path.components().collect();
    for link in path.ancestors() {
        let Ok(end) = fs::read_link(link) else {
            continue;
        };
        let directory = link.parent().unwrap_or(Path::new("")).join(".");
        if let Some(why) = may_write(&fs::metadata(&directory)?) {
            let link = link.display();
            return Err(io::Error::other(format!(
                "{link} is a symbolic link in a directory that {why}; name the file that is meant"
            )));
        }
        *rest = rest
            .checked_sub(1)
            .ok_or_else(|| io::Error::other("too many symbolic links"))?;
        follow(&directory.join(end), rest)?;
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use std::fs::Permissions;
    use std::os::unix::fs::{PermissionsExt, chown, symlink};

    use super::*;

    fn set(path: &Path, mode: u32) {
        fs::set_permissions(path, Permissions::from_mode(mode)).unwrap();
    }

    #[test]
    fn whoever_else_may_write_is_told() {
        let directory = tempfile::tempdir().unwrap();
        let path = directory.path();
        let why = || may_write(&fs::metadata(path).unwrap()).unwrap_or_default();
        for (mode, is_told) in [
            (0o700, ""),
            (0o755, ""),
            (0o770, "is open to its group"),
            (0o777, "is open to every user"),
            (0o1777, "is open to every user"),
        ] {
            set(path, mode);
            assert!(why().starts_with(is_told), "{mode:o}: {}", why());
            assert_eq!(why().is_empty(), is_told.is_empty(), "{mode:o}");
        }
        set(path, 0o700);
        if chown(path, Some(65_534), None).is_err() {
            eprintln!("SKIPPED: a directory of another user: this takes root");
            return;
        }
        assert_eq!(why(), "belongs to another user (65534)");
    }

    #[test]
    fn a_link_that_others_could_have_laid_is_refused_wherever_it_is_on_the_way() {
        let directory = tempfile::tempdir().unwrap();
        let path = |name: &str| directory.path().join(name);
        for name in ["own", "open"] {
            fs::create_dir(path(name)).unwrap();
            fs::write(path(name).join("file"), "").unwrap();
        }
        set(&path("own"), 0o755);
        set(&path("open"), 0o1777);
        symlink("file", path("own/link")).unwrap();
        symlink("../own", path("open/link")).unwrap();
        symlink("../open/link/file", path("own/through")).unwrap();
        symlink("again/again", path("own/again")).unwrap();
        for good in ["own/file", "open/file", "own/link", "own/no/such"] {
            check_links(&path(good)).expect(good);
        }
        symlink("../open/link/", path("own/slash")).unwrap();
        for bad in [
            "open/link",
            "open/link/",
            "open/link//.",
            "open/link/file",
            "open/link/../link",
            "own/through",
            "own/slash",
        ] {
            let error = check_links(&path(bad)).expect_err(bad).to_string();
            assert!(error.contains("open/link is a symbolic link"), "{error}");
        }
        let error = check_links(&path("own/again")).unwrap_err().to_string();
        assert_eq!(error, "too many symbolic links");
    }

    #[test]
    fn a_way_has_no_links_and_need_not_end_in_something() {
        let directory = tempfile::tempdir().unwrap();
        let path = fs::canonicalize(directory.path()).unwrap();
        fs::create_dir(path.join("own")).unwrap();
        symlink("own", path.join("link")).unwrap();
        let way = |name: &str| own_way(&path.join(name));
        for (name, is) in [("link", "own"), ("link/", "own"), ("link/a/./b", "own/a/b")] {
            assert_eq!(way(name).unwrap(), path.join(is), "{name}");
        }
        assert!(way("link/a/../b").is_err());
        assert!(own_way(Path::new("no/such")).unwrap().is_absolute());
    }

    #[test]
    fn root_s_directory_is_below_none_that_others_can_change() {
        if !rustix::process::geteuid().is_root() {
            eprintln!("SKIPPED: directories above root's: this takes root");
            return;
        }
        let directory = tempfile::tempdir().unwrap();
        let (above, path) = (
            directory.path().join("above"),
            directory.path().join("above/own"),
        );
        fs::create_dir_all(&path).unwrap();
        for (mode, is_good) in [
            (0o755, true),
            (0o1777, true),
            (0o777, false),
            (0o770, false),
        ] {
            set(&above, mode);
            assert_eq!(own_way(&path).is_ok(), is_good, "{mode:o}");
            assert_eq!(own_way(&path.join("no/such")).is_ok(), is_good, "{mode:o}");
        }
        set(&above, 0o1777);
        chown(&above, Some(65_534), None).unwrap();
        let error = own_way(&path).unwrap_err().to_string();
        assert!(
            error.contains("above belongs to another user (65534), who could"),
            "{error}"
        );
    }
}
