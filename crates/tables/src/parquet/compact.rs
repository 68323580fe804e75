//! Reads Thrift's compact protocol
//! (<https://github.com/apache/thrift/blob/master/doc/specs/thrift-compact-protocol.md>), as footers and headers of pages are
//! written. What the library would take for something else is refused: it drops the upper bits of large numbers, and looks
//! at no type of a field that it knows.

/// The type of a field or an element.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Kind(u8);

impl Kind {
    /// The end of a structure.
    const END: Kind = Kind(0);
    pub const TRUE: Kind = Kind(1);
    pub const FALSE: Kind = Kind(2);
    pub const BYTE: Kind = Kind(3);
    pub const I16: Kind = Kind(4);
    pub const I32: Kind = Kind(5);
    pub const I64: Kind = Kind(6);
    pub const DOUBLE: Kind = Kind(7);
    pub const BINARY: Kind = Kind(8);
    pub const LIST: Kind = Kind(9);
    pub const SET: Kind = Kind(10);
    pub const STRUCT: Kind = Kind(12);
}

/// The depth of structures within each other. A footer has five.
const MAX_DEPTH: usize = 8;

/// The rest of the bytes.
pub struct Compact<'b>(pub &'b [u8]);

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

    /// A number with a sign, which must not be negative or above this one.
    fn number(&mut self, most: u64) -> Option<u64> {
        let value = self.varint()?;
        (value & 1 == 0 && value >> 1 <= most).then_some(value >> 1)
    }

    /// An `i32` that is not negative.
    pub fn i32(&mut self) -> Option<u64> {
        self.number(i32::MAX.cast_unsigned().into())
    }

    /// The id and the type of the field after the one with the id `last`. Every writer has them in the order of their ids,
    /// so none comes twice.
    pub fn field(&mut self, last: u64) -> Option<(u64, Kind)> {
        let head = self.byte()?;
        if head == 0 {
            return Some((last, Kind::END));
        }
        let most = i16::MAX.cast_unsigned().into();
        let id = match head >> 4 {
            0 => self.number(most)?,
            further => last + u64::from(further),
        };
        (last < id && id <= most).then_some((id, Kind(head & 0x0f)))
    }

    /// Gives `read` the id and the type of each field of a structure. It reads the value.
    pub fn fields(
        &mut self,
        mut read: impl FnMut(u64, Kind, &mut Self) -> Option<()>,
    ) -> Option<()> {
        let mut last = 0;
        loop {
            let (id, kind) = self.field(last)?;
            if kind == Kind::END {
                return Some(());
            }
            read(id, kind, self)?;
            last = id;
        }
    }

    /// The type and the number of the elements of a list, which follow.
    pub fn list(&mut self) -> Option<(Kind, u64)> {
        let head = self.byte()?;
        let count = match head >> 4 {
            15 => self.varint()?,
            count => count.into(),
        };
        Some((Kind(head & 0x0f), count))
    }

    /// Skips a value at this depth.
    pub fn skip(&mut self, kind: Kind, depth: usize) -> Option<()> {
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
            Kind::LIST | Kind::SET => match self.list()? {
                // An element that is true or false has a byte, but the library skips none.
                (Kind::TRUE | Kind::FALSE, _) => None,
                (kind, count) => (0..count).try_for_each(|_| self.skip(kind, depth + 1)),
            },
            Kind::STRUCT => self.fields(|_, kind, rest| rest.skip(kind, depth + 1)),
            _ => None,
        }
    }
}
