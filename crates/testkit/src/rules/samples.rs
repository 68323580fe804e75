//! Rules for rounds, round-trip times and delivery rates.

use std::collections::BTreeMap;

use congestion::{Ack, Bytes, Duration, Rate};
use tables::statistics::quantile;

use super::{Judge, share};
use crate::report::Fault;
use crate::setting::{PACE, RTPROP};

/// Longer than the transfer of a request, and shorter than the application's pauses.
const MAX_INTERVAL: Duration = Duration::from_millis(500);

impl Judge<'_> {
    /// Checks packet-timed rounds, counted as a controller counts them, and round-trip times.
    pub(crate) fn round_trips(&mut self) {
        let (mut rounds, mut end) = (0_u32, Bytes::ZERO);
        for ack in self.acks() {
            if ack.rate.prior_delivered >= end {
                rounds += 1;
                end = ack.rate.total_delivered;
            }
        }
        let expected = self.span_s() / RTPROP.as_secs_f64();
        let figure = || format!("{rounds} in {:.0} round trips", expected);
        let ratio = f64::from(rounds) / expected;
        self.find_if(ratio < 0.7, Fault::RoundsTooLong, figure);
        let figure = || format!("{rounds} in {:.0} round trips", expected);
        self.find_if(ratio > 1.3, Fault::RoundsTooShort, figure);
        self.shortest_round_trip();
        let rtts = self.acks().filter_map(|ack| ack.rtt);
        let rtts: Vec<f64> = rtts.map(|sample| sample.rtt.as_millis_f64()).collect();
        match quantile(rtts, 0.5) {
            None => self.find(Fault::RttMissing, "no acknowledgement has one".to_owned()),
            Some(median) => {
                let most = RTPROP.as_millis_f64() * 1.2;
                self.find_if(median > most, Fault::RttTooLong, || {
                    format!("the median is {median:.1} ms, the path's is {RTPROP}")
                });
            }
        }
    }

    pub(crate) fn shortest_round_trip(&mut self) {
        let rtts = self.acks().filter_map(|ack| ack.rtt);
        let least = rtts.map(|sample| sample.rtt).min();
        if let Some(least) = least {
            self.find_if(least < RTPROP, Fault::RttTooShort, || {
                format!("{least}, the path's is {RTPROP}")
            });
        }
    }

    /// At half of the path's rate, data is delivered at the rate at which it was sent. If several ACKs arrive at one instant, the
    /// highest of their rates counts. A delivery rate may be at most `most` times the pacing rate.
    pub(crate) fn delivery_rates(&mut self, most: f64) {
        let (mut all, mut have) = (0, 0);
        let mut rates = BTreeMap::new();
        for ack in self.acks() {
            all += 1;
            if let Some(rate) = ack.rate.delivery_rate {
                have += 1;
                let best = rates.entry(ack.now).or_insert(Rate::ZERO);
                *best = rate.max(*best);
            }
        }
        let rates: Vec<f64> = rates
            .values()
            .map(|rate| rate.bits_per_sec() as f64)
            .collect();
        self.find_if(share(have, all) < 0.5, Fault::RateMissing, || {
            format!("{have} of {all} acknowledgements have one")
        });
        let (Some(low), Some(high)) = (quantile(rates.clone(), 0.5), quantile(rates, 0.95)) else {
            return;
        };
        let pace = PACE.bits_per_sec() as f64;
        self.find_if(
            low < 0.85 * pace || high > most * pace,
            Fault::RateWrong,
            || {
                format!(
                    "the median is {:.2} and the 95th percentile {:.2} Mbit/s, at a pacing rate of {PACE}",
                    low / 1e6,
                    high / 1e6
                )
            },
        );
    }

    /// No sample includes a time in which the application was silent.
    pub(crate) fn no_sample_spans_a_pause(&mut self) {
        let all = self.acks().count();
        let is_long = |ack: &&Ack| ack.rate.interval > MAX_INTERVAL;
        let long = self.acks().filter(is_long).count();
        let longest = self.acks().map(|ack| ack.rate.interval).max();
        let longest = longest.unwrap_or_default();
        self.find_if(long > 2, Fault::RateSpansPause, || {
            format!("{long} of {all} samples are longer than {MAX_INTERVAL}, up to {longest}")
        });
    }
}
