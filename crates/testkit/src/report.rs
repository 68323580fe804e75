//! What was found.

use core::fmt;

macro_rules! faults {
    ($($fault:ident: $text:literal,)+) => {
        /// What may be wrong in a wiring.
        #[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
        #[non_exhaustive]
        pub enum Fault {
            $(#[doc = $text] $fault,)+
        }

        impl Fault {
            /// In words.
            pub const fn text(self) -> &'static str {
                match self {
                    $(Fault::$fault => $text,)+
                }
            }
        }
    };
}

faults! {
    PacingNotEngaged: "the pacing rate is not kept",
    PacingTooSlow: "less leaves than the pacing rate allows",
    PacingRateStale: "departures do not follow when the pacing rate changes",
    BurstsTooLarge: "pacing lets too much leave at once",
    WindowExceeded: "more is in flight than the window allows",
    WindowFullNotTold: "acknowledgements do not say that the window was full",
    WindowFullFalse: "acknowledgements say that the window was full, and it was not",
    WindowUseNotTold: "acknowledgements do not say that the window was used",
    WindowUseFalse: "acknowledgements say that the window was used while the application had no data",
    SentNotTold: "packets leave and the controller is not told",
    SentEarly: "packets are told before they leave",
    RepeatsUnpaced: "what is sent again does not wait for the pacer",
    RepeatsPastWindow: "what is sent again does not wait for the window",
    IdleRestartMissing: "a restart from idle is not told",
    IdleRestartFalse: "a restart from idle is told in the midst of data",
    AppLimitNotMarked: "the application's pauses are not marked",
    AppLimitNotCleared: "samples stay marked as limited by the application",
    RoundsTooLong: "rounds are longer than a round trip: the state kept with a packet is too old",
    RoundsTooShort: "rounds are shorter than a round trip: the state kept with a packet is too new",
    RttMissing: "no round-trip time is told",
    RttTooShort: "a round-trip time is shorter than the path's",
    RttTooLong: "the round-trip times are longer than the path's",
    RateMissing: "acknowledgements come without a delivery rate",
    RateWrong: "the delivery rate is not that of the path",
    RateSpansPause: "delivery rates are measured across pauses of the application",
    DeliveredNotCounted: "what is delivered is not told in full",
    AckedForgotten: "some of what is acknowledged is never told",
    DeliveredTwice: "more is told as delivered than was sent or received",
    InflightWrong: "what is told as in flight is not what was sent and not settled",
    AckInflightWrong: "acknowledgements tell another flight than the packet that leaves next",
    PriorInflightWrong: "what was in flight before an acknowledgement is told without the losses that it showed",
    PriorInflightStale: "what was in flight before an acknowledgement is told as it was long before",
    LossInvented: "losses are told on a path without any",
    LossNotTold: "losses are not told",
    LossToldTwice: "a loss is told twice",
    LossOfAnother: "a loss is told with the state of another packet",
    LossAfterAck: "losses are told after the acknowledgement that showed them",
    LossNotSettled: "losses wait for a later event: the recovery that they begin is told late",
    LossNotSampled: "the sampler is not told of losses",
    RecoveryNotTold: "losses are told, and no recovery",
    RecoveryAfterAck: "a recovery is told after the acknowledgement that showed its losses",
    RecoveryTwice: "a recovery is entered again before it has ended",
    RecoveryTooOften: "a recovery is entered more than once a round trip",
    RecoveryTooShort: "a recovery ends before a round trip has passed",
    RecoveryNeverEnds: "a recovery does not end",
    UndoMissing: "a recovery for losses that were none is not undone",
    TimeoutNotTold: "a silence of seconds is no timeout",
    TimeoutFalse: "a silence of a few round trips is told as a timeout",
    TimeoutWithoutLoss: "a timeout is told without its losses, or before them",
    TimeoutNeverEnds: "the time after a timeout does not end",
    Stalled: "nothing is delivered any more",
    TimeBackwards: "time runs backwards",
    TimeWrong: "an event is told with another time than that at which it happened",
    NeverStops: "it wants to send without end at one instant",
    PipeNotFilled: "the path is not filled",
    QueueStands: "a queue stands that the controller would not build",
}

/// One thing that is wrong, and the figure that shows it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Finding {
    /// On which course it was seen.
    pub course: &'static str,
    /// What is wrong.
    pub fault: Fault,
    /// What was measured, and what should have been.
    pub figure: String,
}

impl fmt::Display for Finding {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}: {}: {}", self.course, self.fault.text(), self.figure)
    }
}

/// Everything that was found.
#[derive(Debug, Clone, Default)]
pub struct Report {
    /// The courses that were run, in their order. `docs/embedding.md` says what each is.
    pub courses: Vec<&'static str>,
    /// What is wrong, in the order of the courses.
    pub findings: Vec<Finding>,
    /// What was measured without a judgement, or could not be judged, and why.
    pub notes: Vec<String>,
}

impl Report {
    /// Whether this was found.
    pub fn has(&self, fault: Fault) -> bool {
        self.findings.iter().any(|finding| finding.fault == fault)
    }
}

impl fmt::Display for Report {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        if self.findings.is_empty() {
            writeln!(f, "nothing is wrong")?;
        }
        for finding in &self.findings {
            writeln!(f, "{finding}")?;
        }
        for note in &self.notes {
            writeln!(f, "note: {note}")?;
        }
        Ok(())
    }
}
