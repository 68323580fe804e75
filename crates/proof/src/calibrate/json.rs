//! The comparisons as JSON.

use serde_json::{Map, Value, json};

use super::comparison::{Comparison, Difference, tally};
use super::plan::Calibration;

/// The comparisons as one JSON object: `engines`, `versions`, `repeats`, `within` (for each judged quantity the number
/// of `cases`, and of those `within` the tolerance), `cases` with all quantities, and `skipped` cases. Lists of two are
/// in the order of the engines.
pub fn json(
    calibration: &Calibration,
    comparisons: &[Comparison<'_>],
    versions: [&str; 2],
    failed: &[String],
) -> Value {
    let tally = tally(comparisons);
    let within = tally.within.iter().map(|one| {
        let counts = json!({ "within": one.within, "cases": one.cases });
        (one.quantity.name.to_string(), counts)
    });
    let skipped = calibration.cases.iter().filter_map(|case| {
        let reason = case.skipped.as_ref()?;
        Some(json!({ "case": case.name, "reason": reason }))
    });
    json!({
        "engines": calibration.sides.each_ref().map(|side| side.contender.name.clone()),
        "versions": versions,
        "repeats": calibration.repeats,
        "within": within.collect::<Map<_, _>>(),
        "explained": tally.explained,
        "differs": tally.differs,
        "failed": failed,
        "skipped": skipped.collect::<Vec<_>>(),
        "cases": comparisons.iter().map(case).collect::<Vec<_>>(),
    })
}

fn case(comparison: &Comparison<'_>) -> Value {
    let quantities = comparison.differences.iter();
    let quantities = quantities.map(|one| (one.quantity.name.to_string(), quantity(one)));
    json!({
        "case": comparison.case.name,
        "set": comparison.case.set,
        "runs": comparison.runs,
        "verdict": comparison.verdict(),
        "quantities": quantities.collect::<Map<_, _>>(),
    })
}

fn quantity(one: &Difference<'_>) -> Value {
    json!({
        "sides": one.sides,
        "difference": one.difference,
        "tolerance": one.tolerance,
        "overlaps": one.overlaps(),
        "explanation": one.explanation.filter(|_| one.is_outlier()),
    })
}
