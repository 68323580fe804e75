//! A flow over time, in bounded memory. A sample is taken at acknowledgements, at most one a step. The step doubles when
//! there are too many samples.

use congestion::{Bytes, Duration, Rate, Time};

use crate::limit::Limit;
use crate::limits::Decided;
use crate::memory::reserve;

/// The first step.
const FIRST_STEP: Duration = Duration::from_millis(1);

/// The most samples that a flow keeps.
const MAX_SAMPLES: usize = 4096;

/// The number of samples that stay when memory is short.
const MIN_SAMPLES: usize = 4;

/// A flow at one moment.
#[derive(Debug, Clone, Copy)]
pub struct Sample {
    /// When.
    pub at: Time,
    /// The RTT of this acknowledgement, if it has one.
    pub rtt: Option<Duration>,
    /// The delivery-rate sample, if there was one.
    pub delivery_rate: Option<Rate>,
    /// The data in flight.
    pub inflight: Bytes,
    /// The estimate of BtlBw.
    pub btl_bw: Rate,
    /// The estimate of RTprop.
    pub rtprop: Option<Duration>,
    /// Payload delivered so far.
    pub delivered: Bytes,
    /// Retransmitted packets so far, including those whose original was not captured.
    pub retransmitted: u64,
    /// The present limit of the flow.
    pub limit: Limit,
}

#[derive(Debug, Clone)]
pub struct Series {
    samples: Vec<Sample>,
    step: Duration,
    next: Time,
}

impl Series {
    pub fn new() -> Series {
        Series {
            samples: Vec::new(),
            step: FIRST_STEP,
            next: Time::ZERO,
        }
    }

    /// True if a sample is due.
    #[inline]
    pub fn is_due(&self, at: Time) -> bool {
        at >= self.next
    }

    pub fn push(&mut self, sample: Sample) {
        self.next = sample.at + self.step;
        reserve(&mut self.samples);
        self.samples.push(sample);
        if self.samples.len() >= MAX_SAMPLES {
            self.halve();
        }
    }

    /// The limit of the flow in this round is decided.
    pub fn decide(&mut self, decided: Decided) {
        let (began, ended) = decided.times;
        let latest = self.samples.iter_mut().rev();
        let since = latest.take_while(|sample| sample.at > began);
        for sample in since.filter(|sample| sample.at <= ended) {
            sample.limit = match sample.limit {
                Limit::Window if decided.is_busy => Limit::Bottleneck,
                limit => limit.if_busy(decided.is_busy),
            };
        }
    }

    /// The number of bytes that they hold.
    #[inline]
    pub fn held(&self) -> usize {
        self.samples.capacity() * size_of::<Sample>()
    }

    /// The samples in their order.
    pub fn samples(&self) -> &[Sample] {
        &self.samples
    }

    /// The samples alone.
    pub fn into_samples(mut self) -> Vec<Sample> {
        self.samples.shrink_to_fit();
        self.samples
    }

    /// Keeps half of them. Returns whether that freed any.
    pub fn thin(&mut self) -> bool {
        let is_more = self.samples.len() > MIN_SAMPLES;
        if is_more {
            self.halve();
        }
        self.samples.shrink_to_fit();
        is_more
    }

    /// Doubles the step, and drops the samples between.
    fn halve(&mut self) {
        let (Some(first), Some(last)) = (self.samples.first(), self.samples.last()) else {
            return;
        };
        let apart = last.at.since(first.at) / (self.samples.len() as u64 / 2).max(1);
        self.step = apart.max(self.step * 2);
        let mut next = Time::ZERO;
        let step = self.step;
        self.samples.retain(|sample| {
            let is_due = sample.at >= next;
            if is_due {
                next = sample.at + step;
            }
            is_due
        });
    }
}
