//! What numbers count.

/// What a number counts, and what it is kept in.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Unit {
    /// Nothing: `4`.
    Plain,
    /// `1%`, kept as a share of one.
    Share,
    /// `20mbit`, kept in bits per second.
    Rate,
    /// `40ms`, kept in milliseconds.
    Time,
    /// A time that is kept in seconds.
    Seconds,
    /// `250kb`, kept in bytes.
    Size,
    /// `4bdp`.
    Bdp,
    /// `100p`.
    Packets,
}

impl Unit {
    /// What the name of a column with such numbers ends with.
    pub const fn suffix(self) -> &'static str {
        match self {
            Unit::Plain | Unit::Share => "",
            Unit::Rate => "_bps",
            Unit::Time => "_ms",
            Unit::Seconds => "_s",
            Unit::Size => "_bytes",
            Unit::Bdp => "_bdp",
            Unit::Packets => "_packets",
        }
    }
}
