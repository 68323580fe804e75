//! The dimensions of numbers.

/// The dimension of a number, and the unit in which it is kept.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Dimension {
    /// A plain number: `4`.
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
    /// A multiple of the BDP: `4bdp`.
    Bdp,
    /// A number of packets: `100p`.
    Packets,
}

impl Dimension {
    /// The suffix of the name of a column with such numbers.
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
