//! Reads a scenario from Python: a dict, TOML, a file, or an object of `fullpipe.Scenario`.

use std::collections::HashMap;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use document::DocumentError;
use document::de::MAX_FILE_BYTES;
use document::tree::{Entry, Node};
use files::regular;
use pyo3::exceptions::{PyOSError, PyTypeError};
use pyo3::prelude::*;
use pyo3::types::{PyString, PyType};
use scenario::Draft;
use text::TextError;

use crate::arguments::{Asked, is_mapping, no_value, text, wrong_type};
use crate::error;
use crate::scalar::{length, scalar};

/// The deepest nesting of tables and lists. A structure that contains itself has no end.
const MAX_DEPTH: usize = 64;

/// The most values: more are a mistake, and would fill the memory. A list in two places counts twice.
const MAX_VALUES: usize = 1_000_000;

/// A value from Python, before its meaning is known.
pub enum Said {
    /// A dict, or an object of a class in `_scenario.py`.
    Entries(Vec<Entry>),
    /// TOML, and the directory to which file names in it are relative.
    Text(String, PathBuf),
}

/// Controller classes by their names in scenarios.
pub type Classes = Arc<HashMap<String, Py<PyAny>>>;

/// Reads values from Python, and keeps the classes that are named as controllers.
#[derive(Default)]
pub struct Reader {
    /// Controller classes by their names in scenarios.
    pub classes: HashMap<String, Py<PyAny>>,
    /// The file that was read, if any.
    file: Option<PathBuf>,
    /// The number of values read.
    values: usize,
}

impl Reader {
    /// Reads the argument `name`.
    ///
    /// # Errors
    ///
    /// The argument has a wrong type (`TypeError`), or is a file that cannot be read (`OSError`).
    pub fn read(&mut self, said: &Bound<'_, PyAny>, name: &str) -> PyResult<Said> {
        if let Some(entries) = self.table(said, 0)? {
            return Ok(Said::Entries(entries));
        }
        if let Ok(text) = said.cast::<PyString>() {
            let text = text
                .to_str()
                .map_err(|raised| no_value(name, said, raised))?;
            // A scenario does not fit into one line.
            if text.contains('\n') {
                return Ok(Said::Text(text.to_owned(), PathBuf::new()));
            }
        }
        let fix = "give a dict, TOML, or the path of a file";
        let file: PathBuf = said.extract().map_err(|_| wrong_type(name, said, fix))?;
        let text = said.py().detach(|| regular::text(&file, MAX_FILE_BYTES));
        let text = text.map_err(|error| match error {
            TextError::Read(error) => error::of_file(&file, &error),
            error => PyOSError::new_err(format!("{}: {error}", file.display())),
        })?;
        let directory = file.parent().unwrap_or(Path::new("")).to_owned();
        self.file = Some(file);
        Ok(Said::Text(text, directory))
    }

    /// A scenario that is not checked yet.
    ///
    /// # Errors
    ///
    /// Those of [`read`]; or the text is not TOML (`ScenarioError`).
    pub fn draft(&mut self, said: &Bound<'_, PyAny>) -> PyResult<Draft> {
        match self.read(said, "scenario")? {
            Said::Entries(entries) => Ok(Draft::new(entries, Path::new(""))),
            Said::Text(text, directory) => {
                Draft::parse(&text, &directory).map_err(|error| self.wrong(&error))
            }
        }
    }

    /// The exception for an invalid scenario, with the name of its file if it has one: `ScenarioError`.
    pub fn wrong(&self, error: &DocumentError) -> PyErr {
        match &self.file {
            Some(file) => {
                let message = format!("{}: {error}", file.display());
                error::of_field(&message, &error.field, error.line)
            }
            None => error::of_scenario(error),
        }
    }

    /// Fields with their replacements: `{"path.loss": "2%"}`. Text may be a table, as on the command line.
    ///
    /// # Errors
    ///
    /// It is not a mapping, a value has a type that no field has (`TypeError`), or tables are nested without end
    /// (`ScenarioError`).
    pub fn replacements(&mut self, set: Asked<'_, '_>) -> PyResult<Vec<(String, Node)>> {
        let Some(set) = set else {
            return Ok(Vec::new());
        };
        let fix = "give a dict such as {\"path.loss\": \"2%\"}";
        if !is_mapping(set)? {
            return Err(wrong_type("set", set, fix));
        }
        let mut replacements = Vec::new();
        for (field, value) in pairs(set)? {
            let field = text(
                "set",
                &field,
                "give a str such as \"path.loss\" for each field",
            )?;
            let value = match value.cast::<PyString>() {
                Ok(_) => Some(Node::from_option(&text(&field, &value, "")?)),
                Err(_) => self.node(&field, &value, 0)?,
            };
            replacements.extend(value.map(|value| (field, value)));
        }
        Ok(replacements)
    }

    /// The entries of a mapping, or of an object of a class in `_scenario.py`. Nothing if it is neither.
    fn table(&mut self, said: &Bound<'_, PyAny>, depth: usize) -> PyResult<Option<Vec<Entry>>> {
        if is_mapping(said)? {
            return self.entries(said, depth).map(Some);
        }
        if said.is_instance_of::<PyType>() {
            return Ok(None);
        }
        match said.getattr_opt("_to_dict")? {
            Some(to_dict) => self.entries(&to_dict.call0()?, depth).map(Some),
            None => Ok(None),
        }
    }

    fn entries(&mut self, of: &Bound<'_, PyAny>, depth: usize) -> PyResult<Vec<Entry>> {
        let mut entries = Vec::new();
        for (key, value) in pairs(of)? {
            let key = text("key", &key, "give a str for each key")?;
            if let Some(value) = self.node(&key, &value, depth)? {
                entries.push(Entry::new(&key, value));
            }
        }
        Ok(entries)
    }

    /// The value at this depth of nesting. Nothing if it is `None`, as if it were not given.
    fn node(
        &mut self,
        key: &str,
        value: &Bound<'_, PyAny>,
        depth: usize,
    ) -> PyResult<Option<Node>> {
        // Long lists take a while, and run no Python code.
        value.py().check_signals()?;
        self.values += 1;
        if self.values > MAX_VALUES {
            let message = format!("{key}: these are more than {MAX_VALUES} values; give fewer");
            return Err(error::of_field(&message, key, None));
        }
        if value.is_none() {
            return Ok(None);
        }
        let depth = depth + 1;
        if depth > MAX_DEPTH {
            let message = format!(
                "{key}: is inside {MAX_DEPTH} tables and lists, and maybe inside itself; no scenario is so deep"
            );
            return Err(error::of_field(&message, key, None));
        }
        if key.rsplit('.').next() == Some("controller") {
            if value.is_callable() {
                return self.class(value).map(|name| Some(Node::Scalar(name)));
            }
            if value.hasattr("on_ack")? {
                let kind = value.get_type();
                return Err(PyTypeError::new_err(format!(
                    "controller: this is an object of {kind}; give the class itself, of which each connection gets an object"
                )));
            }
        }
        if let Some(text) = scalar(value).map_err(|raised| no_value(key, value, raised))? {
            return Ok(Some(Node::Scalar(text)));
        }
        if let Some(entries) = self.table(value, depth)? {
            return Ok(Some(Node::Table(entries)));
        }
        let Some(count) = length(value)? else {
            let kind = value.get_type();
            return Err(PyTypeError::new_err(format!(
                "{key}: {kind} is not a value of a scenario; give a str such as \"40ms\", a number, a dict or a list"
            )));
        };
        if count > MAX_VALUES {
            let message = format!("{key}: {count} values are more than {MAX_VALUES}; give fewer");
            return Err(error::of_field(&message, key, None));
        }
        let mut items = Vec::new();
        for item in value.try_iter()?.take(MAX_VALUES) {
            items.extend(self.node(key, &item?, depth)?);
        }
        Ok(Some(Node::List(items)))
    }

    /// Keeps a controller class, and returns its name in scenarios.
    fn class(&mut self, class: &Bound<'_, PyAny>) -> PyResult<String> {
        let wrong = |reason: &str| PyTypeError::new_err(format!("controller: {class} {reason}"));
        let name = class.getattr_opt("__name__")?;
        let name = name.ok_or_else(|| wrong("has no __name__; give a class"))?;
        let name = text("controller.__name__", &name, "give a class")?;
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

/// A copy of a mapping's items. Reading its values may run Python code, which may change it.
fn pairs<'py>(of: &Bound<'py, PyAny>) -> PyResult<Vec<(Bound<'py, PyAny>, Bound<'py, PyAny>)>> {
    let items = of.call_method0("items")?;
    let pairs = items.try_iter()?.take(MAX_VALUES);
    pairs
        .map(|pair| {
            of.py().check_signals()?;
            pair?.extract()
        })
        .collect()
}
