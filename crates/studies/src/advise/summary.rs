//! What the summary of a run tells of its path.

use super::ranges::RangedPath;
use record::Summary;
use scenario::ScenarioError;

/// About the size of a packet in bytes.
const PACKET: f64 = 1500.0;

/// A share that was counted lies within so many standard deviations of it, nineteen times of twenty.
const DEVIATIONS: f64 = 2.0;

impl RangedPath {
    /// The path of a run. Its loss is what was counted, as a range: some lost packets of some sent ones may come from a
    /// higher or a lower loss.
    ///
    /// # Errors
    ///
    /// The summary tells no rate.
    pub fn of_summary(summary: &Summary) -> Result<RangedPath, ScenarioError> {
        let of = &summary.path;
        let Some(rate) = of.rate_bps.or(of.limit_bps) else {
            return Err(ScenarioError::new(
                "path.rate_bps",
                "is missing; give the summary of a run over a path with a rate",
            ));
        };
        let mut path = RangedPath::unknown();
        path.set("path.rate", &format!("{rate}bit"))?;
        path.set("path.rtt", &format!("{:.0}us", of.rtprop_ms * 1e3))?;
        if let Some(buffer) = of.buffer_bytes {
            path.set("path.buffer", &format!("{buffer}b"))?;
        }
        let sent = summary.flows.iter().filter_map(|flow| flow.sent_bytes);
        let packets = sent.sum::<u64>() as f64 / PACKET;
        let lost = of.random_losses.unwrap_or(0) as f64;
        if lost > 0.0 && packets >= lost {
            let share = lost / packets;
            let half = DEVIATIONS * (share * (1.0 - share) / packets).sqrt();
            let [low, high] = [share - half, share + half].map(|end| end.clamp(0.0, 0.99) * 100.0);
            path.set("path.loss", &format!("{low:.4}%..{high:.4}%"))?;
        }
        Ok(path)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn summary(text: &str) -> Summary {
        serde_json::from_str(text).unwrap()
    }

    #[test]
    fn what_was_counted_is_a_range() {
        let text = r#"{ "path": { "rate_bps": 20000000, "rtprop_ms": 40.5, "buffer_bytes": 100000,
            "random_losses": 100 }, "flows": [{ "sent_bytes": 15000000 }] }"#;
        let path = RangedPath::of_summary(&summary(text)).unwrap();
        assert_eq!(
            path.describe(),
            "rate 20000000bit, rtt 40500us, buffer 100000b, loss 0.8010%..1.1990%"
        );
        assert_eq!(path.ranges().unwrap().len(), 1);
    }

    #[test]
    fn a_path_without_a_rate_is_none() {
        let error = RangedPath::of_summary(&summary("{}")).unwrap_err();
        assert_eq!(error.field, "path.rate_bps");
    }
}
