//! The report: faults, findings and notes.

use core::fmt;

macro_rules! faults {
    ($($fault:ident: $text:literal,)+) => {
        /// An error in how a transport drives a controller.
        #[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
        #[non_exhaustive]
        pub enum Fault {
            $(#[doc = $text] $fault,)+
        }

        impl Fault {
            /// The fault in words.
            pub const fn text(self) -> &'static str {
                match self {
                    $(Fault::$fault => $text,)+
                }
            }
        }
    };
}

faults! {
    PacingNotEngaged: "packets leave faster than the pacing rate",
    PacingTooSlow: "packets leave more slowly than the pacing rate allows",
    PacingRateStale: "departures do not follow changes of the pacing rate",
    BurstsTooLarge: "bursts are larger than pacing allows",
    WindowExceeded: "more is in flight than the window allows",
    WindowFullNotTold: "acknowledgements do not report that the window was full",
    WindowFullFalse: "acknowledgements report that the window was full, but it was not",
    WindowUseNotTold: "acknowledgements do not report that the window was used",
    WindowUseFalse: "acknowledgements report that the window was used while the application had no data",
    SentNotTold: "packets leave and are not reported",
    SentEarly: "packets are reported before they leave",
    RepeatsUnpaced: "retransmissions do not wait for the pacer",
    RepeatsPastWindow: "retransmissions do not wait for the window",
    IdleRestartMissing: "a restart from idle is not reported",
    IdleRestartFalse: "a restart from idle is reported, but the flow was not idle",
    AppLimitNotMarked: "samples are not marked as application-limited",
    AppLimitNotCleared: "samples stay marked as application-limited",
    RoundsTooLong: "rounds are longer than a round trip: the state kept with a packet is too old",
    RoundsTooShort: "rounds are shorter than a round trip: the state kept with a packet is too new",
    RttMissing: "no round-trip time is reported",
    RttTooShort: "a round-trip time is shorter than the path's",
    RttTooLong: "the round-trip times are longer than the path's",
    RateMissing: "acknowledgements have no delivery rate",
    RateWrong: "the delivery rate is wrong",
    RateSpansPause: "samples of the delivery rate span pauses of the application",
    DeliveredNotCounted: "not all delivered data is reported",
    AckedForgotten: "some acknowledged packets are never reported",
    DeliveredTwice: "more data is reported as delivered than was sent",
    InflightWrong: "the reported inflight is not the data that was sent and is neither acknowledged nor lost",
    AckInflightWrong: "acknowledgements report another inflight than the packet that leaves next",
    PriorInflightWrong: "the inflight before an acknowledgement lacks the losses that the acknowledgement showed",
    PriorInflightStale: "the inflight before an acknowledgement is out of date",
    LossInvented: "losses are reported that did not happen",
    LossNotTold: "losses are not reported",
    LossToldTwice: "a loss is reported twice",
    LossOfAnother: "a loss is reported with the state of another packet",
    LossAfterAck: "losses are reported after the acknowledgement that showed them",
    LossNotSettled: "losses wait for a later event: the recovery that they begin is reported late",
    LossNotSampled: "losses are not reported to the sampler",
    RecoveryNotTold: "losses are reported without a recovery",
    RecoveryAfterAck: "a recovery is reported after the acknowledgement that showed its losses",
    RecoveryTwice: "a recovery begins before the previous one has ended",
    RecoveryTooOften: "a recovery begins more than once a round trip",
    RecoveryTooShort: "a recovery ends before a round trip has passed",
    RecoveryNeverEnds: "a recovery does not end",
    UndoMissing: "a recovery from spurious losses is not undone",
    TimeoutNotTold: "a silence of seconds is not reported as a timeout",
    TimeoutFalse: "a silence of a few round trips is reported as a timeout",
    TimeoutWithoutLoss: "a timeout is reported without its losses, or before them",
    TimeoutNeverEnds: "the recovery from a timeout does not end",
    Stalled: "data is delivered late, or not at all",
    TimeBackwards: "the reported time runs backwards",
    TimeWrong: "an event is reported with a wrong time",
    NeverStops: "the transport sends without end at one instant",
    PipeNotFilled: "the path is not filled",
    QueueStands: "there is a standing queue that the controller would not build",
}

/// One error, and the measurement that shows it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Finding {
    /// The course on which it was seen.
    pub course: &'static str,
    /// The error.
    pub fault: Fault,
    /// The measured value, and the expected one.
    pub figure: String,
}

impl fmt::Display for Finding {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}: {}: {}", self.course, self.fault.text(), self.figure)
    }
}

/// All findings of a check.
#[derive(Debug, Clone, Default)]
pub struct Report {
    /// The courses that were run, in their order. `docs/embedding.md` describes each.
    pub courses: Vec<&'static str>,
    /// The errors, in the order of the courses.
    pub findings: Vec<Finding>,
    /// Measurements that are not judged, and rules that could not be judged, with the reason.
    pub notes: Vec<String>,
}

impl Report {
    /// Whether this fault was found.
    pub fn has(&self, fault: Fault) -> bool {
        self.findings.iter().any(|finding| finding.fault == fault)
    }
}

impl fmt::Display for Report {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        if self.findings.is_empty() {
            writeln!(f, "no findings")?;
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
