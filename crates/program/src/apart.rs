//! The places of a command's results, which must not be in each other's way.

use std::fs;
use std::path::{Path, PathBuf};

use crate::failure::Failure;
use crate::whole::{is_written_directly, linked};

/// An option that names a place for results, and the place.
pub type Place<'p> = (&'p str, Option<&'p Path>);

/// Checks before the work that no result goes to the place of another, or into `directory`, which is written as a whole
/// and holds nothing else. The other places are files, or directories that keep what is in them.
pub fn check(directory: Place<'_>, others: &[Place<'_>]) -> Result<(), Failure> {
    let mut earlier: Vec<(&str, PathBuf)> = Vec::new();
    for (option, place) in std::iter::once(&directory).chain(others) {
        let Some(place) = place.filter(|place| !is_written_directly(place)) else {
            continue;
        };
        let own = absolute(place);
        let refused =
            |reason: String| Failure::usage(format_args!("{option} {}: {reason}", place.display()));
        for (of, taken) in &earlier {
            if own == *taken {
                return Err(refused(format!(
                    "is also the place of {of}; give another name"
                )));
            }
            if *of == directory.0 && own.starts_with(taken) {
                return Err(refused(format!(
                    "is in the directory of {of}, which holds nothing else; give another place"
                )));
            }
        }
        earlier.push((*option, own));
    }
    Ok(())
}

/// The path without links, as far as it exists.
fn absolute(place: &Path) -> PathBuf {
    let place = std::path::absolute(linked(place)).unwrap_or_else(|_| place.to_owned());
    let mut there = place.ancestors();
    let found = there.find_map(|way| Some((way, fs::canonicalize(way).ok()?)));
    found.map_or_else(
        || place.clone(),
        |(way, real)| real.join(place.strip_prefix(way).unwrap_or(Path::new(""))),
    )
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn results_are_not_in_each_others_way() {
        let home = tempfile::tempdir().expect("a directory");
        let at = |name: &str| home.path().join(name);
        std::os::unix::fs::symlink(home.path(), at("link")).expect("linked");
        let told = |out: Option<&str>, one: &str, two: Option<&str>| {
            let [out, two] = [out, two].map(|name| name.map(at));
            let one = at(one);
            let others = [("--pcap", Some(&*one)), ("--json", two.as_deref())];
            check(("--out", out.as_deref()), &others).map_err(|failure| failure.to_string())
        };
        assert_eq!(told(None, "a", None), Ok(()));
        assert_eq!(told(Some("a"), "ab", Some("b/a")), Ok(()));
        // The directory may be in one that keeps what is in it.
        assert_eq!(told(Some("a/b"), "a", Some("a/c")), Ok(()));
        for (out, one, two, part) in [
            ("a", "a", None, "a: is also the place of --out"),
            ("a", "link/a/", None, "is also the place of --out"),
            ("link/a", "a/b/c", None, "is in the directory of --out"),
            ("a", "b", Some("link/b"), "is also the place of --pcap"),
        ] {
            let told = told(Some(out), one, two).expect_err(part);
            assert!(told.contains(part), "{told}");
        }
        let null = Some(Path::new("/dev/null"));
        check(("--out", None), &[("--scenario", null), ("--ranges", null)]).expect("a device");
    }
}
