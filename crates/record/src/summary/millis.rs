//! Summaries of distributions of times.

use serde::{Deserialize, Serialize};

use crate::distribution::Distribution;
use crate::millionths::optional_millionths;

/// A queue over time, in milliseconds.
#[derive(Debug, Clone, Copy, PartialEq, Default, Serialize, Deserialize)]
#[serde(default, expecting = "an object")]
pub struct QueueMillis {
    /// Mean over time.
    #[serde(serialize_with = "optional_millionths")]
    pub mean: Option<f64>,
    /// Median over time.
    #[serde(serialize_with = "optional_millionths")]
    pub p50: Option<f64>,
    /// 95th percentile over time.
    #[serde(serialize_with = "optional_millionths")]
    pub p95: Option<f64>,
    /// 99th percentile over time.
    #[serde(serialize_with = "optional_millionths")]
    pub p99: Option<f64>,
    /// Maximum.
    #[serde(serialize_with = "optional_millionths")]
    pub max: Option<f64>,
}

/// Round-trip times over all ACKs that measured one, in milliseconds.
#[derive(Debug, Clone, Copy, PartialEq, Default, Serialize, Deserialize)]
#[serde(default, expecting = "an object")]
pub struct RttMillis {
    /// Smallest.
    #[serde(serialize_with = "optional_millionths")]
    pub min: Option<f64>,
    /// Median.
    #[serde(serialize_with = "optional_millionths")]
    pub p50: Option<f64>,
    /// Mean.
    #[serde(serialize_with = "optional_millionths")]
    pub mean: Option<f64>,
    /// 95th percentile.
    #[serde(serialize_with = "optional_millionths")]
    pub p95: Option<f64>,
    /// 99th percentile.
    #[serde(serialize_with = "optional_millionths")]
    pub p99: Option<f64>,
    /// Largest.
    #[serde(serialize_with = "optional_millionths")]
    pub max: Option<f64>,
}

impl From<&Distribution> for QueueMillis {
    fn from(queues: &Distribution) -> QueueMillis {
        QueueMillis {
            mean: queues.mean_ms(),
            p50: queues.quantile_ms(0.5),
            p95: queues.quantile_ms(0.95),
            p99: queues.quantile_ms(0.99),
            max: queues.max_ms(),
        }
    }
}

impl From<&Distribution> for RttMillis {
    fn from(rtts: &Distribution) -> RttMillis {
        RttMillis {
            min: rtts.min_ms(),
            p50: rtts.quantile_ms(0.5),
            mean: rtts.mean_ms(),
            p95: rtts.quantile_ms(0.95),
            p99: rtts.quantile_ms(0.99),
            max: rtts.max_ms(),
        }
    }
}
