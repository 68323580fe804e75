//! The state of a study apart from its data.

use experiment::InForce;
use serde::{Deserialize, Serialize};

use super::missing::Missing;

/// The state of a study apart from its data.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct About {
    /// The version of the program that made it.
    pub version: String,
    /// The seed of its draws and of its hashes of addresses. A client who knew the seed could choose its arm. It is
    /// empty once a user has removed it, so that hashes can no longer be linked to addresses.
    #[serde(default)]
    pub seed: String,
    /// The time when it began, in seconds since 1970.
    pub began_unix_s: f64,
    /// The number of sittings. A connection is identified by its sitting and its socket cookie, because the kernel may
    /// use the same cookies again after a reboot.
    pub sittings: u64,
    /// The duration of all sittings together, in seconds.
    pub ran_s: f64,
    /// The reason for its end. `None` if it has not ended.
    pub ended: Option<String>,
    /// The last time it was known to run, in seconds since 1970.
    #[serde(default)]
    pub last_unix_s: Option<f64>,
    /// The number of connections of each arm that had its controller.
    #[serde(default)]
    pub in_force: Vec<InForce>,
    /// The missing data.
    #[serde(default)]
    pub missing: Missing,
}

/// The end of the year 9999, in seconds since 1970. No study ran at a later time, or for longer.
const LATEST_S: f64 = 253_402_300_799.0;

impl About {
    /// Checks the values. The error names one that a study does not write, if there is one.
    pub(super) fn check(&self) -> Result<(), String> {
        let times = [
            ("began_unix_s", Some(self.began_unix_s)),
            ("ran_s", Some(self.ran_s)),
            ("last_unix_s", self.last_unix_s),
        ];
        let times = times
            .iter()
            .filter_map(|(name, time)| Some((name, (*time)?)));
        for (name, time) in times {
            if !(0.0..=LATEST_S).contains(&time) {
                return Err(format!(
                    "{name}: {time:e} is not from 0 to {LATEST_S} seconds"
                ));
            }
        }
        if let Some(of) = self.in_force.iter().find(|of| of.others > of.known) {
            let (others, known) = (of.others, of.known);
            return Err(format!(
                "in_force: others, {others}, is more than known, {known}"
            ));
        }
        Ok(())
    }
}
