//! Data that BPF programs store with a socket (`BPF_MAP_TYPE_SK_STORAGE`), as reported by sock_diag since Linux 5.6.

use std::fmt;
use std::os::fd::{AsRawFd, OwnedFd};

use netlink_packet_core::NlasIterator;

/// The attribute of the request that names maps: `INET_DIAG_REQ_SK_BPF_STORAGES`, which holds one
/// `SK_DIAG_BPF_STORAGE_REQ_MAP_FD` for each.
const REQUEST: u16 = 2;
const MAP_FD: u16 = 1;

/// In the answer, `SK_DIAG_BPF_STORAGE` for each map, with its value in `SK_DIAG_BPF_STORAGE_MAP_VALUE`.
const STORAGE: u16 = 1;
const MAP_VALUE: u16 = 3;

const ATTRIBUTE_BYTES: u16 = 4;
const DESCRIPTOR_BYTES: u16 = 4;

/// The flag of an attribute that contains others (`NLA_F_NESTED`).
const NESTED: u16 = 1 << 15;

/// The first bytes that a program stores with a socket.
#[derive(Clone, Copy, PartialEq, Eq)]
pub struct Storage {
    bytes: [u8; Storage::MAX_BYTES],
    length: usize,
}

impl Storage {
    /// The most bytes that are kept.
    pub const MAX_BYTES: usize = 128;

    /// The first bytes.
    pub fn bytes(&self) -> &[u8] {
        self.bytes.get(..self.length).unwrap_or_default()
    }

    /// Parses the attribute of an answer. Of several maps, it takes the first with data of the socket.
    pub(super) fn parse(attribute: &[u8]) -> Option<Storage> {
        let storages = inside(attribute, STORAGE);
        let value = storages
            .flat_map(|storage| inside(storage, MAP_VALUE))
            .next()?;
        let length = value.len().min(Storage::MAX_BYTES);
        let mut bytes = [0; Storage::MAX_BYTES];
        bytes
            .get_mut(..length)?
            .copy_from_slice(value.get(..length)?);
        Some(Storage { bytes, length })
    }
}

impl fmt::Debug for Storage {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_list().entries(self.bytes()).finish()
    }
}

/// The values of the inner attributes of this kind; truncated ones are left out.
fn inside(attribute: &[u8], kind: u16) -> impl Iterator<Item = &[u8]> {
    NlasIterator::new(attribute)
        .map_while(Result::ok)
        .filter(move |inner| inner.kind() == kind)
        .filter_map(|inner| {
            let header = usize::from(ATTRIBUTE_BYTES);
            let end = header + inner.value_length();
            inner.into_inner().get(header..end)
        })
}

/// The length of the request's attribute about these maps.
pub(super) fn request_length(maps: &[OwnedFd]) -> u16 {
    match maps.len() {
        0 => 0,
        count => ATTRIBUTE_BYTES + (ATTRIBUTE_BYTES + DESCRIPTOR_BYTES) * count as u16,
    }
}

/// Requests the data of each socket in these maps.
pub(super) fn append_request(maps: &[OwnedFd], request: &mut Vec<u8>) {
    if maps.is_empty() {
        return;
    }
    request.extend(request_length(maps).to_ne_bytes());
    request.extend((REQUEST | NESTED).to_ne_bytes());
    for map in maps {
        request.extend((ATTRIBUTE_BYTES + DESCRIPTOR_BYTES).to_ne_bytes());
        request.extend(MAP_FD.to_ne_bytes());
        request.extend(map.as_raw_fd().to_ne_bytes());
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn attribute(kind: u16, value: &[u8]) -> Vec<u8> {
        let length = ATTRIBUTE_BYTES + value.len() as u16;
        let mut bytes = Vec::new();
        bytes.extend(length.to_ne_bytes());
        bytes.extend(kind.to_ne_bytes());
        bytes.extend(value);
        bytes
    }

    #[test]
    fn the_first_bytes_of_a_value() {
        let long: Vec<u8> = (0..200).collect();
        let map_id = attribute(2, &7u32.to_ne_bytes());
        let value = attribute(MAP_VALUE, &long);
        let storage = attribute(STORAGE | NESTED, &[map_id.clone(), value].concat());
        let found = Storage::parse(&storage).unwrap();
        assert_eq!(found.bytes(), &long[..Storage::MAX_BYTES]);
        // A socket without data of any program.
        assert_eq!(Storage::parse(&attribute(STORAGE, &map_id)), None);
        assert_eq!(Storage::parse(&storage[..20]), None);
        assert_eq!(Storage::parse(&[]), None);
    }
}
