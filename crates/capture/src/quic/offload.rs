//! Datagrams that were captured joined: before the sender's kernel or card divides them (segmentation offload, GSO), or after
//! the receiver's has joined them (receive offload, GRO). All have the same length, except the last one, which may be shorter
//! (Linux `UDP_SEGMENT` and `UDP_GRO`).
//!
//! The length shows where the next datagram begins as the first one does: with a header of the same connection. Connection IDs
//! of four bytes or more leave no doubt. Without them, keys decide, or the lengths of other datagrams.

use super::wire::{Header, Id, Version};

/// The longest payload of a datagram in an Ethernet packet of 1500 bytes.
const ORDINARY_BYTES: u32 = 1500 - 20 - 8;

/// Every path of QUIC carries datagrams of this payload (RFC 9000, section 14), so a bulk sender does not send shorter ones.
const MIN_BULK_BYTES: u32 = 1200;

/// The shortest packet (RFC 9000, section 10.3).
const MIN_PACKET_BYTES: u32 = 21;

/// The most datagrams that are joined (Linux `UDP_MAX_SEGMENTS`).
const MAX_JOINED: u32 = 128;

/// The bytes of a connection ID that no other bytes equal by chance.
const MIN_TELLING_ID_BYTES: usize = 4;

/// The headers without connection IDs that no other bytes look like by chance. Each has a probability of a quarter.
const MIN_TELLING_HEADERS: u32 = 3;

/// The most lengths that are tried with the keys for one packet, and the most packets for which this may fail.
const MAX_TRIALS: usize = 512;
const MAX_FAILURES: u8 = 16;

/// How a captured payload is divided into datagrams.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Division {
    /// It is one datagram.
    Whole,
    /// Into datagrams of this length. The last one may be shorter.
    Into(u32),
    /// It is longer than datagrams usually are, and nothing shows their length.
    Unknown,
}

/// A captured UDP payload of QUIC.
#[derive(Debug, Clone, Copy)]
pub struct Joined<'d> {
    /// Its length.
    pub len: u32,
    /// Its captured part.
    pub data: &'d [u8],
    /// The header at its start.
    pub header: Header<'d>,
    /// The length of the receiver's connection IDs, if it is known.
    pub id_len: Option<usize>,
}

/// The first bytes of a datagram of the same connection.
#[derive(Debug, Clone, Copy)]
struct Start<'d> {
    version: Option<Version>,
    id: &'d [u8],
}

impl<'d> Joined<'d> {
    fn start(&self) -> Start<'d> {
        let (version, id) = match self.header {
            Header::Long(long, _) => {
                let id = self.data.get(6..6 + long.to.len());
                (Some(long.version), id)
            }
            Header::Short(_) => {
                let len = self.id_len.unwrap_or(MIN_TELLING_ID_BYTES);
                (None, self.data.get(1..1 + len))
            }
        };
        Start {
            version,
            id: id.unwrap_or_default(),
        }
    }

    /// The number of captured headers at multiples of this length; `None` if one of them is none of the connection's.
    fn fits(&self, start: &Start<'_>, size: u32) -> Option<u32> {
        if !(MIN_PACKET_BYTES..self.len).contains(&size) || self.len.div_ceil(size) > MAX_JOINED {
            return None;
        }
        let mut headers = 0;
        for from in (size..self.len).step_by(size as usize) {
            let Some(data) = self.data.get(from as usize..) else {
                break;
            };
            if data.len() <= start.id.len() {
                break;
            }
            if !start.is_like(data) {
                return None;
            }
            headers += 1;
        }
        Some(headers)
    }

    /// The length at whose multiples the connection ID comes again; `None` without an ID that shows it.
    fn length_by_id(&self, start: &Start<'_>) -> Option<u32> {
        if !start.is_strong() {
            return None;
        }
        // Packets with long headers may share a datagram.
        let least = match self.header {
            Header::Long(..) => MIN_BULK_BYTES,
            Header::Short(_) => MIN_PACKET_BYTES,
        };
        let mut lengths = least..self.len.min(self.captured());
        let comes_again = |size: &u32| self.fits(start, *size).is_some_and(|headers| headers > 0);
        lengths.find(comes_again)
    }
}

impl Start<'_> {
    fn is_strong(&self) -> bool {
        self.id.len() >= MIN_TELLING_ID_BYTES
    }

    fn is_like(&self, data: &[u8]) -> bool {
        match data.first() {
            Some(first) if first & 0x80 == 0 => {
                // The fixed bit may be greased (RFC 9287).
                (self.is_strong() || first & 0x40 != 0) && data[1..].starts_with(self.id)
            }
            Some(_) => match Header::parse(data) {
                Some(Header::Long(long, _)) => {
                    self.version.is_none_or(|version| version == long.version)
                        && Id::new(self.id).is_some_and(|id| id == long.to)
                }
                _ => false,
            },
            None => false,
        }
    }
}

/// Says whether keys open a datagram.
type Opens<'o> = dyn FnMut(&[u8]) -> bool + 'o;

/// The lengths of one direction's datagrams.
#[derive(Debug, Clone, Copy, Default)]
pub struct Lengths {
    /// The latest length of joined datagrams.
    joined: Option<u32>,
    /// The longest datagram that was captured alone, or divided.
    longest: u32,
    /// The latest length of a truncated packet that is a little longer than joined datagrams.
    odd: Option<u32>,
    /// True if connection IDs have shown a length, although their own is unknown.
    has_ids: bool,
    /// The packets for which keys showed no length, and those of them that are no longer than other datagrams.
    failures: u8,
    short_failures: u8,
}

impl Lengths {
    /// Takes in a payload. `opens` says whether keys open its first datagram, if it has this length; without keys, it is
    /// `None`.
    #[inline]
    pub fn divide(&mut self, one: &Joined<'_>, opens: Option<&mut Opens<'_>>) -> Division {
        if one.len <= self.joined.unwrap_or(self.longest) {
            return self.divide_short(one, opens);
        }
        let division = self.search(one, opens);
        match division {
            Division::Whole => self.longest = self.longest.max(one.len),
            Division::Into(size) => {
                self.joined = Some(size);
                self.longest = self.longest.max(size);
            }
            Division::Unknown => {}
        }
        division
    }

    /// Acknowledgements are joined, too. Together they are often no longer than other datagrams.
    fn divide_short(&mut self, one: &Joined<'_>, opens: Option<&mut Opens<'_>>) -> Division {
        let is_usual = Some(one.len) == self.joined || one.len == self.longest;
        if is_usual || matches!(one.header, Header::Long(..)) {
            return Division::Whole;
        }
        let start = one.start();
        if start.is_strong() {
            return one
                .length_by_id(&start)
                .map_or(Division::Whole, Division::Into);
        }
        match opens {
            Some(opens) if self.short_failures < MAX_FAILURES && one.captured() == one.len => {
                let found = self.by_keys(one, &start, opens);
                self.short_failures += u8::from(found.is_none());
                found.unwrap_or(Division::Whole)
            }
            _ => Division::Whole,
        }
    }

    fn search(&mut self, one: &Joined<'_>, opens: Option<&mut Opens<'_>>) -> Division {
        let start = one.start();
        if start.is_strong() {
            if let Some(size) = one.length_by_id(&start) {
                self.has_ids = true;
                return Division::Into(size);
            }
            if one.len <= self.longest {
                return Division::Whole;
            }
            if self.has_ids || one.id_len.is_some() || start.version.is_some() {
                return self.by_length(one);
            }
        }
        let start = match one.id_len {
            // Its first bytes need not be an ID.
            None if start.version.is_none() => Start { id: &[], ..start },
            _ => start,
        };
        match opens {
            Some(opens) if self.failures < MAX_FAILURES && one.captured() == one.len => {
                let found = self.by_keys(one, &start, opens);
                self.failures += u8::from(found.is_none());
                found.unwrap_or_else(|| self.by_headers(one, &start))
            }
            _ => self.by_headers(one, &start),
        }
    }

    /// Without connection IDs, and with keys. `None` if they open nothing.
    fn by_keys(
        &self,
        one: &Joined<'_>,
        start: &Start<'_>,
        opens: &mut Opens<'_>,
    ) -> Option<Division> {
        if opens(one.data) {
            return Some(Division::Whole);
        }
        let known = [self.joined, Some(self.longest)].into_iter().flatten();
        let likely = known
            .chain(MIN_BULK_BYTES..one.len)
            .chain(MIN_PACKET_BYTES..MIN_BULK_BYTES);
        let fitting = likely.filter(|size| one.fits(start, *size).is_some());
        fitting
            .take(MAX_TRIALS)
            .find(|size| one.data.get(..*size as usize).is_some_and(&mut *opens))
            .map(Division::Into)
    }

    /// Without connection IDs and keys.
    fn by_headers(&mut self, one: &Joined<'_>, start: &Start<'_>) -> Division {
        let headers = |size: u32| one.fits(start, size).unwrap_or(0);
        if let Some(joined) = self.joined {
            match one.fits(start, joined) {
                // Datagrams have become longer.
                None if one.len <= ORDINARY_BYTES => self.joined = None,
                None | Some(0) => {}
                Some(_) => return Division::Into(joined),
            }
        }
        if one.len <= ORDINARY_BYTES || one.captured() <= MIN_BULK_BYTES {
            return self.by_length(one);
        }
        let is_sure = |size: u32| {
            let headers = headers(size);
            headers >= MIN_TELLING_HEADERS || headers > 0 && one.len.is_multiple_of(size)
        };
        if self.longest >= MIN_BULK_BYTES && is_sure(self.longest) {
            return Division::Into(self.longest);
        }
        let mut fitting =
            (MIN_BULK_BYTES..one.len.min(ORDINARY_BYTES + 1)).filter(|size| headers(*size) > 0);
        match (fitting.next(), fitting.next()) {
            (Some(size), None) if headers(size) >= MIN_TELLING_HEADERS => Division::Into(size),
            (Some(_), _) => Division::Unknown,
            (None, _) => self.by_length(one),
        }
    }

    /// When nothing in the payload shows where datagrams begin.
    fn by_length(&mut self, one: &Joined<'_>) -> Division {
        // All of it was captured, and there is only one header.
        if one.captured() == one.len {
            return Division::Whole;
        }
        let joined = self
            .joined
            .filter(|size| one.len.div_ceil(*size) <= MAX_JOINED);
        if one.len <= ORDINARY_BYTES.max(self.longest) {
            // A length that comes again is that of datagrams which have become longer, and not of two that are joined.
            let is_known = one.len == self.longest || self.odd.replace(one.len) == Some(one.len);
            return match joined {
                Some(size) if !is_known => Division::Into(size),
                _ => Division::Whole,
            };
        }
        let is_multiple = |size: &u32| {
            (MIN_BULK_BYTES..=ORDINARY_BYTES).contains(size)
                && one.len.is_multiple_of(*size)
                && one.len / size <= MAX_JOINED
        };
        let mut known = [self.joined, Some(self.longest)].into_iter().flatten();
        match known.find(is_multiple).or(joined) {
            Some(size) => Division::Into(size),
            None => Division::Unknown,
        }
    }
}

impl Joined<'_> {
    /// The length of its captured part.
    fn captured(&self) -> u32 {
        u32::try_from(self.data.len()).map_or(self.len, |captured| captured.min(self.len))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Datagrams with short headers to this connection ID, joined. Everything else in them is random, from `seed`.
    fn joined(id: &[u8], lengths: &[usize], seed: u64) -> Vec<u8> {
        let mut random = seed;
        let mut byte = move || {
            random = random
                .wrapping_mul(6_364_136_223_846_793_005)
                .wrapping_add(1);
            random.to_be_bytes()[0]
        };
        let mut data = Vec::new();
        for length in lengths {
            let from = data.len();
            data.extend((0..*length).map(|_| byte()));
            data[from] = data[from] & 0x3f | 0x40;
            data[from + 1..=from + id.len()].copy_from_slice(id);
        }
        data
    }

    /// A sender of datagrams to this connection ID, whose length the capture has shown or not.
    struct Sender<'i> {
        lengths: Lengths,
        id: &'i [u8],
        is_known: bool,
        seed: u64,
    }

    impl Sender<'_> {
        fn new(id: &[u8], is_known: bool) -> Sender<'_> {
            Sender {
                lengths: Lengths::default(),
                id,
                is_known,
                seed: 1,
            }
        }

        /// The division that is found of these datagrams if at most `captured` bytes of them are captured. With `keys`, they open.
        fn sends(&mut self, lengths: &[usize], captured: usize, has_keys: bool) -> Division {
            self.seed += 1;
            let data = joined(self.id, lengths, self.seed);
            let mut opens = |data: &[u8]| data.len() == lengths[0];
            let one = Joined {
                len: u32::try_from(data.len()).expect("short"),
                data: &data[..data.len().min(captured)],
                header: Header::parse(&data).expect("a short header"),
                id_len: self.is_known.then_some(self.id.len()),
            };
            let opens: Option<&mut Opens<'_>> = if has_keys { Some(&mut opens) } else { None };
            self.lengths.divide(&one, opens)
        }
    }

    const ALL: usize = usize::MAX;
    const ID: &[u8] = b"ABCDEFGH";

    /// Datagrams of this length, and a shorter one.
    fn many(count: usize, length: usize, last: usize) -> Vec<usize> {
        let mut lengths = vec![length; count];
        lengths.push(last);
        lengths
    }

    #[test]
    fn a_connection_id_shows_each_datagram() {
        for is_known in [true, false] {
            let mut sender = Sender::new(ID, is_known);
            let mut sends = |lengths: &[usize]| sender.sends(lengths, ALL, false);
            assert_eq!(sends(&[1_200, 100]), Division::Into(1_200));
            assert_eq!(sends(&[1_200]), Division::Whole);
            assert_eq!(sends(&[1_452]), Division::Whole, "a probe of the path");
            assert_eq!(sends(&[1_200, 100]), Division::Into(1_200));
            assert_eq!(sends(&many(9, 1_452, 1_452)), Division::Into(1_452));
            assert_eq!(sends(&[1_300]), Division::Whole);
            assert_eq!(sends(&many(20, 1_220, 50)), Division::Into(1_220));
            assert_eq!(sends(&[8_900]), Division::Whole, "jumbo frames");
            assert_eq!(sends(&[8_800]), Division::Whole);
            assert_eq!(sends(&many(4, 8_900, 30)), Division::Into(8_900));
        }
    }

    #[test]
    fn acknowledgements_are_joined_as_data_are() {
        for is_known in [true, false] {
            let mut sender = Sender::new(ID, is_known);
            let mut sends = |lengths: &[usize]| sender.sends(lengths, ALL, false);
            assert_eq!(sends(&[1_200]), Division::Whole);
            assert_eq!(sends(&[40, 40]), Division::Into(40));
            assert_eq!(sends(&[41, 41, 38]), Division::Into(41));
            assert_eq!(sends(&[1_200]), Division::Whole);
            assert_eq!(sends(&[40; 60]), Division::Into(40), "longer than others");
            assert_eq!(sends(&[700]), Division::Whole);
            assert_eq!(sends(&[1_200, 100]), Division::Into(1_200));
        }
    }

    #[test]
    fn half_of_the_payload_is_enough() {
        let mut sender = Sender::new(ID, true);
        let division = sender.sends(&many(9, 1_252, 100), 3_000, false);
        assert_eq!(division, Division::Into(1_252));
    }

    #[test]
    fn keys_show_what_headers_without_connection_ids_do_not() {
        let mut sender = Sender::new(&[], true);
        let mut sends = |lengths: &[usize]| sender.sends(lengths, ALL, true);
        assert_eq!(sends(&[1_200, 400]), Division::Into(1_200));
        assert_eq!(sends(&[1_452]), Division::Whole);
        assert_eq!(sends(&many(9, 1_452, 100)), Division::Into(1_452));
        assert_eq!(sends(&many(2, 1_352, 1_352)), Division::Into(1_352));
        assert_eq!(sends(&[9_000]), Division::Whole);
        assert_eq!(sends(&[40]), Division::Whole);
        assert_eq!(sends(&[40, 38]), Division::Into(40));
        assert_eq!(sends(&[37; 20]), Division::Into(37));
    }

    #[test]
    fn keys_that_open_nothing_are_not_tried_for_ever() {
        let mut lengths = Lengths::default();
        let mut tried = 0;
        for seed in 0..1_000 {
            let data = joined(&[], &[1_200, 1_200, 700], seed);
            let one = Joined {
                len: 3_100,
                data: &data,
                header: Header::parse(&data).expect("a short header"),
                id_len: Some(0),
            };
            let mut opens = |_: &[u8]| {
                tried += 1;
                false
            };
            lengths.divide(&one, Some(&mut opens));
        }
        assert!(
            tried <= (MAX_TRIALS + 1) * 2 * usize::from(MAX_FAILURES),
            "{tried}"
        );
    }

    #[test]
    fn without_connection_ids_and_keys_other_datagrams_help() {
        let mut sender = Sender::new(&[], true);
        assert_eq!(sender.sends(&[1_252], ALL, false), Division::Whole);
        for count in 3..30 {
            let division = sender.sends(&many(count, 1_252, 100), ALL, false);
            assert_eq!(division, Division::Into(1_252), "{count}");
        }
        assert_eq!(
            sender.sends(&[1_252, 90], ALL, false),
            Division::Into(1_252)
        );
        // Nothing is guessed from two headers.
        let mut sender = Sender::new(&[], true);
        assert_eq!(
            sender.sends(&[1_400, 1_400, 200], ALL, false),
            Division::Unknown
        );
    }

    #[test]
    fn of_headers_alone_lengths_are_enough() {
        let mut sender = Sender::new(ID, true);
        let mut sends = |lengths: &[usize]| sender.sends(lengths, 64, false);
        assert_eq!(sends(&[1_200]), Division::Whole);
        assert_eq!(
            sends(&many(4, 1_200, 535)),
            Division::Unknown,
            "or one of jumbo frames"
        );
        assert_eq!(sends(&[1_200; 7]), Division::Into(1_200));
        assert_eq!(sends(&many(4, 1_200, 535)), Division::Into(1_200));
        assert_eq!(sends(&[1_200, 90]), Division::Into(1_200));
        let first = sends(&[1_452]);
        assert_eq!(first, Division::Into(1_200), "as if 252 bytes followed");
        assert_eq!(sends(&[1_452]), Division::Whole);
        assert_eq!(sends(&[1_452; 10]), Division::Into(1_452));
        assert_eq!(
            sends(&[1_452; 300]),
            Division::Unknown,
            "no kernel joins so many"
        );
    }

    /// The first datagrams of an end have long headers, and several packets each.
    #[test]
    fn packets_of_a_handshake_share_a_datagram() {
        let long = |kind: u8, len: u16| {
            let mut packet = vec![0xc0 | kind << 4, 0, 0, 0, 1, 8];
            packet.extend(ID);
            packet.push(0);
            if kind == 0 {
                packet.push(0);
            }
            let rest = len - u16::try_from(packet.len()).expect("short") - 2;
            packet.extend((0x4000 | rest).to_be_bytes());
            packet.resize(len.into(), 7);
            packet
        };
        let data = [long(0, 130), long(2, 1_070), long(2, 1_200), long(2, 400)].concat();
        let one = Joined {
            len: 2_800,
            data: &data,
            header: Header::parse(&data).expect("a long header"),
            id_len: None,
        };
        let division = Lengths::default().divide(&one, None);
        assert_eq!(division, Division::Into(1_200));
    }
}
