//! Members of a population.

use units::Duration;

use super::access::{Access, Swing};
use super::distribution::Draws;
use super::spec::Spec;
use document::DocumentError;
use document::tree::{Entry, Node};
use scenario::{Draft, Scenario};
use studies::runs::derive_seed;

/// The most members of a population, which take a few minutes.
const MAX_MEMBERS: u64 = 100_000;

/// The most changes of a member's rate.
const MAX_CHANGES: u64 = 10_000;

/// The largest deviation of a swing's factor, in standard deviations of its logarithm.
const MAX_SWING_DEVIATIONS: f64 = 3.0;

/// One user of the population.
#[derive(Debug, Clone)]
pub struct Member {
    /// The region.
    pub region: String,
    /// The kind of the access network.
    pub access: String,
    /// The scenario, with a path and a seed of its own.
    pub scenario: Scenario,
}

impl Spec {
    /// Draws `count` members, in the order of the access networks in the text. The number of members of each access
    /// network is not random: it follows the shares, rounded by largest remainders.
    ///
    /// Equal seeds give equal members on any machine.
    ///
    /// # Errors
    ///
    /// A member's scenario is invalid, or there are more than 100,000 members.
    pub fn draw(&self, seed: u64, count: usize) -> Result<Vec<Member>, DocumentError> {
        let mut members = Vec::new();
        self.each(seed, count as u64, |member, _| {
            members.push(member);
            Ok(())
        })?;
        Ok(members)
    }

    /// Draws the same members, and gives `take` one after another, until it fails. With the first of each access network, it
    /// gets the number of that network's members, which have as many flows and changes.
    pub(super) fn each(
        &self,
        seed: u64,
        count: u64,
        mut take: impl FnMut(Member, Option<u64>) -> Result<(), DocumentError>,
    ) -> Result<(), DocumentError> {
        if count > MAX_MEMBERS {
            let reason = format!("{count} members are more than {MAX_MEMBERS}");
            return Err(DocumentError::new("", reason));
        }
        for (access, count) in self.accesses.iter().zip(self.quotas(count)) {
            for place in 0..count {
                let member = self.member(access, seed, place).map_err(|error| {
                    let (region, name) = (&access.region, &access.name);
                    let reason = format!("member {place} of {region}, {name}: {error}");
                    let mut error = DocumentError::new("access", reason);
                    error.line = access.line;
                    error
                })?;
                take(member, (place == 0).then_some(count))?;
            }
        }
        Ok(())
    }

    /// The number of members of each access network.
    fn quotas(&self, count: u64) -> Vec<u64> {
        const PARTS: u64 = 1_000_000_000;
        let shares = self.accesses.iter().map(|access| access.share.of(PARTS));
        let shares: Vec<u128> = shares.map(u128::from).collect();
        let all = shares.iter().sum::<u128>().max(1);
        let exact: Vec<u128> = shares
            .iter()
            .map(|share| share * u128::from(count))
            .collect();
        let mut quotas: Vec<u64> = exact
            .iter()
            .map(|exact| u64::try_from(exact / all).unwrap_or(u64::MAX))
            .collect();
        let mut by_remainder: Vec<usize> = (0..exact.len()).collect();
        by_remainder.sort_by_key(|place| {
            let remainder = exact.get(*place).map_or(0, |exact| exact % all);
            std::cmp::Reverse(remainder)
        });
        let left = count.saturating_sub(quotas.iter().sum());
        for place in by_remainder.into_iter().take(left as usize) {
            if let Some(quota) = quotas.get_mut(place) {
                *quota += 1;
            }
        }
        quotas
    }

    fn member(&self, access: &Access, seed: u64, place: u64) -> Result<Member, DocumentError> {
        Ok(Member {
            region: access.region.clone(),
            access: access.name.clone(),
            scenario: access.scenario(&self.base, seed, place)?,
        })
    }
}

impl Access {
    /// The scenario of the member at this index: `base`, with its own path and seed.
    ///
    /// # Errors
    ///
    /// The scenario is invalid.
    pub fn scenario(&self, base: &Draft, seed: u64, place: u64) -> Result<Scenario, DocumentError> {
        let draws = Draws {
            seed,
            region: &self.region,
            access: &self.name,
            place,
        };
        let mut draft = base.clone();
        let mut rate = None;
        for (field, distribution) in &self.fields {
            let text = distribution.draw(&draws, field);
            if field == "path.rate" {
                rate = Some(text.parse().map_err(|reason| {
                    DocumentError::new(field, format!("\"{text}\": {reason}"))
                })?);
            }
            draft.replace(field, &Node::Scalar(text))?;
        }
        let values = [
            ("access", self.name.as_str()),
            ("region", self.region.as_str()),
        ];
        let seed = derive_seed(seed, &values, place);
        draft.replace("seed", &Node::Scalar(seed.to_string()))?;
        let name = format!("{} {} {place}", self.region, self.name);
        draft.replace("name", &Node::Scalar(name.trim_start().to_owned()))?;
        if let (Some(swing), Some(rate)) = (self.swing, rate) {
            swing_rate(&mut draft, swing, rate, &draws)?;
        }
        draft.read()
    }
}

/// Adds the swing's changes of the path's rate, until the end of the scenario.
fn swing_rate(
    draft: &mut Draft,
    swing: Swing,
    rate: units::Rate,
    draws: &Draws<'_>,
) -> Result<(), DocumentError> {
    let Some(duration) = draft.read()?.duration else {
        let reason = "needs a scenario.duration, until which the rate varies";
        return Err(DocumentError::new("swing", reason));
    };
    let count = duration.as_nanos() / swing.every.as_nanos().max(1);
    if count > MAX_CHANGES {
        let reason = format!("{count} changes are more than {MAX_CHANGES}; give a longer time");
        return Err(DocumentError::new("swing.every", reason));
    }
    let change = |index: u64| {
        let normal = draws.normal(&format!("swing {index}"));
        let factor =
            libm::exp(swing.sigma * normal.clamp(-MAX_SWING_DEVIATIONS, MAX_SWING_DEVIATIONS));
        let bits = (rate.bits_per_sec() as f64 * factor).max(8.0);
        let at: Duration = swing.every * index;
        let entry = |key: &str, text: String| Entry::new(key, Node::Scalar(text));
        Node::Table(vec![
            entry("at", at.to_string()),
            entry("rate", format!("{bits:.0}bit")),
        ])
    };
    draft.replace("path.change", &Node::List((1..count).map(change).collect()))
}
