//! The statements as in the data file.

use std::fmt;

use serde::Deserialize;

/// The whole table.
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Table {
    pub publication: Vec<Publication>,
}

#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Publication {
    /// The name in the page's headings.
    pub name: String,
    /// The author, and the address.
    pub about: String,
    /// The number of statements, so that none gets lost.
    pub statements: usize,
    pub section: Vec<Section>,
}

/// A section or a figure of a publication.
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Section {
    pub name: String,
    pub statement: Vec<Statement>,
}

#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Statement {
    pub id: String,
    /// The statement in our own words.
    pub says: String,
    /// True if the publication does not state it itself, but it transfers the statement to something else, such as the
    /// current Linux.
    #[serde(default)]
    pub beyond: bool,
    /// The implementation: a file, or `file#item`.
    #[serde(default)]
    pub code: Vec<String>,
    /// The expectations of claims that show it, as `id: what`.
    #[serde(default)]
    pub claims: Vec<String>,
    /// The tests that show it, as `file#function`.
    #[serde(default)]
    pub tests: Vec<String>,
    pub state: State,
    /// The reason why it is not shown, or not as stated.
    pub why: Option<String>,
}

/// The extent to which a statement is shown. Where engines differ, the simulator counts.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Deserialize)]
pub enum State {
    #[serde(rename = "shown")]
    Shown,
    #[serde(rename = "shown in part")]
    InPart,
    #[serde(rename = "differs")]
    Differs,
    #[serde(rename = "not shown")]
    NotShown,
}

impl State {
    pub const ALL: [State; 4] = [State::Shown, State::InPart, State::Differs, State::NotShown];
}

impl fmt::Display for State {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            State::Shown => "shown",
            State::InPart => "shown in part",
            State::Differs => "differs",
            State::NotShown => "not shown",
        })
    }
}

impl Table {
    pub fn parse(text: &str) -> Result<Table, toml::de::Error> {
        toml::from_str(text)
    }

    pub fn statements(&self) -> impl Iterator<Item = &Statement> {
        self.publication.iter().flat_map(Publication::statement)
    }
}

impl Publication {
    pub fn statement(&self) -> impl Iterator<Item = &Statement> {
        self.section.iter().flat_map(|section| &section.statement)
    }
}
