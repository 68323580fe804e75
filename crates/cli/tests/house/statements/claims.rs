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
    expect: Vec<Expectation>,
}

#[derive(Deserialize)]
struct Expectation {
    what: String,
    differs: Option<String>,
    #[serde(default)]
    differs_on: Vec<String>,
}

impl Expectation {
    /// Whether it is known not to hold in the simulator.
    fn differs(&self) -> bool {
        let everywhere = self.differs_on.is_empty();
        self.differs.is_some() && (everywhere || self.differs_on.iter().any(|on| on == "sim"))
    }
}

/// What a reference to claims means.
#[derive(Debug, PartialEq, Eq)]
pub struct Meant<'r> {
    pub claim: &'r str,
    pub differs: bool,
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

    pub fn ids(&self) -> impl Iterator<Item = &str> {
        self.0.keys().map(String::as_str)
    }

    /// What `id` or `id: what` refers to.
    pub fn find<'r>(&self, reference: &'r str) -> Result<Meant<'r>, String> {
        let (id, what) = match reference.split_once(": ") {
            Some((id, what)) => (id, Some(what)),
            None => (reference, None),
        };
        let claim = self.0.get(id).ok_or(format!("there is no claim {id}"))?;
        let is_meant = |expect: &&Expectation| what.is_none_or(|what| expect.what == what);
        let meant: Vec<_> = claim.expect.iter().filter(is_meant).collect();
        match (what, meant.len()) {
            (None, _) | (Some(_), 1) => Ok(Meant {
                claim: id,
                differs: meant.into_iter().any(Expectation::differs),
            }),
            (Some(what), 0) => {
                let known: Vec<&str> = claim.expect.iter().map(|e| e.what.as_str()).collect();
                Err(format!("{id} expects no “{what}”, but {known:?}"))
            }
            (Some(what), _) => Err(format!(
                "{id} expects “{what}” twice: give each its own words"
            )),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const TEXT: &str = r#"
        [[claim]]
        id = "a"
        [[claim.expect]]
        what = "good"
        [[claim.expect]]
        what = "bad"
        differs = "why"
        [[claim.expect]]
        what = "bad elsewhere: there"
        differs = "why"
        differs_on = ["quic"]
        [[claim.expect]]
        what = "the same"
        [[claim.expect]]
        what = "the same"
    "#;

    #[test]
    fn a_claim_differs_where_the_simulator_does() {
        let claims = Claims::parse(TEXT).expect("claims");
        let differs = |reference| claims.find(reference).map(|meant| meant.differs);
        assert_eq!(differs("a"), Ok(true));
        assert_eq!(differs("a: good"), Ok(false));
        assert_eq!(differs("a: bad"), Ok(true));
        assert_eq!(differs("a: bad elsewhere: there"), Ok(false));
    }

    #[test]
    fn what_is_not_there_or_not_clear_is_named() {
        let claims = Claims::parse(TEXT).expect("claims");
        assert_eq!(claims.find("b").unwrap_err(), "there is no claim b");
        assert!(claims.find("a: better").unwrap_err().contains("good"));
        assert!(claims.find("a: the same").unwrap_err().contains("twice"));
    }
}
