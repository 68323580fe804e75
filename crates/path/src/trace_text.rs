//! Traces as text, in both forms.

use std::fmt::{self, Write};

use units::{Duration, Rate};

use crate::rates::{Rates, Step};
use crate::trace::{NANOS_PER_MILLI, OPPORTUNITY, Recorded, Trace};

/// The maximum number of delivery opportunities in a text: half an hour at 100 Mbit/s.
const MAX_OPPORTUNITIES: u64 = 1 << 24;

/// The maximum number of rows of mean rates in a text: an hour in steps of a millisecond.
const MAX_ROWS: u64 = 1 << 22;

/// The default span of the mean rates of a table that is made from delivery opportunities.
const DEFAULT_STEP: Duration = Duration::from_millis(100);

/// The minimum distance of delivery opportunities that is an outage. A smaller one is a low rate.
const MIN_OUTAGE: Duration = Duration::from_secs(1);

/// The size of an opportunity, in bytes × 10⁻⁹: rates times nanoseconds are exact.
const OPPORTUNITY_UNITS: u128 = OPPORTUNITY.get() as u128 * 1_000_000_000;

/// A trace needs too many lines.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct TooLong {
    /// The number of lines.
    pub lines: u64,
    /// The maximum.
    pub most: u64,
}

impl fmt::Display for TooLong {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let TooLong { lines, most } = self;
        write!(f, "the trace would take {lines} lines, more than {most}")
    }
}

impl std::error::Error for TooLong {}

impl Trace {
    /// Returns the trace as delivery opportunities for `mm-link`: each at the first millisecond by which the rates have
    /// carried [`OPPORTUNITY`] bytes more.
    ///
    /// `mm-link` starts over after the last one, so the last one is at the end of the trace, even in an outage.
    ///
    /// # Errors
    /// It needs too many lines.
    pub fn to_opportunities(&self) -> Result<String, TooLong> {
        self.opportunities_within(MAX_OPPORTUNITIES)
    }

    pub(crate) fn opportunities_within(&self, most: u64) -> Result<String, TooLong> {
        match self.as_recorded() {
            Recorded::Opportunities(stamps) => {
                check(stamps.stamps().len() as u128, most)?;
                Ok(lines(stamps.stamps().iter()))
            }
            Recorded::Rates(rates) => {
                let count = carried(rates) / OPPORTUNITY_UNITS;
                check(count.saturating_add(1), most)?;
                Ok(lines(opportunities(rates).iter()))
            }
        }
    }

    /// Returns the trace as a table of times in seconds and rates in bits per second. With a `step`, each row has the
    /// mean rate of such a span. Delivery opportunities have no other rate; their default step is a tenth of a second.
    ///
    /// # Errors
    /// It needs too many lines.
    pub fn to_table(&self, step: Option<Duration>) -> Result<String, TooLong> {
        self.table_within(step, MAX_ROWS)
    }

    pub(crate) fn table_within(
        &self,
        step: Option<Duration>,
        most: u64,
    ) -> Result<String, TooLong> {
        let period = self.period();
        let means = |step: Duration| {
            let count = period.as_nanos().div_ceil(step.as_nanos().max(1));
            check(count.into(), most)?;
            Ok(means(self.as_recorded(), step, period))
        };
        let steps = match (self.as_recorded(), step.filter(|step| !step.is_zero())) {
            (_, Some(step)) => means(step)?,
            (Recorded::Opportunities(_), None) => means(DEFAULT_STEP)?,
            // There are no more than were read.
            (Recorded::Rates(rates), None) => rates.steps().to_vec(),
        };
        Ok(table(steps, period))
    }

    /// The lengths of the outages, in their order: spans with a rate of zero, or more than a second between delivery
    /// opportunities.
    pub fn outages(&self) -> Vec<Duration> {
        match self.as_recorded() {
            Recorded::Opportunities(stamps) => {
                let stamps = stamps.stamps();
                let before = [&0].into_iter().chain(stamps);
                let gaps = before.zip(stamps).map(|(before, at)| at - before);
                gaps.map(Duration::from_millis)
                    .filter(|gap| *gap > MIN_OUTAGE)
                    .collect()
            }
            Recorded::Rates(rates) => spans(rates)
                .filter(|(_, _, rate)| rate.is_zero())
                .map(|(from, to, _)| to.saturating_sub(from))
                .collect(),
        }
    }
}

fn check(lines: u128, most: u64) -> Result<(), TooLong> {
    if lines > most.into() {
        let lines = u64::try_from(lines).unwrap_or(u64::MAX);
        return Err(TooLong { lines, most });
    }
    Ok(())
}

/// Returns the start and the end of each rate.
fn spans(rates: &Rates) -> impl Iterator<Item = (Duration, Duration, Rate)> {
    let steps = rates.steps();
    let ends = steps.iter().skip(1).map(|step| step.at);
    let ends = ends.chain([rates.period()]);
    steps
        .iter()
        .zip(ends)
        .map(|(step, end)| (step.at, end, step.rate))
}

/// The volume of one period, in bytes × 10⁻⁹.
fn carried(rates: &Rates) -> u128 {
    spans(rates).fold(0, |sum: u128, (from, to, rate)| {
        let nanos = to.saturating_sub(from).as_nanos();
        sum.saturating_add(u128::from(rate.bytes_per_sec()) * u128::from(nanos))
    })
}

/// Returns the stamps of opportunities that carry as much as the rates.
fn opportunities(rates: &Rates) -> Vec<u64> {
    let mut stamps = Vec::new();
    // The volume since the last opportunity.
    let mut carried = 0;
    for (from, to, rate) in spans(rates) {
        let rate = u128::from(rate.bytes_per_sec());
        if rate == 0 {
            continue;
        }
        let (mut now, end) = (u128::from(from.as_nanos()), u128::from(to.as_nanos()));
        loop {
            let took = OPPORTUNITY_UNITS.saturating_sub(carried).div_ceil(rate);
            if now + took > end {
                carried += rate * (end - now);
                break;
            }
            now += took;
            carried = carried + rate * took - OPPORTUNITY_UNITS;
            stamps.push(in_millis(now));
        }
    }
    let end = in_millis(rates.period().as_nanos().into());
    if stamps.last() != Some(&end) {
        stamps.push(end);
    }
    stamps
}

/// Converts to milliseconds, rounded up.
fn in_millis(nanos: u128) -> u64 {
    u64::try_from(nanos.div_ceil(NANOS_PER_MILLI.into())).unwrap_or(u64::MAX)
}

/// Returns the mean rate of each span of length `step`. The last span may be shorter.
fn means(recorded: &Recorded, step: Duration, period: Duration) -> Vec<Step> {
    let step = step.as_nanos().max(1);
    let period = period.as_nanos();
    let count = usize::try_from(period.div_ceil(step)).unwrap_or(usize::MAX);
    let mut sums = vec![0u128; count];
    match recorded {
        Recorded::Opportunities(stamps) => {
            for stamp in stamps.stamps() {
                // A stamp at the end of a span belongs to it, as the last one belongs to the trace.
                let at = stamp.saturating_mul(NANOS_PER_MILLI).saturating_sub(1);
                let place = usize::try_from(at / step).unwrap_or(usize::MAX);
                if let Some(sum) = sums.get_mut(place) {
                    *sum += OPPORTUNITY_UNITS;
                }
            }
        }
        Recorded::Rates(rates) => {
            for (from, to, rate) in spans(rates) {
                let (mut from, to) = (from.as_nanos(), to.as_nanos());
                while from < to {
                    let place = from / step;
                    let end = (place + 1).saturating_mul(step).min(to);
                    let place = usize::try_from(place).unwrap_or(usize::MAX);
                    if let Some(sum) = sums.get_mut(place) {
                        *sum += u128::from(rate.bytes_per_sec()) * u128::from(end - from);
                    }
                    from = end;
                }
            }
        }
    }
    let starts = (0..).map(|place: u64| place * step);
    let means = starts.zip(sums).map(|(at, sum)| {
        let span = step.min(period - at);
        let rate = u64::try_from(sum / u128::from(span)).unwrap_or(u64::MAX);
        Step {
            at: Duration::from_nanos(at),
            rate: Rate::from_bytes_per_sec(rate),
        }
    });
    let mut means: Vec<Step> = means.collect();
    means.dedup_by_key(|step| step.rate);
    means
}

/// Returns a table that is read as these steps and this period: the last row holds as long as the one before it.
fn table(mut steps: Vec<Step>, period: Duration) -> String {
    let period = period.as_nanos();
    let at = |step: &Step| step.at.as_nanos();
    let is_told = match steps.as_slice() {
        [.., before, last] => at(last) - at(before) == period - at(last),
        _ => false,
    };
    if let (Some(last), false) = (steps.last().copied(), is_told) {
        let mut repeat = |nanos: u64| {
            let at = Duration::from_nanos(nanos);
            steps.push(Step { at, ..last });
        };
        let mut from = at(&last);
        // The middle must be a whole nanosecond.
        if (period - from) % 2 == 1 {
            from += 1;
            repeat(from);
        }
        repeat(from + (period - from) / 2);
    }
    let mut text = String::from("time_s,bps\n");
    for Step { at, rate } in steps {
        let (seconds, nanos) = (at.as_nanos() / 1_000_000_000, at.as_nanos() % 1_000_000_000);
        let part = format!(".{nanos:09}");
        let part = part.trim_end_matches('0').trim_end_matches('.');
        // Writing to a string does not fail.
        let _ = writeln!(text, "{seconds}{part},{}", rate.bits_per_sec());
    }
    text
}

fn lines<'s>(stamps: impl Iterator<Item = &'s u64>) -> String {
    let mut text = String::new();
    for stamp in stamps {
        let _ = writeln!(text, "{stamp}");
    }
    text
}

#[cfg(test)]
mod tests {
    use super::*;

    fn trace(text: &str) -> Trace {
        text.parse().expect(text)
    }

    #[test]
    fn a_table_is_read_as_what_was_written() {
        for text in [
            "0,12.5\n1,0\n2.5,31\n",
            "time_ns,bps\n0,8\n999999999,16\n1000000002,24\n",
            "0,4\n",
            "time_ms,kbps\n0,100\n1,100\n2,0\n9,100\n",
        ] {
            let trace = trace(text);
            let table = trace.to_table(None).expect("it is short");
            assert_eq!(self::trace(&table), trace, "{text} {table}");
            // The text keeps its form.
            assert_eq!(self::trace(&table).to_table(None), Ok(table));
        }
        let table = trace("0,12.5\n1,0\n2.5,31\n").to_table(None);
        let table = table.expect("it is short");
        assert_eq!(table, "time_s,bps\n0,12500000\n1,0\n2.5,31000000\n");
    }

    #[test]
    fn opportunities_are_when_the_rates_have_carried_them() {
        // The gaps are a packet of 1500 bytes in a millisecond, in none, and in 2.5 ms.
        let written = trace("time_ms,mbps\n0,12\n3,0\n10,4.8\n17,4.8\n").to_opportunities();
        assert_eq!(written.as_deref(), Ok("1\n2\n3\n13\n15\n18\n20\n23\n24\n"));
        // The trace keeps its length, although an outage ends it.
        let ends_dark = trace("time_ms,mbps\n0,12\n2,0\n5,0\n").to_opportunities();
        assert_eq!(ends_dark.as_deref(), Ok("1\n2\n8\n"));
        // This rate is more than a packet per nanosecond.
        let fast = trace("time_ms,gbps\n0,24000\n0.001,24000\n1,0\n");
        let written = fast.to_opportunities().expect("it is short");
        assert_eq!(written.lines().count() as u128, 2_000_001);
    }

    #[test]
    fn opportunities_become_means_and_keep_their_sum() {
        let stamps = trace("0\n1\n100\n101\n350\n400\n");
        assert_eq!(
            stamps.to_opportunities().as_deref(),
            Ok("0\n1\n100\n101\n350\n400\n")
        );
        let table = stamps.to_table(None).expect("it is short");
        // The table has 3, 1, 0 and 2 packets in a tenth of a second each.
        let expected = "time_s,bps\n0,360000\n0.1,120000\n0.2,0\n0.3,240000\n";
        assert_eq!(table, expected);
        let again = trace(&table);
        assert_eq!(
            (again.mean_rate(), again.period()),
            (stamps.mean_rate(), stamps.period())
        );
        let coarse = stamps
            .to_table(Some(Duration::from_millis(300)))
            .expect("it is short");
        assert_eq!(trace(&coarse).mean_rate(), stamps.mean_rate());
        let means = trace("0,1\n1,3\n2,5\n3,7\n").to_table(Some(Duration::from_secs(2)));
        assert_eq!(means.as_deref(), Ok("time_s,bps\n0,2000000\n2,6000000\n"));
    }

    #[test]
    fn outages_are_told() {
        let millis = |outages: Vec<Duration>| -> Vec<u64> {
            outages.iter().map(|it| it.as_nanos() / 1_000_000).collect()
        };
        assert_eq!(
            millis(trace("0,1\n1,0\n2,0\n4,1\n5,0\n").outages()),
            [3_000, 1_000]
        );
        assert_eq!(
            millis(trace("1500\n2500\n3501\n").outages()),
            [1_500, 1_001]
        );
    }

    #[test]
    fn what_would_take_too_many_lines_is_refused() {
        let day = trace("0,1000\n86400,1000\n");
        let error = day.to_opportunities().expect_err("too long");
        assert_eq!(
            error.to_string(),
            "the trace would take 14400000001 lines, more than 16777216"
        );
        assert!(day.to_table(Some(Duration::from_nanos(1))).is_err());
        assert!(day.to_table(None).is_ok());
    }
}
