//! The program that sets the controllers of a control group's connections.

use std::cell::Cell;
use std::fs::{self, File};
use std::net::{IpAddr, Ipv6Addr};
use std::os::fd::{AsFd, AsRawFd, OwnedFd};
use std::path::PathBuf;
use std::sync::mpsc::{Receiver, channel};

use libbpf_rs::query::{LinkInfo, LinkTypeInfo, ProgInfoIter, ProgInfoQueryOptions, ProgramInfo};
use libbpf_rs::{
    Link, MapCore, MapFlags, MapHandle, MapInfo, Object, ObjectBuilder, ProgramMut, RingBuffer,
    RingBufferBuilder,
};
use nix::time::{ClockId, clock_getres};
use rules::mapped;
use units::Duration;

use super::memory::{self, Memory};
use super::registered::map_of;
use super::signals::Waiting;
use super::{bpffs, failed, log};
use crate::permission::permission;
use crate::requirement::{Requirement, met};
use crate::{
    EndedConnection, Error, InForce, ProgramOwner, ReportedObject, Resent, Steering,
    SteeringCounts, resent, since_boot,
};

const OBJECT: &[u8] = include_bytes!(concat!(env!("OUT_DIR"), "/steer.bpf.o"));

/// The number of networks that one call passes to the kernel.
const BATCH: usize = 4096;

/// The program's name, and the prefix of its files.
const PROGRAM: &str = "steer";

/// The map of its settings. A program of another layout has a map of another size or name, and is of another version.
const RULES: &str = ".rodata.rules";

/// A program that sets the controllers of a control group's connections while this value lives and its lease lasts.
pub struct Attached {
    /// The link of the running program. The program ends with this process, in whatever way.
    link: Link,
    object: Object,
    ring: RingBuffer<'static>,
    told: Receiver<EndedConnection>,
    objects: Receiver<ReportedObject>,
    /// The end of the lease, as time since boot. The first lease cannot be late.
    until: Cell<Duration>,
    lapsed: Cell<Duration>,
}

impl std::fmt::Debug for Attached {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Attached").finish_non_exhaustive()
    }
}

/// Attaches the program to a control group, which is given as an open directory. The program does nothing until its
/// lease is [renewed](Attached::renew).
///
/// # Errors
///
/// The machine lacks something, or the kernel refuses the program.
pub fn attach(cgroup: &File, steering: &Steering) -> Result<Attached, Error> {
    attach_with(cgroup, steering, None)
}

/// The same, with what an earlier program remembers of client networks.
///
/// # Errors
///
/// See [`attach`].
pub fn attach_with(
    cgroup: &File,
    steering: &Steering,
    memory: Option<&Memory>,
) -> Result<Attached, Error> {
    met(&requirements())?;
    let object = load(steering, memory, |_, _| Ok(()), || Ok(()))?;
    // The link stands beside those of others. The kernel runs all of them.
    let link = entry(&object)?
        .attach_cgroup(cgroup.as_raw_fd())
        .map_err(failed(
            "cannot attach to the control group; it must be one of version 2, and no program on it or above it may exclude others",
        ))?;
    let (tell, told) = channel();
    let tick = tick()?;
    let (tell_object, objects) = channel();
    let events = map(&object, "events")?;
    let object_events = map(&object, "objects")?;
    let mut builder = RingBufferBuilder::new();
    let heard = move |bytes: &[u8]| {
        if let Some(ended) = EndedConnection::parse(bytes, tick) {
            // The receiver lives as long as the ring.
            let _ = tell.send(ended);
        }
        0
    };
    let heard_object = move |bytes: &[u8]| {
        if let Some(object) = ReportedObject::parse(bytes) {
            let _ = tell_object.send(object);
        }
        0
    };
    let cannot = || failed("cannot read what the program tells");
    builder.add(&events, heard).map_err(cannot())?;
    builder
        .add(&object_events, heard_object)
        .map_err(cannot())?;
    let ring = builder.build().map_err(cannot())?;
    Ok(Attached {
        link,
        object,
        ring,
        told,
        objects,
        until: Cell::new(Duration::MAX),
        lapsed: Cell::default(),
    })
}

/// Loads the program. `prepare` is called for each map before, and `meanwhile` again and again during the load.
fn load(
    steering: &Steering,
    memory: Option<&Memory>,
    prepare: impl Fn(&str, &mut libbpf_rs::OpenMapMut<'_>) -> Result<(), libbpf_rs::Error>,
    meanwhile: impl Fn() -> Result<(), Error>,
) -> Result<Object, Error> {
    let listener = log::listen();
    let refused = |error: libbpf_rs::Error| {
        let log = listener.said();
        Error::Refused {
            program: "the program that steers connections",
            reason: log::reason(&log).map_or_else(|| error.to_string(), str::to_owned),
            log,
        }
    };
    // The parser requires aligned object files. Allocated memory is aligned.
    let bytes = OBJECT.to_vec();
    let mut opened = ObjectBuilder::default()
        .open_memory(&bytes)
        .map_err(refused)?;
    for mut map in opened.maps_mut() {
        let name = map.name().to_string_lossy().into_owned();
        if name == "networks" {
            let networks = u32::try_from(steering.networks.entries().len()).unwrap_or(u32::MAX);
            map.set_max_entries(networks.max(1)).map_err(refused)?;
        } else if name == memory::MAP {
            memory::give(&mut map, steering, memory).map_err(refused)?;
        } else if name == RULES
            && let Some(value) = map.initial_value_mut()
        {
            for (place, byte) in value.iter_mut().zip(steering.bytes()) {
                *place = byte;
            }
        }
        prepare(&name, &mut map).map_err(refused)?;
    }
    let waiting = Waiting::begin();
    let object = opened.load().map_err(refused)?;
    drop(waiting);
    let networks = map(&object, "networks")?;
    for part in steering.networks.entries().chunks(BATCH) {
        meanwhile()?;
        note(&networks, part).map_err(failed(format!(
            "cannot note the {} networks of the rules in the kernel",
            steering.networks.entries().len()
        )))?;
    }
    Ok(object)
}

/// Writes networks and the bits of their rules, as in `struct network`.
fn note(map: &MapHandle, networks: &[(Ipv6Addr, u8, u64)]) -> Result<(), libbpf_rs::Error> {
    let (mut keys, mut values) = (Vec::new(), Vec::new());
    for (address, length, rules) in networks {
        keys.extend(key(*address, *length));
        values.extend(rules.to_ne_bytes());
    }
    let count = u32::try_from(networks.len()).unwrap_or(u32::MAX);
    map.update_batch(&keys, &values, count, MapFlags::ANY, MapFlags::ANY)
}

/// `struct network`.
fn key(address: Ipv6Addr, length: u8) -> [u8; 20] {
    let mut key = [0; 20];
    key[..4].copy_from_slice(&u32::from(length).to_ne_bytes());
    key[4..].copy_from_slice(&address.octets());
    key
}

/// The only program of the object.
fn entry(object: &Object) -> Result<ProgramMut<'_>, Error> {
    let mut programs = object.progs_mut();
    let entry = programs.find(|program| program.name() == PROGRAM);
    entry.ok_or_else(|| Error::Lacking("the program has no entry".to_owned()))
}

fn map(object: &Object, name: &str) -> Result<MapHandle, Error> {
    let mut maps = object.maps();
    let found = maps.find(|map| map.name().to_string_lossy() == name);
    let found = found.ok_or_else(|| Error::Lacking(format!("the program has no map {name}")))?;
    MapHandle::try_from(&found).map_err(failed(format!("cannot hold the map {name}")))
}

/// The length of one tick of the kernel, which is the resolution of its coarse clock.
fn tick() -> Result<Duration, Error> {
    let tick = clock_getres(ClockId::CLOCK_MONOTONIC_COARSE)
        .map_err(|source| Error::system("cannot ask for the kernel's tick", source))?;
    Ok(std::time::Duration::from(tick).into())
}

impl Attached {
    /// Lets the program work for this long from now on, unless the lease is renewed again.
    ///
    /// # Errors
    ///
    /// The kernel refuses.
    pub fn renew(&self, span: Duration) -> Result<(), Error> {
        let now = since_boot()?;
        let until = now + span;
        map(&self.object, "lease")?
            .update(&[0; 4], &until.as_nanos().to_ne_bytes(), MapFlags::ANY)
            .map_err(failed("cannot renew the lease"))?;
        let late = now.saturating_sub(self.until.replace(until));
        self.lapsed.set(self.lapsed.get() + late);
        Ok(())
    }

    /// The time without a lease, because it was renewed late, since the last call.
    pub fn lapsed(&self) -> Duration {
        self.lapsed.take()
    }

    /// Replaces all rules at once. Existing connections keep their controllers. Many networks take seconds to load, so
    /// the lease is renewed meanwhile, for this long each time.
    ///
    /// # Errors
    ///
    /// The kernel refuses. The old rules then stay in force.
    pub fn replace(&mut self, steering: &Steering, lease: Duration) -> Result<(), Error> {
        let kept = ["connections", "events", "objects", "lease", "counts"];
        let maps: Result<Vec<(&str, MapHandle)>, Error> = kept
            .iter()
            .map(|name| Ok((*name, map(&self.object, name)?)))
            .collect();
        let maps = maps?;
        let reuse = |name: &str, open: &mut libbpf_rs::OpenMapMut<'_>| match maps
            .iter()
            .find(|(kept, _)| *kept == name)
        {
            Some((_, map)) => open.reuse_fd(map.as_fd()),
            None => Ok(()),
        };
        let memory = self.memory()?;
        let object = load(steering, memory.as_ref(), reuse, || self.renew(lease))?;
        self.link
            .update_prog(&*entry(&object)?)
            .map_err(failed("cannot take other rules"))?;
        self.object = object;
        Ok(())
    }

    /// Keeps the program after the end of this process, until it is [released](release) by this name. If it is not
    /// released, it does nothing after the end of its lease. Replaces a program that an earlier process has left under
    /// this name. Returns whether there was one.
    ///
    /// # Errors
    ///
    /// The BPF file system cannot be used.
    pub fn keep(&mut self, name: &str) -> Result<bool, Error> {
        let _lock = bpffs::lock()?;
        swept()?;
        bpffs::prepare()?;
        let was_begun = take_away(&new(name))?;
        let earlier = kept(name)?;
        let (path, new) = (bpffs::file(name), bpffs::file(&new(name)));
        let cannot = failed(format!("cannot make {}", new.display()));
        self.link.pin(&new).map_err(cannot)?;
        // There is always a file of this name, so an earlier owner sees that another process has taken over.
        fs::rename(&new, &path)
            .map_err(|source| Error::system(format!("cannot make {}", path.display()), source))?;
        if let Some((_, earlier)) = &earlier {
            // The kernel removes a program after its last file, but not at once.
            let _ = earlier.detach();
        }
        Ok(was_begun || earlier.is_some())
    }

    /// Detaches the program, even if a file keeps it that cannot be reached, such as one below another mount.
    pub fn detach(self) {
        // If this fails, the program ends with its lease.
        let _ = self.link.detach();
    }

    /// The owner of the program that is kept under this name. A program that was detached has no owner.
    ///
    /// # Errors
    ///
    /// The BPF file system cannot be used.
    pub fn kept(&self, name: &str) -> Result<ProgramOwner, Error> {
        let Some((path, link)) = kept(name)? else {
            return Ok(ProgramOwner::Nobody);
        };
        let info = |link: &Link| {
            link.info()
                .map_err(failed(format!("cannot look at {}", path.display())))
        };
        let found = info(&link)?;
        Ok(if found.id == info(&self.link)?.id {
            ProgramOwner::ThisProcess
        } else if has_group(&found) {
            ProgramOwner::Another
        } else {
            ProgramOwner::Nobody
        })
    }

    /// True if the kernel still runs the program: the control group exists, and the program was not detached.
    pub fn is_attached(&self) -> bool {
        LinkInfo::from_fd(self.link.as_fd()).is_ok_and(|info| has_group(&info))
    }

    /// The connections that have ended since the last call.
    ///
    /// # Errors
    ///
    /// The kernel refuses.
    pub fn ended(&self) -> Result<Vec<EndedConnection>, Error> {
        self.ring
            .consume()
            .map_err(failed("cannot read what the program tells"))?;
        Ok(self.told.try_iter().collect())
    }

    /// The objects that were complete, or whose connections had ended, at the last call of [`ended`](Attached::ended),
    /// since the call before it.
    pub fn objects(&self) -> Vec<ReportedObject> {
        self.objects.try_iter().collect()
    }

    /// The map of the data that is stored with connections, for sock_diag.
    ///
    /// # Errors
    ///
    /// The process may not open another file.
    pub fn connections(&self) -> Result<OwnedFd, Error> {
        let map = map(&self.object, "connections")?;
        map.as_fd()
            .try_clone_to_owned()
            .map_err(|source| Error::system("cannot hold the map of connections", source))
    }

    /// The packets of client networks that it remembers. `None` if no rule needs them.
    ///
    /// # Errors
    ///
    /// The kernel refuses.
    pub fn memory(&self) -> Result<Option<Memory>, Error> {
        let memory = Memory::of(map(&self.object, memory::MAP)?);
        memory.map_err(failed("cannot look at what is remembered of networks"))
    }

    /// The program's counters.
    ///
    /// # Errors
    ///
    /// The kernel refuses.
    pub fn counts(&self) -> Result<SteeringCounts, Error> {
        let counts = map(&self.object, "counts")?;
        let count = |place: u32| {
            let values = counts
                .lookup_percpu(&place.to_ne_bytes(), MapFlags::ANY)
                .map_err(failed("cannot read the program's counters"))?;
            let of_processors = values.unwrap_or_default().into_iter();
            let words =
                of_processors.filter_map(|bytes| Some(u64::from_ne_bytes(bytes.try_into().ok()?)));
            Ok::<u64, Error>(words.sum())
        };
        Ok(SteeringCounts {
            assigned: count(0)?,
            refused: count(1)?,
            unremembered: count(2)?,
            untold: count(3)?,
            untold_objects: count(4)?,
        })
    }
}

/// True if a program is kept under this name.
///
/// # Errors
///
/// The BPF file system cannot be used.
pub fn is_kept(name: &str) -> Result<bool, Error> {
    Ok(kept_or_begun(name)?.is_some())
}

/// True if the kernel runs the program on a control group that exists, and the program was not detached.
fn has_group(info: &LinkInfo) -> bool {
    matches!(&info.info, LinkTypeInfo::Cgroup(of) if of.cgroup_id != 0)
}

/// The settings of the program that is kept under this name and still attached, and its rules for an address.
///
/// # Errors
///
/// This process may not look at it, or it belongs to another version.
pub fn in_force(name: &str, address: IpAddr) -> Result<Option<InForce>, Error> {
    let Some((path, link)) = kept_or_begun(name)? else {
        return Ok(None);
    };
    let cannot = || failed(format!("cannot look at what {} keeps", path.display()));
    let info = link.info().map_err(cannot())?;
    let Some(program) = Some(&info)
        .filter(|info| has_group(info))
        .and_then(program_of)
    else {
        return Ok(None);
    };
    let other = || {
        let what = format!(
            "{} keeps a program of another version: end it",
            path.display()
        );
        Error::Lacking(what)
    };
    let map = |name: &str| map_of(&program, name).map_err(cannot())?.ok_or_else(other);
    let value = |map: &MapHandle, key: &[u8]| {
        let value = map.lookup(key, MapFlags::ANY).map_err(cannot())?;
        Ok::<Vec<u8>, Error>(value.unwrap_or_default())
    };
    let word = |bytes: Vec<u8>| bytes.try_into().map_or(0, u64::from_ne_bytes);
    let settings = value(&map(RULES)?, &[0; 4])?;
    let steering = Some(settings).filter(|bytes| bytes.len() == Steering::BYTES);
    let steering = steering.and_then(|bytes| Steering::parse(&bytes));
    let steering = steering.ok_or_else(other)?;
    let networks = map("networks")?;
    let around = resent::around(steering.unit, mapped(address));
    let remembered = word(value(&map(memory::MAP)?, &around)?);
    let until = Duration::from_nanos(word(value(&map("lease")?, &[0; 4])?));
    let room = MapInfo::new(networks.as_fd())
        .map_err(cannot())?
        .info
        .max_entries;
    Ok(Some(InForce::new(
        steering,
        word(value(&networks, &key(mapped(address), 128))?),
        usize::try_from(room).unwrap_or(usize::MAX),
        Resent::of_word(remembered),
        until.saturating_sub(since_boot()?),
    )))
}

fn program_of(link: &LinkInfo) -> Option<ProgramInfo> {
    let options = ProgInfoQueryOptions::default().include_map_ids(true);
    let mut programs = ProgInfoIter::with_query_opts(options);
    programs.find(|program| program.id == link.prog_id)
}

/// The packets of client networks that the program with this name remembers.
///
/// # Errors
///
/// This process may not look at it.
pub fn memory(name: &str) -> Result<Option<Memory>, Error> {
    let Some((path, link)) = kept_or_begun(name)? else {
        return Ok(None);
    };
    let cannot = || failed(format!("cannot look at what {} keeps", path.display()));
    let program = program_of(&link.info().map_err(cannot())?);
    program.map_or(Ok(None), |of| Memory::of_program(&of).map_err(cannot()))
}

/// Removes programs that are kept although their control groups were removed. Returns their number.
///
/// # Errors
///
/// The BPF file system cannot be used.
pub fn sweep() -> Result<usize, Error> {
    if !bpffs::is_there()? {
        return Ok(0);
    }
    let _lock = bpffs::lock()?;
    let swept = swept()?;
    bpffs::tidy();
    Ok(swept)
}

/// The same for the holder of the lock.
fn swept() -> Result<usize, Error> {
    if !bpffs::is_there()? {
        return Ok(0);
    }
    let directory = bpffs::directory();
    let cannot =
        |source| Error::system(format!("cannot look into {}", directory.display()), source);
    let entries = fs::read_dir(&directory).map_err(cannot)?;
    log::silence();
    let mut swept = 0;
    for entry in entries {
        let path = entry.map_err(cannot)?.path();
        let name = path.file_name().unwrap_or_default().to_string_lossy();
        // Other files are controllers. Another process may remove a file in the meantime.
        let info = name
            .starts_with(PROGRAM)
            .then(|| Link::open(&path).and_then(|link| link.info()));
        if let Some(Ok(info)) = info
            && !has_group(&info)
            && fs::remove_file(&path).is_ok()
        {
            swept += 1;
        }
    }
    Ok(swept)
}

/// The link that is kept under a name, or was to be kept under it when its process was killed.
fn kept_or_begun(name: &str) -> Result<Option<(PathBuf, Link)>, Error> {
    match kept(name)? {
        None => kept(&new(name)),
        kept => Ok(kept),
    }
}

/// The link that is kept under a name, and its file.
fn kept(name: &str) -> Result<Option<(PathBuf, Link)>, Error> {
    let path = bpffs::file(name);
    let cannot = |source| Error::system(format!("cannot look at {}", path.display()), source);
    if !bpffs::is_there()? || !path.try_exists().map_err(cannot)? {
        return Ok(None);
    }
    log::silence();
    let link = Link::open(&path).map_err(failed(format!("cannot open {}", path.display())))?;
    Ok(Some((path, link)))
}

/// Removes a program that is kept under this name. Returns whether there was one.
///
/// # Errors
///
/// It cannot be removed.
pub fn release(name: &str) -> Result<bool, Error> {
    if !bpffs::is_there()? {
        return Ok(false);
    }
    let _lock = bpffs::lock()?;
    let was_begun = take_away(&new(name))?;
    let was_there = take_away(name)?;
    bpffs::tidy();
    Ok(was_begun || was_there)
}

/// The name under which a program is kept until it replaces another one. A process that is killed in between leaves
/// this file. The file system allows no dot in names.
fn new(name: &str) -> String {
    format!("{name}-new")
}

fn take_away(name: &str) -> Result<bool, Error> {
    let Some((path, link)) = kept(name)? else {
        return Ok(false);
    };
    fs::remove_file(&path)
        .map_err(|source| Error::system(format!("cannot remove {}", path.display()), source))?;
    // The kernel removes a program after its last file, but not at once.
    let _ = link.detach();
    Ok(true)
}

/// The requirements on the kernel and on the process.
pub(crate) fn requirements() -> Vec<Requirement> {
    vec![super::features::has_btf(), permission()]
}
