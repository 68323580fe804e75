//! Rules for the rate and the bursts of departures.

use congestion::{Bytes, Duration, Time};

use super::Judge;
use crate::report::Fault;
use crate::setting::{PACE, QUANTUM_PACKETS, RTPROP};
use crate::witness::Rates;
use crate::world::Departure;

/// A burst of the initial window is always allowed (RFC 9002, "Pacing").
const INITIAL_WINDOW_PACKETS: u64 = 10;

/// Departures are counted until this time after a change of the rate.
const RATE_CHANGE_TIME: Duration = Duration::from_millis(140);

impl Judge<'_> {
    /// Departures keep the pacing rate. Bursts are at most a quantum or the initial window.
    pub(crate) fn pacing(&mut self) {
        let departures = self.departures.iter().filter(|it| it.at >= self.from);
        let headers = self.headers();
        let left: Bytes = departures.map(|it| it.size - headers).sum();
        let rate = left.get() as f64 * 8.0 / self.span_s();
        let ratio = rate / PACE.bits_per_sec() as f64;
        let mbit = rate / 1e6;
        self.find_if(ratio > 1.12, Fault::PacingNotEngaged, || {
            format!("{mbit:.2} Mbit/s left at a pacing rate of {PACE}")
        });
        self.find_if(ratio < 0.9, Fault::PacingTooSlow, || {
            format!("{mbit:.2} Mbit/s left at a pacing rate of {PACE}")
        });
        if ratio > 1.12 {
            return;
        }
        self.bursts(Fault::BurstsTooLarge);
    }

    /// Bursts are no larger than the pacing rate, a quantum or the initial window allows.
    fn bursts(&mut self, fault: Fault) {
        let departures = self.departures.iter().filter(|it| it.at >= self.from);
        let Some(largest) = departures.clone().map(|it| it.size).max() else {
            return;
        };
        let sents = self.sents().filter(|(at, _)| *at >= self.from);
        let told: Bytes = sents.map(|(_, sent)| sent.bytes).sum();
        let left: Bytes = departures.clone().map(|it| it.size).sum();
        // The rate on the wire contains headers that congestion control does not count.
        let wire = PACE.bytes_per_sec() as f64 * left.get() as f64 / told.get().max(1) as f64;
        let (mut level, mut most, mut last) = (0.0_f64, 0.0_f64, self.from);
        for Departure { at, size, .. } in departures {
            level = (level - at.since(last).as_secs_f64() * wire).max(0.0) + size.get() as f64;
            most = most.max(level);
            last = *at;
        }
        let allowed = largest * (INITIAL_WINDOW_PACKETS.max(2 * QUANTUM_PACKETS) + 1);
        self.find_if(most > allowed.get() as f64, fault, || {
            let quantum = largest * QUANTUM_PACKETS;
            format!(
                "{most:.0} bytes ahead of the pacing rate, at most {allowed} allowed; the quantum is {quantum}"
            )
        });
    }

    /// When the pacing rate changes, departures follow within a round trip.
    pub(crate) fn pacing_follows(&mut self, rates: Rates) {
        let headers = self.headers();
        // For each of the two rates: the bytes that left while the rate applied, and the bytes that it allows.
        let mut sums = [(0.0, 0.0); 2];
        let mut change = Time::ZERO;
        for which in [0, 1].into_iter().cycle() {
            let (begin, end) = (change + RTPROP, change + RATE_CHANGE_TIME);
            change += rates.each;
            if change > self.until {
                break;
            }
            let Some((sum, allowed)) = sums.get_mut(which).filter(|_| begin >= self.from) else {
                continue;
            };
            let left = self.departures.iter();
            let left = left.filter(|it| it.at >= begin && it.at < end);
            let left: Bytes = left.map(|it| it.size - headers).sum();
            *sum += left.get() as f64;
            *allowed += rates.at(begin).bytes_in(end.since(begin)).get() as f64;
        }
        let figures: Vec<String> = sums
            .iter()
            .zip(rates.both)
            .filter(|((left, allowed), _)| !(0.85..1.15).contains(&(left / allowed)))
            .map(|((left, allowed), rate)| {
                let mbit = left / allowed * rate.bits_per_sec() as f64 / 1e6;
                format!("{mbit:.2} Mbit/s at {rate}")
            })
            .collect();
        self.find_if(!figures.is_empty(), Fault::PacingRateStale, || {
            let figures = figures.join(", ");
            format!("from {RTPROP} to {RATE_CHANGE_TIME} after each change, {figures}")
        });
    }

    /// Retransmissions after a burst of losses are paced.
    pub(crate) fn repeats_are_paced(&mut self) {
        self.bursts(Fault::RepeatsUnpaced);
    }
}
