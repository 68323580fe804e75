//! What numbers count.

/// What a number counts, and what it is kept in.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Dimension {
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

impl Dimension {
    /// What the name of a column with such numbers ends with.
    pub const fn suffix(self) -> &'static str {
        match self {
            Dimension::Plain | Dimension::Share => "",
            Dimension::Rate => "_bps",
            Dimension::Time => "_ms",
            Dimension::Seconds => "_s",
            Dimension::Size => "_bytes",
            Dimension::Bdp => "_bdp",
            Dimension::Packets => "_packets",
        }
    }
}
