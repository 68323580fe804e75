//! The units of axes.

/// The unit of an axis.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Unit {
    /// The symbol beside a number.
    symbol: &'static str,
    /// The suffix of a column's name.
    column: &'static str,
    /// The SI prefixes in use: `10 kB` and `1 MB` on the same logarithmic axis.
    prefixes: &'static [(f64, &'static str)],
}

const PREFIXES: &[(f64, &str)] = &[
    (1e12, "T"),
    (1e9, "G"),
    (1e6, "M"),
    (1e3, "k"),
    (1.0, ""),
    (1e-3, "m"),
    (1e-6, "µ"),
];
/// Only prefixes for small numbers: kiloseconds are not in use.
const SMALL_PREFIXES: &[(f64, &str)] = &[(1.0, ""), (1e-3, "m"), (1e-6, "µ")];

impl Unit {
    /// Ratios, shares of one, and categories.
    pub const NONE: Unit = Unit::plain("", "");
    #[allow(missing_docs)]
    pub const PERCENT: Unit = Unit::plain("%", "percent");
    /// Multiples of the bandwidth-delay product.
    pub const BDP: Unit = Unit::plain("BDP", "bdp");
    #[allow(missing_docs)]
    pub const MILLISECONDS: Unit = Unit::plain("ms", "ms");
    #[allow(missing_docs)]
    pub const HOURS: Unit = Unit::plain("h", "h");
    #[allow(missing_docs)]
    pub const KILOBYTES: Unit = Unit::plain("kB", "kb");
    #[allow(missing_docs)]
    pub const MEGABITS_PER_SECOND: Unit = Unit::plain("Mbit/s", "mbit_per_s");
    #[allow(missing_docs)]
    pub const SECONDS: Unit = Unit {
        prefixes: SMALL_PREFIXES,
        ..Unit::plain("s", "s")
    };
    #[allow(missing_docs)]
    pub const BYTES: Unit = Unit {
        prefixes: PREFIXES,
        ..Unit::plain("B", "bytes")
    };

    const fn plain(symbol: &'static str, column: &'static str) -> Unit {
        Unit {
            symbol,
            column,
            prefixes: &[],
        }
    }

    /// The title of an axis with all its numbers in this unit: `RTT (ms)`.
    pub(super) fn beside(self, name: &str) -> String {
        match self.symbol {
            "" => name.into(),
            symbol => format!("{name} ({symbol})"),
        }
    }

    /// Whether numbers of different magnitude have different prefixes.
    pub(super) fn has_prefixes(self) -> bool {
        !self.prefixes.is_empty()
    }

    /// A formatted number: `10 kB`, `500 ms`. Without prefixes it is only the number, since the axis names the unit.
    pub(super) fn written(self, value: f64) -> String {
        if !self.has_prefixes() {
            return digits(value);
        }
        let fits = |(scale, _): &&(f64, &str)| value.abs() >= scale * (1.0 - 1e-9);
        let (scale, prefix) = self
            .prefixes
            .iter()
            .find(fits)
            .copied()
            .unwrap_or((1.0, ""));
        format!("{} {prefix}{}", digits(value / scale), self.symbol)
    }

    /// The name of the column for an axis of this name: `rtt_ms`. Text after a comma is an explanation, and left out.
    pub(super) fn column(self, name: &str) -> String {
        let name = name.split([',', '(']).next().unwrap_or_default();
        let name = name.replace(['\'', '’'], "").to_lowercase();
        let words = name.split(|c: char| !c.is_alphanumeric());
        let words = words.chain([self.column]).filter(|word| !word.is_empty());
        words.collect::<Vec<&str>>().join("_")
    }
}

/// A number without trailing zeros: `0.001`, `20`.
fn digits(value: f64) -> String {
    let text = format!("{value:.9}");
    text.trim_end_matches('0').trim_end_matches('.').to_string()
}

#[cfg(test)]
mod tests {
    use super::Unit;

    #[test]
    fn a_number_has_the_prefix_that_people_give_it() {
        let written = |value| Unit::BYTES.written(value);
        assert_eq!(
            [1.0, 1e4, 2.5e5, 1e6, 1e9].map(written),
            ["1 B", "10 kB", "250 kB", "1 MB", "1 GB"]
        );
        assert_eq!(Unit::SECONDS.written(0.05), "50 ms");
        assert_eq!(Unit::SECONDS.written(1_000.0), "1000 s");
        assert_eq!(Unit::PERCENT.written(0.001), "0.001");
    }

    #[test]
    fn a_column_is_named_after_its_axis_and_unit() {
        assert_eq!(Unit::MILLISECONDS.column("RTT"), "rtt_ms");
        assert_eq!(
            Unit::MEGABITS_PER_SECOND.column("Mean throughput, of large objects"),
            "mean_throughput_mbit_per_s"
        );
        assert_eq!(
            Unit::NONE.column("BBR's time over CUBIC's"),
            "bbrs_time_over_cubics"
        );
    }
}
