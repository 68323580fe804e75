//! Finds a controller that the kernel offers, by the file that keeps it.
//!
//! The file holds the map of operations, or a link that names it. The map has the numbers of the programs. A program
//! has the numbers of its maps, which hold the values that it was loaded with.

use std::fs;
use std::os::fd::{AsFd, AsRawFd, OwnedFd};
use std::path::Path;
use std::thread;
use std::time::{Duration, SystemTime};

use libbpf_rs::query::{LinkInfo, LinkTypeInfo, ProgInfoIter, ProgInfoQueryOptions, ProgramInfo};
use libbpf_rs::{Link, MapCore, MapFlags, MapHandle, MapType, ProgramType};

use super::{CONFIG, LOAD, VERSION, bpffs, failed};
use crate::{Algorithm, Error, Settings, since_boot, users};

const CANNOT_LOOK: &str = "cannot look at a controller in the kernel, which takes root";

/// `BPF_MAP_TYPE_STRUCT_OPS` (<uapi/linux/bpf.h>).
const STRUCT_OPS_MAP: &str = "26";

/// True if there is a file that keeps it.
pub(super) fn is_kept(algorithm: Algorithm) -> Result<bool, Error> {
    let path = bpffs::pin(algorithm);
    let cannot = |source| Error::system(format!("cannot look at {}", path.display()), source);
    Ok(bpffs::is_there()? && path.try_exists().map_err(cannot)?)
}

/// A controller that was loaded and [kept](crate::keep).
#[derive(Debug)]
pub struct Registered {
    /// The time since it was loaded.
    pub age: units::Duration,
    /// The version of the program that loaded it.
    pub version: String,
    /// The settings with which it was loaded.
    pub settings: Settings,
}

impl Registered {
    /// Looks for the controller.
    ///
    /// # Errors
    ///
    /// The controller is there, but this process may not look at it (CAP_SYS_ADMIN).
    pub fn find(algorithm: Algorithm) -> Result<Option<Registered>, Error> {
        if !is_kept(algorithm)? {
            return Ok(None);
        }
        super::log::silence();
        let path = bpffs::pin(algorithm);
        let cannot = || failed(format!("cannot look at {}", path.display()));
        let kept = PinnedFile::open(&path)?;
        // A killed loader may leave a file of a controller that was never offered; a killed unloader, of one that is
        // gone.
        let name = algorithm.kernel_name();
        if !linux::controllers_here()?.iter().any(|here| here == name) {
            return Ok(None);
        }
        let Some(program) = program(&kept.operations()?)? else {
            return Ok(None);
        };
        let constants = |name: &str| constants(&program, name).map_err(cannot());
        let words: Vec<u64> = constants(CONFIG)?
            .chunks_exact(8)
            .filter_map(|word| Some(u64::from_ne_bytes(word.try_into().ok()?)))
            .collect();
        let load = constants(LOAD)?;
        let version = load.get(VERSION).unwrap_or_default();
        let version = version.split(|&byte| byte == 0).next().unwrap_or_default();
        Ok(Some(Registered {
            age: since_boot()?.saturating_sub(program.load_time.into()),
            version: String::from_utf8_lossy(version).into_owned(),
            settings: Settings::of_words(algorithm, &words),
        }))
    }

    /// The time when it was loaded.
    pub fn since(&self) -> SystemTime {
        SystemTime::now() - self.age.into()
    }
}

/// Removes controllers, all or none, so that no new connection can request them. Connections that have one keep it
/// until they end. Listening sockets that requested one keep it too, and so do the connections that they accept.
///
/// # Errors
///
/// A controller is not [kept](crate::keep); a namespace has it as its default; or its file cannot
/// be removed.
pub fn unload(all: &[Algorithm]) -> Result<(), Error> {
    let _lock = bpffs::lock()?;
    for &algorithm in all {
        is_free(algorithm)?;
    }
    for &algorithm in all {
        remove(algorithm)?;
    }
    bpffs::tidy();
    // Before 6.11, and if a map keeps it, the kernel lists the name for a moment longer.
    for _ in 0..100 {
        let offered = linux::controllers_here()?;
        if !all
            .iter()
            .any(|one| offered.iter().any(|name| name == one.kernel_name()))
        {
            break;
        }
        thread::sleep(Duration::from_millis(20));
    }
    Ok(())
}

/// Checks that it is kept here and that no namespace has it as its default.
fn is_free(algorithm: Algorithm) -> Result<(), Error> {
    let name = algorithm.kernel_name();
    if Registered::find(algorithm)?.is_none() {
        let is_offered = linux::controllers_here()?.iter().any(|here| here == name);
        return Err(if is_offered {
            Error::Elsewhere(name)
        } else {
            Error::NotLoaded(name)
        });
    }
    let users = users(name)?.into_iter().filter(|user| user.is_default);
    let whose: Vec<String> = users.map(|user| user.namespace).collect();
    if !whose.is_empty() {
        let whose = whose.join(", ");
        return Err(Error::IsDefault { name, whose });
    }
    Ok(())
}

/// Removes the controller and the file that keeps it.
pub(super) fn remove(algorithm: Algorithm) -> Result<(), Error> {
    let path = bpffs::pin(algorithm);
    let kept = PinnedFile::open(&path)?;
    // Without the file, the controller could no longer be found and removed.
    if let PinnedFile::Operations(map) = &kept {
        // If its loader was killed before it was offered, there is nothing to remove.
        let _ = map.delete(&[0; 4]);
    }
    fs::remove_file(&path)
        .map_err(|source| Error::system(format!("cannot remove {}", path.display()), source))?;
    if let PinnedFile::Link(link) = &kept {
        // The kernel removes the controller some time after its last file. Since 6.11, `detach` removes it at once.
        let _ = link.detach();
    }
    Ok(())
}

/// Removes the file of a loader that was killed before its controller was offered.
pub(super) fn tidy(algorithm: Algorithm) -> Result<(), Error> {
    if is_kept(algorithm)? && Registered::find(algorithm)?.is_none() {
        remove(algorithm)?;
    }
    Ok(())
}

/// The content of the file.
enum PinnedFile {
    Link(Link),
    Operations(MapHandle),
}

impl PinnedFile {
    /// Opens the file. libbpf takes every file of the BPF file system for the type that it is asked to open. The kernel
    /// gives the real type in `/proc/self/fdinfo`.
    fn open(path: &Path) -> Result<PinnedFile, Error> {
        let cannot = || failed(format!("cannot open {}", path.display()));
        let link = Link::open(path).map_err(cannot())?;
        let about = format!("/proc/self/fdinfo/{}", link.as_fd().as_raw_fd());
        let about = fs::read_to_string(about)
            .map_err(|source| Error::system("cannot look at an open file", source))?;
        let is = |field: &str, value: &str| {
            let mut lines = about.lines().filter_map(|line| line.split_once(':'));
            lines.any(|(name, is)| name == field && is.trim() == value)
        };
        if is("link_type", "struct_ops") {
            Ok(PinnedFile::Link(link))
        } else if is("map_type", STRUCT_OPS_MAP) {
            let map = MapHandle::from_pinned_path(path);
            map.map(PinnedFile::Operations).map_err(cannot())
        } else {
            let what = format!("{} holds no controller: remove it", path.display());
            Err(Error::Lacking(what))
        }
    }

    fn operations(self) -> Result<MapHandle, Error> {
        match self {
            PinnedFile::Link(link) => operations(&link),
            PinnedFile::Operations(map) => Ok(map),
        }
    }
}

/// The map of the state of connections that have the controller, each of which begins with a
/// [`Snapshot`](crate::Snapshot). `None` unless the controller was loaded and [kept](crate::keep).
///
/// # Errors
///
/// Connections without objects do not show whether an object was cut short.
pub fn flows(algorithm: Algorithm) -> Result<Option<OwnedFd>, Error> {
    if !is_kept(algorithm)? {
        return Ok(None);
    }
    super::log::silence();
    let kept = PinnedFile::open(&bpffs::pin(algorithm))?;
    flows_of(&kept.operations()?).map(Some)
}

/// The same for a map of operations.
pub(super) fn flows_of(operations: &MapHandle) -> Result<OwnedFd, Error> {
    let program = program(operations)?;
    let program =
        program.ok_or_else(|| Error::Lacking(format!("{CANNOT_LOOK}: it has no program")))?;
    let maps = program.map_ids;
    let mut maps = maps
        .into_iter()
        .filter_map(|id| MapHandle::from_map_id(id).ok());
    let flows = maps.find(|map| map.map_type() == MapType::SkStorage);
    let flows = flows.ok_or_else(|| Error::Lacking(CANNOT_LOOK.to_owned()))?;
    flows
        .as_fd()
        .try_clone_to_owned()
        .map_err(|source| Error::system(CANNOT_LOOK, source))
}

pub(super) fn operations(link: &Link) -> Result<MapHandle, Error> {
    let info = LinkInfo::from_fd(link.as_fd()).map_err(failed(CANNOT_LOOK))?;
    let LinkTypeInfo::StructOps(operations) = info.info else {
        return Err(Error::Lacking(format!("{CANNOT_LOOK}: it is none")));
    };
    MapHandle::from_map_id(operations.map_id).map_err(failed(CANNOT_LOOK))
}

/// A program of a controller. `None` if the kernel never offered it, because its loader was killed.
fn program(operations: &MapHandle) -> Result<Option<ProgramInfo>, Error> {
    let value = operations
        .lookup(&[0; 4], MapFlags::ANY)
        .map_err(failed(CANNOT_LOOK))?;
    Ok(program_in(&value.unwrap_or_default()))
}

/// One of the programs of a map of operations. The kernel's value has the number of each program in the word of its
/// function. Other words, such as counters and the name, are no number of a `cong_control`.
fn program_in(value: &[u8]) -> Option<ProgramInfo> {
    let ids: Vec<u64> = value
        .chunks_exact(8)
        .filter_map(|word| Some(u64::from_ne_bytes(word.try_into().ok()?)))
        .collect();
    let options = ProgInfoQueryOptions::default().include_map_ids(true);
    ProgInfoIter::with_query_opts(options).find(|program| {
        program.ty == ProgramType::StructOps
            && program.name == "cong_control"
            && ids.contains(&program.id.into())
    })
}

/// The bytes of a map of constants.
fn constants(program: &ProgramInfo, name: &str) -> Result<Vec<u8>, libbpf_rs::Error> {
    let value = map_of(program, name)?.map(|map| map.lookup(&[0; 4], MapFlags::ANY));
    Ok(value.transpose()?.flatten().unwrap_or_default())
}

/// The program's map of this name.
pub(super) fn map_of(
    program: &ProgramInfo,
    name: &str,
) -> Result<Option<MapHandle>, libbpf_rs::Error> {
    for &id in &program.map_ids {
        let map = MapHandle::from_map_id(id)?;
        // The kernel truncates names to fifteen characters.
        let is = map.name().to_string_lossy();
        if *is == name[..name.len().min(15)] {
            return Ok(Some(map));
        }
    }
    Ok(None)
}
