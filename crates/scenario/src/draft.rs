//! The text of a scenario before its checks: its fields can still be replaced.

use std::path::{Path, PathBuf};
use std::str::FromStr;

use document::de;
use document::tree::{self, Entry, Node};
use document::{DocumentError, key_meant, unknown_for};

use super::flow::FlowSpec;
use super::host::HostSpec;
use super::link_spec::LinkSpec;
use super::path_spec::PathSpec;
use super::scenario::Scenario;

/// The maximum number of parts of a field's name. No field has more, and each part takes a call on the stack.
const MAX_FIELD_PARTS: usize = 64;

/// A scenario's text, with overrides. Nothing is checked before [`Draft::read`], so dependent fields can be replaced
/// one by one, in any order.
#[derive(Debug, Clone)]
pub struct Draft {
    entries: Vec<Entry>,
    /// The directory that the names of traces are relative to.
    directory: PathBuf,
    /// The fields that [`Draft::set`] has replaced.
    replaced: Vec<String>,
}

impl Draft {
    /// Reads the text in `file`. Names of traces are relative to the file's directory.
    ///
    /// # Errors
    ///
    /// The file cannot be read or is not TOML.
    pub fn load(file: &Path) -> Result<Draft, DocumentError> {
        de::load(file, Draft::parse)
    }

    /// Reads `text`. Names of traces are relative to `directory`.
    ///
    /// # Errors
    ///
    /// The text is not TOML.
    pub fn parse(text: &str, directory: &Path) -> Result<Draft, DocumentError> {
        Ok(Draft::new(Node::from_toml(text)?, directory))
    }

    /// Returns the draft with these entries. Names of traces are relative to `directory`.
    pub fn new(entries: Vec<Entry>, directory: &Path) -> Draft {
        Draft {
            entries,
            directory: directory.to_owned(),
            replaced: Vec::new(),
        }
    }

    /// Replaces or adds the field `field` with an option's text: `seed`, `path.loss`, `path.policer.rate`. `flow.bytes`
    /// is the field of every group of flows, `flow.0.bytes` that of the first.
    ///
    /// # Errors
    ///
    /// There can be no such field: its parent is not a table, or is a list without this item.
    pub fn set(&mut self, field: &str, text: &str) -> Result<(), DocumentError> {
        self.replace(field, &Node::from_option(text))
    }

    /// Does as [`Draft::set`] with a value.
    pub fn replace(&mut self, field: &str, value: &Node) -> Result<(), DocumentError> {
        let wrong = |reason: String| DocumentError::new(field, reason);
        let parts = field.split('.').count();
        if parts > MAX_FIELD_PARTS {
            // The field's name would fill the screen.
            let reason = format!("a field of {parts} parts: no field has more than a few");
            return Err(DocumentError::new("", reason));
        }
        if field.split('.').any(|key| key.trim().is_empty()) {
            return Err(wrong(
                "is not a field such as path.loss or flow.0.controller".into(),
            ));
        }
        replace_in(&mut self.entries, field, value).map_err(wrong)?;
        self.replaced.push(field.to_string());
        Ok(())
    }

    /// Returns every field that has a text of its own, with this text, by its name in [`Draft::set`]:
    /// `path.change.0.rate`.
    pub fn texts(&self) -> Vec<(String, &str)> {
        let mut texts = Vec::new();
        for entry in &self.entries {
            texts_in(&entry.key, &entry.value, &mut texts);
        }
        texts
    }

    /// Returns the scenario.
    ///
    /// # Errors
    ///
    /// The scenario is invalid. The error has a line if it concerns the text, and none if it concerns a replaced field.
    pub fn read(&self) -> Result<Scenario, DocumentError> {
        let scenario = read(&self.entries);
        let mut scenario = scenario.map_err(|error| self.located(error))?;
        for hop in scenario.hops_mut() {
            let traces = [&mut hop.data.trace, &mut hop.uplink.trace];
            for trace in traces.into_iter().flatten() {
                *trace = self.directory.join(&trace);
            }
        }
        Ok(scenario)
    }

    /// Returns an error of the scenario that was read with the line that it concerns; without one if it concerns a
    /// replaced field.
    pub fn located(&self, error: DocumentError) -> DocumentError {
        let line = match self.culprit(&error) {
            None => tree::line_of(&self.entries, &error.field),
            Some(_) => None,
        };
        DocumentError { line, ..error }
    }

    /// Returns the replaced field that an error of [`Draft::read`] concerns, if there is one.
    pub fn culprit(&self, error: &DocumentError) -> Option<&str> {
        let wrong = keys(&error.field);
        let is_culprit = |field: &&String| {
            let replaced = keys(field);
            wrong.starts_with(&replaced)
        };
        let found = self.replaced.iter().rev().find(is_culprit);
        found.map(String::as_str)
    }
}

fn read(entries: &[Entry]) -> Result<Scenario, DocumentError> {
    for Entry { key, value, .. } in entries {
        if matches!(&**key, "path" | "link") {
            LinkSpec::check_places(value).map_err(|error| error.within(key))?;
        }
    }
    let scenario: Scenario = de::read_entries(entries).map_err(placed)?;
    if scenario.name.is_empty() {
        return Err(DocumentError::new(
            "name",
            "is missing; give the scenario one",
        ));
    }
    scenario.check()?;
    Ok(scenario)
}

/// Returns the error of a scenario. If a key belongs in one of its tables and is outside, the error names the table.
fn placed(error: DocumentError) -> DocumentError {
    let key = error.field.as_str();
    let known = de::keys_of::<Scenario>();
    if key.contains(['.', '[']) || known.contains(&key) || key_meant(key, &known).is_some() {
        return error;
    }
    match in_a_table(key) {
        Some(meant) => DocumentError::new(key, unknown_for(meant)),
        None => error,
    }
}

/// Returns the field of a scenario that a word probably means: `path.loss` for `loss`, `path.rate` for `bandwidth`,
/// `duration`. `None` if it is similar to none.
pub fn field_meant(word: &str) -> Option<String> {
    let known = de::keys_of::<Scenario>();
    let exact = known.iter().copied().find(|key| *key == word);
    let found = exact.or_else(|| key_meant(word, &known));
    found.map(str::to_owned).or_else(|| in_a_table(word))
}

/// Does the same for fields in one of a scenario's tables.
fn in_a_table(key: &str) -> Option<String> {
    let tables = [
        ("path", de::keys_of::<PathSpec>()),
        ("flow", de::keys_of::<FlowSpec>()),
        ("host", de::keys_of::<HostSpec>()),
    ];
    let has = |(_, keys): &&(&str, Vec<&str>)| keys.contains(&key);
    let exact = tables.iter().find(has).map(|(table, _)| (*table, key));
    let mut near = tables.iter();
    let near = || near.find_map(|(table, keys)| Some((*table, key_meant(key, keys)?)));
    let (table, meant) = exact.or_else(near)?;
    Some(format!("{table}.{meant}"))
}

impl Scenario {
    /// Reads the scenario in `file`. A trace's name is relative to the file's directory.
    ///
    /// # Errors
    ///
    /// The file cannot be read, or its scenario is invalid.
    pub fn load(file: &Path) -> Result<Scenario, DocumentError> {
        Draft::load(file)?.read()
    }

    /// Overrides the field `field` (`duration`, `path.loss`, `flow.0.bytes`) with an option's text, as [`Draft::set`]
    /// does. To override several dependent fields, use a [`Draft`].
    ///
    /// # Errors
    ///
    /// There is no such field, or the scenario is invalid with this value. It has not changed then.
    pub fn set(&mut self, field: &str, text: &str) -> Result<(), DocumentError> {
        let overridden = || {
            let mut draft = Draft::parse(&self.to_string(), Path::new(""))?;
            draft.set(field, text)?;
            draft.read()
        };
        // A line would refer to a text that the user has not written.
        *self = overridden().map_err(|error| DocumentError {
            line: None,
            ..error
        })?;
        Ok(())
    }
}

impl FromStr for Scenario {
    type Err = DocumentError;

    fn from_str(text: &str) -> Result<Scenario, DocumentError> {
        Draft::parse(text, Path::new(""))?.read()
    }
}

/// Adds the texts of `value`, which is the field `field`.
fn texts_in<'n>(field: &str, value: &'n Node, texts: &mut Vec<(String, &'n str)>) {
    match value {
        Node::Scalar(text) => texts.push((field.to_owned(), text)),
        Node::Table(entries) => {
            for entry in entries {
                texts_in(&format!("{field}.{}", entry.key), &entry.value, texts);
            }
        }
        Node::List(items) => {
            for (place, item) in items.iter().enumerate() {
                texts_in(&format!("{field}.{place}"), item, texts);
            }
        }
    }
}

/// Returns a field's keys without the indices of items in lists, which an error and an override may or may not have.
fn keys(field: &str) -> Vec<&str> {
    let parts = field.split(['.', '[', ']']);
    parts
        .filter(|part| !part.is_empty() && part.parse::<usize>().is_err())
        .collect()
}

fn replace_in(entries: &mut Vec<Entry>, field: &str, value: &Node) -> Result<(), String> {
    let (key, rest) = match field.split_once('.') {
        Some((key, rest)) => (key, Some(rest)),
        None => (field, None),
    };
    let index = entries.iter().position(|entry| entry.key == key);
    if index.is_none()
        && let Some((place, inner)) = rest.and_then(place_in_list)
    {
        let inner = if inner.is_empty() { "..." } else { inner };
        return Err(format!(
            "there is no {key}.{place}, for there is no {key}; give a list such as {key}=[{{ {inner} = ... }}]"
        ));
    }
    let index = index.unwrap_or_else(|| {
        entries.push(Entry {
            key: key.to_string(),
            value: Node::Table(Vec::new()),
            line: None,
        });
        entries.len() - 1
    });
    match (entries.get_mut(index), rest) {
        (Some(entry), Some(rest)) => replace_within(key, &mut entry.value, rest, value),
        (Some(entry), None) => {
            entry.value = value.clone();
            Ok(())
        }
        (None, _) => Ok(()),
    }
}

/// Returns the index of an item in a list at the start of a field, and the rest of the field.
fn place_in_list(field: &str) -> Option<(usize, &str)> {
    let (first, rest) = field.split_once('.').unwrap_or((field, ""));
    Some((first.parse().ok()?, rest))
}

/// Returns the field that was meant by a field of the list `key` that begins with the name of a link, if it does.
fn link_meant(key: &str, items: &[Node], field: &str) -> Option<String> {
    let (name, rest) = field.split_once('.')?;
    let is_own_key = de::keys_of::<PathSpec>().contains(&name);
    let has_name = |item: &Node| {
        let Node::Table(entries) = item else {
            return false;
        };
        let mut entries = entries.iter();
        entries
            .any(|of| of.key == "name" && matches!(&of.value, Node::Scalar(text) if text == name))
    };
    let place = items.iter().position(has_name);
    let place = place.filter(|_| key == "link" && !is_own_key)?;
    Some(format!("{key}.{place}.{rest}"))
}

/// Replaces `field` in `outer`, which is the value of `key`.
fn replace_within(key: &str, outer: &mut Node, field: &str, value: &Node) -> Result<(), String> {
    match outer {
        Node::Table(entries) => replace_in(entries, field, value),
        Node::Scalar(text) => Err(format!(
            "{key} is {text}, which has no fields; replace {key}"
        )),
        Node::List(items) => {
            let Some((place, rest)) = place_in_list(field) else {
                if let Some(meant) = link_meant(key, items, field) {
                    return Err(format!(
                        "an override names a link by its number, not by its name; give {meant}"
                    ));
                }
                return items
                    .iter_mut()
                    .try_for_each(|item| replace_within(key, item, field, value));
            };
            let count = items.len();
            match items.get_mut(place) {
                None => Err(format!(
                    "there is no {key}.{place}; the last is {key}.{}",
                    count.saturating_sub(1)
                )),
                Some(item) if rest.is_empty() => {
                    *item = value.clone();
                    Ok(())
                }
                Some(item) => replace_within(key, item, rest, value),
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use congestion::ControllerKind;
    use units::Duration;

    const TEXT: &str = "name = \"x\"\nduration = \"9s\"\n[path]\nrate = \"8mbit\"\nloss = \"1%\"\n\
                        [[flow]]\ncontroller = \"bbr1\"\n[[flow]]\ncontroller = \"reno\"\n";

    fn draft(overrides: &[(&str, &str)]) -> Result<Draft, DocumentError> {
        let mut draft = Draft::parse(TEXT, Path::new("somewhere"))?;
        for (field, text) in overrides {
            draft.set(field, text)?;
        }
        Ok(draft)
    }

    #[test]
    fn fields_are_replaced_and_added() {
        let overrides = [
            ("duration", "5s"),
            ("path.rtt", "40ms"),
            ("path.policer", "rate=1mbit,burst=9kb"),
            ("path.policer.rate", "2mbit"),
            ("flow.start", "1s"),
            ("flow.1.controller", "cubic"),
        ];
        let scenario = draft(&overrides).unwrap().read().unwrap();
        assert_eq!(scenario.duration, Some(Duration::from_secs(5)));
        assert_eq!(scenario.path.rtt, Duration::from_millis(40));
        let policer = scenario.path.data.effects.policer.unwrap();
        assert_eq!(policer.rate.to_string(), "2mbit");
        let flows: Vec<_> = scenario
            .flows
            .iter()
            .map(|flow| (flow.controller, flow.start))
            .collect();
        let second = Duration::from_secs(1);
        assert_eq!(
            flows,
            [
                (ControllerKind::Bbr1.into(), second),
                (ControllerKind::Cubic.into(), second)
            ]
        );
    }

    #[test]
    fn fields_that_make_sense_only_together_can_be_given_in_any_order() {
        for order in [[0, 1], [1, 0]] {
            let overrides = [("duration", "2s"), ("flow.start", "1s")];
            let overrides = order.map(|index| overrides[index]);
            draft(&overrides).unwrap().read().unwrap();
        }
        draft(&[("warmup", "20s"), ("duration", "30s")])
            .unwrap()
            .read()
            .unwrap();
    }

    #[test]
    fn texts_have_the_names_that_replace_them() {
        let draft = draft(&[("path.policer", "rate=1mbit,burst=9kb")]).unwrap();
        let texts = draft.texts();
        for text in [
            ("path.policer.burst", "9kb"),
            ("flow.1.controller", "reno"),
            ("duration", "9s"),
        ] {
            assert!(texts.contains(&(text.0.to_owned(), text.1)), "{texts:?}");
        }
        let mut draft = draft.clone();
        for (field, text) in texts {
            draft.set(&field, text).unwrap();
        }
    }

    #[test]
    fn a_link_is_named_by_its_number() {
        let text = "name = \"x\"\nduration = \"9s\"\n[[link]]\nname = \"a\"\nfrom = \"p\"\nto = \"q\"\n\
                    [[link]]\nname = \"uplink\"\nfrom = \"q\"\nto = \"r\"\nrate = \"1mbit\"\n\
                    [[flow]]\ncontroller = \"bbr1\"\nfrom = \"p\"\nto = \"r\"\n";
        let mut draft = Draft::parse(text, Path::new("")).unwrap();
        let error = draft.set("link.a.uplink.rate", "1mbit").unwrap_err();
        assert_eq!(
            error.to_string(),
            "link.a.uplink.rate: an override names a link by its number, not by its name; give link.0.uplink.rate"
        );
        draft.set("link.0.uplink.rate", "1mbit").unwrap();
        draft.set("link.uplink.rate", "2mbit").unwrap();
        draft.set("link.1.name", "\"b\"").unwrap();
        let links = draft.read().unwrap().links;
        assert_eq!(links[1].name.as_str(), "b");
    }

    #[test]
    fn errors_tell_the_text_from_what_was_replaced() {
        let read = |overrides: &[(&str, &str)]| {
            let draft = draft(overrides).unwrap();
            let error = draft.read().unwrap_err();
            let culprit = draft.culprit(&error).map(str::to_string);
            (error.to_string(), culprit)
        };
        let (error, culprit) = read(&[("path.lsos", "1%")]);
        assert_eq!(error, "path.lsos: unknown key; did you mean `path.loss`?");
        assert_eq!(culprit.as_deref(), Some("path.lsos"));
        for (field, meant) in [
            ("path.bandwidth", "path.rate"),
            ("path.Delay", "path.rtt"),
            ("flow.algorithm", "flow[0].controller"),
            ("loss", "path.loss"),
            ("rtt", "path.rtt"),
            ("controller", "flow.controller"),
            ("bandwidth", "path.rate"),
            ("bufer", "path.buffer"),
            ("time", "duration"),
            ("sede", "seed"),
        ] {
            let (error, culprit) = read(&[(field, "1")]);
            let told = format!(": unknown key; did you mean `{meant}`?");
            assert!(error.ends_with(&told), "{field}: {error}");
            assert_eq!(culprit.as_deref(), Some(field));
        }
        let (error, culprit) = read(&[("flow.controller", "bbr9")]);
        assert!(error.starts_with("flow[0].controller: "), "{error}");
        assert_eq!(culprit.as_deref(), Some("flow.controller"));
        let (error, culprit) = read(&[("path.buffer", "9kb"), ("duration", "0s")]);
        assert!(error.starts_with("duration: "), "{error}");
        assert_eq!(culprit.as_deref(), Some("duration"));
        let text = TEXT.replace("loss", "lsos");
        let mut draft = Draft::parse(&text, Path::new("")).unwrap();
        draft.set("seed", "7").unwrap();
        let error = draft.read().unwrap_err();
        assert_eq!(error.line, Some(5));
        assert_eq!(draft.culprit(&error), None);
    }

    #[test]
    fn fields_that_cannot_be_are_refused() {
        for (field, reason) in [
            (
                "flow.2.controller",
                "there is no flow.2; the last is flow.1",
            ),
            (
                "path.change.0.mtu",
                "there is no change.0, for there is no change; give a list such as change=[{ mtu = ... }]",
            ),
            (
                "path.loss.p",
                "loss is 1%, which has no fields; replace loss",
            ),
            ("path..loss", "is not a field such as path.loss"),
            ("", "is not a field"),
        ] {
            let error = draft(&[(field, "1")]).unwrap_err();
            assert!(error.reason.to_string().starts_with(reason), "{error}");
        }
    }

    #[test]
    fn traces_are_beside_the_scenario() {
        let text = TEXT.replace("rate = \"8mbit\"", "trace = \"cell.trace\"");
        let draft = Draft::parse(&text, Path::new("somewhere")).unwrap();
        let trace = draft.read().unwrap().path.data.trace;
        assert_eq!(trace, Some(PathBuf::from("somewhere/cell.trace")));
    }
}
