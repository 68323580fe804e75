//! The room that packets have in this machine's memory.

use std::fs;
use std::path::Path;
use std::sync::{Arc, LazyLock};

use rustix::process::{Resource, getrlimit};
use simulate::{Bounds, Room};

use super::cgroups;

/// The bytes of a packet on a link, with its part of the queue's spare capacity. One that only waits for its ACK takes fewer.
const PACKET_BYTES: u64 = 384;

/// What is taken to be there on a machine that does not tell.
const UNKNOWN: u64 = 8 << 30;

/// What runs may take in any case: what is free is an estimate, which also counts as taken what the kernel could swap.
const MIN_FREE: u64 = 64 << 20;

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
    let number = |file, field| bytes(&read(Path::new(file))?, field);
    // What programs can take without swapping.
    let machine = number("/proc/meminfo", "MemAvailable:").unwrap_or(UNKNOWN);
    let group = cgroups::left(&read).unwrap_or(u64::MAX);
    let taken = number("/proc/self/status", "VmSize:").unwrap_or_default();
    let process = getrlimit(Resource::As).current;
    let process = process.map_or(u64::MAX, |limit| limit.saturating_sub(taken));
    machine.min(group).min(process).max(MIN_FREE)
}

/// The text of a file of the kernel. Names in it, as those of mount points, may have any bytes.
fn read(file: &Path) -> Option<String> {
    let bytes = fs::read(file).ok()?;
    Some(String::from_utf8_lossy(&bytes).into_owned())
}

/// The bytes that a field has, in a text of the kernel whose numbers are in kB.
fn bytes(text: &str, field: &str) -> Option<u64> {
    let line = text.lines().find_map(|line| line.strip_prefix(field))?;
    let kilobytes: u64 = line.trim().strip_suffix("kB")?.trim().parse().ok()?;
    kilobytes.checked_mul(1024)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn fields_are_in_kilobytes() {
        let text = "MemTotal:       24593412 kB\nMemFree:  1 kB\nMemAvailable:   21000000 kB\n";
        assert_eq!(bytes(text, "MemAvailable:"), Some(21_504_000_000));
        for other in [
            "",
            "MemAvailable: x kB",
            "MemAvailable: 9",
            "MemAvailable: 18446744073709551615 kB",
        ] {
            assert_eq!(bytes(other, "MemAvailable:"), None, "{other}");
        }
    }
}
