//! The claims in the table: their expectations, and the known differences.

use std::collections::BTreeMap;

use serde::Deserialize;
use toml::Value;

/// The claims by their ids.
pub struct Claims(BTreeMap<String, Claim>);

#[derive(Deserialize)]
struct Written {
    claim: Vec<Claim>,
}

#[derive(Deserialize)]
struct Claim {
    id: String,
    note: Option<String>,
    engines: Vec<String>,
    expect: Vec<Expectation>,
}

#[derive(Deserialize)]
struct Expectation {
    what: String,
    engines: Option<Vec<String>>,
    #[serde(default = "yes")]
    quick: bool,
    #[serde(default)]
    differs: Vec<Differs>,
    /// The measure and the band: `measure`, `at`, `at_least` and so on, as written.
    #[serde(flatten)]
    asked: BTreeMap<String, Value>,
}

#[derive(Deserialize)]
struct Differs {
    why: String,
    engines: Option<Vec<String>>,
    #[serde(default)]
    unexplained: bool,
    #[serde(default)]
    never: bool,
}

fn yes() -> bool {
    true
}

/// The known facts about an expectation.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Known {
    /// The engines that show it.
    pub engines: Vec<String>,
    /// The engines on which it is known to differ.
    pub differs_on: Vec<String>,
    /// True if a quick run, as in the test suite, cannot show it.
    pub is_full_only: bool,
    /// The condition: `limit_share ≥ 90%, from 5s`.
    pub asked: String,
}

impl Known {
    /// True if it is known to differ on the engine that counts: the simulator, or any engine if the simulator cannot
    /// show it.
    pub fn differs(&self) -> bool {
        let is_simulated = self.engines.iter().any(|engine| engine == "sim");
        self.differs_on
            .iter()
            .any(|engine| !is_simulated || engine == "sim")
    }
}

impl Claims {
    pub fn parse(text: &str) -> Result<Claims, toml::de::Error> {
        let written: Written = toml::from_str(text)?;
        let by_id = written
            .claim
            .into_iter()
            .map(|claim| (claim.id.clone(), claim));
        Ok(Claims(by_id.collect()))
    }

    /// The reference to each expectation: `id: what`.
    pub fn references(&self) -> impl Iterator<Item = String> {
        self.0.values().flat_map(|claim| {
            let expectations = claim.expect.iter();
            expectations.map(|expect| format!("{}: {}", claim.id, expect.what))
        })
    }

    /// The expectations of engines in real time, as `id: what, on engine`.
    pub fn in_real_time(&self) -> impl Iterator<Item = String> {
        let all = self.0.values().flat_map(|claim| {
            let of_each = claim.expect.iter();
            of_each.map(move |expect| (claim, expect, claim.known(expect).engines))
        });
        all.flat_map(|(claim, expect, engines)| {
            let engines = engines.into_iter().filter(|engine| engine != "sim");
            engines.map(|engine| format!("{}: {}, on {engine}", claim.id, expect.what))
        })
    }

    /// The expectations of the simulator as `id: what`, each with true if it is known to differ there.
    pub fn in_the_simulator(&self) -> impl Iterator<Item = (String, bool)> {
        let all = self.0.values().flat_map(|claim| {
            let of_each = claim.expect.iter();
            of_each.map(move |expect| (claim, expect, claim.known(expect)))
        });
        let is_sim = |engines: &[String]| engines.iter().any(|engine| engine == "sim");
        let simulated = all.filter(move |(.., known)| is_sim(&known.engines));
        simulated.map(move |(claim, expect, known)| {
            let what = format!("{}: {}", claim.id, expect.what);
            (what, is_sim(&known.differs_on))
        })
    }

    /// The table's texts about results in the simulator: the notes of claims, and the reasons for known differences.
    pub fn texts_of_the_simulator(&self) -> impl Iterator<Item = (String, &str)> {
        let is_sim = |engine: &String| engine == "sim";
        let simulated = self.0.values().filter(move |claim| {
            let mut engines = claim
                .expect
                .iter()
                .map(|expect| claim.known(expect).engines);
            engines.any(|engines| engines.iter().any(is_sim))
        });
        simulated.flat_map(move |claim| {
            let known = claim.expect.iter().flat_map(move |expect| {
                let known = expect.differs.iter();
                known.filter(move |known| claim.differs_on(expect, known).iter().any(is_sim))
            });
            let causes = known.map(|known| known.why.as_str());
            let texts = claim.note.as_deref().into_iter().chain(causes);
            texts.map(|text| (claim.id.clone(), text))
        })
    }

    /// The facts about the expectation with the reference `id: what`.
    pub fn find(&self, reference: &str) -> Result<Known, String> {
        let (id, what) = match reference.split_once(": ") {
            Some((id, what)) => (id, Some(what)),
            None => (reference, None),
        };
        let claim = self.0.get(id).ok_or(format!("there is no claim {id}"))?;
        let known: Vec<&str> = claim.expect.iter().map(|e| e.what.as_str()).collect();
        let what = what.ok_or_else(|| format!("name what {id} expects: {known:?}"))?;
        let mut meant = claim.expect.iter().filter(|expect| expect.what == what);
        match (meant.next(), meant.next()) {
            (Some(expect), None) => Ok(claim.known(expect)),
            (None, _) => Err(format!("{id} expects no “{what}”, but {known:?}")),
            (Some(_), Some(_)) => Err(format!(
                "{id} expects “{what}” twice: give each its own words"
            )),
        }
    }
}

impl Claim {
    fn known(&self, expect: &Expectation) -> Known {
        let engines = expect.engines.as_ref().unwrap_or(&self.engines).clone();
        let on = |engine: &&String| {
            let mut known = expect.differs.iter();
            known.any(|known| self.differs_on(expect, known).contains(engine))
        };
        Known {
            differs_on: engines.iter().filter(on).cloned().collect(),
            is_full_only: !expect.quick,
            asked: asked(expect),
            engines,
        }
    }

    /// The engines on which the points differ.
    fn differs_on<'c>(&'c self, expect: &'c Expectation, known: &'c Differs) -> &'c [String] {
        let shown = expect.engines.as_ref().unwrap_or(&self.engines);
        known.engines.as_ref().unwrap_or(shown)
    }
}

/// The measure, its band, and all other conditions, so that every change is noticed.
fn asked(expect: &Expectation) -> String {
    let (differs, engines) = (&expect.differs, expect.engines.as_deref());
    let expect = &expect.asked;
    let mut parts = Vec::new();
    for (key, sign) in [("at_least", "≥"), ("at_most", "≤")] {
        if let Some(value) = expect.get(key) {
            parts.push(format!("{sign} {}", plain(value)));
        }
    }
    let band = parts.join(" ");
    let measure = expect.get("measure").map(plain).unwrap_or_default();
    let mut told = vec![format!("{measure} {band}")];
    let others = expect.iter();
    let others =
        others.filter(|(key, _)| !["measure", "at_least", "at_most"].contains(&key.as_str()));
    told.extend(others.map(|(key, value)| format!("{key} {}", plain(value))));
    if differs.iter().any(|known| known.never) {
        told.push("at some points never".to_owned());
    }
    if differs.iter().any(|known| known.unexplained) {
        told.push("no cause established".to_owned());
    }
    told.extend(engines.map(|engines| format!("on {} alone", engines.join(" and "))));
    told.join(", ")
}

/// The plain text of a value in TOML: `path.loss=1%/5%`.
fn plain(value: &Value) -> String {
    match value {
        Value::String(text) => text.clone(),
        Value::Array(values) => {
            let values: Vec<String> = values.iter().map(plain).collect();
            if values.is_empty() {
                "nothing".to_owned()
            } else {
                values.join("/")
            }
        }
        Value::Table(fields) => {
            let fields = fields.iter();
            let mut fields: Vec<String> = fields
                .map(|(field, value)| format!("{field}={}", plain(value)))
                .collect();
            fields.sort_unstable();
            fields.join(" ")
        }
        other => other.to_string(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const TEXT: &str = r#"
        [[claim]]
        id = "a"
        engines = ["sim", "quic"]
        [[claim.expect]]
        what = "good"
        quick = false
        [[claim.expect]]
        what = "bad"
        [[claim.expect.differs]]
        why = "why"
        [[claim.expect]]
        what = "bad elsewhere: there"
        [[claim.expect.differs]]
        why = "why"
        engines = ["quic"]
        [[claim.expect]]
        what = "bad where it is shown"
        engines = ["linux"]
        [[claim.expect.differs]]
        why = "why"
        [[claim.expect]]
        what = "the same"
        [[claim.expect]]
        what = "the same"
    "#;

    #[test]
    fn an_expectation_differs_where_the_simulator_does() {
        let claims = Claims::parse(TEXT).expect("claims");
        for (reference, on, differs) in [
            ("a: good", vec![], false),
            ("a: bad", vec!["sim", "quic"], true),
            ("a: bad elsewhere: there", vec!["quic"], false),
            ("a: bad where it is shown", vec!["linux"], true),
        ] {
            let known = claims.find(reference).expect("known");
            assert_eq!(known.differs_on, on, "{reference}");
            assert_eq!(known.differs(), differs, "{reference}");
        }
        assert!(claims.find("a: good").expect("known").is_full_only);
    }

    #[test]
    fn all_that_is_asked_is_told() {
        let text = r#"
            [[claim]]
            id = "a"
            engines = ["sim"]
            [[claim.expect]]
            what = "good"
            measure = "rtt_p50"
            at = { "path.loss" = ["1%", "5%"], "flow.controller" = "bbr1" }
            over = { "path.rtt" = "10ms" }
            by = []
            from = "5s"
            at_least = 0.9
            at_most = "120%"
        "#;
        let asked = |text: &str| {
            let claims = Claims::parse(text).expect("claims");
            claims.find("a: good").expect("known").asked
        };
        let told = "rtt_p50 ≥ 0.9 ≤ 120%, at flow.controller=bbr1 path.loss=1%/5%, by nothing, from 5s, over path.rtt=10ms";
        assert_eq!(asked(text), told);
        for (one, other) in [
            ("0.9", "0.8"),
            ("5%", "6%"),
            ("5s", "6s"),
            ("rtt_p50", "jain"),
        ] {
            assert_ne!(asked(&text.replace(one, other)), told, "{one}");
        }
    }

    #[test]
    fn what_is_not_there_or_not_clear_is_named() {
        let claims = Claims::parse(TEXT).expect("claims");
        assert_eq!(claims.find("b: good").unwrap_err(), "there is no claim b");
        assert!(
            claims
                .find("a")
                .unwrap_err()
                .contains("name what a expects")
        );
        assert!(claims.find("a: better").unwrap_err().contains("good"));
        assert!(claims.find("a: the same").unwrap_err().contains("twice"));
    }
}
