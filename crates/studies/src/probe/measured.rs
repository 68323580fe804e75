//! The measurements of a probe.

use std::time::Duration;

use record::LimitShares;

/// The measurements of a probe.
pub(super) struct Measured {
    pub took: Duration,
    pub limited_by: Option<LimitShares>,
}
