//! What the headers of a file's pages claim, before any page is read. The library keeps them to itself.
//!
//! The structures are those of
//! <https://github.com/apache/parquet-format/blob/master/src/main/thrift/parquet.thrift>.

use super::compact::{Compact, Kind};

/// The header of a page.
#[derive(Debug, Default, Clone, Copy, PartialEq, Eq)]
pub struct PageHeader {
    /// Its own length in bytes.
    pub length: u64,
    /// The length of the page in the file in bytes.
    pub compressed: u64,
    /// The length of the page without compression in bytes.
    pub uncompressed: u64,
    /// The number of values of a dictionary; zero for other pages.
    pub dictionary_values: u64,
    /// The encoding of the values.
    pub encoding: Option<u64>,
}

/// The ids of data_page_header, dictionary_page_header and data_page_header_v2. index_page_header is between them.
const DATA_PAGE: u64 = 5;
const DICTIONARY_PAGE: u64 = 7;
const DATA_PAGE_V2: u64 = 8;

/// The header at the beginning of these bytes. `None` if they end within it, or are no such header.
pub fn page_header(bytes: &[u8]) -> Option<PageHeader> {
    let mut rest = Compact(bytes);
    // type, uncompressed_page_size, compressed_page_size
    let (mut of_page, mut of_kind) = ([None; 4], None);
    rest.fields(|id, kind, rest| match (id, kind) {
        (1..=3, Kind::I32) => {
            of_page[id as usize] = Some(rest.i32()?);
            Some(())
        }
        // A checksum may be negative.
        (4, Kind::I32) => rest.skip(kind, 0),
        (5..=8, Kind::STRUCT) if of_kind.is_none() => {
            of_kind = Some((id, Numbers::read(id, rest)?));
            Some(())
        }
        (1..=8, _) => None,
        _ => rest.skip(kind, 0),
    })?;
    let (id, Numbers(numbers)) = of_kind?;
    // The types are in the order of their structures.
    if of_page[1]? + DATA_PAGE != id {
        return None;
    }
    Some(PageHeader {
        length: (bytes.len() - rest.0.len()) as u64,
        uncompressed: of_page[2]?,
        compressed: of_page[3]?,
        dictionary_values: numbers[1].filter(|_| id == DICTIONARY_PAGE).unwrap_or(0),
        encoding: numbers[if id == DATA_PAGE_V2 { 4 } else { 2 }],
    })
}

/// The first fields of a page's structure, by their ids, as far as all of them are numbers.
struct Numbers([Option<u64>; 7]);

impl Numbers {
    /// Reads the structure with this id.
    fn read(of: u64, rest: &mut Compact<'_>) -> Option<Numbers> {
        let last = match of {
            DATA_PAGE => 4,
            DICTIONARY_PAGE => 2,
            DATA_PAGE_V2 => 6,
            _ => 0,
        };
        let mut numbers = [None; 7];
        rest.fields(|id, kind, rest| match kind {
            _ if id > last => rest.skip(kind, 1),
            Kind::I32 => {
                numbers[id as usize] = Some(rest.i32()?);
                Some(())
            }
            _ => None,
        })?;
        Some(Numbers(numbers))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// A data page with statistics, and what follows.
    const DATA_PAGE: &[u8] = &[
        0x15, 0, // type
        0x15, 0x80, 0x01, // 64 bytes without compression
        0x15, 0x40, // 32 bytes
        0x2c, // data_page_header
        0x15, 20, 0x15, 16, 0x15, 6, 0x15,
        6, // ten values, encoded by a dictionary, levels by runs
        0x1c, 0x18, 2, 7, 7, 0x36, 4, 0x11, 0, // statistics: a text, a number, true
        0, 0, // the ends
        0xff, 0xff,
    ];

    #[test]
    fn a_header_says_what_its_page_takes() {
        let header = page_header(DATA_PAGE).expect("a header");
        let expected = PageHeader {
            length: DATA_PAGE.len() as u64 - 2,
            compressed: 32,
            uncompressed: 64,
            dictionary_values: 0,
            encoding: Some(8),
        };
        assert_eq!(header, expected);
        let dictionary = [
            0x15, 4, 0x15, 8, 0x15, 8, 0x4c, 0x15, 6, 0x15, 0, 0x12, 0, 0,
        ];
        let header = page_header(&dictionary).expect("a header");
        assert_eq!((header.dictionary_values, header.encoding), (3, Some(0)));
    }

    #[test]
    fn what_the_library_takes_for_something_else_is_refused() {
        // A dictionary of three values. The library ignores the types of fields that it knows.
        let good = [
            0x15, 4, 0x15, 8, 0x15, 8, 0x4c, 0x15, 6, 0x15, 0, 0x12, 0, 0,
        ];
        assert!(page_header(&good).is_some());
        for place in [0, 2, 4, 7, 9] {
            for kind in [1, 3, 4, 6, 8, 9, 12] {
                let mut wrong = good;
                wrong[place] = wrong[place] & 0xf0 | kind;
                assert_eq!(page_header(&wrong), None, "{place} {kind}");
            }
        }
        // It keeps the lower 32 bits of a number, and the lower 16 bits of an id.
        let number = |bytes: &[u8]| [&good[..8], bytes, &good[9..]].concat();
        assert!(page_header(&number(&[0xfe, 0xff, 0xff, 0xff, 0x0f])).is_some());
        let large = number(&[0x86, 0x80, 0x80, 0x80, 0x20]);
        let id = |bytes: &[u8]| [&good[..13], &[0x05], bytes, &[2, 0]].concat();
        assert!(page_header(&id(&[0xfe, 0xff, 0x03])).is_some());
        let id = id(&[0x84, 0x80, 0x08]);
        // num_values twice, and a further size.
        let twice = [&good[..9], &[0x05, 2, 2], &good[9..]].concat();
        let further = [&good[..13], &[0x05, 4, 2, 0]].concat();
        // It skips no byte of an element that is true.
        let truths = [&good[..13], &[0x29, 0x21, 1, 1, 0]].concat();
        for wrong in [large, id, twice, further, truths] {
            assert_eq!(page_header(&wrong), None, "{wrong:x?}");
        }
    }

    #[test]
    fn a_header_has_the_structure_of_its_type_alone() {
        let data = [0x15, 2, 0x15, 0, 0x15, 6, 0x15, 6, 0];
        let dictionary = [0x15, 2, 0x15, 0, 0];
        let second = [
            0x15, 2, 0x15, 0, 0x15, 2, 0x15, 0, 0x15, 0, 0x15, 0, 0x12, 0,
        ];
        let structures = [&data[..], &[0], &dictionary, &second];
        let header = |kind: usize, structures: &[(usize, &[u8])]| {
            let mut bytes = vec![0x15, 2 * kind as u8, 0x15, 8, 0x15, 8];
            let mut last = 3;
            for (place, structure) in structures {
                let id = place + 5;
                bytes.push(((id - last) as u8) << 4 | 12);
                bytes.extend_from_slice(structure);
                last = id;
            }
            bytes.push(0);
            page_header(&bytes)
        };
        for (kind, own) in structures.iter().enumerate() {
            assert_eq!(header(kind, &[]), None, "{kind}");
            for (place, other) in structures.iter().enumerate() {
                let alone = header(kind, &[(place, other)]);
                assert_eq!(alone.is_some(), kind == place, "{kind} {place}");
                let mut both = [(kind, *own), (place, *other)];
                both.sort_unstable();
                assert_eq!(header(kind, &both), None, "{kind} {place}");
            }
        }
    }

    #[test]
    fn what_is_no_header_is_refused() {
        for length in 0..DATA_PAGE.len() - 2 {
            assert_eq!(page_header(&DATA_PAGE[..length]), None, "{length}");
        }
        let negative = [0x15, 0, 0x15, 1, 0x15, 2, 0];
        let twice = [0x15, 0, 0x15, 2, 0x15, 2, 0x05, 4, 0x20, 0];
        let deep = [0x1c; 64];
        let endless = [0x19, 0xf1, 0xff, 0xff, 0xff, 0xff, 0x0f];
        for bytes in [&negative[..], &twice, &deep, &endless, &[0]] {
            assert_eq!(page_header(bytes), None, "{bytes:x?}");
        }
    }

    proptest::proptest! {
        #[test]
        fn any_bytes_are_a_header_or_none(bytes: Vec<u8>) {
            let whole = [DATA_PAGE, &bytes].concat();
            proptest::prop_assert!(page_header(&whole).is_some());
            if let Some(header) = page_header(&bytes) {
                proptest::prop_assert!(header.length <= bytes.len() as u64);
            }
        }
    }
}
