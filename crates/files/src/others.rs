//! The influence of other users on files: a privileged process must not follow them.

use std::fs::{self, Metadata};
use std::io;
use std::os::unix::fs::MetadataExt;
use std::path::{Component, Path, PathBuf};

/// The maximum number of links that are followed on the way to a file (Linux `MAXSYMLINKS`).
const MAX_LINKS: usize = 40;

/// The reason for which other users may write to this file or directory; `None` if only this process's user and root
/// may.
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

/// The path of a file or directory, which may not exist yet, without symbolic links. No other user can have made, or
/// can change, a link on the way.
///
/// # Errors
///
/// A link is in a directory that others can write to, or the path goes up from a directory that does not exist.
pub fn real(path: &Path) -> io::Result<PathBuf> {
    walk(path, |_, directory, _| may_write(directory), |_| None)
}

/// Checks that another user has laid no link on the way to this path, which is to be written, in a directory that is open to
/// every user, such as `/tmp`, or in another user's directory below such a one. For a link in `/tmp` itself, Linux has the same rule for the last link alone (`protected_symlinks` in
/// proc_sys_fs(5)).
///
/// # Errors
///
/// There is such a link, or there are too many links. Other errors of the path are those of whoever writes it.
pub fn check_links(path: &Path) -> io::Result<()> {
    let laid = |at: &Path, directory: &Metadata, link: &Metadata| match directory {
        _ if is_own(link) => None,
        open if open.mode() & 0o002 != 0 => Some("is open to every user".to_owned()),
        _ if is_below_open(at) => {
            Some("another user has made below one that is open to every user".to_owned())
        }
        _ => None,
    };
    match walk(path, laid, |_| None) {
        Err(error) if error.kind() == io::ErrorKind::Other => Err(error),
        _ => Ok(()),
    }
}

/// True if this directory is, or is below, one of another user in a directory that is open to every user. Nobody has asked him
/// to have it there.
fn is_below_open(directory: &Path) -> bool {
    let is_made = |(inner, outer): (&Path, &Path)| {
        let pair = [inner, outer].map(|of| fs::metadata(of).ok());
        matches!(pair, [Some(inner), Some(outer)] if !is_own(&inner) && outer.mode() & 0o002 != 0)
    };
    let mut pairs = directory.ancestors().zip(directory.ancestors().skip(1));
    pairs.any(is_made)
}

/// The path without symbolic links, as [`real`] returns it. If this process is root's, no other user can replace a
/// directory on the way, either. This is checked for root only, because other users' directories may be below
/// directories that anybody can change.
///
/// # Errors
///
/// As for [`real`], or others can write to a directory on the way. A sticky directory is allowed, because others can
/// replace only their own files in it (inode(7)).
pub fn own_way(path: &Path) -> io::Result<PathBuf> {
    if !rustix::process::geteuid().is_root() {
        return real(path);
    }
    let outside = outside();
    let refused = |directory: &Metadata| {
        let is_own = is_own(directory) || outside == Some(directory.uid());
        let is_closed = directory.mode() & 0o1000 != 0 || directory.mode() & 0o022 == 0;
        may_write(directory).filter(|_| !(is_own && is_closed))
    };
    walk(path, |_, directory, _| may_write(directory), refused)
}

/// The path of a file, as [`own_way`] returns it. If this process is root's, no other user can put a file there, even
/// one of his own.
///
/// # Errors
///
/// As for [`own_way`], or others can write to the file's directory.
pub fn own_place(file: &Path) -> io::Result<PathBuf> {
    let real = own_way(file)?;
    if rustix::process::geteuid().is_root()
        && let Some(directory) = real.parent()
        && let Some(why) = may_write(&fs::metadata(directory)?)
    {
        return Err(replaceable(directory, &why));
    }
    Ok(real)
}

fn replaceable(directory: &Path, why: &str) -> io::Error {
    io::Error::other(format!(
        "{} {why}, who could put something else in the place of this path; give one that only you can change, such as one below \
         /var/lib/fullpipe",
        directory.display()
    ))
}

/// The number of users outside of this user namespace, unless it is the first one: root there has it, too
/// (user_namespaces(7)).
fn outside() -> Option<u32> {
    let map = fs::read_to_string("/proc/self/uid_map").unwrap_or_default();
    let is_first = map.split_whitespace().eq(["0", "0", "4294967295"]);
    let number = fs::read_to_string("/proc/sys/kernel/overflowuid").ok()?;
    number.trim().parse().ok().filter(|_| !is_first)
}

/// Follows a path from directory to directory. `laid` returns the reason to refuse a link in a directory, and `refused` that
/// to refuse a directory on the way.
fn walk(
    path: &Path,
    laid: impl Fn(&Path, &Metadata, &Metadata) -> Option<String>,
    refused: impl Fn(&Metadata) -> Option<String>,
) -> io::Result<PathBuf> {
    let path = std::path::absolute(path)?;
    let mut rest: Vec<PathBuf> = path.components().rev().map(own_part).collect();
    let (mut at, mut is_there, mut links) = (PathBuf::new(), true, 0);
    while let Some(part) = rest.pop() {
        match part.components().next() {
            Some(Component::Normal(_)) => {}
            Some(Component::ParentDir) if !is_there => {
                let why = "it goes up (`..`) from a directory that does not exist";
                return Err(io::Error::new(io::ErrorKind::NotFound, why));
            }
            Some(Component::ParentDir) => {
                at.pop();
                continue;
            }
            _ => {
                at = PathBuf::from("/");
                continue;
            }
        }
        let next = at.join(&part);
        if !is_there {
            at = next;
            continue;
        }
        let directory = fs::metadata(&at)?;
        let found = fs::symlink_metadata(&next);
        let is_link = found.as_ref().is_ok_and(Metadata::is_symlink);
        if is_link
            && let Ok(link) = &found
            && let Some(why) = laid(&at, &directory, link)
        {
            return Err(io::Error::other(format!(
                "{} is a symbolic link in a directory that {why}; name the file that is meant",
                next.display()
            )));
        }
        if let Some(why) = refused(&directory) {
            return Err(replaceable(&at, &why));
        }
        match found {
            Err(error) if error.kind() == io::ErrorKind::NotFound => is_there = false,
            Err(error) => return Err(error),
            Ok(_) if !is_link => {}
            _ if links == MAX_LINKS => return Err(io::Error::other("too many symbolic links")),
            _ => {
                links += 1;
                rest.extend(fs::read_link(&next)?.components().rev().map(own_part));
                continue;
            }
        }
        at = next;
    }
    Ok(at)
}

fn own_part(part: Component<'_>) -> PathBuf {
    part.as_os_str().into()
}

#[cfg(test)]
mod tests {
    use std::fs::Permissions;
    use std::os::unix::fs::{PermissionsExt, chown, lchown, symlink};

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
            skipping::skip!("a directory of another user: this takes root");
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
            real(&path(good)).expect(good);
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
            let error = real(&path(bad)).expect_err(bad).to_string();
            assert!(error.contains("open/link is a symbolic link"), "{error}");
        }
        let error = real(&path("own/again")).unwrap_err().to_string();
        assert_eq!(error, "too many symbolic links");
    }

    #[test]
    fn a_link_of_another_user_is_not_written_through_where_every_user_can_lay_one() {
        let directory = tempfile::tempdir().unwrap();
        let path = |name: &str| directory.path().join(name);
        for (name, mode) in [("own", 0o755), ("open", 0o1777), ("group", 0o1770)] {
            fs::create_dir(path(name)).unwrap();
            set(&path(name), mode);
            symlink("../own/file", path(name).join("link")).unwrap();
        }
        symlink("../open/link", path("own/through")).unwrap();
        let all = [
            "own/link",
            "open/link",
            "group/link",
            "own/through",
            "own/no/such",
        ];
        for name in all {
            check_links(&path(name)).expect(name);
        }
        for name in ["own/link", "open/link", "group/link"] {
            if lchown(path(name), Some(65_534), None).is_err() {
                skipping::skip!("a link of another user: this takes root");
                return;
            }
        }
        for name in all {
            let checked = check_links(&path(name)).map_err(|error| error.to_string());
            let is_bad = ["open/link", "own/through"].contains(&name);
            assert_eq!(checked.is_err(), is_bad, "{name}");
            if let Err(error) = checked {
                let said = "open/link is a symbolic link in a directory that is open to every user";
                assert!(error.contains(said), "{error}");
            }
        }
    }

    #[test]
    fn a_link_in_a_directory_that_another_user_made_in_an_open_one_is_refused() {
        let directory = tempfile::tempdir().unwrap();
        let path = |name: &str| directory.path().join(name);
        for name in ["open/his/deeper", "closed/his"] {
            fs::create_dir_all(path(name)).unwrap();
        }
        set(&path("open"), 0o1777);
        let links = ["open/his/link", "open/his/deeper/link", "closed/his/link"];
        for name in links {
            symlink(path("victim"), path(name)).unwrap();
            check_links(&path(name)).expect("an own link");
        }
        for name in ["open/his", "closed/his"] {
            if chown(path(name), Some(65_534), None).is_err() {
                skipping::skip!("a directory of another user: this takes root");
                return;
            }
            check_links(&path(name).join("link")).expect("an own link");
        }
        for (name, is_good) in links.into_iter().zip([false, false, true]) {
            lchown(path(name), Some(65_534), None).unwrap();
            let checked = check_links(&path(name)).map_err(|error| error.to_string());
            assert_eq!(checked.is_ok(), is_good, "{name}");
            if let Err(error) = checked {
                let said =
                    "link is a symbolic link in a directory that another user has made below one";
                assert!(error.contains(said), "{error}");
            }
        }
        fs::write(path("open/his/file"), "").unwrap();
        check_links(&path("open/his/file")).expect("no link");
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
        assert_eq!(way("own/../link").unwrap(), path.join("own"));
        symlink("no/such", path.join("dangling")).unwrap();
        assert_eq!(way("dangling/a").unwrap(), path.join("no/such/a"));
        let error = way("link/a/../b").unwrap_err().to_string();
        assert!(error.starts_with("it goes up"), "{error}");
        assert!(own_way(Path::new("no/such")).unwrap().is_absolute());
    }

    #[test]
    fn root_s_directory_is_below_none_that_others_can_change() {
        if !rustix::process::geteuid().is_root() {
            skipping::skip!("directories above root's: this takes root");
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
        // Another user can put a file of his own there.
        assert!(own_place(&above.join("file")).is_err());
        assert!(own_place(&path.join("file")).is_ok());
        chown(&above, Some(65_534), None).unwrap();
        let error = own_way(&path).unwrap_err().to_string();
        assert!(
            error.contains("above belongs to another user (65534), who could"),
            "{error}"
        );
    }
}
