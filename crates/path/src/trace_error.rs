//! Errors in the text of a trace.

use std::fmt;

/// An error in the text of a trace.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct TraceError {
    /// The faulty line, counted from 1; the last one if the whole text is faulty, and 0 if it has none.
    pub line: usize,
    /// The error.
    pub reason: TraceReason,
}

impl TraceError {
    pub(crate) fn new(line: usize, reason: TraceReason) -> TraceError {
        TraceError { line, reason }
    }
}

/// An error of a trace.
#[derive(Debug, Clone, PartialEq, Eq)]
#[non_exhaustive]
pub enum TraceReason {
    /// The line is not a whole number of milliseconds.
    NotAStamp,
    /// The stamp is smaller than the one before it.
    Decreases {
        /// The stamp before it.
        previous: u64,
    },
    /// There is no stamp.
    Empty,
    /// The last stamp is zero, so the trace would repeat without time passing.
    NoTime,
    /// The table has no heading that distinguishes its columns.
    NoHeading,
    /// No column's name means a time.
    NoTimeColumn,
    /// No column's name means a rate.
    NoRateColumn,
    /// No column has the requested name. These are the first names.
    NoSuchColumn(Vec<String>),
    /// A column was requested by its name, and the columns have none.
    NoNames,
    /// The requested column has the times.
    ColumnOfTimes,
    /// Several columns' names mean a rate, and none more clearly than the others. These are the first of them.
    ManyRateColumns(Vec<String>),
    /// The cell is not a time.
    NotATime,
    /// The cell is not a rate.
    NotARate,
    /// The time is before the one above it.
    Backwards,
    /// The table is shorter than a millisecond.
    TooShort,
    /// All rates are zero.
    NoRate,
}

/// Joins names in a sentence: `a, b and c`.
fn listed(names: &[String]) -> String {
    match names {
        [before @ .., last] if !before.is_empty() => format!("{} and {last}", before.join(", ")),
        _ => names.concat(),
    }
}

impl fmt::Display for TraceError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        if self.line > 0 {
            write!(f, "line {}: ", self.line)?;
        }
        match &self.reason {
            TraceReason::NotAStamp => {
                f.write_str("not a time stamp; give one whole number of milliseconds a line")
            }
            TraceReason::Decreases { previous } => {
                write!(
                    f,
                    "the stamp is before the previous one, {previous}; sort the trace"
                )
            }
            TraceReason::Empty => {
                f.write_str("the trace is empty; give times and rates as CSV, such as 0,20 below time,mbps, or one millisecond stamp a line")
            }
            TraceReason::NoTime => {
                f.write_str("the last stamp is 0; the trace repeats after it, so it must be later")
            }
            TraceReason::NoHeading => f.write_str(
                "more than two columns; name them in a first line such as time,mbps",
            ),
            TraceReason::NoTimeColumn => f.write_str(
                "no column is called time; name the columns in a first line such as time,mbps",
            ),
            TraceReason::NoRateColumn => f.write_str(
                "no column is called a rate; name the columns in a first line such as time,mbps",
            ),
            TraceReason::NoSuchColumn(names) => {
                write!(f, "no column has this name; there are {}", listed(names))
            }
            TraceReason::NoNames => f.write_str(
                "the columns have no names; name them in a first line such as time,mbps",
            ),
            TraceReason::ColumnOfTimes => {
                f.write_str("this column has the times; name the one with the rates")
            }
            TraceReason::ManyRateColumns(names) => write!(
                f,
                "{} are alike; keep one, or pick it with `fullpipe rates FILE --column NAME`",
                listed(names)
            ),
            TraceReason::NotATime => f.write_str(
                "not a time; give seconds, milliseconds in a column such as time_ms, or 2024-05-01T12:30:00Z",
            ),
            TraceReason::NotARate => {
                f.write_str("not a rate; give a number of the column's unit, zero or more")
            }
            TraceReason::Backwards => {
                f.write_str("the time is before the one above; sort the trace")
            }
            TraceReason::TooShort => f.write_str(
                "the trace is shorter than a millisecond; name the unit of its times, such as time_ms",
            ),
            TraceReason::NoRate => f.write_str("every rate is zero, so nothing would move"),
        }
    }
}

impl std::error::Error for TraceError {}
