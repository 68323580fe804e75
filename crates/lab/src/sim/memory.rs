//! The room that packets have in this machine's memory.

use std::fs;
use std::sync::{Arc, LazyLock};

use rustix::process::{Resource, getrlimit};
use simulate::{Bounds, Room};

use super::cgroups;

/// The bytes of a packet on a link, with its part of the queue's spare capacity. One that only waits for its ACK takes fewer.
const PACKET_BYTES: u64 = 384;

/// What is taken to be there on a machine that does not tell.
const UNKNOWN: u64 = 8 << 30;

/// The room of all simulations of this process: three quarters of the memory that is free when the first one begins. What fits is left
/// to run. Without a bound, a few packets that every link copies would take all memory, and the system would end the process.
pub(super) static ROOM: LazyLock<Arc<Room>> = LazyLock::new(|| {
    Room::new(Bounds {
        packets: free() / 4 * 3 / PACKET_BYTES,
        transmissions: u64::MAX,
    })
});

/// The free memory, as far as this process may take it.
fn free() -> u64 {
    let machine = fs::read_to_string("/proc/meminfo").ok();
    let machine = machine.as_deref().and_then(available).unwrap_or(UNKNOWN);
    let group = cgroups::left(&|file| fs::read_to_string(file).ok());
    let process = getrlimit(Resource::As).current;
    machine
        .min(group.unwrap_or(u64::MAX))
        .min(process.unwrap_or(u64::MAX))
}

/// The memory that programs can take without swapping, in the text of `/proc/meminfo`.
fn available(text: &str) -> Option<u64> {
    let line = text
        .lines()
        .find_map(|line| line.strip_prefix("MemAvailable:"))?;
    let kilobytes: u64 = line.trim().strip_suffix("kB")?.trim().parse().ok()?;
    kilobytes.checked_mul(1024)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_memory_that_is_available() {
        let text = "MemTotal:       24593412 kB\nMemFree:  1 kB\nMemAvailable:   21000000 kB\n";
        assert_eq!(available(text), Some(21_504_000_000));
        for other in [
            "",
            "MemAvailable: x kB",
            "MemAvailable: 9",
            "MemAvailable: 18446744073709551615 kB",
        ] {
            assert_eq!(available(other), None, "{other}");
        }
    }
}
