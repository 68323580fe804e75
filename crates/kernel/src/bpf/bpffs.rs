//! Where a controller is kept when no program holds it: the BPF file system.

use std::fs;
use std::io::ErrorKind;
use std::path::{Path, PathBuf};

use nix::mount::{MsFlags, mount};
use nix::sys::statfs::{BPF_FS_MAGIC, statfs};

use crate::check::Requirement;
use crate::{Algorithm, Error};

/// Where systemd and others mount it.
const MOUNT: &str = "/sys/fs/bpf";

/// Whether it is mounted.
pub(super) fn is_mounted() -> bool {
    statfs(MOUNT).is_ok_and(|found| found.filesystem_type() == BPF_FS_MAGIC)
}

/// The file that keeps a controller.
pub(super) fn pin(algorithm: Algorithm) -> PathBuf {
    file(algorithm.kernel_name())
}

/// The file of this name.
pub(super) fn file(name: &str) -> PathBuf {
    Path::new(MOUNT).join("fullpipe").join(name)
}

/// Mounts it if it is not, and makes the directory of pins.
pub(super) fn prepare() -> Result<(), Error> {
    if !is_mounted() {
        mount(
            Some("bpf"),
            MOUNT,
            Some("bpf"),
            MsFlags::empty(),
            None::<&str>,
        )
        .map_err(|source| {
            Error::system(
                format!("cannot mount the BPF file system at {MOUNT}"),
                source,
            )
        })?;
    }
    let directory = Path::new(MOUNT).join("fullpipe");
    match fs::create_dir(&directory) {
        Err(source) if source.kind() != ErrorKind::AlreadyExists => Err(Error::system(
            format!("cannot make {}", directory.display()),
            source,
        )),
        _ => Ok(()),
    }
}

/// Removes the directory of pins if there is none left in it.
pub(super) fn tidy() {
    let _ = fs::remove_dir(Path::new(MOUNT).join("fullpipe"));
}

/// Where it is, or can be, mounted.
pub(super) fn requirement() -> Requirement {
    let lack = "no /sys/fs/bpf: mount /sys, in a kernel with CONFIG_BPF_SYSCALL";
    let is_there = is_mounted() || Path::new(MOUNT).is_dir();
    Requirement::new("BPF file system", (!is_there).then_some(lack))
}
