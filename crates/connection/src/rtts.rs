//! The RTTs of a flow: each acknowledgement of data that measured one counts once.

use congestion::Duration;

use crate::evenly::Evenly;
use crate::losses::micros;
use crate::memory::Room;

/// The most RTTs that a flow keeps.
const MAX_RTTS: usize = 4096;

/// The RTTs of a flow. Their mean is that of all of them. If there are many, the kept ones are an even sample.
#[derive(Debug, Clone, Default)]
pub struct Rtts {
    /// In microseconds.
    kept: Evenly<u32, MAX_RTTS>,
    nanos: u64,
    count: u64,
}

impl Rtts {
    /// Adds an RTT. With little room, it counts for the mean alone.
    pub fn add(&mut self, rtt: Duration, room: Room) {
        self.nanos = self.nanos.saturating_add(rtt.as_nanos());
        self.count += 1;
        if room == Room::Plenty {
            self.kept.add(micros(rtt));
        }
    }

    /// The number of bytes that they hold.
    #[inline]
    pub fn held(&self) -> usize {
        self.kept.held()
    }

    /// Keeps half of them. Returns whether that freed any.
    pub fn thin(&mut self) -> bool {
        self.kept.thin_by_half()
    }

    /// The mean.
    pub fn mean(&self) -> Option<Duration> {
        let mean = self.nanos.checked_div(self.count)?;
        Some(Duration::from_nanos(mean))
    }

    /// The kept ones, to a microsecond.
    pub fn kept(&self) -> impl Iterator<Item = Duration> {
        let kept = self.kept.kept().iter();
        kept.map(|micros| Duration::from_micros((*micros).into()))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn of_many_an_even_sample_is_kept() {
        let mut rtts = Rtts::default();
        for millis in 1..=100_000 {
            rtts.add(Duration::from_millis(millis), Room::Plenty);
        }
        assert_eq!(rtts.mean(), Some(Duration::from_micros(50_000_500)));
        let kept: Vec<Duration> = rtts.kept().collect();
        assert!((MAX_RTTS / 2..=MAX_RTTS).contains(&kept.len()));
        let middle = kept[kept.len() / 2].as_millis_f64();
        assert!((49_000.0..51_000.0).contains(&middle), "{middle}");
        while rtts.thin() {}
        assert!((1..=16).contains(&rtts.kept().count()));
    }
}
