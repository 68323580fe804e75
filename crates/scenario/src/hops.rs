//! The hops of a chain that a flow crosses.

use std::fmt;
use std::ops::RangeInclusive;
use std::str::FromStr;

/// Adjacent hops: `0-2`, or just `1`. Hop 0 is `[path]`, hop 1 the first `[[path.next]]`.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Hops {
    first: usize,
    last: usize,
}

impl Hops {
    /// From `first` to `last`, both included.
    pub fn new(first: usize, last: usize) -> Option<Hops> {
        (first <= last).then_some(Hops { first, last })
    }

    /// The hops, the first one first.
    pub fn range(self) -> RangeInclusive<usize> {
        self.first..=self.last
    }

    /// The last one.
    pub fn last(self) -> usize {
        self.last
    }
}

units::as_text!(Hops);

impl FromStr for Hops {
    type Err = &'static str;

    fn from_str(text: &str) -> Result<Hops, &'static str> {
        let expected = "expected neighbouring hops such as 0-1, or one such as 1";
        let (first, last) = text.split_once('-').unwrap_or((text, text));
        let number = |text: &str| text.trim().parse().map_err(|_| expected);
        Hops::new(number(first)?, number(last)?).ok_or(expected)
    }
}

impl fmt::Display for Hops {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        if self.first == self.last {
            write!(f, "{}", self.first)
        } else {
            write!(f, "{}-{}", self.first, self.last)
        }
    }
}
