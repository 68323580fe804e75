//! Processors that stay awake while packets move in real time.

use std::fs::File;
use std::hint;
use std::io::Write;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::thread::{self, JoinHandle};

/// The maximum number of processors that are kept awake: those of the lowest numbers that this process may use.
const MAX_PROCESSORS: usize = 8;

/// Keeps the machine's processors awake until it is dropped, or the process ends in whatever way.
///
/// An idle processor sleeps, and wakes some time after its timer or its packet: on virtual machines often more than a
/// millisecond late. The packets that a link should have sent by then leave at once, and a sender takes the burst for
/// bandwidth. Where the system permits and supports it, this requests zero latency
/// (`Documentation/power/pm_qos_interface` of Linux: `/dev/cpu_dma_latency`). Elsewhere a thread of idle priority runs
/// on each processor, and yields it to all other work of the same session (`sched(7)`, `SCHED_IDLE` and autogroup).
/// Both cost power.
#[derive(Debug)]
#[must_use = "the processors may sleep once it is dropped"]
pub struct Awake {
    /// The request lasts as long as this is open.
    request: Option<File>,
    is_over: Arc<AtomicBool>,
    threads: Vec<JoinHandle<()>>,
}

impl Awake {
    /// Starts to keep processors awake. Call it after work that needs a single-threaded process. It never fails: it
    /// does what the system allows, and [`Awake::means`] describes that.
    pub fn keep() -> Awake {
        let request = request();
        let is_over = Arc::new(AtomicBool::new(false));
        let threads = match &request {
            Some(_) => Vec::new(),
            None => spinners(&is_over),
        };
        Awake {
            request,
            is_over,
            threads,
        }
    }

    /// Describes the means, for people.
    pub fn means(&self) -> &'static str {
        match (&self.request, self.threads.len()) {
            (Some(_), _) => "a request for no latency",
            (None, 0) => "nothing that this system grants",
            (None, _) => "threads of idle priority",
        }
    }
}

impl Drop for Awake {
    fn drop(&mut self) {
        self.is_over.store(true, Ordering::Relaxed);
        for thread in self.threads.drain(..) {
            // A spinner cannot panic.
            let _ = thread.join();
        }
    }
}

/// Opens the request, where it is permitted and a driver chooses how deep processors sleep. Without such a driver, the
/// kernel halts them whatever was requested.
fn request() -> Option<File> {
    let driver = std::fs::read_to_string("/sys/devices/system/cpu/cpuidle/current_driver").ok()?;
    if driver.trim() == "none" {
        return None;
    }
    let mut file = File::options()
        .write(true)
        .open("/dev/cpu_dma_latency")
        .ok()?;
    file.write_all(&0_i32.to_ne_bytes()).ok()?;
    Some(file)
}

#[cfg(target_os = "linux")]
fn spinners(is_over: &Arc<AtomicBool>) -> Vec<JoinHandle<()>> {
    use rustix::thread::{CpuSet, sched_getaffinity};

    let Ok(allowed) = sched_getaffinity(None) else {
        return Vec::new();
    };
    let processors = (0..CpuSet::MAX_CPU).filter(|processor| allowed.is_set(*processor));
    if has_quota_below(processors.clone().count()) {
        return Vec::new();
    }
    let threads = processors.take(MAX_PROCESSORS).filter_map(|processor| {
        let is_over = Arc::clone(is_over);
        let thread = thread::Builder::new().name(format!("awake {processor}"));
        thread.spawn(move || spin(processor, &is_over)).ok()
    });
    threads.collect()
}

/// True if a control group limits this process to less time than `processors` provide (`cpu.max`, which the standard library
/// reads). Threads of idle priority would use up this quota, and the group would stand still for the rest of each period.
#[cfg(target_os = "linux")]
fn has_quota_below(processors: usize) -> bool {
    thread::available_parallelism().is_ok_and(|quota| quota.get() < processors)
}

#[cfg(not(target_os = "linux"))]
fn spinners(_: &Arc<AtomicBool>) -> Vec<JoinHandle<()>> {
    Vec::new()
}

/// Keeps the processor busy whenever it is idle. A thread that cannot get idle priority ends at once.
#[cfg(target_os = "linux")]
fn spin(processor: usize, is_over: &AtomicBool) {
    use rustix::thread::{CpuSet, sched_setaffinity};
    use thread_priority::{
        NormalThreadSchedulePolicy, ThreadPriority, ThreadSchedulePolicy,
        set_thread_priority_and_policy, thread_native_id,
    };

    let mut own = CpuSet::new();
    own.set(processor);
    let idle = ThreadSchedulePolicy::Normal(NormalThreadSchedulePolicy::Idle);
    let is_modest =
        set_thread_priority_and_policy(thread_native_id(), ThreadPriority::Min, idle).is_ok();
    if !is_modest || sched_setaffinity(None, &own).is_err() {
        return;
    }
    while !is_over.load(Ordering::Relaxed) {
        hint::spin_loop();
    }
}

#[cfg(all(test, target_os = "linux"))]
mod tests {
    use super::*;

    /// The names and the scheduling policies of this process's threads (`proc_pid_stat(5)`: the 41st field).
    fn spinning() -> Vec<(String, String)> {
        let threads = std::fs::read_dir("/proc/self/task").expect("threads");
        let stats = threads.filter_map(|thread| {
            std::fs::read_to_string(thread.expect("a thread").path().join("stat")).ok()
        });
        let of = |stat: String| {
            let name = stat.split(['(', ')']).nth(1)?.to_owned();
            let after = stat.rsplit(')').next()?;
            Some((name, after.split_whitespace().nth(38)?.to_owned()))
        };
        let all = stats.filter_map(of);
        all.filter(|(name, _)| name.starts_with("awake ")).collect()
    }

    #[test]
    fn a_quota_is_for_fewer_processors_than_there_are() {
        assert!(!has_quota_below(1));
        assert!(has_quota_below(usize::MAX));
    }

    #[test]
    fn idle_threads_spin_until_they_are_dropped() {
        const SCHED_IDLE: &str = "5";
        let is_over = Arc::new(AtomicBool::new(false));
        let awake = Awake {
            request: None,
            threads: spinners(&is_over),
            is_over,
        };
        let count = awake.threads.len();
        if count == 0 {
            skipping::skip!(
                "threads that keep processors awake: this process has a quota of processor time"
            );
            return;
        }
        assert_eq!(awake.means(), "threads of idle priority");
        // Each thread requests its policy soon after it was started.
        while spinning()
            .iter()
            .filter(|(_, policy)| policy == SCHED_IDLE)
            .count()
            < count
        {
            thread::yield_now();
        }
        drop(awake);
        // The system lists a thread for a moment after it was joined.
        while !spinning().is_empty() {
            thread::yield_now();
        }
    }
}
