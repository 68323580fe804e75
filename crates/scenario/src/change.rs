//! What changes during a run.

use serde::{Deserialize, Serialize};
use units::bounds::positive;
use units::{Duration, Rate};

/// A change: `[[path.change]]` with `at`, and `rate`, `rtt` or both; `[[path.uplink.change]]` with `at` and `rate`.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(
    deny_unknown_fields,
    expecting = "a table such as { at = \"20s\", rate = \"20mbit\" }"
)]
pub struct ChangeSpec {
    /// `at`: when, from the start of the run.
    pub at: Duration,
    /// `rate`: the link's new rate.
    #[serde(default, deserialize_with = "positive")]
    pub rate: Option<Rate>,
    /// `rtt`: the path's new RTprop.
    pub rtt: Option<Duration>,
}
