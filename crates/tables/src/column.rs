//! The columns of a table with rows of any type.

use std::borrow::Cow;

/// A column of a table with rows of type `R`.
pub struct Column<'c, R> {
    /// Its name, with the unit.
    pub name: Cow<'c, str>,
    /// The cells of its rows.
    pub cells: Cells<'c, R>,
}

/// Returns the value of a row's cell.
type Cell<'c, R, T> = Box<dyn Fn(&R) -> Option<T> + 'c>;

/// The cells of a column. A cell without a value is null.
pub enum Cells<'c, R> {
    /// Whole numbers. In a file, one that is too large for a signed number of 64 bits becomes the largest.
    Whole(Cell<'c, R, u64>),
    /// Numbers.
    Real(Cell<'c, R, f64>),
    /// Texts.
    Text(Cell<'c, R, Cow<'c, str>>),
    /// Lists of structs.
    List(List<'c, R>),
}

/// The type of a column's values.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Kind {
    /// A whole number.
    Whole,
    /// A number.
    Real,
    /// A text.
    Text,
    /// A list of structs.
    List,
}

/// The value of a cell that is not a list.
#[derive(Debug, Clone, PartialEq)]
pub enum Value<'c> {
    /// A whole number.
    Whole(u64),
    /// A number.
    Real(f64),
    /// A text.
    Text(Cow<'c, str>),
}

/// Lists of structs: items with the same fields.
pub struct List<'c, R> {
    /// The names and types of the fields.
    pub fields: Vec<(Cow<'c, str>, Kind)>,
    items: Cell<'c, R, Vec<Vec<Option<Value<'c>>>>>,
}

impl<'c, R> List<'c, R> {
    /// The items of a row's list, each with its values in the order of the fields.
    pub fn items(&self, row: &R) -> Option<Vec<Vec<Option<Value<'c>>>>> {
        (self.items)(row)
    }
}

impl<'c, R> Column<'c, R> {
    fn new(name: impl Into<Cow<'c, str>>, cells: Cells<'c, R>) -> Column<'c, R> {
        let name = name.into();
        Column { name, cells }
    }

    /// A column of whole numbers.
    pub fn whole(
        name: impl Into<Cow<'c, str>>,
        cell: impl Fn(&R) -> Option<u64> + 'c,
    ) -> Column<'c, R> {
        Column::new(name, Cells::Whole(Box::new(cell)))
    }

    /// A column of numbers.
    pub fn real(
        name: impl Into<Cow<'c, str>>,
        cell: impl Fn(&R) -> Option<f64> + 'c,
    ) -> Column<'c, R> {
        Column::new(name, Cells::Real(Box::new(cell)))
    }

    /// A column of texts.
    pub fn text(
        name: impl Into<Cow<'c, str>>,
        cell: impl Fn(&R) -> Option<Cow<'c, str>> + 'c,
    ) -> Column<'c, R> {
        Column::new(name, Cells::Text(Box::new(cell)))
    }

    /// A column of lists of structs: the items of a row, and the fields of an item, which are no lists.
    pub fn list<I: 'c>(
        name: impl Into<Cow<'c, str>>,
        items: impl Fn(&R) -> Option<Vec<I>> + 'c,
        fields: Vec<Column<'c, I>>,
    ) -> Column<'c, R> {
        let named = fields.iter();
        let named = named.map(|field| (field.name.clone(), field.cells.kind()));
        let list = List {
            fields: named.collect(),
            items: Box::new(move |row| {
                let of = |item: I| {
                    fields
                        .iter()
                        .map(|field| field.cells.value(&item))
                        .collect()
                };
                Some(items(row)?.into_iter().map(of).collect())
            }),
        };
        Column::new(name, Cells::List(list))
    }

    /// True if its cells are lists.
    pub fn is_list(&self) -> bool {
        self.cells.kind() == Kind::List
    }
}

impl<'c, R> Cells<'c, R> {
    /// The type of the cells.
    pub fn kind(&self) -> Kind {
        match self {
            Cells::Whole(_) => Kind::Whole,
            Cells::Real(_) => Kind::Real,
            Cells::Text(_) => Kind::Text,
            Cells::List(_) => Kind::List,
        }
    }

    /// Returns the value of a row's cell; `None` for null, and for a list.
    pub fn value(&self, row: &R) -> Option<Value<'c>> {
        match self {
            Cells::Whole(cell) => cell(row).map(Value::Whole),
            Cells::Real(cell) => cell(row).map(Value::Real),
            Cells::Text(cell) => cell(row).map(Value::Text),
            Cells::List(_) => None,
        }
    }
}
