//! Changes during a run.

use path::Mtu;
use serde::{Deserialize, Deserializer, Serialize};
use units::bounds::refused;
use units::{Duration, Rate};

/// A change: `[[path.change]]` with `at`, and `rate`, `rtt`, `mtu` or several of them; `[[path.uplink.change]]` with `at`, and
/// `rate` or `mtu`.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize)]
#[serde(
    deny_unknown_fields,
    expecting = "a table such as { at = \"20s\", rate = \"20mbit\" }"
)]
pub struct ChangeSpec {
    /// `at`: the time of the change, from the start of the run.
    pub at: Duration,
    /// `rate`: the link's new rate; zero for an outage.
    #[serde(default, deserialize_with = "rate_or_outage")]
    pub rate: Option<Rate>,
    /// `rtt`: the path's new RTprop.
    pub rtt: Option<Duration>,
    /// `mtu`: the link's new MTU.
    pub mtu: Option<Mtu>,
}

/// A list of changes, or a single one.
pub(crate) fn one_or_more<'de, D: Deserializer<'de>, C: Deserialize<'de>>(
    deserializer: D,
) -> Result<Vec<C>, D::Error> {
    #[derive(Deserialize)]
    #[serde(rename = "change")]
    enum Form<C> {
        #[serde(rename = "{}")]
        One(C),
        #[serde(rename = "[]")]
        Many(Vec<C>),
    }
    Ok(match Form::deserialize(deserializer)? {
        Form::One(change) => vec![change],
        Form::Many(changes) => changes,
    })
}

/// Reads a rate or zero. A text that is too small to be a rate does not mean zero.
fn rate_or_outage<'de, D: Deserializer<'de>>(deserializer: D) -> Result<Option<Rate>, D::Error> {
    let text = String::deserialize(deserializer)?;
    let rate: Rate = text.parse().map_err(serde::de::Error::custom)?;
    if rate.is_zero() && text.contains(|c: char| ('1'..='9').contains(&c)) {
        return Err(refused(
            "is less than 8bit, the least rate; give a rate such as 1kbit, or 0bit for an outage",
        ));
    }
    Ok(Some(rate))
}
