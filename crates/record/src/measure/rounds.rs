//! Packet-timed rounds.

use crate::FlowSample;

/// The samples by packet-timed rounds. A round begins with the first sample that acknowledges data sent after the
/// start of the previous round (paper, appendix).
///
/// A kernel is sampled now and then, so a sample may be later than the ACK that began its round. The round then
/// counts from the end of the previous one; otherwise each would be too long by that delay, and the last of a few
/// rounds would be missed.
pub(super) fn rounds(samples: &[FlowSample]) -> Vec<&[FlowSample]> {
    let mut starts: Vec<usize> = Vec::new();
    let mut ends_at: Option<u64> = None;
    for (place, sample) in samples.iter().enumerate() {
        let (delivered, inflight) = (sample.delivered.get(), sample.inflight.get());
        let begins_at = match ends_at {
            None if inflight > 0 => delivered,
            Some(end) if delivered > end => end,
            _ => continue,
        };
        ends_at = Some(begins_at + inflight);
        starts.push(place);
    }
    let ends = starts.iter().skip(1).copied().chain([samples.len()]);
    let rounds = starts.iter().zip(ends);
    rounds
        .filter_map(|(start, end)| samples.get(*start..end))
        .collect()
}

#[cfg(test)]
pub(super) mod tests {
    use super::*;
    use units::{Bytes, Duration};

    /// A sample at a millisecond, with these bytes delivered and in flight.
    pub fn sample(millis: u64, delivered: u64, inflight: u64) -> FlowSample {
        FlowSample {
            at: Duration::from_millis(millis),
            rtt: Some(Duration::from_millis(10)),
            inflight: Bytes::new(inflight),
            state: Some(congestion::bbr1::states::STARTUP),
            delivered: Bytes::new(delivered),
            ..FlowSample::default()
        }
    }

    #[test]
    fn a_round_ends_when_what_was_in_flight_at_its_start_is_delivered() {
        let samples: Vec<FlowSample> = [
            (0, 1, 9),
            (1, 5, 10),
            (2, 10, 10),
            (3, 11, 20),
            (4, 30, 20),
            (5, 33, 20),
            (6, 50, 20),
            (7, 51, 20),
        ]
        .map(|(at, delivered, inflight)| sample(at, delivered, inflight))
        .to_vec();
        let rounds: Vec<Vec<u64>> = rounds(&samples)
            .iter()
            .map(|round| round.iter().map(|one| one.delivered.get()).collect())
            .collect();
        assert_eq!(
            rounds,
            [vec![1, 5, 10], vec![11, 30], vec![33, 50], vec![51]]
        );
    }
}
