//! The packets in flight, with the sampler's state at their departure.

use std::collections::VecDeque;

use congestion::{PacketState, Time};

/// The packets that are neither acknowledged nor lost.
///
/// QUIC numbers the packets of its Initial, Handshake and Data spaces independently, and noq's hooks do not name a
/// number's space. So the table is a few lanes, each in ascending order of packet number: a packet goes to the lane
/// whose last number is the closest below its own. Three ascending sequences, in any interleaving, need at most three
/// lanes. The lane of a packet means nothing: a packet is found by its number, time of departure and size. Two packets
/// that agree in all of these are interchangeable.
///
/// Storage grows to the largest flight and is then reused.
#[derive(Debug, Clone, Default)]
pub(super) struct Packets {
    lanes: Vec<VecDeque<Packet>>,
    bytes: u64,
}

#[derive(Debug, Clone)]
struct Packet {
    number: u64,
    is_outstanding: bool,
    state: PacketState,
}

impl Packets {
    /// Adds a packet that has left.
    pub(super) fn insert(&mut self, number: u64, state: PacketState) {
        self.bytes = self.bytes.saturating_add(state.bytes.get());
        let packet = Packet {
            number,
            is_outstanding: true,
            state,
        };
        let closest = self
            .lanes
            .iter_mut()
            .filter(|lane| lane.back().is_none_or(|last| last.number < number))
            .max_by_key(|lane| lane.back().map(|last| last.number));
        match closest {
            Some(lane) => lane.push_back(packet),
            None => self.lanes.push(VecDeque::from([packet])),
        }
    }

    /// Takes the acknowledged packet with this number, time of departure and size.
    pub(super) fn take_acked(
        &mut self,
        number: u64,
        sent: Time,
        bytes: u64,
    ) -> Option<PacketState> {
        self.take(number, |state| {
            state.sent_time == sent && state.bytes.get() == bytes
        })
    }

    /// Takes the lost packet with this number and size: the oldest, if spaces share the number.
    pub(super) fn take_lost(&mut self, number: u64, bytes: u64) -> Option<PacketState> {
        self.take(number, |state| state.bytes.get() == bytes)
    }

    /// True if a packet with this number and size is in flight.
    pub(super) fn has(&self, number: u64, bytes: u64) -> bool {
        self.lanes.iter().any(|lane| {
            let place = position(lane, number);
            let packet = place.and_then(|place| lane.get(place));
            packet.is_some_and(|packet| packet.is_outstanding && packet.state.bytes.get() == bytes)
        })
    }

    /// Removes the oldest packets until no more than `in_flight` bytes are left. noq drops packets without a hook when
    /// it discards their space, and when a probe for a larger MTU is lost. By the next ACK, they are older than the
    /// others in flight of their space.
    pub(super) fn prune(&mut self, in_flight: u64) {
        while self.bytes > in_flight {
            let oldest = (0..self.lanes.len())
                .filter_map(|lane| Some((self.lanes.get(lane)?.front()?.state.sequence, lane)))
                .min();
            let Some((_, lane)) = oldest else { break };
            self.remove(lane, 0);
        }
    }

    fn take(&mut self, number: u64, is_it: impl Fn(&PacketState) -> bool) -> Option<PacketState> {
        let found = self.lanes.iter().enumerate().filter_map(|(lane, packets)| {
            let place = position(packets, number)?;
            let packet = packets.get(place)?;
            (packet.is_outstanding && is_it(&packet.state)).then_some((
                packet.state.sequence,
                lane,
                place,
            ))
        });
        let (_, lane, place) = found.min()?;
        self.remove(lane, place)
    }

    fn remove(&mut self, lane: usize, place: usize) -> Option<PacketState> {
        let lane = self.lanes.get_mut(lane)?;
        let packet = lane.get_mut(place)?;
        packet.is_outstanding = false;
        let state = packet.state;
        self.bytes = self.bytes.saturating_sub(state.bytes.get());
        while lane.front().is_some_and(|packet| !packet.is_outstanding) {
            lane.pop_front();
        }
        Some(state)
    }
}

/// Returns the index of the packet `number` in `lane`. Numbers are nearly consecutive, so it usually is the distance
/// from the first number.
fn position(lane: &VecDeque<Packet>, number: u64) -> Option<usize> {
    let distance = number.checked_sub(lane.front()?.number)?;
    let guess = usize::try_from(distance).ok()?;
    match lane.get(guess) {
        Some(packet) if packet.number == number => Some(guess),
        _ => lane
            .binary_search_by_key(&number, |packet| packet.number)
            .ok(),
    }
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeMap;

    use congestion::sampling::{Outstanding, Sampler};
    use congestion::{Bytes, PacketState, Time};
    use proptest::prelude::*;

    use super::Packets;

    fn state(sequence: u64, bytes: u64) -> PacketState {
        let (now, bytes) = (Time::from_nanos(sequence), Bytes::new(bytes));
        let mut state = Sampler::new(now).on_packet_sent(now, bytes, Outstanding::Nothing);
        state.sequence = sequence;
        state
    }

    #[test]
    fn a_number_shared_by_spaces_is_told_apart_by_time_and_size() {
        let mut packets = Packets::default();
        for sequence in 0..3 {
            packets.insert(0, state(sequence, 100 + sequence));
        }
        let acked = packets.take_acked(0, Time::from_nanos(1), 101);
        assert_eq!(acked.map(|s| s.sequence), Some(1));
        assert_eq!(packets.take_acked(0, Time::from_nanos(1), 101), None);
        assert_eq!(packets.take_acked(0, Time::from_nanos(2), 100), None);
        assert_eq!(packets.take_lost(0, 102).map(|s| s.sequence), Some(2));
        assert_eq!(packets.take_lost(7, 100), None);
        assert_eq!(packets.bytes, 100);
    }

    #[test]
    fn what_vanished_is_forgotten_oldest_first() {
        let mut packets = Packets::default();
        packets.insert(0, state(0, 1200));
        packets.insert(0, state(1, 1200));
        packets.insert(1, state(2, 1200));
        packets.prune(1200);
        assert_eq!(packets.take_lost(0, 1200), None);
        assert_eq!(packets.take_lost(1, 1200).map(|s| s.sequence), Some(2));
        assert!(packets.lanes.iter().all(|lane| lane.is_empty()));
    }

    #[derive(Debug, Clone)]
    enum Step {
        Send { space: usize, skipped: u64 },
        Settle { which: usize, is_lost: bool },
        Vanish,
    }

    fn step() -> impl Strategy<Value = Step> {
        prop_oneof![
            3 => (0..3usize, 0..3u64).prop_map(|(space, skipped)| Step::Send { space, skipped }),
            3 => (any::<usize>(), any::<bool>()).prop_map(|(which, is_lost)| Step::Settle { which, is_lost }),
            1 => Just(Step::Vanish),
        ]
    }

    proptest! {
        /// Whatever three spaces send, and in whatever order it is settled, each packet is found once and is the right
        /// one. Three lanes are enough, and all are empty at the end.
        #[test]
        fn every_packet_is_found_once(steps in proptest::collection::vec(step(), 0..300)) {
            let mut packets = Packets::default();
            let mut next = [0u64; 3];
            let mut outstanding = BTreeMap::new();
            for (sequence, step) in steps.into_iter().enumerate() {
                let sequence = sequence as u64;
                match step {
                    Step::Send { space, skipped } => {
                        let number = next[space] + skipped;
                        next[space] = number + 1;
                        let state = state(sequence, 1000 + sequence);
                        packets.insert(number, state);
                        outstanding.insert(sequence, (number, state));
                    }
                    Step::Settle { which, is_lost } if !outstanding.is_empty() => {
                        let key = *outstanding.keys().nth(which % outstanding.len()).unwrap();
                        let (number, state) = outstanding.remove(&key).unwrap();
                        let found = if is_lost {
                            packets.take_lost(number, state.bytes.get())
                        } else {
                            packets.take_acked(number, state.sent_time, state.bytes.get())
                        };
                        prop_assert_eq!(found, Some(state));
                    }
                    Step::Settle { .. } => {}
                    Step::Vanish => {
                        outstanding.pop_first();
                        let left = outstanding.values().map(|(_, s)| s.bytes.get()).sum();
                        packets.prune(left);
                    }
                }
                prop_assert!(packets.lanes.len() <= 3);
                prop_assert_eq!(packets.bytes, outstanding.values().map(|(_, s)| s.bytes.get()).sum::<u64>());
            }
            packets.prune(0);
            prop_assert!(packets.lanes.iter().all(|lane| lane.is_empty()));
        }
    }
}
