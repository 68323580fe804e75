//! Samples over time, thinned so that a long run needs no more memory than a short one.

use units::Duration;

/// An observation at a point in time.
pub trait Point: Copy {
    /// The time since the start of the run.
    fn at(&self) -> Duration;

    /// Whether it must be kept even if `previous` was kept shortly before, because a state has changed.
    fn is_news(&self, previous: &Self) -> bool;

    /// The value whose peaks and dips must be kept, if this point has one.
    fn level(&self) -> Option<Duration>;
}

/// Points over time: every change of state and, between them, at most one point an interval. The highest and the
/// lowest point between two such points are kept if they are above or below both. The interval starts at a
/// millisecond and doubles whenever the series is full. The highest and the lowest point of all are always kept.
#[derive(Debug, Clone)]
pub struct Series<P> {
    capacity: usize,
    interval: Duration,
    kept: Vec<P>,
    /// The extremes since the last kept point.
    between: Extremes<P>,
    /// The extremes of all points.
    overall: Extremes<P>,
    latest: Option<P>,
}

/// The points with the highest and with the lowest level of several.
#[derive(Debug, Clone)]
struct Extremes<P> {
    high: Option<P>,
    low: Option<P>,
}

impl<P> Default for Extremes<P> {
    fn default() -> Extremes<P> {
        Extremes {
            high: None,
            low: None,
        }
    }
}

impl<P: Point> Extremes<P> {
    #[inline]
    fn observe(&mut self, point: &P) {
        let Some(level) = point.level() else {
            return;
        };
        let beyond = |known: &Option<P>, is_beyond: fn(&Duration, &Duration) -> bool| {
            let known = known.as_ref().and_then(P::level);
            known.is_none_or(|known| is_beyond(&level, &known))
        };
        if beyond(&self.high, Duration::gt) {
            self.high = Some(*point);
        }
        if beyond(&self.low, Duration::lt) {
            self.low = Some(*point);
        }
    }

    /// Both, in the order of their times.
    fn in_order(self) -> impl Iterator<Item = P> {
        let is_low_first = match (&self.low, &self.high) {
            (Some(low), Some(high)) => low.at() < high.at(),
            _ => false,
        };
        let [first, second] = if is_low_first {
            [self.low, self.high]
        } else {
            [self.high, self.low]
        };
        first.into_iter().chain(second)
    }
}

impl<P: Point> Series<P> {
    /// The most points that are kept, unless there are many series.
    pub const CAPACITY: usize = 20_000;
    /// The minimum capacity of a series: enough to show a shape, however many series there are.
    pub const MIN_CAPACITY: usize = 100;

    /// Creates a series with room for [`CAPACITY`](Series::CAPACITY) points.
    pub fn new() -> Series<P> {
        Series::with_capacity(Self::CAPACITY)
    }

    /// Creates a series with room for `points` points, within [`MIN_CAPACITY`](Series::MIN_CAPACITY) and
    /// [`CAPACITY`](Series::CAPACITY).
    pub fn with_capacity(points: usize) -> Series<P> {
        Series {
            capacity: points.clamp(Self::MIN_CAPACITY, Self::CAPACITY),
            interval: Duration::from_millis(1),
            kept: Vec::new(),
            between: Extremes::default(),
            overall: Extremes::default(),
            latest: None,
        }
    }

    /// Adds the next point; times do not decrease.
    #[inline]
    pub fn push(&mut self, point: P) {
        self.overall.observe(&point);
        self.add(&point);
        self.latest = Some(point);
        if self.kept.len() >= self.capacity {
            self.thin();
        }
    }

    /// Returns the points, always including the latest.
    pub fn finish(mut self) -> Vec<P> {
        if let (Some(latest), Some(last)) = (self.latest, self.kept.last())
            && latest.at() > last.at()
        {
            self.keep(&latest);
        }
        for extreme in self.overall.in_order() {
            let has = |point: &P| point.level() == extreme.level();
            if !self.kept.iter().any(has) {
                let place = self
                    .kept
                    .partition_point(|point| point.at() <= extreme.at());
                self.kept.insert(place, extreme);
            }
        }
        self.kept
    }

    #[inline]
    fn add(&mut self, point: &P) {
        let is_kept = self
            .kept
            .last()
            .is_none_or(|previous| point.is_news(previous) || self.is_due(previous, point));
        if is_kept {
            self.keep(point);
        } else {
            self.between.observe(point);
        }
    }

    /// Keeps the point, and before it the peak and the dip between it and the previous one, if there are any.
    fn keep(&mut self, point: &P) {
        if self.kept.len() + 3 > self.kept.capacity() {
            // The capacity doubles, but never beyond the points that will be used: a peak and a dip may come on top.
            let room = (self.kept.len() * 2).clamp(4, self.capacity + 3);
            self.kept
                .reserve_exact(room.saturating_sub(self.kept.len()).max(3));
        }
        if self.between.high.is_some() {
            self.keep_extremes(point);
        }
        self.kept.push(*point);
    }

    /// Keeps the extremes since the last kept point, if they are beyond it and this one.
    fn keep_extremes(&mut self, point: &P) {
        let levels = [self.kept.last().and_then(P::level), point.level()];
        let levels = || levels.into_iter().flatten();
        let (highest, lowest) = (levels().max(), levels().min());
        let is_beyond =
            |extreme: &P| extreme.level() > highest || lowest.is_none() || extreme.level() < lowest;
        let between = std::mem::take(&mut self.between);
        let at = |point: &Option<P>| point.as_ref().map(P::at);
        let is_one = at(&between.high) == at(&between.low);
        let extremes = between.in_order().filter(is_beyond);
        self.kept.extend(extremes.take(if is_one { 1 } else { 2 }));
    }

    fn is_due(&self, previous: &P, point: &P) -> bool {
        point.at().saturating_sub(previous.at()) >= self.interval
    }

    fn thin(&mut self) {
        self.interval = self.interval * 2;
        let room = Vec::with_capacity(self.kept.capacity());
        let points = std::mem::replace(&mut self.kept, room);
        let between = std::mem::take(&mut self.between);
        for point in points.into_iter().chain(between.in_order()) {
            self.add(&point);
        }
        // States that change all the time cannot all be kept.
        if self.kept.len() > self.capacity / 4 * 3 {
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
        fn level(&self) -> Option<Duration> {
            None
        }
    }

    /// A point with a level, and always the same state.
    #[derive(Debug, Clone, Copy, PartialEq)]
    struct Level(Duration, Duration);

    impl Point for Level {
        fn at(&self) -> Duration {
            self.0
        }
        fn is_news(&self, _: &Level) -> bool {
            false
        }
        fn level(&self) -> Option<Duration> {
            Some(self.1)
        }
    }

    #[test]
    fn peaks_survive_however_long_the_run() {
        let mut series = Series::new();
        let (low, high) = (Duration::from_millis(40), Duration::from_millis(140));
        for tick in 0..1_000_000u64 {
            let level = if tick % 99_991 == 77 { high } else { low };
            series.push(Level(Duration::from_micros(tick * 300), level));
        }
        let points = series.finish();
        assert!(points.len() <= Series::<Level>::CAPACITY + 2);
        assert!(points.windows(2).all(|pair| pair[0].0 < pair[1].0));
        assert_eq!(points.iter().filter(|point| point.1 == high).count(), 11);
    }

    #[test]
    fn so_do_dips() {
        let mut series = Series::new();
        let (low, high) = (Duration::from_millis(37), Duration::from_millis(40));
        for tick in 0..1_000_000u64 {
            let level = if tick % 99_991 == 77 { low } else { high };
            series.push(Level(Duration::from_micros(tick * 300), level));
        }
        let points = series.finish();
        assert_eq!(points.iter().filter(|point| point.1 == low).count(), 11);
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

    /// A point with a level, and a state that differs from the previous one.
    #[derive(Debug, Clone, Copy, PartialEq)]
    struct Restless(Level, bool);

    impl Point for Restless {
        fn at(&self) -> Duration {
            self.0.at()
        }
        fn is_news(&self, previous: &Restless) -> bool {
            self.1 != previous.1
        }
        fn level(&self) -> Option<Duration> {
            self.0.level()
        }
    }

    proptest! {
        #[test]
        fn the_extremes_of_all_are_kept(
            levels in proptest::collection::vec((0u64..2_000, 0u64..1_000_000, any::<bool>()), 1..3_000)
        ) {
            let mut series = Series::with_capacity(0);
            let mut at = Duration::ZERO;
            for (step, level, state) in &levels {
                at = at + Duration::from_micros(*step);
                series.push(Restless(Level(at, Duration::from_nanos(*level)), *state));
            }
            let seen = levels.iter().map(|(_, level, _)| Duration::from_nanos(*level));
            let points = series.finish();
            let kept = || points.iter().map(|point| point.0.1);
            prop_assert_eq!(kept().min(), seen.clone().min());
            prop_assert_eq!(kept().max(), seen.max());
            prop_assert!(points.windows(2).all(|pair| pair[0].at() <= pair[1].at()));
        }

        #[test]
        fn never_more_than_the_capacity(step in 0u64..3_000, states in 1u64..4, room in 0usize..30_000) {
            let mut series = Series::with_capacity(room);
            let capacity = series.capacity;
            for index in 0..60_000u64 {
                series.push(Seen(Duration::from_micros(index * step), (index % states) as u8));
                prop_assert!(series.kept.len() < capacity);
            }
            prop_assert!(series.finish().windows(2).all(|pair| pair[0].0 <= pair[1].0));
        }
    }
}
