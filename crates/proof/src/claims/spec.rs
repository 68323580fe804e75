//! The table of claims, in TOML.

use super::expectation::Expectation;
use crate::study::{Length, Population, Shelf, ShelfError, Source, SourceError};
use document::{DocumentError, de};
use record::measure::Select;
use serde::Deserialize;
use studies::runs::Plan;
use tables::numbers;
use units::hint;

/// The table of claims.
#[derive(Debug, Clone, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Table {
    /// The claims, in the order of the file.
    #[serde(rename = "claim")]
    pub claims: Vec<Claim>,
}

/// A published result.
#[derive(Debug, Clone, Deserialize)]
#[serde(
    deny_unknown_fields,
    expecting = "a table such as [[claim]] with an id"
)]
pub struct Claim {
    /// `id`: the name.
    pub id: String,
    /// `source`: the publication.
    pub source: String,
    /// `setting`: the conditions.
    pub setting: String,
    /// `published`: the result, with its figures.
    pub published: String,
    /// `note`: a remark for the reader, such as a difference of Fullpipe's setting.
    pub note: Option<String>,
    /// `study`: the file of the study; by default the one of the claim's name.
    #[serde(default)]
    pub study: String,
    /// `population`: the number of the population's members to run, instead of a study.
    pub population: Option<Population>,
    /// `engines`: the engines that can show it.
    pub engines: Vec<lab::EngineKind>,
    /// `[[claim.expect]]`.
    #[serde(rename = "expect")]
    pub expectations: Vec<Expectation>,
}

/// The reasons for which a table cannot be had. Each prints as one line.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum ClaimsError {
    /// Its file, or that of a study, cannot be read.
    #[error(transparent)]
    Shelf(#[from] ShelfError),
    /// The text is invalid.
    #[error("{place}: {error}")]
    Text {
        /// The file.
        place: String,
        /// The error in the file.
        error: DocumentError,
    },
    /// No claim has this id.
    #[error("no claim is called {id}; --list shows those that there are{hint}")]
    Unknown {
        /// The requested id.
        id: String,
        /// A hint at similar ids, or empty.
        hint: String,
    },
}

impl Table {
    /// The name of the table's file among the studies.
    pub const FILE: &'static str = "claims";

    /// Reads the table beside the studies.
    ///
    /// # Errors
    ///
    /// The table is missing or invalid, or a claim names a missing study.
    pub fn open(shelf: &Shelf) -> Result<Table, ClaimsError> {
        let text = shelf.get(Table::FILE)?;
        let wrong = |error| ClaimsError::Text {
            place: text.place.clone(),
            error,
        };
        let table = Table::parse(&text.text).map_err(wrong)?;
        let claims = table.claims.iter().enumerate();
        for (place, claim) in claims.filter(|(_, claim)| claim.population.is_none()) {
            shelf.get(&claim.study).map_err(|error| match error {
                ShelfError::Unknown { .. } => {
                    let error = DocumentError::new("study", error.to_string()).item(place);
                    wrong(error.within("claim"))
                }
                other => other.into(),
            })?;
        }
        Ok(table)
    }

    /// Reads a table.
    ///
    /// # Errors
    ///
    /// The text is invalid.
    pub fn parse(text: &str) -> Result<Table, DocumentError> {
        let (mut table, entries): (Table, _) = de::read_toml(text)?;
        let mut before: Vec<&str> = Vec::new();
        for (place, claim) in table.claims.iter().enumerate() {
            if claim.id.is_empty()
                || claim
                    .id
                    .contains(|c: char| c.is_whitespace() || c.is_control())
            {
                let reason = "is not a name; give one without spaces, such as median-rtt";
                let error = DocumentError::new("id", reason).item(place);
                return Err(error.within("claim").on_line_in(&entries));
            }
            let texts = [
                ("source", Some(&claim.source)),
                ("setting", Some(&claim.setting)),
                ("published", Some(&claim.published)),
                ("note", claim.note.as_ref()),
            ];
            for (field, text) in texts {
                let is_line =
                    |text: &&String| !text.trim().is_empty() && !text.contains(['\n', '\r']);
                if text.is_some_and(|text| !is_line(&text)) {
                    let reason = "is not a line of text; write it in one line";
                    let error = DocumentError::new(field, reason).item(place);
                    return Err(error.within("claim").on_line_in(&entries));
                }
            }
            if before.contains(&claim.id.as_str()) {
                let reason = format!("there are two claims {}", claim.id);
                let error = DocumentError::new("id", reason).item(place);
                return Err(error.within("claim").on_line_in(&entries));
            }
            if let Err(error) = claim.check_engines() {
                return Err(error.item(place).within("claim").on_line_in(&entries));
            }
            if claim.expectations.is_empty() {
                let reason = "is empty; a claim expects something";
                let error = DocumentError::new("expect", reason).item(place);
                return Err(error.within("claim").on_line_in(&entries));
            }
            before.push(&claim.id);
        }
        for claim in &mut table.claims {
            if claim.study.is_empty() {
                claim.study.clone_from(&claim.id);
            }
        }
        for (place, claim) in table.claims.iter().enumerate() {
            let is_other =
                |other: &Claim| other.study == claim.study && other.population != claim.population;
            if table.claims.iter().any(is_other) {
                let reason = format!("another claim has different runs named {}", claim.study);
                let error = DocumentError::new("study", reason).item(place);
                return Err(error.within("claim").on_line_in(&entries));
            }
        }
        Ok(table)
    }

    /// The claims with these ids, in the order of the table. All claims if `ids` is empty.
    ///
    /// # Errors
    ///
    /// An id is unknown.
    pub fn choose(&self, ids: &[String]) -> Result<Vec<&Claim>, ClaimsError> {
        let known: Vec<&str> = self.claims.iter().map(|claim| claim.id.as_str()).collect();
        if let Some(id) = ids.iter().find(|id| !known.contains(&id.as_str())) {
            return Err(ClaimsError::Unknown {
                id: if id.is_empty() {
                    "\"\"".into()
                } else {
                    id.clone()
                },
                hint: hint_for(id, &known),
            });
        }
        let is_chosen = |claim: &&Claim| ids.is_empty() || ids.contains(&claim.id);
        Ok(self.claims.iter().filter(is_chosen).collect())
    }
}

/// A hint at the claims whose ids contain the word, or at one with a similar spelling.
fn hint_for(word: &str, known: &[&str]) -> String {
    let of_it = known
        .iter()
        .filter(|id| !word.is_empty() && id.contains(word));
    match of_it.copied().collect::<Vec<_>>() {
        none if none.is_empty() => hint(word, known),
        ids => format!("; did you mean {}?", ids.join(", ")),
    }
}

impl Claim {
    /// True if the engine can show the expectation.
    pub fn shows(&self, expectation: &Expectation, engine: lab::EngineKind) -> bool {
        let engines = expectation.engines.as_ref().unwrap_or(&self.engines);
        engines.contains(&engine)
    }

    /// Checks that the claim has engines, and that expectations name no others.
    fn check_engines(&self) -> Result<(), DocumentError> {
        if self.engines.is_empty() {
            let reason = "is empty; name the engines that can show it";
            return Err(DocumentError::new("engines", reason));
        }
        for (place, of) in self.expectations.iter().enumerate() {
            let Some(engines) = &of.engines else { continue };
            let foreign = engines.iter().find(|one| !self.engines.contains(one));
            let reason = match foreign {
                Some(engine) => format!("the claim does not have {engine} among its engines"),
                None if engines.is_empty() => {
                    "is empty; name the engines that can show it".to_owned()
                }
                None => continue,
            };
            let error = DocumentError::new("engines", reason).item(place);
            return Err(error.within("expect"));
        }
        for (place, of) in self.expectations.iter().enumerate() {
            for known in &of.differs {
                let is_shown = |engine: &lab::EngineKind| self.shows(of, *engine);
                let foreign = known.engines.iter().flatten().find(|one| !is_shown(one));
                let is_simulated =
                    is_shown(&lab::EngineKind::Sim) && known.is_on(lab::EngineKind::Sim);
                let (field, reason) = match foreign {
                    Some(engine) => (
                        "engines",
                        format!("the expectation is not shown on {engine}"),
                    ),
                    None if is_simulated && !known.has_range() && !known.never => (
                        "at_least",
                        "is missing, and at_most too; give the range of these values in the simulator"
                            .to_owned(),
                    ),
                    None if !is_simulated && known.has_range() => (
                        "at_least",
                        "is of the simulator, whose numbers are the same everywhere; leave out at_least and at_most"
                            .to_owned(),
                    ),
                    None => continue,
                };
                let error = DocumentError::new(field, reason).within("differs");
                return Err(error.item(place).within("expect"));
            }
        }
        Ok(())
    }

    /// True if the engine can show any expectation.
    pub fn is_shown_on(&self, engine: lab::EngineKind) -> bool {
        let mut expectations = self.expectations.iter();
        expectations.any(|of| self.shows(of, engine))
    }

    /// True if any expectation needs samples over time.
    pub fn needs_samples(&self) -> bool {
        let mut expectations = self.expectations.iter();
        expectations.any(|of| of.measure.needs_samples(&of.select))
    }

    /// The runs of the claim, from files of this shelf.
    ///
    /// # Errors
    ///
    /// A file is missing or invalid. Points are not checked yet.
    pub fn runs(&self, shelf: &Shelf, length: Length) -> Result<Source, SourceError> {
        match &self.population {
            Some(population) => Source::of_population(population, shelf, length),
            None => Source::of_study(&self.study, shelf, length),
        }
    }

    /// Checks that the runs vary in the fields that the claim names, with the values that it names.
    ///
    /// # Errors
    ///
    /// The runs do not vary in such a field, or have no such value.
    pub fn check(&self, runs: &Source) -> Result<(), DocumentError> {
        for (place, expectation) in self.expectations.iter().enumerate() {
            let wrong = |key: &str, field: &str, reason: String| {
                DocumentError::new(field, reason)
                    .within(key)
                    .item(place)
                    .within("expect")
            };
            let fields = runs.fields();
            let of_differs = expectation.differs.iter().flat_map(|known| &known.at);
            let conditions = expectation.at.iter().map(|condition| ("at", condition));
            let of_differs = of_differs
                .flatten()
                .map(|condition| ("differs.at", condition));
            let conditions = conditions.chain(of_differs).map(|(key, (field, values))| {
                let values: Vec<&str> = values.iter().map(String::as_str).collect();
                (key, field, values)
            });
            let replacements = expectation.over.iter();
            let replacements =
                replacements.map(|(field, value)| ("over", field, vec![value.as_str()]));
            let groups = expectation.by.iter().flatten();
            let groups = groups.map(|field| ("by", field, Vec::new()));
            for (key, field, values) in conditions.chain(replacements).chain(groups) {
                let Some(known) = runs.values(field) else {
                    let reason = match hint(field, &fields) {
                        none if none.is_empty() => format!(", but {}", fields.join(", ")),
                        hint => hint,
                    };
                    let reason = format!("the study varies no such field{reason}");
                    return Err(wrong(key, field, reason));
                };
                let unknown = values
                    .iter()
                    .find(|value| !known.iter().any(|of| of == *value));
                if let Some(value) = unknown {
                    let reason = format!("the study has no {value}, but {}", known.join(", "));
                    return Err(wrong(key, field, reason));
                }
            }
        }
        Ok(())
    }

    /// Checks the windows and points of expectations against the runs, on every engine that shows them. A first
    /// impression checks only quick expectations.
    ///
    /// # Errors
    ///
    /// A window begins or ends after a run, a windowed run has no duration, or the simulator has no run with a named
    /// value.
    pub fn check_windows(&self, runs: &Source, length: Length) -> Result<(), DocumentError> {
        let needs_plan = |of: &Expectation| {
            of.select.from.is_some() || of.select.to.is_some() || !of.at.is_empty()
        };
        if !self.expectations.iter().any(needs_plan) {
            return Ok(());
        }
        for engine in lab::EngineKind::ALL {
            // An invalid point is reported when it is run.
            let Ok(plan) = runs.plan(*engine) else {
                continue;
            };
            for (place, of) in self.expectations.iter().enumerate() {
                let is_asked = length == Length::Whole || of.is_quick;
                if !is_asked || !self.shows(of, *engine) {
                    continue;
                }
                // Other engines and first impressions have fewer points.
                if *engine == lab::EngineKind::Sim && length == Length::Whole {
                    let of_differs = of.differs.iter().filter(|known| known.is_on(*engine));
                    let of_differs = of_differs.flat_map(|known| &known.at);
                    let all = of_differs
                        .map(|at| ("differs.at", at))
                        .chain([("at", &of.at)]);
                    for (key, at) in all {
                        has_all(at, &plan)
                            .map_err(|error| error.within(key).item(place).within("expect"))?;
                    }
                }
                for point in &plan.points {
                    let value = |field: &String| {
                        let place = plan.fields.iter().position(|known| known == field)?;
                        point.values.get(place)
                    };
                    let mut conditions = of.at.iter();
                    let is_meant = conditions.all(|(field, values)| {
                        value(field).is_some_and(|value| values.contains(value))
                    });
                    let Select { from, to, .. } = of.select;
                    let Some(end) = point.scenario.duration else {
                        let asked = from.map(|_| "from").or(to.map(|_| "to"));
                        if let Some(field) = asked.filter(|_| is_meant) {
                            let reason = "is a time of runs that end when all is transferred, and nobody knows when \
                                          that is; give the study a duration";
                            let error = DocumentError::new(field, reason);
                            return Err(error.item(place).within("expect"));
                        }
                        continue;
                    };
                    let beyond = from.filter(|from| *from >= end).map(|_| "from");
                    let beyond = beyond.or(to.filter(|to| *to > end).map(|_| "to"));
                    if let Some(field) = beyond.filter(|_| is_meant) {
                        let hint = match length {
                            Length::Whole => "",
                            Length::Quick => {
                                " in a quick run; set quick = false if quick runs must be so short"
                            }
                        };
                        let reason = format!(
                            "is beyond the study, which ends after {} on {engine}{hint}",
                            numbers::span(end.as_millis_f64())
                        );
                        let error = DocumentError::new(field, reason);
                        return Err(error.item(place).within("expect"));
                    }
                }
            }
        }
        Ok(())
    }
}

/// Checks that some run has each named value of these fields.
fn has_all(at: &[(String, Vec<String>)], plan: &Plan) -> Result<(), DocumentError> {
    for (field, values) in at {
        let Some(place) = plan.fields.iter().position(|known| known == field) else {
            continue;
        };
        let is_run = |value: &&String| {
            let mut points = plan.points.iter();
            points.any(|point| point.values.get(place) == Some(*value))
        };
        if let Some(value) = values.iter().find(|value| !is_run(value)) {
            let reason = format!("the simulator runs no {value}");
            return Err(DocumentError::new(field, reason));
        }
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    const TEXT: &str = "[[claim]]\nid = \"a\"\nsource = \"s\"\nsetting = \"x\"\npublished = \"p\"\n\
                        engines = [\"sim\"]\n[[claim.expect]]\nwhat = \"w\"\nmeasure = \"limit_share\"\n\
                        at_least = \"90%\"\n";

    #[test]
    fn a_table_is_read() {
        let table = Table::parse(TEXT).unwrap();
        let claim = &table.claims[0];
        assert_eq!((claim.study.as_str(), claim.expectations.len()), ("a", 1));
        let expectation = &claim.expectations[0];
        assert_eq!(expectation.band.at_least, Some(0.9));
        assert!(expectation.is_quick && expectation.differs.is_empty());
        assert_eq!(table.choose(&[]).unwrap().len(), 1);
        let error = table.choose(&["aa".to_owned()]).unwrap_err().to_string();
        assert!(error.contains("aa"), "{error}");
        for (word, hint) in [
            ("loss", "; did you mean loss-sweep, loss-tolerance?"),
            ("fair-shore", "; did you mean `fair-share`?"),
            ("", ""),
        ] {
            let known = ["loss-sweep", "fair-share", "loss-tolerance"];
            assert_eq!(hint_for(word, &known), hint);
        }
    }

    #[test]
    fn mistakes_are_named_with_their_lines() {
        for (from, to, expected) in [
            (
                "limit_share",
                "limit_shares",
                "line 9: claim.expect.measure: ",
            ),
            (
                "at_least = \"90%\"\n",
                "",
                "line 8: claim.expect.at_least: is missing",
            ),
            ("\"90%\"", "\"90ms\"", "line 10: claim.expect.at_least: "),
            (
                "what",
                "waht",
                "line 8: claim.expect.waht: unknown key; did you mean `claim.expect.what`?",
            ),
            (
                "at_least = \"90%\"\n",
                "at_least = \"90%\"\nfrom = \"5s\"\n",
                "line 11: claim.expect.from: limit_share is of the whole run",
            ),
            (
                "engines = [\"sim\"]",
                "engines = [\"sin\"]",
                "line 6: claim.engines: \"sin\": unknown engine",
            ),
            ("id = \"a\"\n", "", "line 2: claim.id: is missing"),
            (
                "id = \"a\"",
                "id = \"\"",
                "line 2: claim[0].id: is not a name",
            ),
            (
                "id = \"a\"",
                "id = \"a b\"",
                "line 2: claim[0].id: is not a name",
            ),
            (
                "at_least = \"90%\"\n",
                "at_least = \"3mbit\"\nover = { \"path.loss\" = \"1%\" }\n",
                "line 10: claim.expect.at_least: 3mbit is of another kind",
            ),
            (
                "limit_share",
                "jain",
                "line 10: claim.expect.at_least: 90% is of another kind",
            ),
            (
                "published = \"p\"",
                "published = \"\"",
                "line 5: claim[0].published: is not a line of text",
            ),
            (
                "source = \"s\"",
                "source = \"s\\nt\"",
                "line 3: claim[0].source: is not a line of text",
            ),
            (
                "what = \"w\"",
                "what = \"w\\nv\"",
                "line 8: claim.expect.what: is not a line of text",
            ),
            (
                "at_least = \"90%\"\n",
                "at_least = \"90%\"\nto = \"5s\"\n",
                "line 11: claim.expect.to: limit_share is of the whole run",
            ),
            (
                "\"90%\"",
                "\"much\"",
                "line 10: claim.expect.at_least: much is not a number such as 0.95",
            ),
            (
                "\"90%\"",
                "90",
                "line 10: claim.expect.at_least: 90 is not a share; write 90% or 0.9",
            ),
            (
                "engines = [\"sim\"]",
                "engines = []",
                "line 6: claim[0].engines: is empty",
            ),
            (
                "at_least = \"90%\"\n",
                "at_least = \"90%\"\nengines = [\"quic\"]\n",
                "line 11: claim[0].expect[0].engines: the claim does not have quic",
            ),
            (
                "\"90%\"",
                "0",
                "line 10: claim.expect.at_least: is not above zero",
            ),
            (
                "limit_share\"\nat_least = \"90%\"",
                "jain_converged\"\nflows = \"bbr1\"\nat_least = 0.9",
                "line 10: claim.expect.flows: jain_converged is of all flows",
            ),
            (
                "limit_share\"\nat_least = \"90%\"",
                "goodput\"\nat_least = 4",
                "line 10: claim.expect.at_least: 4 has no unit; write 4mbit",
            ),
        ] {
            let error = Table::parse(&TEXT.replace(from, to))
                .unwrap_err()
                .to_string();
            assert!(error.starts_with(expected), "{error}");
        }
        for (differs, expected) in [
            ("why = \" \"", "differs[0].why: is not a line of text"),
            (
                "why = \"x\"",
                "at_least: is missing, and at_most too; give the range",
            ),
            ("why = \"x\"\nengines = []", "differs[0].engines: is empty"),
            (
                "why = \"x\"\nengines = [\"linux\"]",
                "engines: the expectation is not shown on linux",
            ),
            (
                "why = \"x\"\nat_least = \"5%\"",
                "differs[0].at_most: is missing; a range has two ends",
            ),
            (
                "why = \"x\"\nat_least = \"5ms\"\nat_most = \"6ms\"",
                "differs[0].at_least: 5ms is of another kind",
            ),
            (
                "why = \"x\"\nnever = true",
                "differs[0].never: limit_share measures no event",
            ),
        ] {
            let text = format!("{TEXT}[[claim.expect.differs]]\n{differs}\n");
            let error = Table::parse(&text).unwrap_err().to_string();
            assert!(error.contains(expected), "{error}");
            assert!(error.starts_with("line "), "{error}");
        }
        let text = TEXT.replace("limit_share", "rtt_p50") + "from = \"5s\"\nto = \"2s\"\n";
        let text = text.replace("90%", "900ms");
        let error = Table::parse(&text).unwrap_err().to_string();
        assert_eq!(error, "line 12: claim.expect.to: is not after from");
        let twice = format!("{TEXT}{TEXT}");
        let error = Table::parse(&twice).unwrap_err().to_string();
        assert_eq!(error, "line 12: claim[1].id: there are two claims a");
    }
}
