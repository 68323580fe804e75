//! Checks of an offer.

use std::collections::HashSet;

use crate::limits::MAX_FILES;
use crate::message::Offered;
use crate::name;
use crate::refusal::Refusal;

/// The most names of an unfinished transfer in an error.
const NAMES_SHOWN: usize = 8;

/// Checks that these files may be received at all.
pub fn check(files: &[Offered]) -> Result<(), Refusal> {
    if files.is_empty() || files.len() > MAX_FILES {
        let files = files.len() as u64;
        return Err(Refusal::Count { files });
    }
    let mut paths = HashSet::new();
    let mut directories = HashSet::new();
    for file in files {
        let path = file.path.as_str();
        name::check_path(path).map_err(|problem| Refusal::Name {
            name: path.chars().take(100).collect(),
            problem,
        })?;
        file.check().map_err(|_| Refusal::Size {
            name: path.to_owned(),
        })?;
        if file.is_directory() {
            directories.insert(path);
        } else if !paths.insert(path) {
            return Err(Refusal::SameName {
                name: path.to_owned(),
            });
        }
        directories.extend(name::parents(path));
        if directories.len() > MAX_FILES {
            break;
        }
    }
    // Parents without an entry of their own are created, too.
    let all = paths.len() + directories.len();
    if all > MAX_FILES {
        return Err(Refusal::Count { files: all as u64 });
    }
    match paths.intersection(&directories).next() {
        Some(path) => Err(Refusal::SameName {
            name: (*path).to_owned(),
        }),
        None => Ok(()),
    }
}

/// Checks that the files now `offered` are those of the unfinished transfer.
pub fn compare(adopted: &[Offered], offered: &[Offered]) -> Result<(), Refusal> {
    let is_same = |adopted: &Offered, offered: &Offered| {
        adopted.path == offered.path && adopted.is_directory() == offered.is_directory()
    };
    let mut pairs = adopted.iter().zip(offered);
    if adopted.len() != offered.len() || !pairs.clone().all(|(a, o)| is_same(a, o)) {
        let names = adopted
            .iter()
            .take(NAMES_SHOWN)
            .map(|file| file.path.clone());
        return Err(Refusal::OtherTransfer {
            names: names.collect(),
            more: adopted.len().saturating_sub(NAMES_SHOWN) as u64,
        });
    }
    match pairs.find(|(adopted, offered)| adopted.size != offered.size) {
        Some((_, file)) => Err(Refusal::SourceChanged {
            name: file.path.clone(),
        }),
        None => Ok(()),
    }
}
