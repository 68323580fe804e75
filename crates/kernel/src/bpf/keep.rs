//! Loads a controller that stays when the process has ended.

use libbpf_rs::Object;

use super::features::Features;
use super::load::{Loaded, load, operations, register};
use super::{bpffs, registered};
use crate::{Error, Settings};

/// The kernel object that a file holds, so that a controller stays that no process holds.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Keeping {
    /// A link. The controller goes with the last of its files and processes.
    ByLink,
    /// The map of its operations, as before Linux 6.4. The controller goes when the map's entry is deleted.
    ByOperations,
}

impl Keeping {
    /// Both ways.
    pub const ALL: [Keeping; 2] = [Keeping::ByLink, Keeping::ByOperations];

    /// The way that suits the running kernel.
    ///
    /// # Errors
    ///
    /// The machine lacks something.
    pub fn of_this_kernel() -> Result<Keeping, Error> {
        Ok(if Features::of_able()?.has_links {
            Keeping::ByLink
        } else {
            Keeping::ByOperations
        })
    }
}

/// Offers controllers to every program on the machine, under their kernel names, until they are
/// [unloaded](crate::unload) or the machine restarts. It offers all of them or none. `version` is the version of the
/// loading program, for [`Registered`](crate::Registered).
///
/// ```no_run
/// use kernel::{Algorithm, Keeping, Registered, Settings};
///
/// kernel::keep(&[Settings::new(Algorithm::Bbr1)], "1.0", Keeping::of_this_kernel()?)?;
/// // Now any connection can use it, by `TCP_CONGESTION` or `sysctl`.
/// let registered = Registered::find(Algorithm::Bbr1)?.expect("it was loaded");
/// println!("loaded {} s ago", registered.age.as_secs_f64());
/// kernel::unload(&[Algorithm::Bbr1])?;
/// # Ok::<(), kernel::Error>(())
/// ```
///
/// # Errors
///
/// The machine lacks something; a controller is already loaded; the kernel refuses one; or the BPF file system cannot
/// be used.
pub fn keep(all: &[Settings], version: &str, keeping: Keeping) -> Result<(), Error> {
    let features = Features::of_able()?;
    let _lock = bpffs::lock()?;
    bpffs::prepare()?;
    for settings in all {
        registered::tidy(settings.algorithm())?;
    }
    let done = match keeping {
        Keeping::ByLink => load(all, version).and_then(Loaded::pin),
        Keeping::ByOperations => keep_operations(all, version, features),
    };
    if done.is_err() {
        bpffs::tidy();
    }
    done
}

fn keep_operations(all: &[Settings], version: &str, features: Features) -> Result<(), Error> {
    let features = Features {
        has_links: false,
        ..features
    };
    for (place, settings) in all.iter().enumerate() {
        let path = bpffs::pin(settings.algorithm());
        // The file comes first, because a controller must be found again once it is offered. If the process is killed
        // in between, only the file remains.
        let attach = |loaded: &mut Object| {
            operations(loaded)?.pin(&path)?;
            // Without a link there is nothing to hold. libbpf's stand-in for a link would remove the controller when it
            // is dropped.
            operations(loaded)?.attach_struct_ops()?.disconnect();
            Ok(())
        };
        if let Err(error) = register(settings, version, &features, attach) {
            let is_own = !matches!(error, Error::AlreadyLoaded(_));
            let undone = &all[..place + usize::from(is_own)];
            for settings in undone {
                let _ = registered::remove(settings.algorithm());
            }
            return Err(error);
        }
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use std::fs;

    use nix::mount::{MsFlags, mount};
    use nix::sched::{CloneFlags, unshare};

    use super::*;
    use crate::{Algorithm, Registered, check};

    #[test]
    fn what_a_killed_loader_has_left_is_tidied() {
        if let Some(lack) = check().into_iter().find_map(|required| required.lack) {
            skipping::skip!("what a killed loader has left: {lack}");
            return;
        }
        let test = || {
            unshare(CloneFlags::CLONE_NEWNS).expect("a mount namespace");
            let private = MsFlags::MS_REC | MsFlags::MS_PRIVATE;
            mount(None::<&str>, "/", None::<&str>, private, None::<&str>).expect("private mounts");
            let (bpf, none) = (Some("bpf"), MsFlags::empty());
            mount(bpf, "/sys/fs/bpf", bpf, none, None::<&str>).expect("an empty file system");
            bpffs::prepare().expect("a directory");
            let settings = Settings::new(Algorithm::Bbr1);
            let path = bpffs::pin(Algorithm::Bbr1);
            let features = Features {
                has_links: false,
                ..Features::of_able().expect("able")
            };
            let pinned = register(&settings, "killed", &features, |loaded| {
                operations(loaded)?.pin(&path)
            });
            pinned.expect("a file");
            assert!(registered::is_kept(Algorithm::Bbr1).expect("a look"));
            assert!(Registered::find(Algorithm::Bbr1).expect("a look").is_none());
            registered::tidy(Algorithm::Bbr1).expect("it goes");
            assert!(
                fs::read_dir(path.parent().expect("a directory"))
                    .expect("there")
                    .next()
                    .is_none()
            );
        };
        std::thread::scope(|scope| scope.spawn(test).join().expect("no panic"));
    }
}
