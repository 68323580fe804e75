//! The names under which files and directories appear: their own, unless these are taken.
//!
//! Some file systems treat two names as one: they ignore case (APFS, exFAT, NTFS, SMB), the Unicode form (APFS, HFS+),
//! or dots and spaces at the end (SMB). This depends on the file system, its version and its settings. So it is
//! tested: before anything is received, names that might collide are created in a directory of the receiver's own.

use std::borrow::Cow;
use std::collections::{BTreeMap, HashMap, HashSet};
use std::hash::{BuildHasher, RandomState};
use std::io;

use serde::{Deserialize, Serialize};
use unicode_normalization::UnicodeNormalization;

use super::folders::split;
use crate::message::Offered;
use crate::name::{self, MAX_NAME};

/// The new names of some files and directories of an offer, by their paths in the offer.
#[derive(Debug, Default, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Names(BTreeMap<String, String>);

impl Names {
    /// The path at which the entry `path` of the offer appears.
    pub fn place<'a>(&self, path: &'a str) -> Cow<'a, str> {
        if self.0.is_empty() {
            return path.into();
        }
        let mut place = String::new();
        for prefix in prefixes(path) {
            if !place.is_empty() {
                place.push('/');
            }
            place += self.name(prefix);
        }
        place.into()
    }

    /// The last name of the entry `path` of the offer.
    pub fn name<'a>(&'a self, path: &'a str) -> &'a str {
        self.0.get(path).map_or(split(path).1, String::as_str)
    }

    /// Sets the name of the entry `path` of the offer.
    pub fn set(&mut self, path: &str, name: String) {
        self.0.insert(path.to_owned(), name);
    }

    /// The entries of the offer with new names, and their new paths.
    pub fn renamed(&self) -> impl Iterator<Item = (&str, String)> {
        let renamed = self.0.keys();
        renamed.map(|path| (path.as_str(), self.place(path).into_owned()))
    }

    /// The number of new names.
    pub fn len(&self) -> usize {
        self.0.len()
    }
}

/// All parents of `path`, the outermost first, and `path`.
fn prefixes(path: &str) -> impl Iterator<Item = &str> {
    name::parents(path).chain([path])
}

/// An entry of a directory.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Sibling<'a> {
    /// Its path in the offer.
    pub path: &'a str,
    /// True for a directory.
    pub is_directory: bool,
}

/// The entries of each directory of an offer, grouped by names that might collide.
pub struct Siblings<'a> {
    files: &'a [Offered],
    hasher: RandomState,
    /// The first entry with this fold of its name in its directory: the file whose path contains it, and the length of
    /// its own path.
    first: HashMap<u64, (u32, u32)>,
    /// The other entries, by the first.
    others: BTreeMap<(u32, u32), Vec<Sibling<'a>>>,
    /// The last number of the new names for a name.
    numbers: HashMap<u64, u64>,
}

impl<'a> Siblings<'a> {
    /// The entries of `files`, some of which have new `names`.
    pub fn of(files: &'a [Offered], names: &Names) -> Siblings<'a> {
        let mut siblings = Siblings {
            files,
            hasher: RandomState::new(),
            first: HashMap::new(),
            others: BTreeMap::new(),
            numbers: HashMap::new(),
        };
        let mut seen = HashSet::new();
        let mut before = "";
        for (file, offered) in (0..).zip(files) {
            for path in prefixes(&offered.path) {
                let rest = before.strip_prefix(path);
                if !rest.is_some_and(|rest| rest.is_empty() || rest.starts_with('/')) {
                    siblings.add(file, path, names, &mut seen);
                }
            }
            before = &offered.path;
        }
        siblings
    }

    fn add(&mut self, file: u32, path: &'a str, names: &Names, seen: &mut HashSet<&'a str>) {
        let key = self.key(split(path).0, names.name(path));
        let place = (file, path.len() as u32);
        let first = *self.first.entry(key).or_insert(place);
        if first != place && self.at(first).path != path && seen.insert(path) {
            let sibling = self.at(place);
            self.others.entry(first).or_default().push(sibling);
        }
    }

    fn at(&self, (file, len): (u32, u32)) -> Sibling<'a> {
        let file = &self.files[file as usize];
        Sibling {
            path: &file.path[..len as usize],
            is_directory: file.is_directory() || (len as usize) < file.path.len(),
        }
    }

    fn key(&self, parent: &str, name: &str) -> u64 {
        self.hasher.hash_one((parent, fold(name)))
    }

    /// The groups of entries that might collide.
    pub fn groups(&self) -> Vec<Vec<Sibling<'a>>> {
        let group = |(first, others): (&(u32, u32), &Vec<Sibling<'a>>)| {
            let first = [self.at(*first)].into_iter();
            first.chain(others.iter().copied()).collect()
        };
        self.others.iter().map(group).collect()
    }

    /// A name for the entry `path` of the offer that no other entry of its directory has, and that is not `taken`.
    pub fn free_name(
        &mut self,
        Sibling { path, is_directory }: Sibling<'_>,
        mut taken: impl FnMut(&str) -> io::Result<bool>,
    ) -> io::Result<String> {
        let (parent, name) = split(path);
        let numbers = self.key(parent, name);
        loop {
            let number = self.numbers.entry(numbers).or_insert(1);
            *number += 1;
            let new = beside(name, *number, is_directory);
            let key = self.key(parent, &new);
            if !self.first.contains_key(&key) && !taken(&new)? {
                self.first.insert(key, (u32::MAX, 0));
                return Ok(new);
            }
        }
    }
}

/// Names that a file system might treat as one have the same fold. Different names may share one, too.
fn fold(name: &str) -> String {
    let name = name.trim_end_matches(['.', ' ']);
    if name.is_ascii() {
        return name.to_ascii_lowercase();
    }
    // Converted to uppercase and back: only then a capital sharp s equals a small one, as two letters.
    let cases = name
        .nfkd()
        .flat_map(char::to_lowercase)
        .flat_map(char::to_uppercase)
        .flat_map(char::to_lowercase);
    // Compatibility forms may have cases of their own, and HFS+ ignores invisible characters.
    let forms = cases.nfkd().filter(|c| !is_invisible(*c));
    forms.flat_map(char::to_lowercase).collect()
}

/// True for characters that HFS+ ignores (Apple's Technical Note 1150, "HFS Plus case folding").
fn is_invisible(c: char) -> bool {
    matches!(c, '\u{200c}'..='\u{200f}' | '\u{202a}'..='\u{202e}' | '\u{206a}'..='\u{206f}' | '\u{feff}')
}

/// The numbered variant of `name`: `photo.jpg` becomes `photo (2).jpg`, and a directory `v1.2` becomes `v1.2 (2)`.
fn beside(name: &str, number: u64, is_directory: bool) -> String {
    let dot = name.rfind('.').filter(|dot| *dot > 0 && !is_directory);
    let (stem, ending) = name.split_at(dot.unwrap_or(name.len()));
    let ending = format!(" ({number}){ending}");
    // An extension this long is not taken for one.
    if ending.len() > MAX_NAME / 2 {
        return beside(name, number, true);
    }
    let mut room = MAX_NAME - ending.len();
    while !stem.is_char_boundary(room.min(stem.len())) {
        room -= 1;
    }
    stem[..room.min(stem.len())].to_owned() + &ending
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::message::Kind;
    use crate::ranges::Ranges;

    fn offer(paths: &[&str]) -> Vec<Offered> {
        let offered = |path: &&str| Offered {
            path: (*path).to_owned(),
            size: 0,
            kind: Kind::Directory,
            holes: Ranges::default(),
        };
        paths.iter().map(offered).collect()
    }

    #[test]
    fn what_might_be_one_has_one_fold() {
        for names in [
            &["Readme", "README", "readme"][..],
            &["caf\u{e9}", "cafe\u{301}", "CAFE\u{301}", "Caf\u{e9}"],
            &["stra\u{df}e", "STRASSE", "strasse", "stra\u{1e9e}e"],
            &["\u{212a}", "k", "K"],
            &["\u{3c3}", "\u{3c2}", "\u{3a3}"],
            &["a", "a.", "a ", "a . ."],
            &["\u{fb01}x", "fix"],
            &["\u{130}", "i\u{307}"],
            &["a\u{200d}b", "ab"],
            &["\u{1f3}", "\u{1f1}", "dz"],
        ] {
            let folds: HashSet<String> = names.iter().map(|name| fold(name)).collect();
            assert_eq!(folds.len(), 1, "{names:?}: {folds:?}");
        }
        assert_ne!(fold("a"), fold("b"));
        assert_ne!(fold("\u{e9}"), fold("e"));
    }

    #[test]
    fn only_entries_of_one_directory_are_together() {
        let files = offer(&[
            "in/Dir/f", "in/dir/f", "in/dir/g", "IN", "in/Dir", "x/a", "x/A", "x/a", "y/a", "x/B/c",
        ]);
        let siblings = Siblings::of(&files, &Names::default());
        let groups = siblings.groups();
        let paths = groups
            .iter()
            .map(|group| group.iter().map(|one| one.path).collect());
        let groups: Vec<Vec<&str>> = paths.collect();
        assert_eq!(
            groups,
            [
                vec!["in", "IN"],
                vec!["in/Dir", "in/dir"],
                vec!["x/a", "x/A"]
            ]
        );
        // An entry with a new name is not in the group.
        let mut names = Names::default();
        names.set("in/dir", "dir (2)".to_owned());
        assert_eq!(Siblings::of(&files, &names).groups().len(), 2);
        assert_eq!(names.place("in/dir/f"), "in/dir (2)/f");
        assert_eq!(names.place("in/dirty/f"), "in/dirty/f");
    }

    #[test]
    fn a_new_name_is_beside_the_old_one() {
        assert_eq!(beside("photo.jpg", 2, false), "photo (2).jpg");
        assert_eq!(beside(".profile", 3, false), ".profile (3)");
        assert_eq!(beside("README", 2, false), "README (2)");
        assert_eq!(beside("v1.2", 2, true), "v1.2 (2)");
        for name in [
            "é".repeat(127),
            "x".repeat(255),
            "x.".to_owned() + &"y".repeat(253),
        ] {
            let new = beside(&name, 12, false);
            assert!(new.len() <= MAX_NAME && new.ends_with(" (12)"), "{new}");
            assert_eq!(name::check(&new), Ok(()));
        }
        let files = offer(&["a/x.c", "a/X.c", "a/X (2).C"]);
        let mut siblings = Siblings::of(&files, &Names::default());
        let sibling = Sibling {
            path: "a/X.c",
            is_directory: false,
        };
        let mut free = || siblings.free_name(sibling, |name| Ok(name == "X (3).c"));
        assert_eq!(free().unwrap(), "X (4).c");
        assert_eq!(free().unwrap(), "X (5).c");
    }
}
