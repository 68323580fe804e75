//! Controllers and hosts with a deliberate fault. A claim that a fault cannot break shows nothing about the property that
//! the fault removes.
//!
//! A fault is a change of settings, so it is data: `faults.toml` beside the table of claims. It names the claims that it
//! breaks. A [`Trial`] runs a study of these claims with the fault.

mod document;
mod table;
mod trial;

pub use document::section;
pub use table::table;
pub use trial::{Attempt, Trial, TrialError, trials};

use std::path::Path;

use scenario::{Controller, Draft, Scenario};
use serde::Deserialize;

use super::points::fields;
use super::spec::{Claim, ClaimsError};
use crate::study::Shelf;
use ::document::de::Wrong;
use ::document::tree::Node;
use ::document::{DocumentError, de};
use units::hint;

/// The table of faults.
#[derive(Debug, Clone, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Faults {
    /// The faults, in the order of the file.
    #[serde(rename = "fault")]
    pub faults: Vec<Fault>,
    /// The claims that no fault is to break, in the order of the file.
    #[serde(default)]
    pub without: Vec<Without>,
}

/// Claims that no fault is to break.
#[derive(Debug, Clone, Deserialize)]
#[serde(
    deny_unknown_fields,
    expecting = "a table such as [[without]] with claims = [\"one-link\"] and why = \"it is about the path\""
)]
pub struct Without {
    /// `claims`: the ids of the claims.
    pub claims: Vec<String>,
    /// `why`: the reason.
    pub why: String,
}

/// A deliberate fault.
#[derive(Debug, Clone, Deserialize)]
#[serde(try_from = "Raw")]
pub struct Fault {
    /// `name`: the name.
    pub name: String,
    /// `what`: what the controller does or lacks.
    pub what: String,
    /// `controller`: the controller of the flows that get it; without it, `set` has fields of the scenario.
    pub controller: Option<Controller>,
    /// `set`: the changed fields of these flows, or of the scenario.
    pub set: Vec<(String, Node)>,
    /// `breaks`: the ids of the claims that notice it.
    pub breaks: Vec<String>,
    /// `everywhere = true`: it is tried on all claims, and the document lists those that hold in spite of it.
    pub is_everywhere: bool,
}

#[derive(Deserialize)]
#[serde(
    deny_unknown_fields,
    expecting = "a table such as [[fault]] with name = \"never-probes\""
)]
struct Raw {
    name: String,
    what: String,
    controller: Option<Controller>,
    set: Node,
    breaks: Vec<String>,
    #[serde(default)]
    everywhere: bool,
}

impl TryFrom<Raw> for Fault {
    type Error = Wrong;

    fn try_from(raw: Raw) -> Result<Fault, Wrong> {
        let set = fields("set", Some(raw.set))?;
        if set.is_empty() {
            return Err(Wrong::new(
                "set",
                "is empty; name the fields that it changes",
            ));
        }
        if raw.what.trim().is_empty() || raw.what.contains(['\n', '\r']) {
            let reason = "is not a line of text; say in one line what is faulty";
            return Err(Wrong::new("what", reason));
        }
        Ok(Fault {
            name: raw.name,
            what: raw.what,
            controller: raw.controller,
            set,
            breaks: raw.breaks,
            is_everywhere: raw.everywhere,
        })
    }
}

impl Faults {
    /// The name of the table's file among the studies.
    pub const FILE: &'static str = "faults";

    /// Reads the table beside the studies of these claims.
    ///
    /// # Errors
    ///
    /// The table is missing or invalid, or names a claim that does not exist.
    pub fn open(shelf: &Shelf, claims: &[Claim]) -> Result<Faults, ClaimsError> {
        let text = shelf.get(Faults::FILE)?;
        Faults::parse(&text.text, claims).map_err(|error| ClaimsError::Text {
            place: text.place,
            error,
        })
    }

    fn parse(text: &str, claims: &[Claim]) -> Result<Faults, DocumentError> {
        let (faults, entries): (Faults, _) = de::read_toml(text)?;
        let wrong = |place: usize, field: &str, reason: String| {
            let error = DocumentError::new(field, reason).item(place);
            error.within("fault").on_line_in(&entries)
        };
        let known: Vec<&str> = claims.iter().map(|claim| claim.id.as_str()).collect();
        let unknown = |ids: &[String]| {
            let id = ids.iter().find(|id| !known.contains(&id.as_str()))?;
            Some(format!("no claim is called {id}{}", hint(id, &known)))
        };
        for (place, fault) in faults.faults.iter().enumerate() {
            let mut before = faults.faults.iter().take(place);
            if before.any(|other| other.name == fault.name) {
                let reason = format!("there are two faults {}", fault.name);
                return Err(wrong(place, "name", reason));
            }
            if let Some(reason) = unknown(&fault.breaks) {
                return Err(wrong(place, "breaks", reason));
            }
        }
        for (place, without) in faults.without.iter().enumerate() {
            let wrong = |field: &str, reason: String| {
                let error = DocumentError::new(field, reason).item(place);
                Err(error.within("without").on_line_in(&entries))
            };
            if let Some(reason) = unknown(&without.claims) {
                return wrong("claims", reason);
            }
            let is_broken = |id: &&String| faults.faults.iter().any(|of| of.breaks.contains(id));
            if let Some(id) = without.claims.iter().find(is_broken) {
                return wrong("claims", format!("a fault is to break {id}"));
            }
            if without.why.trim().is_empty() {
                let reason = "is empty; say why no fault is to break these claims";
                return wrong("why", reason.to_owned());
            }
        }
        Ok(faults)
    }

    /// The fault of this name.
    ///
    /// # Errors
    ///
    /// There is none.
    pub fn named(&self, name: &str) -> Result<&Fault, String> {
        let known: Vec<&str> = self.faults.iter().map(|of| of.name.as_str()).collect();
        let found = self.faults.iter().find(|of| of.name == name);
        found.ok_or_else(|| {
            if name.is_empty() {
                return format!("the name is empty; give one of {}", known.join(", "));
            }
            let hint = hint(name, &known);
            format!("no fault is called {name}, but {}{hint}", known.join(", "))
        })
    }

    /// The ids of the claims that no fault is to break, each with the reason that the table gives.
    pub fn spared<'c>(&self, claims: &[&'c Claim]) -> Vec<(&'c str, Option<&str>)> {
        let spared = claims
            .iter()
            .filter(|claim| !self.faults.iter().any(|of| of.is_to_break(claim)));
        let told = spared.map(|claim| (claim.id.as_str(), self.why_none(&claim.id)));
        told.collect()
    }

    /// Why no fault is to break this claim.
    pub fn why_none(&self, id: &str) -> Option<&str> {
        let mut all = self.without.iter();
        let found = all.find(|of| of.claims.iter().any(|it| it == id));
        found.map(|of| of.why.as_str())
    }
}

impl Fault {
    /// True if the claim is to notice it.
    pub fn is_to_break(&self, claim: &Claim) -> bool {
        self.breaks.contains(&claim.id)
    }

    /// True if it puts another controller in the place of the flows' own.
    pub fn is_another_controller(&self) -> bool {
        self.set.iter().any(|(field, _)| field == "controller")
    }

    /// The scenario with the fault. Nothing if it is the same without.
    ///
    /// # Errors
    ///
    /// The scenario is invalid with it.
    pub fn put_into(&self, scenario: &Scenario) -> Result<Option<Scenario>, DocumentError> {
        let mut draft = Draft::parse(&scenario.to_string(), Path::new(""))?;
        match &self.controller {
            None => {
                for (field, value) in &self.set {
                    draft.replace(field, value)?;
                }
            }
            Some(of) => {
                let groups = scenario.flows.iter().enumerate();
                for (group, _) in groups.filter(|(_, flow)| flow.controller == *of) {
                    for (field, value) in &self.set {
                        draft.replace(&format!("flow.{group}.{field}"), value)?;
                    }
                }
            }
        }
        // A line would refer to a text that nobody has written.
        let faulty = draft.read().map_err(|error| DocumentError {
            line: None,
            ..error
        })?;
        Ok((faulty != *scenario).then_some(faulty))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const CLAIM: &str = "[[claim]]\nid = \"a\"\nsource = \"s\"\nsetting = \"x\"\npublished = \"p\"\n\
                         engines = [\"sim\"]\n[[claim.expect]]\nwhat = \"w\"\nmeasure = \"goodput\"\n\
                         at_least = \"1mbit\"\n";
    const FAULT: &str = "[[fault]]\nname = \"timid\"\nwhat = \"w\"\ncontroller = \"bbr1\"\n\
                         set = { \"bbr1.peak_gain\" = \"1.05\" }\nbreaks = [\"a\"]\n";

    fn claims() -> Vec<Claim> {
        super::super::Table::parse(CLAIM).expect("a table").claims
    }

    fn scenario(flows: &str) -> Scenario {
        let text = format!(
            "name = \"x\"\nduration = \"1s\"\npath = {{ rate = \"1mbit\", rtt = \"20ms\" }}\n{flows}"
        );
        text.parse().expect("a scenario")
    }

    #[test]
    fn only_the_controllers_flows_get_it_and_keep_their_own_settings() {
        let faults = Faults::parse(FAULT, &claims()).expect("faults");
        let mixed = scenario(
            "[[flow]]\ncontroller = \"bbr1\"\nbbr1 = { variant = \"paper\", cwnd_gain = 1 }\n\
             [[flow]]\ncontroller = \"cubic\"\n",
        );
        let faulty = faults.faults[0].put_into(&mixed).expect("valid");
        let faulty = faulty.expect("another");
        let bbr1 = faulty.flows[0].bbr1.expect("settings").config();
        assert!(bbr1.peak_gain.as_f64() == 1.05 && bbr1.cwnd_gain.as_f64() == 1.0);
        assert_eq!(faulty.flows[1], mixed.flows[1]);
        let others = scenario("[[flow]]\ncontroller = \"cubic\"\n");
        assert_eq!(faults.faults[0].put_into(&others), Ok(None));
        assert!(faults.named("timid").is_ok());
        let error = faults.named("tmid").expect_err("unknown");
        assert!(error.contains("timid"), "{error}");
        assert!(
            faults
                .spared(&claims().iter().collect::<Vec<_>>())
                .is_empty()
        );
    }

    #[test]
    fn a_fault_without_a_controller_changes_the_scenario() {
        let text = FAULT.replace("controller = \"bbr1\"\n", "");
        let text = text.replace("bbr1.peak_gain\" = \"1.05", "host.scheduler\" = \"none");
        let faults = Faults::parse(&text, &claims()).expect("faults");
        let paced = scenario("[[flow]]\ncontroller = \"bbr1\"\n");
        let faulty = faults.faults[0].put_into(&paced).expect("valid");
        assert_ne!(faulty.expect("another").host, paced.host);
    }

    #[test]
    fn mistakes_are_named_with_their_lines() {
        for (from, to, expected) in [
            (
                "[\"a\"]",
                "[\"aa\"]",
                "line 6: fault[0].breaks: no claim is called aa",
            ),
            (
                "{ \"bbr1.peak_gain\" = \"1.05\" }",
                "{}",
                "line 5: fault.set: is empty",
            ),
            (
                "\"w\"",
                "\" \"",
                "line 3: fault.what: is not a line of text",
            ),
            ("\"bbr1\"", "\"bbr9\"", "line 4: fault.controller: "),
        ] {
            let error = Faults::parse(&FAULT.replacen(from, to, 1), &claims());
            let error = error.expect_err("a mistake").to_string();
            assert!(error.starts_with(expected), "{error}");
        }
        let without = "[[without]]\nclaims = [\"a\"]\nwhy = \"the path alone\"\n";
        let none = FAULT.replace("[\"a\"]", "[]");
        for (faults, without, expected) in [
            (
                FAULT,
                without,
                "line 8: without[0].claims: a fault is to break a",
            ),
            (
                &none,
                &without.replace("\"a\"", "\"aa\""),
                "line 8: without[0].claims: no claim",
            ),
            (
                &none,
                &without.replace("the path alone", ""),
                "line 9: without[0].why: is empty",
            ),
        ] {
            let error = Faults::parse(&format!("{faults}{without}"), &claims());
            let error = error.expect_err("a mistake").to_string();
            assert!(error.starts_with(expected), "{error}");
        }
        let spared = Faults::parse(&format!("{none}{without}"), &claims()).expect("faults");
        let all = claims();
        let spared = spared.spared(&all.iter().collect::<Vec<_>>());
        assert_eq!(spared, [("a", Some("the path alone"))]);
        let error = Faults::parse(&format!("{FAULT}{FAULT}"), &claims()).expect_err("twice");
        assert!(error.to_string().contains("two faults timid"), "{error}");
        let wild = FAULT.replace("1.05", "9");
        let wild = Faults::parse(&wild, &claims()).expect("faults");
        let paced = scenario("[[flow]]\ncontroller = \"bbr1\"\n");
        let error = wild.faults[0].put_into(&paced).expect_err("no such gain");
        assert!(error.to_string().contains("peak_gain"), "{error}");
    }
}
