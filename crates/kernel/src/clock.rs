//! The clock of the kernel's programs.

use std::fs;
use std::sync::OnceLock;

use nix::time::{ClockId, clock_gettime};
use units::Duration;

use crate::Error;

/// The time since boot, including sleep (`CLOCK_BOOTTIME`). Nobody can set this clock. In a time namespace, this is
/// still the machine's time, which the kernel's programs use.
///
/// # Errors
///
/// The system has no such clock.
pub fn since_boot() -> Result<Duration, Error> {
    let now = clock_gettime(ClockId::CLOCK_BOOTTIME)
        .map_err(|source| Error::system("cannot read CLOCK_BOOTTIME", source))?;
    let here: i128 = std::time::Duration::from(now).as_nanos().cast_signed();
    let nanos = (here - offset()).max(0);
    Ok(Duration::from_nanos(
        u64::try_from(nanos).unwrap_or(u64::MAX),
    ))
}

/// The time by which this process's clock is ahead of the machine's (`time_namespaces(7)`), in nanoseconds.
fn offset() -> i128 {
    static OFFSET: OnceLock<i128> = OnceLock::new();
    *OFFSET.get_or_init(|| {
        let text = fs::read_to_string("/proc/self/timens_offsets");
        offset_in(&text.unwrap_or_default()).unwrap_or(0)
    })
}

fn offset_in(text: &str) -> Option<i128> {
    let line = text
        .lines()
        .find_map(|line| line.strip_prefix("boottime"))?;
    let mut numbers = line.split_whitespace();
    let mut next = || numbers.next()?.parse::<i128>().ok();
    Some(next()? * 1_000_000_000 + next()?)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_offset_is_found() {
        let text = "monotonic           0         0\nboottime         -50        20\n";
        assert_eq!(offset_in(text), Some(-49_999_999_980));
        assert_eq!(offset_in(""), None);
        assert_eq!(offset_in("boottime"), None);
    }
}
