//! What a file's footer claims, before the library reads it. The library follows the columns within each other by recursion,
//! and has room at once for as many as a group claims.
//!
//! The structures are those of
//! <https://github.com/apache/parquet-format/blob/master/src/main/thrift/parquet.thrift>.

use super::compact::{Compact, Kind};

/// The claims of a footer.
#[derive(Debug, Default, Clone, Copy, PartialEq, Eq)]
pub struct Footer {
    /// The columns, and the groups of columns.
    pub columns: u64,
    /// The depth of columns within each other.
    pub depth: u64,
    /// The groups of rows.
    pub groups: u64,
    /// The bytes of the names on the way to each column, added up: the library has a copy of them for each.
    pub names: u64,
}

/// The claims of a footer with these bytes. `None` if they are no footer.
pub fn footer(bytes: &[u8]) -> Option<Footer> {
    let mut rest = Compact(bytes);
    let mut claims = Footer::default();
    let mut last = 0;
    // version, schema, num_rows, row_groups: each is required.
    for field in [
        (1, Kind::I32),
        (2, Kind::LIST),
        (3, Kind::I64),
        (4, Kind::LIST),
    ] {
        if rest.field(last)? != field {
            return None;
        }
        last = field.0;
        match last {
            2 => schema(&mut rest, &mut claims)?,
            4 => claims.groups = structures(&mut rest)?,
            _ => rest.skip(field.1, 0)?,
        }
    }
    Some(claims)
}

/// The number of structures in a list.
fn structures(rest: &mut Compact<'_>) -> Option<u64> {
    let (kind, count) = rest.list()?;
    (kind == Kind::STRUCT).then_some(count)
}

/// An element of a schema: a column, or a group of columns.
#[derive(Default)]
struct Element {
    /// The children that are still to come. They follow it.
    children: u64,
    /// The bytes of its name with their number, and of the names of the groups around it.
    names: u64,
}

/// The claims of a schema.
fn schema(rest: &mut Compact<'_>, claims: &mut Footer) -> Option<()> {
    claims.columns = structures(rest)?;
    // The groups around the next column.
    let mut around: Vec<Element> = Vec::new();
    for place in 0..claims.columns {
        let mut element = element(rest)?;
        if place > 0 {
            let group = around.last_mut()?;
            group.children -= 1;
            element.names = element.names.saturating_add(group.names);
        }
        if element.children == 0 {
            claims.names = claims.names.saturating_add(element.names);
        }
        around.push(element);
        claims.depth = claims.depth.max(around.len() as u64);
        while around.last().is_some_and(|of| of.children == 0) {
            around.pop();
        }
    }
    // No group has more children than there are.
    around.is_empty().then_some(())
}

/// A SchemaElement, with its own name alone.
fn element(rest: &mut Compact<'_>) -> Option<Element> {
    let mut element = Element::default();
    rest.fields(|id, kind, rest| match (id, kind) {
        (5, Kind::I32) => {
            element.children = rest.i32()?;
            Some(())
        }
        (4, Kind::BINARY) => {
            let before = rest.0.len();
            rest.skip(kind, 0)?;
            element.names = (before - rest.0.len()) as u64;
            Some(())
        }
        (1..=3 | 6..=9, Kind::I32) => rest.skip(kind, 0),
        (10, Kind::STRUCT) => rest.fields(logical_type),
        (1..=10, _) => None,
        _ => rest.skip(kind, 0),
    })?;
    Some(element)
}

/// Reads a variant of LogicalType.
fn logical_type(variant: u64, kind: Kind, rest: &mut Compact<'_>) -> Option<()> {
    if kind != Kind::STRUCT {
        return None;
    }
    rest.fields(|id, kind, rest| match (variant, id, kind) {
        // DecimalType, IntType, VariantType, GeometryType and GeographyType
        (5, 1 | 2, Kind::I32)
        | (10 | 16, 1, Kind::BYTE)
        | (17 | 18, 1, Kind::BINARY)
        | (18, 2, Kind::I32) => rest.skip(kind, 0),
        // TimeType and TimestampType, with a union of empty structures
        (7 | 8, 2, Kind::STRUCT) => rest.fields(|_, kind, rest| match kind {
            Kind::STRUCT => rest.skip(kind, 0),
            _ => None,
        }),
        (5 | 18, 1 | 2, _) | (10 | 16 | 17, 1, _) | (7 | 8, 2, _) => None,
        _ => rest.skip(kind, 0),
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    /// A footer with these elements of a schema, and two groups of rows.
    fn of(elements: &[&[u8]]) -> Vec<u8> {
        let (start, end) = ([0x15, 2, 0x19], [0x16, 0, 0x19, 0x2c]);
        let count = [(elements.len() as u8) << 4 | 12];
        [&start[..], &count, &elements.concat(), &end].concat()
    }

    /// A group of this many columns with an empty name.
    fn group(children: u8) -> [u8; 5] {
        [0x48, 0, 0x15, children << 1, 0]
    }

    /// A column with an empty name and this logical type.
    fn column(logical: &[u8]) -> Vec<u8> {
        [&[0x15, 12, 0x25, 2, 0x18, 0, 0x6c], logical, &[0, 0]].concat()
    }

    #[test]
    fn a_footer_says_what_its_columns_take() {
        let text = column(&[0x1c, 0]);
        let whole = of(&[&group(2), &text, &group(2), &group(1), &text, &text]);
        let claims = Footer {
            columns: 6,
            depth: 4,
            groups: 2,
            // An empty name has a byte: its length.
            names: 2 + 4 + 3,
        };
        assert_eq!(footer(&whole), Some(claims));
        for length in 0..whole.len() {
            assert_eq!(footer(&whole[..length]), None, "{length}");
        }
        for elements in [
            // More children, and fewer, than there are.
            &[&group(2)[..], &text][..],
            &[&group(127), &text],
            &[&group(1), &text, &text],
            &[&group(1), &group(1)],
            &[&group(0), &group(0)],
        ] {
            assert_eq!(footer(&of(elements)), None, "{elements:x?}");
        }
    }

    #[test]
    fn types_that_the_library_ignores_are_those_of_the_format() {
        let with = |logical: &[u8]| footer(&of(&[&group(1), &column(logical)])).is_some();
        for (logical, places) in [
            // A decimal, a time, an integer, a variant, a geometry, and a geography.
            (&[0x5c, 0x15, 4, 0x15, 18, 0][..], &[1, 3][..]),
            (&[0x7c, 0x11, 0x1c, 0x1c, 0, 0, 0], &[2, 3]),
            (&[0xac, 0x13, 8, 0x11, 0], &[1]),
            (&[0x0c, 32, 0x13, 1, 0], &[2]),
            (&[0x0c, 34, 0x18, 1, b'a', 0], &[2]),
            (&[0x0c, 36, 0x18, 1, b'a', 0x15, 2, 0], &[2, 5]),
            (&[0x1c, 0], &[0]),
        ] {
            assert!(with(logical), "{logical:x?}");
            for place in places {
                for kind in (1..14).filter(|kind| *kind != logical[*place] & 15) {
                    let mut wrong = logical.to_vec();
                    wrong[*place] = wrong[*place] & 0xf0 | kind;
                    assert!(!with(&wrong), "{wrong:x?}");
                }
            }
        }
        let good = of(&[&group(1), &column(&[0x1c, 0])]);
        // The version, the schema and its elements, a group's name and children, the rows and their groups.
        let (rows, last) = (good.len() - 4, good.len() - 1);
        for place in [0, 2, 3, 4, 6, 9, 11, 13, 15, rows, rows + 2, last] {
            for kind in 1..16 {
                let mut wrong = good.clone();
                wrong[place] = wrong[place] & 0xf0 | kind;
                assert_eq!(footer(&wrong).is_some(), wrong == good, "{place} {kind}");
            }
        }
    }

    proptest::proptest! {
        #[test]
        fn any_bytes_are_a_footer_or_none(bytes: Vec<u8>) {
            let mut whole = of(&[&group(1), &column(&[0x1c, 0])]);
            whole.extend(&bytes);
            proptest::prop_assert!(footer(&whole).is_some());
            footer(&bytes);
        }
    }
}
