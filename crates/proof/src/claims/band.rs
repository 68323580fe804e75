//! Bands of values.

use document::de::Wrong;
use record::Dimension;
use studies::runs::Amount;

/// The band of values in which a measure should lie.
#[derive(Debug, Clone, Copy, PartialEq, Default)]
pub struct Band {
    /// The least.
    pub at_least: Option<f64>,
    /// The most.
    pub at_most: Option<f64>,
}

impl Band {
    /// Reads the bounds of a band, each with `bound`.
    pub(super) fn read(
        at_least: Option<String>,
        at_most: Option<String>,
        bound: impl Fn(&str, &str) -> Result<f64, Wrong>,
    ) -> Result<Band, Wrong> {
        let read =
            |field: &str, text: Option<String>| text.map(|text| bound(field, &text)).transpose();
        let band = Band {
            at_least: read("at_least", at_least)?,
            at_most: read("at_most", at_most)?,
        };
        match (band.at_least, band.at_most) {
            (Some(least), Some(most)) if least > most => {
                Err(Wrong::new("at_most", "is less than at_least"))
            }
            _ => Ok(band),
        }
    }

    /// True if the value is within the band.
    pub fn holds(&self, value: f64) -> bool {
        self.at_least.is_none_or(|least| value >= least)
            && self.at_most.is_none_or(|most| value <= most)
    }
}

/// The largest share: shares are fractions of one, and none is more than twice the whole.
const MAX_SHARE: f64 = 2.0;

/// Reads a bound: a number or a share for a ratio, otherwise a value in the measure's unit. Shares, zero and counts
/// need no unit.
pub(super) fn read_bound(field: &str, text: &str, unit: Option<Dimension>) -> Result<f64, Wrong> {
    let wrong = |reason: &str| Wrong::new(field, format!("{text} {reason}"));
    let (value, of) = match Amount::parse(text) {
        Some(amount) => (amount.value(), amount.unit()),
        // TOML's own spellings of a plain number: 1e12, -1.
        None => {
            let plain = text.trim().parse().ok();
            let plain = plain.filter(|number: &f64| number.is_finite());
            let value = plain.ok_or_else(|| wrong("is not a number such as 0.95, 5% or 40ms"))?;
            (value, Dimension::Plain)
        }
    };
    match (of, unit) {
        (Dimension::Plain | Dimension::Share, Some(Dimension::Share))
            if value.abs() > MAX_SHARE =>
        {
            Err(wrong("is not a share; write 90% or 0.9"))
        }
        (Dimension::Plain, Some(Dimension::Rate | Dimension::Time | Dimension::Size))
            if value != 0.0 =>
        {
            Err(wrong("has no unit; write 4mbit, 40ms or 10kb"))
        }
        (Dimension::Plain, _) => Ok(value),
        (Dimension::Share, None) => Ok(value),
        (of, unit) if unit == Some(of) => Ok(value),
        _ => Err(wrong("is of another kind than the measure")),
    }
}
