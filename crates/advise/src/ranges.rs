//! A path of which some fields are known only as ranges.

use std::path::{Path, PathBuf};

use units::{Bytes, Duration, Rate, hint};

use super::amount::Amount;
use document::DocumentError;
use document::tree::{Entry, Node};
use scenario::{Draft, Scenario};

/// The text between the ends of a range: `10mbit..50mbit`.
const SEPARATOR: &str = "..";

/// The buffer assumed for a bottleneck without one: shallow to bloated.
const UNKNOWN_BUFFER: &str = "0.5bdp..8bdp";

/// The same where half a BDP is less than two packets.
const UNKNOWN_SMALL_BUFFER: &str = "10p..100p";
const TWO_PACKETS: Bytes = Bytes::new(3000);

/// The same for a path without a rate, and hence without a BDP.
const UNKNOWN_BUFFER_OF_TRACE: &str = "100p..1000p";

/// The most ranges: a few paths show nothing of more.
const MAX_RANGES: usize = 32;

/// The most values of a path. A text with more is a mistake, and would be slow to read for each sampled path.
const MAX_VALUES: usize = 10_000;

/// The parts of a scenario that are not about the path. They are ignored, since the advice sets flows and duration
/// itself.
const IGNORED_PARTS: [&str; 6] = ["name", "duration", "warmup", "seed", "flow", "quick"];

/// The path and the hosts of a scenario, where any value may be a range.
#[derive(Debug, Clone)]
pub struct RangedPath {
    draft: Draft,
    /// The captured connection from which the path was derived.
    pub origin: Option<String>,
}

/// A field that is known only as a range.
#[derive(Debug, Clone, PartialEq, Eq, serde::Serialize)]
pub struct Range {
    /// The field: `path.rate`.
    pub field: String,
    /// The smallest value.
    pub from: String,
    /// The largest value.
    pub to: String,
}

impl RangedPath {
    /// An empty path.
    pub fn unknown() -> RangedPath {
        RangedPath::of(Vec::new(), PathBuf::new())
    }

    /// Reads the path and the hosts of a scenario. Its flows and times are ignored, and need not be there. Names of
    /// traces are relative to `directory`.
    ///
    /// # Errors
    ///
    /// The text is not TOML, or has a part that scenarios do not have.
    pub fn parse(text: &str, directory: &Path) -> Result<RangedPath, DocumentError> {
        let mut entries = Node::from_toml(text)?;
        entries.retain(|entry| !IGNORED_PARTS.contains(&entry.key.as_str()));
        let is_strange = |entry: &&Entry| !["path", "host"].contains(&entry.key.as_str());
        if let Some(strange) = entries.iter().find(is_strange) {
            let hint = hint(&strange.key, &["path", "host"]);
            let reason = format!("is not a part of a path; give [path], and [host]{hint}");
            return Err(DocumentError {
                line: strange.line,
                ..DocumentError::new(&strange.key, reason)
            });
        }
        Ok(RangedPath::of(entries, directory.to_owned()))
    }

    fn of(mut entries: Vec<Entry>, directory: PathBuf) -> RangedPath {
        let scalar = |text: &str| Node::Scalar(text.to_owned());
        let flow = Node::Table(vec![Entry::new("controller", scalar("cubic"))]);
        entries.extend([
            Entry::new("name", scalar("advise")),
            Entry::new("duration", scalar("1s")),
            Entry::new("flow", Node::List(vec![flow])),
        ]);
        RangedPath {
            draft: Draft::new(entries, &directory),
            origin: None,
        }
    }

    /// Replaces or adds the field `field`, such as `path.rate`, with a value or a range.
    ///
    /// # Errors
    ///
    /// The field cannot exist.
    pub fn set(&mut self, field: &str, text: &str) -> Result<(), DocumentError> {
        self.draft.set(field, text)
    }

    /// As [`RangedPath::set`], but with a value.
    ///
    /// # Errors
    ///
    /// The field cannot exist.
    pub fn replace(&mut self, field: &str, value: &Node) -> Result<(), DocumentError> {
        self.draft.replace(field, value)
    }

    /// Adds a missing buffer as a range of usual sizes. Returns the added range.
    pub fn complete(&mut self) -> Option<Range> {
        let has = |field: &str| self.least_of(field).is_some();
        let is_bounded = ["path.buffer", "path.policer.rate"].into_iter().any(has);
        let buffer = match (has("path.rate"), has("path.trace")) {
            _ if is_bounded => return None,
            (true, _) if self.is_bdp_small() => UNKNOWN_SMALL_BUFFER,
            (true, _) => UNKNOWN_BUFFER,
            (false, true) => UNKNOWN_BUFFER_OF_TRACE,
            (false, false) => return None,
        };
        let field = "path.buffer";
        // `set` fails only where a parent is not a table; `path` is one, since it has a rate or a trace.
        self.draft.set(field, buffer).ok()?;
        Range::read(field, buffer)
    }

    /// The value of a field, or the smallest value of its range.
    fn least_of(&self, field: &str) -> Option<String> {
        let texts = self.draft.texts();
        let (_, text) = texts.iter().find(|(of, _)| of == field)?;
        let range = Range::read(field, text);
        Some(range.map_or_else(|| (*text).to_owned(), |range| range.from))
    }

    fn is_bdp_small(&self) -> bool {
        let rate = self.least_of("path.rate").map(|text| text.parse::<Rate>());
        let rtt = self
            .least_of("path.rtt")
            .map(|text| text.parse::<Duration>());
        match (rate, rtt) {
            (Some(Ok(rate)), Some(Ok(rtt))) => rate.bytes_in(rtt / 2) < TWO_PACKETS,
            _ => false,
        }
    }

    /// Adds the line of the text to an error, if the field came from a text.
    pub fn located(&self, error: DocumentError) -> DocumentError {
        self.draft.located(error)
    }

    /// The field that limits the rate of the path.
    pub(crate) fn capacity(&self) -> &'static str {
        let fields = ["path.rate", "path.trace", "path.policer.rate"];
        let told = |field: &&str| self.least_of(field).is_some();
        fields.into_iter().find(told).unwrap_or("path.rate")
    }

    /// The path as given, in one line: `rate 10mbit..50mbit, rtt 40ms, buffer 0.5bdp..8bdp`.
    pub fn describe(&self) -> String {
        let texts = self.draft.texts();
        let parts = texts.iter().filter_map(|(field, text)| {
            let is_own = field.starts_with("path.") || field.starts_with("host.");
            is_own.then(|| format!("{} {text}", short(field)))
        });
        parts.collect::<Vec<_>>().join(", ")
    }

    /// The fields that are ranges.
    ///
    /// # Errors
    ///
    /// The rate or RTprop is missing, the ends of a range do not fit together, or there are too many values or ranges.
    pub fn ranges(&self) -> Result<Vec<Range>, DocumentError> {
        let texts = self.draft.texts();
        if texts.len() > MAX_VALUES {
            let reason = format!(
                "has more than {MAX_VALUES} values; leave out those that do not describe the path"
            );
            return Err(DocumentError::new("path", reason));
        }
        let has = |field: &str| texts.iter().any(|(of, _)| of.starts_with(field));
        if !["path.rate", "path.trace", "path.policer"]
            .into_iter()
            .any(has)
        {
            let reason =
                "is missing; give the bottleneck's rate, or a range such as 10mbit..50mbit";
            return Err(DocumentError::new("path.rate", reason));
        }
        if !has("path.rtt") {
            let reason = "is missing; give RTprop, the two-way propagation delay, or a range such as 20ms..60ms";
            return Err(DocumentError::new("path.rtt", reason));
        }
        let ranges: Vec<Range> = texts
            .iter()
            .filter_map(|(field, text)| Range::read(field, text))
            .collect();
        for range in &ranges {
            range.check().map_err(|error| self.located(error))?;
        }
        if let Some(range) = ranges.get(MAX_RANGES) {
            let reason =
                format!("is one range more than the limit of {MAX_RANGES}; give it one value");
            return Err(self.located(DocumentError::new(&range.field, reason)));
        }
        Ok(ranges)
    }

    /// The path with one of its [values](Range::values) for each range.
    ///
    /// # Errors
    ///
    /// The path is invalid with these values.
    pub fn at(&self, ranges: &[Range], values: &[String]) -> Result<Scenario, DocumentError> {
        let mut draft = self.draft.clone();
        for (range, value) in ranges.iter().zip(values) {
            draft.replace(&range.field, &Node::Scalar(value.clone()))?;
        }
        // Errors name the line of the range in the text.
        let scenario = draft.read();
        scenario.map_err(|error| self.located(of_range(error, &draft, ranges)))
    }
}

/// Reports an invalid value between the ends of a range as an error of the range. The reason is that of an invalid end,
/// if one is, since the user never wrote the value between.
fn of_range(error: DocumentError, draft: &Draft, ranges: &[Range]) -> DocumentError {
    match ranges.iter().find(|range| range.field == error.field) {
        Some(range @ Range { from, to, .. }) => {
            let of_end = |end: &String| {
                let mut draft = draft.clone();
                let value = Node::Scalar(end.clone());
                draft.replace(&range.field, &value).ok()?;
                let wrong = draft.read().err()?;
                (wrong.field == error.field).then_some(wrong.reason)
            };
            let reason = of_end(to).or_else(|| of_end(from));
            let reason = reason.unwrap_or_else(|| error.reason.clone());
            let reason = format!("in {from}..{to}, {reason}");
            DocumentError {
                reason: reason.into(),
                ..error
            }
        }
        None => error,
    }
}

/// The short name of a field: `rate` for `path.rate`.
pub fn short(field: &str) -> &str {
    field.strip_prefix("path.").unwrap_or(field)
}

impl Range {
    /// Parses `text` as a range. Returns nothing if it is not one; a trace's file name may contain `..` too.
    pub fn read(field: &str, text: &str) -> Option<Range> {
        let (from, to) = text.split_once(SEPARATOR)?;
        let is_number = from.trim().starts_with(|c: char| c.is_ascii_digit());
        if !is_number || field.ends_with("trace") {
            return None;
        }
        let (from, to) = (from.trim(), to.trim());
        // In `0..1%` and `20..60ms` the unit of the second end holds for the first.
        let is_of_number = |c: char| c.is_ascii_digit() || c == '.';
        let unit = to.trim_start_matches(is_of_number);
        // A unit needs a number before it.
        let is_bare = from.chars().all(is_of_number) && unit.len() < to.len();
        let from = format!("{from}{}", if is_bare { unit } else { "" });
        Some(Range {
            field: field.to_owned(),
            from,
            to: to.to_owned(),
        })
    }

    fn check(&self) -> Result<(), DocumentError> {
        let wrong = |reason: String| Err(DocumentError::new(&self.field, reason));
        let Range { from, to, .. } = self;
        let end = |text: &str| {
            // With `...`, the second end begins with a point.
            let amount = Amount::parse(text).filter(|_| !text.starts_with('.'));
            amount.ok_or_else(|| {
                let reason = format!(
                    "\"{text}\" is not an end of a range; give a number with a unit, as in 10mbit..50mbit"
                );
                DocumentError::new(&self.field, reason)
            })
        };
        let (one, other) = (end(from)?, end(to)?);
        if one.unit() != other.unit() && other.value() != 0.0 {
            return wrong(format!(
                "{from} and {to} differ in kind; both ends need the same kind of unit, as in 10mbit..50mbit"
            ));
        }
        if one.value() > other.value() {
            return wrong(format!(
                "{from}..{to} has its larger end first; give {to}..{from}"
            ));
        }
        Ok(())
    }

    /// Returns `count` values from one end to the other: in a geometric series, or evenly spaced if the range begins at
    /// zero.
    pub fn values(&self, count: usize) -> Vec<String> {
        let is_log = Amount::parse(&self.from).is_some_and(|from| from.value() > 0.0);
        let count = u32::try_from(count).unwrap_or(u32::MAX);
        let values = Amount::between(&self.from, &self.to, count, is_log);
        values.unwrap_or_default()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn path(options: &[(&str, &str)]) -> RangedPath {
        let mut path = RangedPath::unknown();
        for (field, text) in options {
            path.set(field, text).unwrap();
        }
        path
    }

    /// The path with the value at index `place` of `count` values of each range.
    fn at(path: &RangedPath, place: usize, count: usize) -> Result<Scenario, DocumentError> {
        let ranges = path.ranges()?;
        let value = |range: &Range| range.values(count)[place].clone();
        let values: Vec<String> = ranges.iter().map(value).collect();
        path.at(&ranges, &values)
    }

    #[test]
    fn values_go_from_end_to_end() {
        let values = |text: &str, count| Range::read("x", text).unwrap().values(count);
        assert_eq!(
            values("1bdp..16bdp", 3),
            ["1bdp", "4bdp", "16bdp"].map(String::from)
        );
        assert_eq!(values("0..1%", 3), ["0%", "0.5%", "1%"].map(String::from));
        assert_eq!(values("20..80ms", 2), ["20ms", "80ms"].map(String::from));
        assert_eq!(Range::read("path.trace", "1..2.trace"), None);
        assert_eq!(Range::read("path.rate", "../x"), None);
    }

    #[test]
    fn a_path_is_read_with_each_value() {
        let path = path(&[("path.rate", "10mbit..40mbit"), ("path.rtt", "40ms")]);
        let ranges = path.ranges().unwrap();
        assert_eq!(ranges.len(), 1);
        let scenario = at(&path, 1, 3).unwrap();
        assert_eq!(path.describe(), "rate 10mbit..40mbit, rtt 40ms");
        let rate = scenario.path.data.rate.unwrap();
        assert_eq!(rate.bits_per_sec(), 20_000_000);
    }

    #[test]
    fn an_error_names_the_range_that_its_value_is_of() {
        let path = path(&[("path.rate", "10mbit"), ("path.rtt", "5..10")]);
        let error = at(&path, 1, 3).unwrap_err().to_string();
        assert!(error.contains("path.rtt: in 5..10, "), "{error}");
        // The error is about the range that was given, not about a value between its ends.
        let known = [("path.rate", "1mbit"), ("path.rtt", "4ms")];
        let path = self::path(&[&known[..], &[("path.loss", "0..5")]].concat());
        let error = at(&path, 1, 3).unwrap_err().to_string();
        let reason = "path.loss: in 0..5, 5 is more than 100%; write 5% if percent are meant";
        assert!(error.ends_with(reason), "{error}");
    }

    #[test]
    fn a_buffer_that_nobody_told_is_a_range() {
        let mut unknown = path(&[("path.rate", "10mbit"), ("path.rtt", "40ms")]);
        assert_eq!(unknown.complete().unwrap().to, "8bdp");
        assert_eq!(unknown.ranges().unwrap().len(), 1);
        assert_eq!(unknown.complete(), None);
        assert_eq!(path(&[("path.rtt", "40ms")]).complete(), None);
        let mut short = path(&[("path.rate", "10..100mbit"), ("path.rtt", "0..2ms")]);
        assert_eq!(short.complete().unwrap().from, "10p");
        at(&short, 0, 2).unwrap();
    }

    #[test]
    fn zero_is_no_delay_and_no_share() {
        let zeros = [
            ("path.jitter", "0..5ms"),
            ("path.reorder", "share=0..1%,by=0..9ms"),
            ("path.aggregation", "interval=0..9ms"),
            ("path.duplicate", "0..1%"),
            ("path.ack_loss", "0..1%"),
            ("path.loss", "p=0..1%,r=30%,kind=gilbert"),
        ];
        let known = [("path.rate", "10mbit"), ("path.rtt", "40ms")];
        let path = path(&[&known[..], &zeros].concat());
        let ranges = path.ranges().unwrap();
        assert_eq!(ranges.len(), 7);
        for place in 0..3 {
            at(&path, place, 3).unwrap();
        }
    }

    #[test]
    fn a_text_of_many_values_is_answered_at_once() {
        let mut text = "[path]\nrate = \"1mbit\"\nrtt = \"9ms\"\n".to_owned();
        let mut reason = |more: std::ops::Range<usize>, value: &str| {
            for place in more {
                text += &format!("k{place} = \"{value}\"\n");
            }
            let path = RangedPath::parse(&text, Path::new("")).unwrap();
            path.ranges().unwrap_err().to_string()
        };
        let answer = reason(0..40, "1..2");
        assert!(answer.starts_with("line 36: path.k32: "), "{answer}");
        let answer = reason(40..20_000, "1");
        assert!(answer.contains("more than 10000 values"), "{answer}");
    }

    #[test]
    fn what_makes_no_sense_is_answered() {
        let known = [("path.rate", "4mbit"), ("path.rtt", "40ms")];
        let refused = |options: &[(&str, &str)]| path(options).ranges().unwrap_err();
        for (field, text, reason) in [
            ("path.rate", "50mbit..10mbit", "give 10mbit..50mbit"),
            ("path.rate", "10mbit..20ms", "the same kind of unit"),
            ("path.jitter", "5ms..0", "give 0..5ms"),
            ("path.loss", "1%..x", "\"x\" is not an end of a range"),
            ("path.jitter", "1..x", "\"x\" is not an end of a range"),
            ("path.rate", "10mbitt..20mbit", "\"10mbitt\" is not an end"),
            ("path.rate", "10mbit...20mbit", "\".20mbit\" is not an end"),
            ("path.rtt", "1ms..", "\"\" is not an end of a range"),
        ] {
            let error = refused(&[&known[..], &[(field, text)]].concat());
            assert!(error.to_string().contains(reason), "{error}");
        }
        assert_eq!(refused(&known[1..]).field, "path.rate");
        assert_eq!(refused(&known[..1]).field, "path.rtt");
        let text = "[path]\nrate = \"1mbit..200%\"\nrtt = \"9ms\"\n";
        let file = RangedPath::parse(text, Path::new("")).unwrap();
        assert_eq!(file.ranges().unwrap_err().line, Some(2));
        let error = RangedPath::parse("[pth]\nrate = \"1mbit\"\n", Path::new("")).unwrap_err();
        assert!(error.to_string().contains("did you mean"), "{error}");
    }
}
