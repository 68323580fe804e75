//! Compares the calendar's clock with the clock since boot, which cannot be set.

use units::Duration;

/// A larger change between two looks, in seconds, means that the clock was set. Gradual correction changes it by less.
const MAX_CORRECTION_S: f64 = 1.0;

/// Notices when the calendar's clock is set. Leases, slots and durations use the time since boot, and do not change.
#[derive(Debug, Default)]
pub(crate) struct Calendar {
    /// The machine's boot time by the calendar, at the last look.
    started: Option<f64>,
}

impl Calendar {
    /// The news to report at this time, if any. The time is in seconds since 1970 by the calendar, and since boot.
    pub fn news(&mut self, unix_s: f64, boot: Duration) -> Option<String> {
        let started = unix_s - boot.as_secs_f64();
        let by = started - self.started.replace(started)?;
        let way = if by > 0.0 { "forward" } else { "back" };
        (by.abs() > MAX_CORRECTION_S).then(|| {
            format!(
                "the clock was set {way} by {:.0} s: times of day are by the new one from now on, and nothing else depends on it",
                by.abs()
            )
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_clock_that_is_set_is_told_once_and_one_that_drifts_never() {
        let mut calendar = Calendar::default();
        let mut offset = 1.7e9;
        let mut told = Vec::new();
        for second in 0..10_000_u64 {
            // A gradual correction of 0.5 ms a second, the kernel's maximum.
            offset += 0.0005;
            match second {
                3000 => offset += 3600.0,
                6000 => offset -= 90_000.0,
                _ => {}
            }
            let boot = Duration::from_secs(second);
            told.extend(calendar.news(offset + second as f64, boot));
        }
        assert_eq!(told.len(), 2, "{told:?}");
        assert!(told[0].contains("forward by 3600 s") && told[1].contains("back by 90000 s"));
    }
}
