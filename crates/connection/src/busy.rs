//! The bottleneck's rate, measured while the bottleneck was certainly busy.
//!
//! As long as every RTT is longer than RTprop, there is a queue. The delivery rate is then the bottleneck's rate, whatever
//! controls the sender (the paper's figure 1: the delivery rate no longer grows, the RTT does). A flow that never has a
//! queue does not show the bottleneck's rate, however steady its own rate is. A loss-based controller on a lossy path is an
//! example.
//!
//! A sample of the delivery rate spans a round. On a short path, a round is a few packets. A busy host or a link that holds
//! frames back can delay an acknowledgement by a millisecond, which makes the next sample some percent too fast. The
//! maximum of many samples is always such a sample. Over a longer time, a millisecond matters little. As in the BBR draft's
//! samples ("Delivery Rate Samples"), the longer of the send interval and the acknowledgement interval counts, because
//! nothing arrives faster than it was sent.

use std::collections::VecDeque;

use congestion::{Bytes, Duration, Rate, Time};

use crate::evenly::Evenly;

/// The time for which the bottleneck must have been busy.
const MIN_BUSY_TIME: Duration = Duration::from_millis(100);

/// The least time between marks, so that there are few.
const MIN_MARK_INTERVAL: Duration = Duration::from_millis(6);

/// The data delivered at one moment.
#[derive(Debug, Clone, Copy)]
pub struct Mark {
    /// When the acknowledgement passed.
    pub at: Time,
    /// When the newest delivered packet was sent.
    pub sent: Time,
    /// The data delivered so far.
    pub delivered: Bytes,
}

/// The time in which the bottleneck has been busy, or the last part of it.
#[derive(Debug, Clone, Default)]
pub struct Busy {
    marks: VecDeque<Mark>,
}

impl Busy {
    /// There is no queue.
    pub fn cut(&mut self) {
        self.marks.clear();
    }

    /// There is a queue. Returns the bottleneck's recent rate if it has been busy for long enough.
    pub fn on_mark(&mut self, mark: Mark) -> Option<Rate> {
        let is_far = |last: &Mark| mark.at.since(last.at) >= MIN_MARK_INTERVAL;
        if !self.marks.back().is_none_or(is_far) {
            return None;
        }
        let is_long = |first: &Mark| mark.at.since(first.at) >= MIN_BUSY_TIME;
        while self.marks.get(1).is_some_and(is_long) {
            self.marks.pop_front();
        }
        let first = self.marks.front().copied().filter(is_long);
        self.marks.push_back(mark);
        let first = first?;
        let span = mark.at.since(first.at).max(mark.sent.since(first.sent));
        Some(Rate::from_transfer(mark.delivered - first.delivered, span))
    }

    /// The number of bytes that it holds.
    #[inline]
    pub fn held(&self) -> usize {
        self.marks.capacity() * size_of::<Mark>()
    }

    /// Frees spare capacity.
    pub fn shrink(&mut self) {
        self.marks.shrink_to_fit();
    }
}

/// The most rates that a flow keeps.
const MAX_RATES: usize = 64;

/// One rate in this many is greater than the bottleneck's, because the network or a busy machine had held acknowledgements
/// back.
const OUTLIER_DIVISOR: usize = 10;

/// Rates of the bottleneck, evenly sampled.
#[derive(Debug, Clone, Default)]
pub struct Rates {
    rates: Evenly<Rate, MAX_RATES>,
    /// The rate that a tenth of them exceeds, kept because every packet asks for it.
    believed: Option<Rate>,
}

impl Rates {
    /// Adds a rate.
    pub fn add(&mut self, rate: Rate) {
        if !self.rates.add(rate) {
            return;
        }
        let mut sorted = self.rates.kept().to_vec();
        sorted.sort_unstable();
        let wrong = sorted.len().div_ceil(OUTLIER_DIVISOR).min(sorted.len() / 2);
        self.believed = sorted.get(sorted.len() - 1 - wrong).copied();
    }

    /// The number of bytes that they hold.
    #[inline]
    pub fn held(&self) -> usize {
        self.rates.held()
    }

    /// Keeps few of them.
    pub fn thin(&mut self) {
        self.rates.thin();
    }

    /// The bottleneck's rate, which a tenth of the rates exceeds. `None` if there are no rates.
    pub fn get(&self) -> Option<Rate> {
        self.believed
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn mark(ms: u64, late: u64, packets: u64) -> Mark {
        Mark {
            at: Time::ZERO + Duration::from_millis(ms + 20 + late),
            sent: Time::ZERO + Duration::from_millis(ms),
            delivered: Bytes::new(packets * 1_000),
        }
    }

    #[test]
    fn a_late_acknowledgement_makes_no_fast_path() {
        // A packet each millisecond. Every fifth acknowledgement is 2 ms late.
        let mut busy = Busy::default();
        let rates: Vec<u64> = (0..50)
            .filter_map(|round| {
                let late = if round % 5 == 0 { 2 } else { 0 };
                busy.on_mark(mark(round * 20, late, round * 20))
            })
            .map(Rate::bytes_per_sec)
            .collect();
        assert!(rates.len() > 40);
        let is_right = |rate: &u64| (980_000..=1_000_000).contains(rate);
        assert!(rates.iter().all(is_right), "{rates:?}");
    }

    #[test]
    fn nothing_is_told_across_a_time_without_a_queue() {
        let mut busy = Busy::default();
        for round in 0..4 {
            assert_eq!(busy.on_mark(mark(round * 20, 0, round * 20)), None);
        }
        busy.cut();
        assert_eq!(busy.on_mark(mark(5_000, 0, 100)), None);
        assert_eq!(busy.on_mark(mark(5_050, 0, 150)), None);
        let rate = busy.on_mark(mark(5_100, 0, 200)).map(Rate::bytes_per_sec);
        assert_eq!(rate, Some(1_000_000));
    }

    #[test]
    fn few_rates_stand_for_all_and_outliers_for_none() {
        let mut rates = Rates::default();
        assert_eq!(rates.get(), None);
        for place in 0..100_000 {
            let rate = if place % 17 == 0 {
                9_000
            } else {
                1_000 + place % 7
            };
            rates.add(Rate::from_bytes_per_sec(rate));
        }
        assert!(rates.rates.kept().len() <= MAX_RATES);
        let rate = rates.get().map(Rate::bytes_per_sec);
        assert!(
            rate.is_some_and(|rate| (1_000..1_010).contains(&rate)),
            "{rate:?}"
        );
    }

    #[test]
    fn acknowledgements_by_the_microsecond_take_few_marks() {
        let mut busy = Busy::default();
        for ack in 0..10_000 {
            let at = Time::ZERO + Duration::from_micros(50 * ack);
            let delivered = Bytes::new(ack);
            busy.on_mark(Mark {
                at,
                sent: at,
                delivered,
            });
        }
        assert!(busy.marks.len() <= 20, "{}", busy.marks.len());
    }
}
