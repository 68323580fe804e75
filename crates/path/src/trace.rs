//! Links whose rate follows a recorded trace: delivery opportunities in Mahimahi's format, or a table of rates.

use std::str::FromStr;
use std::sync::Arc;

use units::{Bytes, Duration, Rate, Time};

use crate::rate_text;
use crate::rates::Rates;
use crate::trace_error::{TraceError, TraceReason};

/// The bytes of one delivery opportunity: one full packet, or smaller ones with the same sum (`mm-link(1)`).
///
/// Mahimahi's code counts 1504 bytes for a packet of 1500, because its tunnel device adds four bytes to each. The sizes
/// given to a [`Link`](crate::Link) do not include them, so both sides exclude them.
pub const OPPORTUNITY: Bytes = Bytes::new(1500);

pub(crate) const NANOS_PER_MILLI: u64 = 1_000_000;

/// A recorded rate over time. It repeats.
///
/// The text has one of two forms. With one number per line, it is a trace for Mahimahi's `mm-link` (Netravali et al.,
/// "Mahimahi: Accurate Record-and-Replay for HTTP", 2015): millisecond stamps, never decreasing. Each line is an
/// opportunity to deliver up to [`OPPORTUNITY`] bytes at that time. A stamp on several lines is as many opportunities.
/// After the last stamp the trace starts over, with the last stamp as its new zero. A packet may need several
/// opportunities, and several packets may share one. The unused rest of an opportunity is wasted; so is an opportunity
/// without waiting packets. A packet that enters at the exact time of an opportunity is too late for it.
///
/// With several cells per line, it is a table of times and rates, such as CSV. Each rate holds from its time to the
/// next one, and the last one for as long as the one before it; then the trace starts over. A rate of zero is an
/// outage.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Trace(Recorded);

/// The form of a recording.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum Recorded {
    Opportunities(Stamps),
    Rates(Rates),
}

/// The times of delivery opportunities, in milliseconds.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Stamps {
    stamps: Arc<[u64]>,
    /// The last stamp.
    period: u64,
}

impl Trace {
    /// The time from one start of the trace to the next.
    pub fn period(&self) -> Duration {
        match &self.0 {
            Recorded::Opportunities(stamps) => Duration::from_millis(stamps.period),
            Recorded::Rates(rates) => rates.period(),
        }
    }

    /// The number of opportunities or rates in one period.
    pub fn steps(&self) -> usize {
        match &self.0 {
            Recorded::Opportunities(stamps) => stamps.stamps.len(),
            Recorded::Rates(rates) => rates.len(),
        }
    }

    /// The mean rate over one period.
    pub fn mean_rate(&self) -> Rate {
        match &self.0 {
            Recorded::Opportunities(stamps) => {
                let bytes = OPPORTUNITY * stamps.stamps.len() as u64;
                Rate::from_transfer(bytes, self.period())
            }
            Recorded::Rates(rates) => rates.mean_rate(),
        }
    }

    /// The recording.
    pub(crate) fn as_recorded(&self) -> &Recorded {
        &self.0
    }

    /// Returns the recording.
    pub(crate) fn recorded(self) -> Recorded {
        self.0
    }
}

impl Trace {
    /// Reads a table of times and rates with the rates in this column, whatever the other columns' names. The case of
    /// its name does not matter.
    ///
    /// # Errors
    /// The text is no trace, or no table with this column.
    pub fn of_column(text: &str, name: &str) -> Result<Trace, TraceError> {
        let rates = rate_text::read(without_mark(text), Some(name));
        rates.map(|rates| Trace(Recorded::Rates(rates)))
    }
}

/// The assumed unit of a table's rates, in the column of this name if there is one: `Mbit/s` or `kbit/s`. `None` if the
/// column's name has the unit, and for a text that is no table.
pub fn assumed_unit(text: &str, column: Option<&str>) -> Option<&'static str> {
    rate_text::assumed_unit(without_mark(text), column)
}

fn without_mark(text: &str) -> &str {
    text.trim_start_matches('\u{feff}')
}

impl FromStr for Trace {
    type Err = TraceError;

    /// Reads a trace. A byte-order mark, blank lines, and spaces around a stamp or a cell are ignored.
    fn from_str(text: &str) -> Result<Trace, TraceError> {
        let text = without_mark(text);
        if rate_text::is_table(text) {
            return rate_text::read(text, None).map(|rates| Trace(Recorded::Rates(rates)));
        }
        Stamps::read(text).map(|stamps| Trace(Recorded::Opportunities(stamps)))
    }
}

impl Stamps {
    /// The stamps, never decreasing.
    pub(crate) fn stamps(&self) -> &[u64] {
        &self.stamps
    }

    fn read(text: &str) -> Result<Stamps, TraceError> {
        let mut stamps = Vec::new();
        let mut last = 0;
        let mut lines = 0;
        for (line, text) in (1..).zip(text.lines()) {
            lines = line;
            let text = text.trim();
            if text.is_empty() {
                continue;
            }
            let error = |reason| TraceError { line, reason };
            let stamp = text
                .parse::<u64>()
                .ok()
                .filter(|stamp| stamp.checked_mul(NANOS_PER_MILLI).is_some())
                .ok_or(error(TraceReason::NotAStamp))?;
            if stamp < last {
                return Err(error(TraceReason::Decreases { previous: last }));
            }
            last = stamp;
            stamps.push(stamp);
        }
        let error = |reason| {
            Err(TraceError {
                line: lines,
                reason,
            })
        };
        if stamps.is_empty() {
            return error(TraceReason::Empty);
        }
        if last == 0 {
            return error(TraceReason::NoTime);
        }
        Ok(Stamps {
            stamps: stamps.into(),
            period: last,
        })
    }
}

/// A position in a trace that repeats.
#[derive(Debug, Clone)]
pub(crate) struct Opportunities {
    trace: Stamps,
    /// The start of the present repetition, in milliseconds.
    base: u64,
    /// The index of the next opportunity within the repetition; always less than their number.
    next: usize,
    /// The time of the last used opportunity, and the rest of its bytes.
    taken: Time,
    left: u64,
}

impl Opportunities {
    pub(crate) fn new(trace: Stamps) -> Opportunities {
        Opportunities {
            trace,
            base: 0,
            next: 0,
            taken: Time::ZERO,
            left: 0,
        }
    }

    /// Skips every opportunity up to `now`, because nothing waited.
    pub(crate) fn skip_to(&mut self, now: Time) {
        self.left = 0;
        if self.next_at() > now {
            return;
        }
        let millis = now.as_nanos() / NANOS_PER_MILLI;
        let periods = millis.saturating_sub(self.base) / self.trace.period;
        self.base = self
            .base
            .saturating_add(periods.saturating_mul(self.trace.period));
        let within = millis.saturating_sub(self.base);
        let gone = self.trace.stamps.partition_point(|stamp| *stamp <= within);
        // Within the same repetition, used opportunities stay used.
        self.next = if periods == 0 {
            gone.max(self.next)
        } else {
            gone
        };
    }

    /// The time at which the next packet can start.
    pub(crate) fn start(&self) -> Time {
        if self.left > 0 {
            self.taken
        } else {
            self.next_at()
        }
    }

    /// Takes the opportunities for a packet of `size`, and returns the time at which its last byte is delivered.
    pub(crate) fn take(&mut self, size: Bytes) -> Time {
        let size = size.get();
        match self.left.checked_sub(size) {
            Some(rest) if self.left > 0 => self.left = rest,
            _ => {
                let missing = size - self.left.min(size);
                let needed = missing.div_ceil(OPPORTUNITY.get()).max(1);
                self.left = needed
                    .saturating_mul(OPPORTUNITY.get())
                    .saturating_sub(missing);
                self.advance(needed - 1);
                self.taken = self.next_at();
                self.advance(1);
            }
        }
        self.taken
    }

    /// Advances by `count` opportunities.
    fn advance(&mut self, count: u64) {
        let len = self.trace.stamps.len() as u64;
        let index = (self.next as u64).saturating_add(count);
        let periods = index / len;
        self.base = self
            .base
            .saturating_add(periods.saturating_mul(self.trace.period));
        self.next = (index % len) as usize;
    }

    fn next_at(&self) -> Time {
        let stamp = self
            .trace
            .stamps
            .get(self.next)
            .copied()
            .unwrap_or_default();
        let millis = self.base.saturating_add(stamp);
        Time::from_nanos(millis.saturating_mul(NANOS_PER_MILLI))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn trace(text: &str) -> Trace {
        text.parse().expect("a good trace")
    }

    fn cursor(text: &str) -> Opportunities {
        Opportunities::new(Stamps::read(text).expect("a good trace"))
    }

    fn millis(time: Time) -> u64 {
        time.as_nanos() / NANOS_PER_MILLI
    }

    #[test]
    fn what_is_no_trace_is_refused() {
        let error = |text: &str| {
            let error = text.parse::<Trace>().unwrap_err();
            (error.line, error.reason)
        };
        assert_eq!(error(""), (0, TraceReason::Empty));
        let empty = "".parse::<Trace>().unwrap_err().to_string();
        assert!(empty.starts_with("the trace is empty; "), "{empty}");
        assert_eq!(error("\n \n"), (2, TraceReason::Empty));
        assert_eq!(error("1\n2\nx"), (3, TraceReason::NotAStamp));
        assert_eq!(error("1.5"), (1, TraceReason::NotAStamp));
        assert_eq!(error("-1"), (1, TraceReason::NotAStamp));
        assert_eq!(error("18446744073709551615"), (1, TraceReason::NotAStamp));
        assert_eq!(
            error("5\n\n4\n"),
            (3, TraceReason::Decreases { previous: 5 })
        );
        assert_eq!(error("0\n0\n"), (2, TraceReason::NoTime));
        assert_eq!(
            "1\n2\nx".parse::<Trace>().unwrap_err().to_string(),
            "line 3: not a time stamp; give one whole number of milliseconds a line"
        );
    }

    #[test]
    fn a_trace_knows_its_mean_rate() {
        let trace = trace("0\r\n1\n1\n\n4\n");
        assert_eq!(trace.steps(), 4);
        assert_eq!(trace.period(), Duration::from_millis(4));
        assert_eq!(trace.mean_rate(), Rate::from_bytes_per_sec(1_500_000));
    }

    #[test]
    fn a_byte_order_mark_is_passed_over() {
        for text in ["0\n1\n", "time,mbps\n0,1\n1,2\n"] {
            assert_eq!(trace(&format!("\u{feff}{text}")), trace(text));
        }
    }

    #[test]
    fn it_repeats_after_its_last_stamp() {
        let mut cursor = cursor("0\n1\n1\n4\n");
        let times: Vec<u64> = (0..10).map(|_| millis(cursor.take(OPPORTUNITY))).collect();
        assert_eq!(times, [0, 1, 1, 4, 4, 5, 5, 8, 8, 9]);
    }

    #[test]
    fn packets_share_and_span_opportunities() {
        let mut cursor = cursor("10\n20\n30\n");
        assert_eq!(millis(cursor.take(Bytes::new(500))), 10);
        assert_eq!(millis(cursor.start()), 10);
        assert_eq!(millis(cursor.take(Bytes::new(1000))), 10);
        assert_eq!(millis(cursor.start()), 20);
        assert_eq!(millis(cursor.take(Bytes::new(1501))), 30);
        assert_eq!(millis(cursor.take(Bytes::new(1499))), 30);
        assert_eq!(millis(cursor.take(Bytes::ZERO)), 40);
        assert_eq!(millis(cursor.take(OPPORTUNITY * 3)), 60);
        assert_eq!(millis(cursor.start()), 70);
    }

    #[test]
    fn what_nobody_took_is_gone() {
        let mut cursor = cursor("10\n20\n30\n");
        let skip = |cursor: &mut Opportunities, at| {
            cursor.skip_to(Time::from_nanos(at * NANOS_PER_MILLI));
            millis(cursor.start())
        };
        assert_eq!(skip(&mut cursor, 9), 10);
        assert_eq!(skip(&mut cursor, 10), 20);
        assert_eq!(skip(&mut cursor, 29), 30);
        assert_eq!(skip(&mut cursor, 30), 40);
        assert_eq!(skip(&mut cursor, 3_000_005), 3_000_010);
        cursor.take(Bytes::new(1));
        assert_eq!(skip(&mut cursor, 3_000_010), 3_000_020);
        cursor.skip_to(Time::MAX);
        assert_eq!(cursor.start(), Time::MAX);
        assert_eq!(cursor.take(Bytes::MAX), Time::MAX);
    }
}
