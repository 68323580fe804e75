//! The judgements as JSON.

use serde_json::{Value, json as object};

use super::judge::{Judgement, Tally};
use super::spec::Claim;

/// The judgements as one JSON object: `version`, the counts `holds`, `differs`, `unexplained` (those that differ
/// without an established cause), `fails` and `untrusted`, and `claims` with the table's fields and the value at each
/// point. Shares are fractions of one, times in milliseconds, rates in bits per second.
pub fn json(judgements: &[Judgement<'_>]) -> Value {
    let tally = Tally::of(judgements);
    let mut claims: Vec<(&Claim, Vec<Value>)> = Vec::new();
    for one in judgements {
        match claims.last_mut() {
            Some((claim, judged)) if claim.id == one.claim.id => judged.push(judgement(one)),
            _ => claims.push((one.claim, vec![judgement(one)])),
        }
    }
    let claims = claims.into_iter().map(|(claim, judged)| {
        object!({
            "id": claim.id,
            "source": claim.source,
            "setting": claim.setting,
            "published": claim.published,
            "judgements": judged,
        })
    });
    object!({
        "version": env!("CARGO_PKG_VERSION"),
        "holds": tally.holds,
        "differs": tally.differs,
        "unexplained": tally.unexplained,
        "fails": tally.fails,
        "untrusted": tally.untrusted,
        "claims": claims.collect::<Vec<_>>(),
    })
}

fn judgement(one: &Judgement<'_>) -> Value {
    object!({
        "what": one.expectation.what,
        "measure": one.expectation.measure.name,
        "at_least": one.expectation.band.at_least,
        "at_most": one.expectation.band.at_most,
        "engine": one.engine.name(),
        "verdict": one.verdict,
        "why": one.differs().map(|known| &known.why).collect::<Vec<_>>(),
        "unexplained": one.is_unexplained(),
        "fields": one.fields,
        "points": one.values,
        "seeds": one.seeds,
    })
}
