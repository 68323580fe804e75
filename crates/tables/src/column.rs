//! The columns of a table with rows of any type.

use std::borrow::Cow;

use serde::{Serialize, Serializer};

use crate::cell::{Cell, Kind, Value, check_unit, split_unit};

/// A column of a table with rows of type `R`.
pub struct Column<'c, R> {
    /// Its name, with the unit.
    pub name: Cow<'c, str>,
    /// Its meaning, for the documentation. Empty for a column that depends on the data.
    pub meaning: &'static str,
    /// The cells of its rows.
    pub cells: Cells<'c, R>,
}

/// Returns the value of a row's cell.
type Take<'c, R, T> = Box<dyn Fn(&R) -> Option<T> + 'c>;

/// The cells of a column. A cell without a value is null.
pub enum Cells<'c, R> {
    /// Values of one type. In a file, a whole number that is too large for a signed number of 64 bits becomes the
    /// largest.
    Values(Kind, Take<'c, R, Value<'c>>),
    /// Lists of structs.
    List(List<'c, R>),
}

/// Lists of structs: items with the same fields.
pub struct List<'c, R> {
    /// The names and types of the fields.
    pub fields: Vec<(Cow<'c, str>, Kind)>,
    items: Take<'c, R, Vec<Vec<Option<Value<'c>>>>>,
}

impl<'c, R> List<'c, R> {
    /// The items of a row's list, each with its values in the order of the fields.
    pub fn items(&self, row: &R) -> Option<Vec<Vec<Option<Value<'c>>>>> {
        (self.items)(row)
    }
}

/// The columns of a table whose rows have the given type. The comment above a column is its meaning, its name has the
/// unit, and its type is that of the function's result. A number without a type for its unit is given `as_named`: it is
/// already in the unit of the name.
///
/// ```
/// use units::Duration;
///
/// let columns = tables::columns!(Duration {
///     /// the round-trip time
///     "rtt_ms": |row| *row,
/// });
/// assert_eq!(columns[0].meaning, "the round-trip time");
/// ```
#[macro_export]
macro_rules! columns {
    (@ $how:ident $($default:ident)?; $row:ty; $name:literal; $meaning:expr; $cell:expr) => {
        $crate::Column::<$row>::$how($name, $meaning, $cell)
    };
    ($row:ty { $($(#[doc = $meaning:literal])+ $name:literal $($how:ident)?: $cell:expr,)* }) => {
        vec![$(
            $crate::columns!(@ $($how)? new; $row; $name; concat!($($meaning),+); $cell)
        ),*]
    };
}

impl<'c, R> Column<'c, R> {
    /// A column whose type is that of the values, and whose unit is at the end of its name. For a name that comes from
    /// data, use [`Column::as_named`].
    ///
    /// # Panics
    ///
    /// The values have a unit, and the name does not end with it; or the name ends with a unit, and the values have none.
    pub fn new<T: Cell<'c>>(
        name: impl Into<Cow<'c, str>>,
        meaning: &'static str,
        cell: impl Fn(&R) -> T + 'c,
    ) -> Column<'c, R> {
        let name = name.into();
        check_unit(&name, T::UNITS);
        Column::build(name, meaning, cell)
    }

    /// A column whose values are already in the unit of the name, if it has one. The name may come from data. Values
    /// that have a unit of their own do not compile.
    pub fn as_named<T: Cell<'c>>(
        name: impl Into<Cow<'c, str>>,
        meaning: &'static str,
        cell: impl Fn(&R) -> T + 'c,
    ) -> Column<'c, R> {
        const { assert!(T::UNITS.is_empty(), "the values have a unit") };
        Column::build(name.into(), meaning, cell)
    }

    fn build<T: Cell<'c>>(
        name: Cow<'c, str>,
        meaning: &'static str,
        cell: impl Fn(&R) -> T + 'c,
    ) -> Column<'c, R> {
        let unit = split_unit(&name).1.to_owned();
        let take = Box::new(move |row: &R| cell(row).value(&unit));
        Column {
            name,
            meaning: meaning.trim(),
            cells: Cells::Values(T::KIND, take),
        }
    }

    /// A column of lists of structs: the items of a row, and the fields of an item, which are no lists.
    pub fn list<I: 'c>(
        name: impl Into<Cow<'c, str>>,
        items: impl Fn(&R) -> Option<Vec<I>> + 'c,
        fields: Vec<Column<'c, I>>,
    ) -> Column<'c, R> {
        let named = fields.iter();
        let named = named.map(|field| (field.name.clone(), field.kind()));
        let list = List {
            fields: named.collect(),
            items: Box::new(move |row| {
                let of = |item: I| fields.iter().map(|field| field.value(&item)).collect();
                Some(items(row)?.into_iter().map(of).collect())
            }),
        };
        Column {
            name: name.into(),
            meaning: "",
            cells: Cells::List(list),
        }
    }

    /// The type of the cells.
    pub fn kind(&self) -> Kind {
        match &self.cells {
            Cells::Values(kind, _) => *kind,
            Cells::List(_) => Kind::List,
        }
    }

    /// Returns the value of a row's cell; `None` for null, and for a list.
    pub fn value(&self, row: &R) -> Option<Value<'c>> {
        match &self.cells {
            Cells::Values(_, take) => take(row),
            Cells::List(_) => None,
        }
    }
}

/// A row as an object of JSON. Unknown values, and lists, are null.
pub struct Json<'j, 'c, R> {
    /// The columns.
    pub columns: &'j [Column<'c, R>],
    /// The row.
    pub row: &'j R,
}

impl<R> Serialize for Json<'_, '_, R> {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let columns = self.columns.iter();
        serializer.collect_map(columns.map(|column| (&column.name, column.value(self.row))))
    }
}

#[cfg(test)]
mod tests {
    use std::panic;

    use units::Duration;

    use super::*;

    #[test]
    fn a_name_has_the_unit_of_the_values_or_says_that_they_are_in_it() {
        let is_refused = |make: fn() -> Column<'static, u64>| panic::catch_unwind(make).is_err();
        assert!(is_refused(|| Column::new("rtt", "", |row: &u64| {
            Duration::from_millis(*row)
        })));
        assert!(is_refused(|| Column::new("rtt_ms", "", |row: &u64| *row)));
        assert!(!is_refused(|| Column::new("rtts", "", |row: &u64| *row)));
        let named = Column::as_named("rtt_ms", "", |row: &u64| *row);
        assert_eq!(named.value(&40), Some(Value::Whole(40)));
        let typed = Column::new("rtt_ms", "", |row: &u64| Duration::from_millis(*row));
        assert_eq!(typed.value(&40), Some(Value::Real(40.0)));
    }
}
