//! Transfers: objects that an application requested, and their times.

use serde::{Deserialize, Serialize};
use units::{Bytes, Duration};

use super::distribution::Distribution;
use super::millionths::optional_millionths;
use scenario::Controller;

/// One object. Times are from the start of the run.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Transfer {
    /// The index of its flow among the scenario's flows.
    pub flow: usize,
    /// The flow's controller.
    pub controller: Controller,
    /// The time of the request; with a connection of its own, before the handshake.
    pub start: Duration,
    /// Its size.
    pub bytes: Bytes,
    /// The time at which its last byte was delivered in order; `None` if the run ended before.
    pub completed: Option<Duration>,
}

/// The transfers of a run, in the order of their completion; unfinished ones are at the end.
///
/// Their number is bounded: when there are [`CAPACITY`](Transfers::CAPACITY) of them, every second one is dropped,
/// and from then on one of [`every`](Transfers::every) is kept.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Transfers {
    /// The transfers that are kept.
    pub rows: Vec<Transfer>,
    /// One of this many transfers is kept; 1 if all are.
    pub every: u64,
    noted: u64,
}

impl Transfers {
    /// The most transfers that are kept, 48 bytes each.
    pub const CAPACITY: usize = 500_000;

    fn push(&mut self, transfer: Transfer) {
        if self.noted.is_multiple_of(self.every) {
            if self.rows.len() >= Self::CAPACITY {
                let mut index = 0u64;
                self.rows.retain(|_| {
                    index += 1;
                    index % 2 == 1
                });
                self.every = self.every.saturating_mul(2);
            }
            if self.noted.is_multiple_of(self.every) {
                self.rows.push(transfer);
            }
        }
        self.noted = self.noted.saturating_add(1);
    }
}

impl Default for Transfers {
    fn default() -> Transfers {
        Transfers {
            rows: Vec::new(),
            every: 1,
            noted: 0,
        }
    }
}

/// The largest transfer of each size class, in bytes. The first is the payload of an initial window of ten packets of
/// 1448 bytes, which takes one round trip. Transfers larger than the last are a class of their own.
pub(crate) const SIZE_CLASSES: [u64; 5] = [14_480, 100_000, 1_000_000, 10_000_000, 100_000_000];

/// The times of transfers of one controller and one size class that started after the warmup.
#[derive(Debug, Clone, PartialEq, Default, Serialize, Deserialize)]
#[serde(default)]
pub struct Completions {
    /// The controller's name.
    pub controller: String,
    /// The transfers are larger than this; null in the smallest class.
    pub over_bytes: Option<u64>,
    /// The transfers are not larger than this; null in the largest class.
    pub up_to_bytes: Option<u64>,
    /// The number of completed transfers.
    pub count: u64,
    /// The number of transfers that were unfinished when the run ended.
    pub unfinished: u64,
    /// Median time from start to completion, in milliseconds.
    #[serde(serialize_with = "optional_millionths")]
    pub p50_ms: Option<f64>,
    /// 95th percentile.
    #[serde(serialize_with = "optional_millionths")]
    pub p95_ms: Option<f64>,
    /// 99th percentile.
    #[serde(serialize_with = "optional_millionths")]
    pub p99_ms: Option<f64>,
    /// Mean.
    #[serde(serialize_with = "optional_millionths")]
    pub mean_ms: Option<f64>,
    /// Longest.
    #[serde(serialize_with = "optional_millionths")]
    pub max_ms: Option<f64>,
}

/// Builds the table of transfers and the completion times from an engine's observations.
#[derive(Debug, Clone)]
pub struct TransferRecorder {
    warmup: Duration,
    transfers: Transfers,
    /// One entry for each controller and class that occurred.
    classes: Vec<Class>,
}

#[derive(Debug, Clone)]
struct Class {
    controller: Controller,
    index: usize,
    times: Distribution,
    unfinished: u64,
}

impl TransferRecorder {
    /// Creates a recorder for a scenario with this warmup.
    pub fn new(warmup: Duration) -> TransferRecorder {
        TransferRecorder {
            warmup,
            transfers: Transfers::default(),
            classes: Vec::new(),
        }
    }

    /// Records a transfer: when it is complete, or unfinished at the end of the run.
    pub fn note(&mut self, transfer: Transfer) {
        self.transfers.push(transfer);
        if transfer.start < self.warmup {
            return;
        }
        let class = self.class(transfer.controller, class_of(transfer.bytes));
        match transfer.completed {
            Some(completed) => class.times.record(completed.saturating_sub(transfer.start)),
            None => class.unfinished = class.unfinished.saturating_add(1),
        }
    }

    /// Returns the table, and the completion times by controller and size.
    pub fn finish(mut self) -> (Transfers, Vec<Completions>) {
        self.classes.sort_by(|a, b| {
            let key = |class: &Class| (class.controller, class.index);
            let ((a, first), (b, second)) = (key(a), key(b));
            a.name().cmp(b.name()).then(first.cmp(&second))
        });
        let completions = self.classes.iter().map(Class::completions).collect();
        (self.transfers, completions)
    }

    fn class(&mut self, controller: Controller, index: usize) -> &mut Class {
        let known = self
            .classes
            .iter()
            .position(|class| class.controller == controller && class.index == index);
        let place = known.unwrap_or_else(|| {
            self.classes.push(Class {
                controller,
                index,
                times: Distribution::default(),
                unfinished: 0,
            });
            self.classes.len() - 1
        });
        &mut self.classes[place]
    }
}

impl Class {
    fn completions(&self) -> Completions {
        let below = self.index.checked_sub(1);
        Completions {
            controller: self.controller.to_string(),
            over_bytes: below.and_then(|below| SIZE_CLASSES.get(below).copied()),
            up_to_bytes: SIZE_CLASSES.get(self.index).copied(),
            count: self.times.count(),
            unfinished: self.unfinished,
            p50_ms: self.times.quantile_ms(0.5),
            p95_ms: self.times.quantile_ms(0.95),
            p99_ms: self.times.quantile_ms(0.99),
            mean_ms: self.times.mean_ms(),
            max_ms: self.times.max_ms(),
        }
    }
}

fn class_of(bytes: Bytes) -> usize {
    SIZE_CLASSES.partition_point(|largest| *largest < bytes.get())
}

#[cfg(test)]
mod tests {
    use super::*;
    use congestion::ControllerKind;

    fn transfer(start: u64, bytes: u64, took: Option<u64>) -> Transfer {
        Transfer {
            flow: 0,
            controller: ControllerKind::Bbr1.into(),
            start: Duration::from_millis(start),
            bytes: Bytes::new(bytes),
            completed: took.map(|took| Duration::from_millis(start + took)),
        }
    }

    #[test]
    fn times_by_size() {
        let mut recorder = TransferRecorder::new(Duration::from_millis(10));
        recorder.note(transfer(9, 1, Some(7_000)));
        for took in 1..=100 {
            recorder.note(transfer(10, 14_480, Some(took)));
        }
        recorder.note(transfer(10, 14_481, Some(200)));
        recorder.note(transfer(10, 100_000_001, None));
        let (transfers, completions) = recorder.finish();
        assert_eq!((transfers.rows.len(), transfers.every), (103, 1));
        let [small, middle, large] = &completions[..] else {
            panic!("three classes: {completions:?}")
        };
        assert_eq!((small.over_bytes, small.up_to_bytes), (None, Some(14_480)));
        assert_eq!((small.count, small.unfinished), (100, 0));
        let is_about =
            |found: Option<f64>, expected: f64| (found.unwrap() / expected - 1.0).abs() < 0.001;
        assert!(is_about(small.p50_ms, 50.0), "{small:?}");
        assert!(is_about(small.p95_ms, 95.0), "{small:?}");
        assert_eq!((small.mean_ms, small.max_ms), (Some(50.5), Some(100.0)));
        assert_eq!(
            (middle.over_bytes, middle.up_to_bytes),
            (Some(14_480), Some(100_000))
        );
        assert_eq!(
            (large.over_bytes, large.up_to_bytes),
            (Some(100_000_000), None)
        );
        assert_eq!((large.count, large.unfinished, large.p50_ms), (0, 1, None));
    }

    #[test]
    fn too_many_are_thinned_evenly_and_all_count() {
        let mut recorder = TransferRecorder::new(Duration::ZERO);
        let count = Transfers::CAPACITY as u64 * 5 / 2;
        for index in 0..count {
            recorder.note(transfer(index, 1_000, Some(1)));
        }
        let (transfers, completions) = recorder.finish();
        assert_eq!(transfers.every, 4);
        assert!(transfers.rows.len() <= Transfers::CAPACITY);
        let steps = |pair: &[Transfer]| pair[1].start.saturating_sub(pair[0].start);
        assert!(
            transfers
                .rows
                .windows(2)
                .all(|pair| steps(pair) == Duration::from_millis(4))
        );
        assert_eq!(completions[0].count, count);
    }
}
