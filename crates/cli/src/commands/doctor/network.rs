//! The conditions for exact timing and fast packets in real time.

use std::fs;
use std::thread;
use std::time::{Duration, Instant};

use quic::endpoint::{SOCKET_BUFFER_BYTES, most_segments};
use tables::numbers;
use tables::statistics::nearest_rank;

use super::finding::{Finding, by_root};

/// The number and the length of the waits that measure the lateness of timers.
const WAITS: usize = 100;
const WAIT_TIME: Duration = Duration::from_millis(1);

/// A packet that is later counts as late in a record (docs/records.md, validity).
const MAX_LATENESS: Duration = Duration::from_millis(1);

/// The parts of the network.
pub fn all() -> Vec<Finding> {
    vec![buffers(), segments(), timers(), pacing(), processors()]
}

/// The limits on the buffers of sockets.
fn buffers() -> Finding {
    let name = "UDP socket buffers";
    let files = ["rmem_max", "wmem_max"];
    let limit = |file: &str| -> Option<usize> {
        let text = fs::read_to_string(format!("/proc/sys/net/core/{file}"));
        text.ok()?.trim().parse().ok()
    };
    let small = files
        .into_iter()
        .filter_map(|file| Some((file, limit(file)?)))
        .filter(|(_, limit)| *limit < SOCKET_BUFFER_BYTES);
    let small: Vec<_> = small.collect();
    if small.is_empty() {
        return Finding::ok(
            name,
            "as large as send and recv ask for, or not limited here",
        );
    }
    let told = small
        .iter()
        .map(|(file, limit)| format!("net.core.{file} is {limit}"));
    let told = told.collect::<Vec<_>>().join(", ");
    let set = small
        .iter()
        .map(|(file, _)| format!("net.core.{file}={SOCKET_BUFFER_BYTES}"));
    let set = set.collect::<Vec<_>>().join(" ");
    let detail = format!("{told}: above some 100 Mbit/s, a busy machine loses packets");
    Finding::note(name, detail, by_root(&format!("sysctl -w {set}")))
}

/// Segmentation: the kernel cuts large writes into datagrams.
fn segments() -> Finding {
    let name = "UDP segmentation offload (GSO)";
    match most_segments() {
        Ok(1) => Finding::note(
            name,
            "one system call for each datagram: send takes more processor time",
            "use Linux 4.18 or newer, and no sandbox that emulates its sockets (gVisor)",
        ),
        Ok(most) => Finding::ok(name, format!("{most} datagrams with one system call")),
        Err(error) => Finding::lacking(
            name,
            format!("no UDP socket: {error}"),
            by_root("ip link set lo up"),
        ),
    }
}

/// The lateness of timers.
fn timers() -> Finding {
    let name = "timers";
    let mut late: Vec<Duration> = (0..WAITS)
        .map(|_| {
            let begin = Instant::now();
            thread::sleep(WAIT_TIME);
            begin.elapsed().saturating_sub(WAIT_TIME)
        })
        .collect();
    late.sort_unstable();
    let most = nearest_rank(&late, 0.95).unwrap_or_default();
    let shown = numbers::span(most.as_secs_f64() * 1e3);
    let detail = format!("95 % of waits are at most {shown} late");
    if most <= MAX_LATENESS {
        return Finding::ok(name, detail);
    }
    Finding::note(
        name,
        format!("{detail}: results in real time are not to be trusted"),
        "end what else runs, or use --engine sim",
    )
}

/// The pacing of the kernel's connections.
fn pacing() -> Finding {
    let name = "pacing";
    match kernel::pacing() {
        Some(text) if text.starts_with("by FQ") => Finding::ok(name, text),
        Some(_) => Finding::note(
            name,
            "TCP paces with a timer for each connection, which takes more processor time than FQ for many connections",
            by_root("sysctl -w net.core.default_qdisc=fq"),
        ),
        None => Finding::ok(name, "TCP paces with a timer for each connection"),
    }
}

/// The processors: one each for the program and for the path.
fn processors() -> Finding {
    let name = "processors";
    let count = thread::available_parallelism().map_or(1, std::num::NonZeroUsize::get);
    let detail = numbers::count(count as u64, "processor");
    if count > 1 {
        return Finding::ok(name, detail);
    }
    Finding::note(
        name,
        format!("{detail}: sender, path and receiver wait for each other in real time"),
        "use two processors or more, or --engine sim",
    )
}
