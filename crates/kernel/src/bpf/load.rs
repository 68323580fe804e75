//! From nothing to a controller that the kernel offers.

use std::fs;
use std::io::{self, ErrorKind};
use std::os::fd::OwnedFd;

use libbpf_rs::{Link, MapCore, MapType, Object, ObjectBuilder, OpenObject};

use super::features::Features;
use super::log::{self, Listener};
use super::{CONFIG, LOAD, VERSION, bpffs, registered};
use crate::{Algorithm, Error, Settings, check};

/// Controllers that the kernel offers for as long as this lives, however the process ends; or, once they are
/// [kept](Loaded::pin), until they are unloaded or the machine restarts.
#[derive(Debug)]
pub struct Loaded {
    all: Vec<(Algorithm, Link)>,
}

/// Offers controllers to every program on the machine, under their kernel names: all of them, or none. `version` is whose
/// they are, for [`Registered`](crate::Registered).
///
/// # Errors
///
/// What the machine lacks; that one is loaded already; or why the kernel refuses it.
pub fn load(all: &[Settings], version: &str) -> Result<Loaded, Error> {
    let lacking = check().into_iter().find_map(|required| {
        let lack = required.lack?;
        Some(format!("{}: {lack}", required.what))
    });
    if let Some(lack) = lacking {
        return Err(Error::Lacking(lack));
    }
    let features = Features::read()?;
    let links = all.iter().map(|settings| {
        let algorithm = settings.algorithm();
        Ok((algorithm, register(settings, version, &features)?))
    });
    Ok(Loaded {
        all: links.collect::<Result<_, Error>>()?,
    })
}

impl Loaded {
    /// The maps of what their connections keep, each of which begins with a [`Snapshot`](crate::Snapshot).
    ///
    /// # Errors
    ///
    /// If this process may not look at it (CAP_SYS_ADMIN).
    pub fn flows(&self) -> Result<Vec<OwnedFd>, Error> {
        let flows = self.all.iter().map(|(_, link)| registered::flows_of(link));
        flows.collect()
    }

    /// Keeps them beyond the end of this process. Each is kept or not by one file, so that nothing is ever half there.
    ///
    /// # Errors
    ///
    /// If the BPF file system cannot be used; then none is kept.
    pub fn pin(mut self) -> Result<(), Error> {
        bpffs::prepare()?;
        let mut kept = Vec::new();
        for (algorithm, link) in &mut self.all {
            let path = bpffs::pin(*algorithm);
            if let Err(error) = link.pin(&path) {
                for path in &kept {
                    let _ = fs::remove_file(path);
                }
                bpffs::tidy();
                return Err(super::failed(format!("cannot make {}", path.display()))(
                    error,
                ));
            }
            kept.push(path);
        }
        Ok(())
    }
}

fn register(settings: &Settings, version: &str, features: &Features) -> Result<Link, Error> {
    let algorithm = settings.algorithm();
    let name = algorithm.kernel_name();
    if registered::is_kept(algorithm) || linux::controllers_here()?.iter().any(|here| here == name)
    {
        return Err(Error::AlreadyLoaded(name));
    }
    let listener = log::listen();
    let refused = |error| refused(algorithm, &error, &listener);
    // The parser of object files wants them aligned, as what is allocated is.
    let object = object(algorithm).to_vec();
    let mut opened = ObjectBuilder::default()
        .open_memory(&object)
        .map_err(refused)?;
    set(&mut opened, settings, version, features);
    let mut loaded = opened.load().map_err(refused)?;
    attach(&mut loaded).map_err(|error| match error.kind() {
        libbpf_rs::ErrorKind::AlreadyExists => Error::AlreadyLoaded(name),
        _ => refused(error),
    })
}

fn object(algorithm: Algorithm) -> &'static [u8] {
    match algorithm {
        Algorithm::Bbr1 => include_bytes!(concat!(env!("OUT_DIR"), "/bbr1.bpf.o")),
        Algorithm::Bbr3 => include_bytes!(concat!(env!("OUT_DIR"), "/bbr3.bpf.o")),
    }
}

/// Writes what the programs take for constants.
fn set(opened: &mut OpenObject, settings: &Settings, version: &str, features: &Features) {
    for mut map in opened.maps_mut() {
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
        }
    }
}

/// Tells the kernel that the controller is there.
fn attach(loaded: &mut Object) -> Result<Link, libbpf_rs::Error> {
    let operations = loaded
        .maps_mut()
        .find(|map| map.map_type() == MapType::StructOps);
    match operations {
        Some(mut map) => map.attach_struct_ops(),
        None => Err(io::Error::from(ErrorKind::NotFound).into()),
    }
}

fn refused(algorithm: Algorithm, error: &libbpf_rs::Error, listener: &Listener) -> Error {
    let log = listener.said();
    Error::Refused {
        algorithm,
        reason: log::reason(&log).map_or_else(|| error.to_string(), str::to_owned),
        log,
    }
}
