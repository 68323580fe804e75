//! Samples over time, thinned so that a long run needs no more memory than a short one.

use units::Duration;

/// Something observed at a point in time.
pub trait Point: Copy {
    /// When, from the start of the run.
    fn at(&self) -> Duration;

    /// Whether it must be kept although `previous` was kept shortly before: a state has changed.
    fn is_news(&self, previous: &Self) -> bool;
}

/// Points over time: every change of state and, between them, at most one point an interval. The interval starts at a
/// millisecond and doubles whenever there are [`Series::CAPACITY`] points.
#[derive(Debug, Clone)]
pub struct Series<P> {
    interval: Duration,
    kept: Vec<P>,
    latest: Option<P>,
}

impl<P: Point> Series<P> {
    /// The most points that are kept.
    pub const CAPACITY: usize = 20_000;

    /// No points yet.
    pub fn new() -> Series<P> {
        Series {
            interval: Duration::from_millis(1),
            kept: Vec::new(),
            latest: None,
        }
    }

    /// Adds the next point; times do not run backwards.
    pub fn push(&mut self, point: P) {
        self.latest = Some(point);
        let Some(previous) = self.kept.last() else {
            return self.kept.push(point);
        };
        if point.is_news(previous) || self.is_due(previous, &point) {
            self.kept.push(point);
        }
        if self.kept.len() >= Self::CAPACITY {
            self.thin();
        }
    }

    /// The points, the latest of all included.
    pub fn finish(mut self) -> Vec<P> {
        if let (Some(latest), Some(last)) = (self.latest, self.kept.last())
            && latest.at() > last.at()
        {
            self.kept.push(latest);
        }
        self.kept
    }

    fn is_due(&self, previous: &P, point: &P) -> bool {
        point.at().saturating_sub(previous.at()) >= self.interval
    }

    fn thin(&mut self) {
        self.interval = self.interval * 2;
        let mut last: Option<P> = None;
        let interval = self.interval;
        self.kept.retain(|point| {
            let keep = last.is_none_or(|last| {
                point.is_news(&last) || point.at().saturating_sub(last.at()) >= interval
            });
            if keep {
                last = Some(*point);
            }
            keep
        });
        // States that change all the time cannot all be kept.
        if self.kept.len() > Self::CAPACITY / 4 * 3 {
            let mut index = 0usize;
            self.kept.retain(|_| {
                index += 1;
                index % 2 == 1
            });
        }
    }
}

impl<P: Point> Default for Series<P> {
    fn default() -> Series<P> {
        Series::new()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    #[derive(Debug, Clone, Copy, PartialEq)]
    struct Seen(Duration, u8);

    impl Point for Seen {
        fn at(&self) -> Duration {
            self.0
        }
        fn is_news(&self, previous: &Seen) -> bool {
            self.1 != previous.1
        }
    }

    #[test]
    fn one_a_millisecond_and_every_change() {
        let mut series = Series::new();
        for micros in 0..3_000 {
            series.push(Seen(
                Duration::from_micros(micros),
                u8::from(micros >= 1_500),
            ));
        }
        let at: Vec<u64> = series
            .finish()
            .iter()
            .map(|seen| seen.0.as_nanos() / 1000)
            .collect();
        assert_eq!(at, [0, 1_000, 1_500, 2_500, 2_999]);
    }

    #[test]
    fn a_long_run_keeps_its_shape() {
        let mut series = Series::new();
        for millis in 0..1_000_000u64 {
            series.push(Seen(
                Duration::from_millis(millis),
                (millis / 100_000) as u8,
            ));
        }
        let points = series.finish();
        assert!(
            points.len() <= Series::<Seen>::CAPACITY + 1,
            "{}",
            points.len()
        );
        for pair in points.windows(2) {
            assert!(pair[1].0.saturating_sub(pair[0].0) <= Duration::from_millis(200));
        }
        for state in 0..10u8 {
            let first = points.iter().find(|seen| seen.1 == state).unwrap();
            assert_eq!(first.0, Duration::from_millis(u64::from(state) * 100_000));
        }
    }

    proptest! {
        #[test]
        fn never_more_than_the_capacity(step in 0u64..3_000, states in 1u64..4) {
            let mut series = Series::new();
            for index in 0..60_000u64 {
                series.push(Seen(Duration::from_micros(index * step), (index % states) as u8));
                prop_assert!(series.kept.len() < Series::<Seen>::CAPACITY);
            }
            prop_assert!(series.finish().windows(2).all(|pair| pair[0].0 <= pair[1].0));
        }
    }
}
