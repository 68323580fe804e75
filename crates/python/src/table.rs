//! Tables for Python: Arrow tables, which pyarrow, polars, pandas and DuckDB read directly.

use std::sync::{Arc, OnceLock};

use arrow_array::cast::AsArray;
use arrow_array::ffi::FFI_ArrowArray;
use arrow_array::ffi_stream::FFI_ArrowArrayStream;
use arrow_array::types::{ArrowPrimitiveType, Float64Type, Int32Type, Int64Type};
use arrow_array::{
    Array, ArrayRef, DictionaryArray, PrimitiveArray, RecordBatch, RecordBatchIterator,
};
use arrow_schema::DataType;
use arrow_schema::ffi::FFI_ArrowSchema;
use pyo3::exceptions::{PyAttributeError, PyIndexError, PyKeyError, PyRuntimeError, PyTypeError};
use pyo3::prelude::*;
use pyo3::types::{PyCapsule, PyDict, PyRange, PySlice};

use crate::arguments::text;

/// A table of a record. Its columns' names end with their units.
///
/// It is an Arrow table: ``pyarrow.table(t)``, ``polars.DataFrame(t)`` and ``duckdb.sql("from t")`` read it in place,
/// without a copy of its numbers. So does pandas with ``pyarrow.table(t).to_pandas(types_mapper=pandas.ArrowDtype)``;
/// ``pandas.DataFrame.from_arrow(t)`` copies.
///
/// ``t["rtt_ms"]`` is a column, which NumPy and matplotlib take.
#[pyclass(frozen, module = "fullpipe")]
pub struct Table(RecordBatch);

impl Table {
    pub fn new(batch: RecordBatch) -> Table {
        Table(batch)
    }
}

#[pymethods]
impl Table {
    /// The names of its columns.
    #[getter]
    fn column_names(&self) -> Vec<String> {
        let schema = self.0.schema();
        let fields = schema.fields().iter();
        fields.map(|field| field.name().clone()).collect()
    }

    fn __len__(&self) -> usize {
        self.0.num_rows()
    }

    fn __getitem__(&self, name: &Bound<'_, PyAny>) -> PyResult<Column> {
        let name = text("column", name, "give its name, a str")?;
        match self.0.column_by_name(&name) {
            Some(array) => Ok(Column::new(array.clone())),
            None => {
                let known = self.column_names();
                // The axis of a sweep is named after its field, with `_` for each dot.
                let axis = format!("axis_{}", name.replace('.', "_"));
                let known: Vec<&str> = known.iter().map(String::as_str).collect();
                let near = known.iter().find(|of| **of == axis).copied();
                let hint = near.or_else(|| units::nearest(&name, &known));
                let hint = hint.map_or_else(String::new, |near| format!("did you mean {near}? "));
                let known = known.join(", ");
                Err(PyKeyError::new_err(format!(
                    "{name}; {hint}there are {known}"
                )))
            }
        }
    }

    fn __repr__(&self) -> String {
        format!(
            "<fullpipe.Table of {} rows: {}>",
            self.0.num_rows(),
            self.column_names().join(", ")
        )
    }

    /// The Arrow PyCapsule interface: a stream of one batch, which shares memory with this table.
    #[pyo3(signature = (requested_schema = None))]
    fn __arrow_c_stream__<'py>(
        &self,
        py: Python<'py>,
        requested_schema: Option<Bound<'py, PyAny>>,
    ) -> PyResult<Bound<'py, PyCapsule>> {
        // A producer may ignore a requested schema; the consumer then casts itself.
        drop(requested_schema);
        let batches = RecordBatchIterator::new([Ok(self.0.clone())], self.0.schema());
        let stream = FFI_ArrowArrayStream::new(Box::new(batches));
        PyCapsule::new_with_value(py, stream, c"arrow_array_stream")
    }

    /// The Arrow PyCapsule interface: the names and types of the columns.
    fn __arrow_c_schema__<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyCapsule>> {
        let schema = FFI_ArrowSchema::try_from(self.0.schema().as_ref());
        let schema = schema.map_err(|error| PyRuntimeError::new_err(error.to_string()))?;
        PyCapsule::new_with_value(py, schema, c"arrow_schema")
    }
}

/// A column of a :class:`Table`: a sequence whose items are ``None`` where there is no value.
///
/// ``numpy.asarray(column)`` shares its memory, unless values are missing: then it is a copy with NaN in their places.
#[pyclass(frozen, sequence, module = "fullpipe")]
pub struct Column {
    array: ArrayRef,
    /// The numbers with NaN for missing values, made on first use. Nothing for text.
    filled: OnceLock<Option<Vec<f64>>>,
}

impl Column {
    fn new(array: ArrayRef) -> Column {
        Column {
            array,
            filled: OnceLock::new(),
        }
    }

    /// The rows of a slice.
    fn slice(&self, slice: &Bound<'_, PySlice>) -> PyResult<Column> {
        let of = slice.indices(self.array.len() as isize)?;
        let start = usize::try_from(of.start).unwrap_or_default();
        if of.step == 1 {
            return Ok(Column::new(self.array.slice(start, of.slicelength)));
        }
        let places =
            (0..of.slicelength as isize).map(|place| (of.start + place * of.step) as usize);
        let array: ArrayRef = match self.array.data_type() {
            DataType::Int64 => Arc::new(picked(self.array.as_primitive::<Int64Type>(), places)),
            DataType::Float64 => Arc::new(picked(self.array.as_primitive::<Float64Type>(), places)),
            _ => {
                let texts = self.array.as_dictionary::<Int32Type>();
                let keys = picked(texts.keys(), places);
                Arc::new(DictionaryArray::new(keys, Arc::clone(texts.values())))
            }
        };
        Ok(Column::new(array))
    }

    /// The numbers, with NaN for missing values. Nothing for text.
    fn fill(&self) -> Option<&[f64]> {
        let fill = |value: Option<f64>| value.unwrap_or(f64::NAN);
        let filled = || -> Option<Vec<f64>> {
            if let Some(whole) = self.array.as_primitive_opt::<Int64Type>() {
                let values = whole.iter().map(|value| value.map(|value| value as f64));
                return Some(values.map(fill).collect());
            }
            let real = self.array.as_primitive_opt::<Float64Type>()?;
            Some(real.iter().map(fill).collect())
        };
        self.filled.get_or_init(filled).as_deref()
    }
}

/// The values at these indices.
fn picked<T: ArrowPrimitiveType>(
    of: &PrimitiveArray<T>,
    places: impl Iterator<Item = usize>,
) -> PrimitiveArray<T> {
    places
        .map(|place| of.is_valid(place).then(|| of.value(place)))
        .collect()
}

#[pymethods]
impl Column {
    fn __len__(&self) -> usize {
        self.array.len()
    }

    /// The row at this index; for a slice, a column of its rows, which shares memory with this one if its step is 1.
    fn __getitem__<'py>(
        &self,
        py: Python<'py>,
        at: &Bound<'py, PyAny>,
    ) -> PyResult<Bound<'py, PyAny>> {
        if let Ok(slice) = at.cast::<PySlice>() {
            return Ok(Bound::new(py, self.slice(slice)?)?.into_any());
        }
        let index = at.extract::<isize>().map_err(|_| {
            PyTypeError::new_err(format!("{at}: give the number of a row, or a slice"))
        })?;
        let len = self.array.len();
        let place = match usize::try_from(index) {
            Ok(place) => Some(place),
            Err(_) => len.checked_sub(index.unsigned_abs()),
        };
        let Some(place) = place.filter(|place| *place < len) else {
            return Err(PyIndexError::new_err(format!(
                "{index}: there are {len} rows"
            )));
        };
        if self.array.is_null(place) {
            return Ok(py.None().into_bound(py));
        }
        match self.array.data_type() {
            DataType::Int64 => {
                let value = self.array.as_primitive::<Int64Type>().value(place);
                Ok(value.into_pyobject(py)?.into_any())
            }
            DataType::Float64 => {
                let value = self.array.as_primitive::<Float64Type>().value(place);
                Ok(value.into_pyobject(py)?.into_any())
            }
            _ => {
                let texts = self.array.as_dictionary::<Int32Type>();
                let key = texts.keys().value(place);
                let text = texts.values().as_string::<i32>().value(key as usize);
                Ok(text.into_pyobject(py)?.into_any())
            }
        }
    }

    fn __iter__<'py>(of: &Bound<'py, Column>) -> PyResult<Bound<'py, PyAny>> {
        let places = PyRange::new(of.py(), 0, of.get().array.len() as isize)?;
        let map = of.py().import("builtins")?.getattr("map")?;
        map.call1((of.getattr("__getitem__")?, places))
    }

    fn __repr__(&self) -> String {
        format!("<fullpipe.Column of {} rows>", self.array.len())
    }

    /// The Arrow PyCapsule interface: type and values, which share memory with this column.
    #[pyo3(signature = (requested_schema = None))]
    fn __arrow_c_array__<'py>(
        &self,
        py: Python<'py>,
        requested_schema: Option<Bound<'py, PyAny>>,
    ) -> PyResult<(Bound<'py, PyCapsule>, Bound<'py, PyCapsule>)> {
        // A producer may ignore a requested schema; the consumer then casts itself.
        drop(requested_schema);
        let array = FFI_ArrowArray::new(&self.array.to_data());
        let array = PyCapsule::new_with_value(py, array, c"arrow_array")?;
        Ok((self.__arrow_c_schema__(py)?, array))
    }

    /// The Arrow PyCapsule interface: the type of its values.
    fn __arrow_c_schema__<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyCapsule>> {
        let schema = FFI_ArrowSchema::try_from(self.array.data_type());
        let schema = schema.map_err(|error| PyRuntimeError::new_err(error.to_string()))?;
        PyCapsule::new_with_value(py, schema, c"arrow_schema")
    }

    /// NumPy's array interface, version 3, for numbers. NumPy reads text item by item.
    #[getter]
    fn __array_interface__<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyDict>> {
        let whole = self.array.as_primitive_opt::<Int64Type>();
        let real = self.array.as_primitive_opt::<Float64Type>();
        let (kind, data) = match (self.array.null_count(), whole, real) {
            (0, Some(whole), _) => ("<i8", whole.values().as_ptr().addr()),
            (0, _, Some(real)) => ("<f8", real.values().as_ptr().addr()),
            _ => match self.fill() {
                Some(filled) => ("<f8", filled.as_ptr().addr()),
                None => return Err(PyAttributeError::new_err("__array_interface__")),
            },
        };
        let interface = PyDict::new(py);
        interface.set_item("version", 3)?;
        interface.set_item("typestr", kind)?;
        interface.set_item("shape", (self.array.len(),))?;
        interface.set_item("data", (data, true))?;
        Ok(interface)
    }
}
