//! What the table of claims says of each: which expectations it has, and which of them differ.

use std::collections::BTreeMap;

use serde::Deserialize;

/// The claims by their ids.
pub struct Claims(BTreeMap<String, Claim>);

#[derive(Deserialize)]
struct Written {
    claim: Vec<Claim>,
}

#[derive(Deserialize)]
struct Claim {
    id: String,
    engines: Vec<String>,
    expect: Vec<Expectation>,
}

#[derive(Deserialize)]
struct Expectation {
    what: String,
    engines: Option<Vec<String>>,
    #[serde(default = "yes")]
    quick: bool,
    differs: Option<String>,
    #[serde(default)]
    differs_on: Vec<String>,
}

fn yes() -> bool {
    true
}

/// What is known of an expectation.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Known {
    /// The engines that show it.
    pub engines: Vec<String>,
    /// Those of them on which it is known not to hold.
    pub differs_on: Vec<String>,
    /// Whether a quick run, as the test suite has it, cannot show it.
    pub is_full_only: bool,
}

impl Known {
    /// Whether it is known not to hold where it counts: in the simulator, or where it cannot show it, anywhere.
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

    /// What a reference to each expectation is: `id: what`.
    pub fn references(&self) -> impl Iterator<Item = String> {
        self.0.values().flat_map(|claim| {
            let expectations = claim.expect.iter();
            expectations.map(|expect| format!("{}: {}", claim.id, expect.what))
        })
    }

    /// What is known of the expectation that `id: what` refers to.
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
        let differs_on = match (&expect.differs, &expect.differs_on[..]) {
            (None, _) => Vec::new(),
            (Some(_), []) => engines.clone(),
            (Some(_), some) => some.to_vec(),
        };
        Known {
            engines,
            differs_on,
            is_full_only: !expect.quick,
        }
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
        differs = "why"
        [[claim.expect]]
        what = "bad elsewhere: there"
        differs = "why"
        differs_on = ["quic"]
        [[claim.expect]]
        what = "bad where it is shown"
        engines = ["linux"]
        differs = "why"
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
