//! What the headers of a file's pages claim, before any page is read. The library keeps them to itself.
//!
//! The format is Thrift's compact protocol
//! (<https://github.com/apache/thrift/blob/master/doc/specs/thrift-compact-protocol.md>) with the structures of
//! <https://github.com/apache/parquet-format/blob/master/src/main/thrift/parquet.thrift>.

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

/// The type of a field or an element.
#[derive(Clone, Copy, PartialEq, Eq)]
struct Kind(u8);

impl Kind {
    const TRUE: Kind = Kind(1);
    const FALSE: Kind = Kind(2);
    const BYTE: Kind = Kind(3);
    const I16: Kind = Kind(4);
    const I32: Kind = Kind(5);
    const I64: Kind = Kind(6);
    const DOUBLE: Kind = Kind(7);
    const BINARY: Kind = Kind(8);
    const LIST: Kind = Kind(9);
    const SET: Kind = Kind(10);
    const STRUCT: Kind = Kind(12);
}

/// The depth of structures within each other. A header of a page has three.
const MAX_DEPTH: usize = 8;

/// The header at the beginning of these bytes. `None` if they end within it, or are no such header.
pub fn page_header(bytes: &[u8]) -> Option<PageHeader> {
    let mut rest = Compact(bytes);
    let (mut of_page, mut dictionary, mut first, mut second) = (
        [None; 4],
        Numbers::default(),
        Numbers::default(),
        Numbers::default(),
    );
    rest.fields(|id, kind, rest| match (id, kind) {
        // type, uncompressed_page_size, compressed_page_size
        (1..=3, Kind::I32) => set(&mut of_page[id as usize], rest.number()?),
        // data_page_header, dictionary_page_header, data_page_header_v2
        (5, Kind::STRUCT) => first.read(rest),
        (7, Kind::STRUCT) => dictionary.read(rest),
        (8, Kind::STRUCT) => second.read(rest),
        _ => rest.skip(kind, 0),
    })?;
    let encodings = [first.0[2], dictionary.0[2], second.0[4]];
    Some(PageHeader {
        length: (bytes.len() - rest.0.len()) as u64,
        uncompressed: of_page[2]?,
        compressed: of_page[3]?,
        dictionary_values: dictionary.0[1].unwrap_or(0),
        encoding: encodings.into_iter().flatten().next(),
    })
}

/// Sets a field that must not be there twice.
fn set(field: &mut Option<u64>, value: u64) -> Option<()> {
    field.replace(value).is_none().then_some(())
}

/// The first numbers of a structure, by their ids: `num_values`, and `encoding` at 2 or, in the second version, at 4.
#[derive(Default)]
struct Numbers([Option<u64>; 5]);

impl Numbers {
    fn read(&mut self, rest: &mut Compact<'_>) -> Option<()> {
        rest.fields(|id, kind, rest| match (id, kind) {
            (1..=4, Kind::I32) => set(&mut self.0[id as usize], rest.number()?),
            _ => rest.skip(kind, 1),
        })
    }
}

/// The rest of the bytes.
struct Compact<'b>(&'b [u8]);

impl Compact<'_> {
    fn byte(&mut self) -> Option<u8> {
        let (first, rest) = self.0.split_first()?;
        self.0 = rest;
        Some(*first)
    }

    fn pass(&mut self, count: u64) -> Option<()> {
        self.0 = self.0.get(usize::try_from(count).ok()?..)?;
        Some(())
    }

    fn varint(&mut self) -> Option<u64> {
        let mut value = 0_u64;
        for shift in (0..64).step_by(7) {
            let byte = self.byte()?;
            value |= u64::from(byte & 0x7f) << shift;
            if byte & 0x80 == 0 {
                return Some(value);
            }
        }
        None
    }

    /// A number with a sign, which must not be negative.
    fn number(&mut self) -> Option<u64> {
        let value = self.varint()?;
        (value & 1 == 0).then_some(value >> 1)
    }

    /// Gives `field` the id and the type of each field of a structure. It reads the value.
    fn fields(&mut self, mut field: impl FnMut(u64, Kind, &mut Self) -> Option<()>) -> Option<()> {
        let mut id = 0_u64;
        loop {
            let head = self.byte()?;
            if head == 0 {
                return Some(());
            }
            id = match head >> 4 {
                0 => self.number()?,
                further => id.checked_add(u64::from(further))?,
            };
            field(id, Kind(head & 0x0f), self)?;
        }
    }

    /// Skips a value in a structure.
    fn skip(&mut self, kind: Kind, depth: usize) -> Option<()> {
        if depth > MAX_DEPTH {
            return None;
        }
        match kind {
            Kind::TRUE | Kind::FALSE => Some(()),
            Kind::BYTE => self.pass(1),
            Kind::I16 | Kind::I32 | Kind::I64 => self.varint().map(drop),
            Kind::DOUBLE => self.pass(8),
            Kind::BINARY => {
                let length = self.varint()?;
                self.pass(length)
            }
            Kind::LIST | Kind::SET => {
                let head = self.byte()?;
                let count = match head >> 4 {
                    15 => self.varint()?,
                    count => count.into(),
                };
                for _ in 0..count {
                    match Kind(head & 0x0f) {
                        // An element that is true or false has a byte.
                        Kind::TRUE | Kind::FALSE => self.pass(1)?,
                        kind => self.skip(kind, depth + 1)?,
                    }
                }
                Some(())
            }
            Kind::STRUCT => self.fields(|_, kind, rest| rest.skip(kind, depth + 1)),
            _ => None,
        }
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
