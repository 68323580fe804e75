//! `--set path.rate=10..20Mbit/s`: several values where a run has one. The failure shows the sweep that was probably
//! meant.

use std::path::Path;

use lab::EngineKind;
use program::command_line::quote;
use program::failure::Failure;
use scenario::Draft;
use studies::advise::Range;

use crate::options::override_option::Override;

/// The number of steps of a range that gives none.
const DEFAULT_STEPS: u32 = 5;

/// The failure for overrides of which some have several values: the command that runs them all, or the invalid value
/// among them. `None` if no value is valid.
pub fn failure(
    overrides: &[Override],
    draft: &Draft,
    scenario: &Path,
    engine: EngineKind,
) -> Option<Failure> {
    let mut axes = Vec::new();
    let mut others = Vec::new();
    for given in overrides {
        match Values::of(given) {
            Some(values) => axes.push((given, values)),
            None => others.push(given),
        }
    }
    let (first, _) = axes.first()?;
    let mut draft = draft.clone();
    for given in &others {
        draft.set(given.field(), given.text()).ok()?;
    }
    for (given, values) in &axes {
        draft.set(given.field(), values.all().first()?).ok()?;
    }
    for (given, values) in &axes {
        let wrong = |value: &String| {
            let mut draft = draft.clone();
            let set = draft.set(given.field(), value);
            let error = set.and_then(|()| draft.read().map(drop)).err()?;
            Some(given.with(value).wrong(&error))
        };
        let mut wrong: Vec<Failure> = values.all().iter().filter_map(wrong).collect();
        if wrong.len() == values.all().len() {
            return None;
        }
        if !wrong.is_empty() {
            return Some(wrong.swap_remove(0));
        }
    }
    let file = if scenario == Path::new("-") {
        Path::new("SCENARIO.toml")
    } else {
        scenario
    };
    let mut lines = vec![format!("scenario = {}", in_toml(&file.to_string_lossy()))];
    if engine != EngineKind::default() {
        lines.push(format!("engine = \"{engine}\""));
    }
    let axes = axes.iter().map(|(given, values)| axis(given, values));
    lines.extend(axes.map(|axis| format!("axes.{axis}")));
    let lines: Vec<String> = lines.iter().map(|line| quote(line)).collect();
    let others = others.iter().map(|given| {
        let set = format!("{}={}", given.field(), given.text());
        format!(" --set {}", quote(&set))
    });
    Some(first.failure(format_args!(
        "a run has one value of each field; for several: printf '%s\\n' {} | fullpipe sweep -{}",
        lines.join(" "),
        others.collect::<String>()
    )))
}

/// The axis of a sweep for an override with several values: `"path.loss" = ["1%", "2%"]`. `None` if it has one value.
pub fn of_sweep(given: &Override) -> Option<String> {
    Some(axis(given, &Values::of(given)?))
}

fn axis(given: &Override, values: &Values) -> String {
    let field = in_toml(given.field());
    match values {
        Values::Range([from, to]) => {
            let [from, to] = [from, to].map(|end| in_toml(end));
            format!("{field} = {{ from = {from}, to = {to}, steps = {DEFAULT_STEPS} }}")
        }
        Values::List(values) => {
            let values: Vec<String> = values.iter().map(|value| in_toml(value)).collect();
            format!("{field} = [{}]", values.join(", "))
        }
    }
}

/// The text as TOML.
fn in_toml(text: &str) -> String {
    toml::Value::from(text).to_string()
}

/// Several values of a field.
#[derive(Debug, PartialEq)]
enum Values {
    /// The ends of a range.
    Range([String; 2]),
    /// Each value.
    List(Vec<String>),
}

impl Values {
    /// Parses `10..20mbit` and `1%,2%`. A text with an equals sign is a table.
    fn of(given: &Override) -> Option<Values> {
        let text = given.text();
        if let Some(Range { from, to, .. }) = Range::read(given.field(), text) {
            return Some(Values::Range([from, to]));
        }
        let inner = text.trim_start_matches('[').trim_end_matches(']');
        if text.contains('=') || !inner.contains(',') {
            return None;
        }
        let values = inner.split(',').map(|value| {
            let value = value.trim().trim_matches(['"', '\'']);
            value.to_owned()
        });
        Some(Values::List(values.collect()))
    }

    fn all(&self) -> &[String] {
        match self {
            Values::Range(ends) => ends,
            Values::List(values) => values,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::{Values, of_sweep};
    use crate::options::override_option::Override;

    #[test]
    fn ranges_and_lists_are_told_from_single_values() {
        let axis = |text: &str| of_sweep(&text.parse::<Override>().expect("a field"));
        for (typed, told) in [
            (
                "path.rate=10..20Mbit/s",
                "\"path.rate\" = { from = \"10Mbit/s\", to = \"20Mbit/s\", steps = 5 }",
            ),
            ("path.loss=1%, 2%", "\"path.loss\" = [\"1%\", \"2%\"]"),
            (
                "flow.controller=[bbr1,'cubic']",
                "\"flow.controller\" = [\"bbr1\", \"cubic\"]",
            ),
        ] {
            assert_eq!(axis(typed).as_deref(), Some(told), "{typed}");
        }
        for typed in [
            "path.rate=20mbit",
            "path.trace=../a.trace",
            "path.policer=rate=1mbit,burst=9kb",
        ] {
            assert_eq!(axis(typed), None, "{typed}");
        }
        let given: Override = "seed=1,2".parse().expect("a field");
        assert_eq!(Values::of(&given).map(|values| values.all().len()), Some(2));
    }
}
