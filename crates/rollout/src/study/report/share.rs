//! Shares in per cent.

pub(super) fn percent(share: f64) -> String {
    format!("{} %", shown(share, 2))
}

/// A share in per cent with this many decimals. One that is not zero is not shown as zero.
pub(super) fn shown(share: f64, decimals: usize) -> String {
    let text = format!("{:.decimals$}", share * 100.0);
    let is_zero = text.bytes().all(|byte| matches!(byte, b'0' | b'.'));
    if share > 0.0 && is_zero {
        let least = 0.1_f64.powi(i32::try_from(decimals).unwrap_or(0));
        return format!("< {least:.decimals$}");
    }
    text
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_share_that_is_not_zero_is_not_shown_as_zero() {
        let told = [0.0, 0.000_04, 0.000_06, 0.5].map(percent);
        assert_eq!(told, ["0.00 %", "< 0.01 %", "0.01 %", "50.00 %"]);
        assert_eq!([0.005, 0.006].map(|share| shown(share, 0)), ["< 1", "1"]);
    }
}
