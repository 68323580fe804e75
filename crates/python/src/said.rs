//! A scenario as Python says it: a dict, TOML, a file, or an object of `fullpipe.Scenario`.

use std::collections::HashMap;
use std::fs;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use pyo3::exceptions::PyTypeError;
use pyo3::prelude::*;
use pyo3::types::{PyBool, PyDict, PyFloat, PyInt, PyList, PyString, PyTuple};
use scenario::Draft;
use scenario::tree::{Entry, Node};

use crate::error;

/// What Python says, before it is known what it should mean.
pub enum Said {
    /// A dict, or an object of a class in `_scenario.py`.
    Entries(Vec<Entry>),
    /// TOML, and the directory that the names of files in it are relative to.
    Text(String, PathBuf),
}

/// Classes that are controllers, by the names that scenarios have for them.
pub type Classes = Arc<HashMap<String, Py<PyAny>>>;

/// Reads what Python says, and keeps the classes that are named as controllers.
#[derive(Default)]
pub struct Reader {
    /// Controllers by the names that scenarios have for them.
    pub classes: HashMap<String, Py<PyAny>>,
}

impl Reader {
    /// What the argument `name` says.
    ///
    /// # Errors
    ///
    /// It is of no type that says something (`TypeError`), or a file that cannot be read (`OSError`).
    pub fn read(&mut self, said: &Bound<'_, PyAny>, name: &str) -> PyResult<Said> {
        if let Some(entries) = self.table(said)? {
            return Ok(Said::Entries(entries));
        }
        if let Ok(text) = said.cast::<PyString>() {
            let text = text.to_str()?;
            // No scenario fits into one line.
            if text.contains('\n') {
                return Ok(Said::Text(text.to_owned(), PathBuf::new()));
            }
        }
        let file: PathBuf = said.extract().map_err(|_| {
            let kind = said.get_type();
            PyTypeError::new_err(format!(
                "{name}: {kind} is none; give a dict, TOML, or the path of a file"
            ))
        })?;
        let text = fs::read_to_string(&file).map_err(|error| error::of_file(&file, &error))?;
        let directory = file.parent().unwrap_or(Path::new("")).to_owned();
        Ok(Said::Text(text, directory))
    }

    /// A scenario, with nothing checked yet.
    ///
    /// # Errors
    ///
    /// Those of [`read`]; or the text is no TOML (`ScenarioError`).
    pub fn draft(&mut self, said: &Bound<'_, PyAny>) -> PyResult<Draft> {
        match self.read(said, "scenario")? {
            Said::Entries(entries) => Ok(Draft::new(entries, Path::new(""))),
            Said::Text(text, directory) => {
                Draft::parse(&text, &directory).map_err(|error| error::of_scenario(&error))
            }
        }
    }

    /// Fields and what is to replace them: `{"path.loss": "2%"}`. Text may be a table, as on the command line.
    ///
    /// # Errors
    ///
    /// A value is of a type that no field has (`TypeError`).
    pub fn replacements(
        &mut self,
        fields: Option<&Bound<'_, PyDict>>,
    ) -> PyResult<Vec<(String, Node)>> {
        let mut replacements = Vec::new();
        for (field, value) in fields.into_iter().flatten() {
            let field: String = field.extract()?;
            let value = match value.cast::<PyString>() {
                Ok(text) => Some(Node::from_option(text.to_str()?)),
                Err(_) => self.node(&field, &value)?,
            };
            replacements.extend(value.map(|value| (field, value)));
        }
        Ok(replacements)
    }

    /// The entries of a dict, or of an object of a class in `_scenario.py`; nothing if it is neither.
    fn table(&mut self, said: &Bound<'_, PyAny>) -> PyResult<Option<Vec<Entry>>> {
        if let Ok(dict) = said.cast::<PyDict>() {
            return self.entries(dict).map(Some);
        }
        match said.getattr_opt("_to_dict")? {
            Some(to_dict) => self.entries(to_dict.call0()?.cast::<PyDict>()?).map(Some),
            None => Ok(None),
        }
    }

    fn entries(&mut self, dict: &Bound<'_, PyDict>) -> PyResult<Vec<Entry>> {
        let mut entries = Vec::new();
        for (key, value) in dict {
            let key: String = key
                .extract()
                .map_err(|_| PyTypeError::new_err(format!("{key}: is no key; give a str")))?;
            if let Some(value) = self.node(&key, &value)? {
                entries.push(Entry::new(&key, value));
            }
        }
        Ok(entries)
    }

    /// The value; nothing if it is `None`, as if it were not given.
    fn node(&mut self, key: &str, value: &Bound<'_, PyAny>) -> PyResult<Option<Node>> {
        if value.is_none() {
            return Ok(None);
        }
        if let Some(entries) = self.table(value)? {
            return Ok(Some(Node::Table(entries)));
        }
        if value.is_instance_of::<PyList>() || value.is_instance_of::<PyTuple>() {
            let mut items = Vec::new();
            for item in value.try_iter()? {
                items.extend(self.node(key, &item?)?);
            }
            return Ok(Some(Node::List(items)));
        }
        if key.rsplit('.').next() == Some("controller") && value.is_callable() {
            return self.class(value).map(|name| Some(Node::Scalar(name)));
        }
        let text = if value.is_instance_of::<PyBool>() {
            value.extract::<bool>()?.to_string()
        } else if value.is_instance_of::<PyString>()
            || value.is_instance_of::<PyInt>()
            || value.is_instance_of::<PyFloat>()
        {
            value.str()?.to_str()?.to_owned()
        } else if let Ok(path) = value.extract::<PathBuf>() {
            path.display().to_string()
        } else {
            let kind = value.get_type();
            return Err(PyTypeError::new_err(format!(
                "{key}: {kind} is no value of a scenario; give a str such as \"40ms\", a number, a dict or a list"
            )));
        };
        Ok(Some(Node::Scalar(text)))
    }

    /// Keeps a class that makes controllers; gives the name that scenarios have for it.
    fn class(&mut self, class: &Bound<'_, PyAny>) -> PyResult<String> {
        let wrong = |reason: &str| PyTypeError::new_err(format!("controller: {class} {reason}"));
        let name = class.getattr_opt("__name__")?;
        let name: String = name
            .ok_or_else(|| wrong("has no __name__; give a class"))?
            .extract()?;
        let name = format!("python:{name}");
        let other = self.classes.insert(name.clone(), class.clone().unbind());
        if other.is_some_and(|other| !other.is(class)) {
            return Err(wrong(
                "has the name of another controller; give it one of its own",
            ));
        }
        Ok(name)
    }
}
