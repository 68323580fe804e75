//! Loads a controller that the kernel offers.

use std::fs;
use std::io::{self, ErrorKind};
use std::os::fd::OwnedFd;

use libbpf_rs::{Link, MapCore, MapMut, MapType, Object, ObjectBuilder, OpenObject};

use super::features::Features;
use super::log::{self, Listener};
use super::{CONFIG, LOAD, TX_START, VERSION, bpffs, registered};
use crate::{Algorithm, Error, Settings};

/// Controllers that the kernel offers while this value lives. They are gone when the process ends, in whatever way.
#[derive(Debug)]
pub struct Loaded {
    all: Vec<(Algorithm, Link)>,
}

/// Offers controllers to every program on the machine, under their kernel names. It offers all of them or none.
/// `version` is the version of the loading program, for [`Registered`](crate::Registered).
///
/// # Errors
///
/// The machine lacks something, such as links (Linux 6.4); a controller is already loaded; or the kernel refuses one.
pub fn load(all: &[Settings], version: &str) -> Result<Loaded, Error> {
    let features = Features::of_able()?;
    if !features.has_links {
        let lack = "this kernel, before 6.4, cannot offer a controller for a while only: `fullpipe kernel load` comes first";
        return Err(Error::Lacking(lack.to_owned()));
    }
    let links = all.iter().map(|settings| {
        let algorithm = settings.algorithm();
        let attach = |loaded: &mut Object| operations(loaded)?.attach_struct_ops();
        Ok((algorithm, register(settings, version, &features, attach)?))
    });
    Ok(Loaded {
        all: links.collect::<Result<_, Error>>()?,
    })
}

impl Loaded {
    /// The maps of their connections' state, each of which begins with a [`Snapshot`](crate::Snapshot).
    ///
    /// # Errors
    ///
    /// This process lacks the permission to see it (CAP_SYS_ADMIN).
    pub fn flows(&self) -> Result<Vec<OwnedFd>, Error> {
        let flows = self.all.iter();
        flows
            .map(|(_, link)| registered::flows_of(&registered::operations(link)?))
            .collect()
    }

    /// Keeps them after the end of this process: all or none.
    pub(super) fn pin(mut self) -> Result<(), Error> {
        let mut kept = Vec::new();
        for (algorithm, link) in &mut self.all {
            let path = bpffs::pin(*algorithm);
            if let Err(error) = link.pin(&path) {
                for path in &kept {
                    let _ = fs::remove_file(path);
                }
                return Err(super::failed(format!("cannot make {}", path.display()))(
                    error,
                ));
            }
            kept.push(path);
        }
        Ok(())
    }
}

/// Loads a controller into the kernel. Then `attach` offers it.
pub(super) fn register<T>(
    settings: &Settings,
    version: &str,
    features: &Features,
    attach: impl FnOnce(&mut Object) -> Result<T, libbpf_rs::Error>,
) -> Result<T, Error> {
    let algorithm = settings.algorithm();
    let name = algorithm.kernel_name();
    if registered::is_kept(algorithm)? {
        return Err(Error::AlreadyLoaded(name));
    }
    if linux::controllers_here()?.iter().any(|here| here == name) {
        return Err(Error::Elsewhere(name));
    }
    let listener = log::listen();
    let mut loaded = verified(settings, version, features)
        .map_err(|error| refused(algorithm, &error, &listener))?;
    attach(&mut loaded).map_err(|error| match error.kind() {
        libbpf_rs::ErrorKind::AlreadyExists => Error::AlreadyLoaded(name),
        _ => refused(algorithm, &error, &listener),
    })
}

/// Programs that the kernel has accepted but does not offer.
fn verified(
    settings: &Settings,
    version: &str,
    features: &Features,
) -> Result<Object, libbpf_rs::Error> {
    // The parser requires aligned object files. Allocated memory is aligned.
    let object = object(settings.algorithm()).to_vec();
    let mut opened = ObjectBuilder::default().open_memory(&object)?;
    set(&mut opened, settings, version, features)?;
    opened.load()
}

/// Checks whether the kernel accepts a controller's programs. They are loaded but not offered. A kernel may meet every
/// requirement of [`check`](crate::check), and yet allow programs less than they need.
///
/// # Errors
///
/// A requirement is not met; the kernel refuses.
pub fn check_controller(algorithm: Algorithm) -> Result<(), Error> {
    let features = Features::of_able()?;
    let listener = log::listen();
    match verified(&Settings::new(algorithm), "", &features) {
        Ok(_) => Ok(()),
        Err(error) => Err(refused(algorithm, &error, &listener)),
    }
}

fn object(algorithm: Algorithm) -> &'static [u8] {
    match algorithm {
        Algorithm::Bbr1 => include_bytes!(concat!(env!("OUT_DIR"), "/bbr1.bpf.o")),
        Algorithm::Bbr3 => include_bytes!(concat!(env!("OUT_DIR"), "/bbr3.bpf.o")),
    }
}

/// Writes the constants of the programs.
fn set(
    opened: &mut OpenObject,
    settings: &Settings,
    version: &str,
    features: &Features,
) -> Result<(), libbpf_rs::Error> {
    for mut map in opened.maps_mut() {
        let is_operations = map.map_type() == MapType::StructOps;
        if is_operations && !features.has_links {
            map.set_map_flags(0)?;
        }
        let name = map.name().to_owned();
        let Some(value) = map.initial_value_mut() else {
            continue;
        };
        if name == CONFIG {
            for (place, word) in value.chunks_exact_mut(8).zip(settings.words()) {
                place.copy_from_slice(&word.to_ne_bytes());
            }
        } else if name == LOAD {
            value[..8].copy_from_slice(&features.rate_sample_argument.to_ne_bytes());
            for (place, byte) in value[VERSION].iter_mut().zip(version.bytes()) {
                *place = byte;
            }
        } else if is_operations && !features.has_tx_start {
            // Programs that no word names are not loaded.
            value[TX_START].fill(0);
        }
    }
    Ok(())
}

/// The map of operations, which is the controller.
pub(super) fn operations(loaded: &mut Object) -> Result<MapMut<'_>, libbpf_rs::Error> {
    let mut maps = loaded.maps_mut();
    let operations = maps.find(|map| map.map_type() == MapType::StructOps);
    operations.ok_or_else(|| io::Error::from(ErrorKind::NotFound).into())
}

fn refused(algorithm: Algorithm, error: &libbpf_rs::Error, listener: &Listener) -> Error {
    let log = listener.said();
    // The verifier has not decided if something else fails, such as memory or the number of open files.
    let by_verifier = matches!(
        error.kind(),
        libbpf_rs::ErrorKind::PermissionDenied | libbpf_rs::ErrorKind::InvalidInput
    );
    let word = log::reason(&log).filter(|_| by_verifier);
    Error::Refused {
        program: algorithm.name(),
        reason: word.map_or_else(|| error.to_string(), str::to_owned),
        log,
    }
}
