//! The event that triggered a segment, and its departure time, both from timestamps (RFC 7323).
//!
//! TSecr names the newest acknowledgement that TCP had received when it built the segment. After an acknowledgement that
//! opens a window or frees a send buffer, a segment follows at once. A segment that echoes an older acknowledgement has
//! waited since then only for its departure, or was written later.
//!
//! TSval is the sender's clock at the departure. The bottleneck spreads bursts out or pushes them together. Away from the
//! sender, TSval still tells when segments were sent, to the millisecond. Linux and most other systems count milliseconds.

use congestion::filter::WindowedMin;
use congestion::{Duration, Time};

/// A segment that follows an acknowledgement this soon was triggered by it.
const PROMPT: Duration = Duration::from_micros(100);

/// The same in ticks of a clock that counts milliseconds.
const PROMPT_TICKS: i32 = 1;

/// An acknowledgement that was heard this many ticks before a departure was heard before it, as far as clocks tell.
const STALE_TICKS: i32 = 2;

/// In this time, the clocks of two hosts drift apart by no more than a tick (100 ppm).
const DRIFT_WINDOW: Duration = Duration::from_secs(10);

/// A departure time further back than this is wrong: the clock does not count milliseconds, or it has drifted.
const MAX_CORRECTION: Duration = Duration::from_secs(1);

/// The event that triggered a departure.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Cue {
    /// An acknowledgement that had just arrived.
    Answer,
    /// No acknowledgement: a pacer released the segment, or the application had just written it.
    None,
    /// Unknown.
    Unknown,
}

/// When TCP built a segment, relative to the departure of the burst before it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Built {
    /// Earlier: the segment then waited below TCP.
    Before,
    /// Later: until then, it was not below TCP.
    After,
    /// No acknowledgement tells.
    Unknown,
}

/// The timestamps of one direction.
#[derive(Debug, Clone)]
pub struct Cues {
    /// TSval of the latest acknowledgement that passed.
    heard: Option<u32>,
    /// The same when the latest data departed.
    heard_before: Option<u32>,
    /// The latest TSecr.
    echo: Option<u32>,
    /// One moment by the clock of the capture, and by the sender's.
    anchor: Option<(Time, u32)>,
    /// When the latest data were sent.
    latest: Time,
    /// The recent minimum of TSval less TSecr. It is the difference of the clocks plus the acknowledgements' time to the
    /// sender.
    apart: WindowedMin<i32, Time>,
    /// The first such difference. The others are stored relative to it.
    first_apart: Option<u32>,
}

impl Cues {
    pub fn new() -> Cues {
        Cues {
            heard: None,
            heard_before: None,
            echo: None,
            anchor: None,
            latest: Time::ZERO,
            apart: WindowedMin::new(DRIFT_WINDOW),
            first_apart: None,
        }
    }

    /// An acknowledgement with this TSval passes.
    #[inline]
    pub fn on_ack(&mut self, value: u32) {
        self.heard = Some(value);
    }

    /// The event that triggered new data, at the sender, and when they were built. `since_ack` is the time since the last
    /// acknowledgement.
    #[inline]
    pub fn at_sender(&mut self, since_ack: Duration, stamps: Option<(u32, u32)>) -> (Cue, Built) {
        let is_made_now = match stamps.zip(self.heard) {
            Some(((_, echo), heard)) => echo == heard,
            None => true,
        };
        let cue = if is_made_now && since_ack <= PROMPT {
            Cue::Answer
        } else {
            Cue::None
        };
        let built = match stamps.zip(self.heard_before) {
            Some(((_, echo), before)) => match echo.wrapping_sub(before).cast_signed() {
                ..0 => Built::Before,
                0 => Built::Unknown,
                1.. => Built::After,
            },
            None => Built::Unknown,
        };
        self.heard_before = self.heard;
        (cue, built)
    }

    /// When new data were sent, what triggered them, and when they were built, away from the sender. The departure time is
    /// late by the shortest time from the sender to the capture. `after` is TSval of the acknowledgement that followed the
    /// echoed one.
    #[inline]
    pub fn far_from_sender(
        &mut self,
        at: Time,
        stamps: Option<(u32, u32)>,
        after: Option<u32>,
    ) -> (Time, Cue, Built) {
        let Some((value, echo)) = stamps else {
            return (at, Cue::Unknown, Built::Unknown);
        };
        self.latest = self.latest.max(self.sent(at, value));
        let apart = value.wrapping_sub(echo);
        let first = *self.first_apart.get_or_insert(apart);
        let apart = apart.wrapping_sub(first).cast_signed();
        let least = self.apart.update(at, apart);
        let waited = apart.saturating_sub(least);
        // The sender had heard the next acknowledgement, too, when the segment left.
        let is_stale = after.is_some_and(|after| {
            let since = value.wrapping_sub(after).wrapping_sub(first).cast_signed();
            since.saturating_sub(least) >= STALE_TICKS
        });
        let is_newer = |before: u32| echo.wrapping_sub(before).cast_signed() > 0;
        let is_news = self.echo.is_none_or(is_newer);
        if is_news {
            self.echo = Some(echo);
        }
        let cue = if is_news && waited <= PROMPT_TICKS {
            Cue::Answer
        } else {
            Cue::None
        };
        let built = match (is_news, is_stale) {
            (_, true) => Built::Before,
            (true, false) => Built::After,
            (false, false) => Built::Unknown,
        };
        (self.latest, cue, built)
    }

    /// When the sender's clock showed `value`. A segment cannot pass before it is sent, so the shortest delay is taken for
    /// the time on the way.
    fn sent(&mut self, at: Time, value: u32) -> Time {
        let (since, first) = *self.anchor.get_or_insert((at, value));
        let ticks = value
            .wrapping_sub(first)
            .cast_signed()
            .max(0)
            .unsigned_abs();
        let sent = since + Duration::from_millis(ticks.into());
        if sent > at || at.since(sent) > MAX_CORRECTION {
            self.anchor = Some((at, value));
            return at;
        }
        sent
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn millis(ms: u64) -> Time {
        Time::ZERO + Duration::from_millis(ms)
    }

    #[test]
    fn at_the_sender_what_waits_for_an_acknowledgement_follows_it_and_echoes_it() {
        let mut cues = Cues::new();
        let soon = Duration::from_micros(20);
        let mut cue = |since, stamps| cues.at_sender(since, stamps).0;
        assert_eq!(cue(soon, None), Cue::Answer);
        assert_eq!(cue(Duration::from_millis(1), None), Cue::None);
        cues.on_ack(500);
        let mut cue = |since, stamps| cues.at_sender(since, stamps).0;
        assert_eq!(cue(soon, Some((900, 500))), Cue::Answer);
        assert_eq!(cue(soon, Some((900, 499))), Cue::None);
    }

    #[test]
    fn at_the_sender_an_old_echo_shows_that_a_segment_waited_below_tcp() {
        let mut cues = Cues::new();
        let mut built = |heard, echo| {
            cues.on_ack(heard);
            cues.at_sender(Duration::from_millis(1), Some((900, echo)))
                .1
        };
        assert_eq!(built(500, 500), Built::Unknown);
        assert_eq!(built(501, 500), Built::Unknown);
        assert_eq!(built(502, 502), Built::After);
        assert_eq!(built(503, 501), Built::Before);
    }

    #[test]
    fn far_from_it_bursts_are_as_they_were_sent() {
        // A burst every 20 ms, which the bottleneck spreads out. The sender's clock starts elsewhere.
        let mut cues = Cues::new();
        for burst in 0..100_u64 {
            for packet in 0..8 {
                let value = (4_000_000_000 + burst * 20) as u32;
                let at = millis(100 + burst * 20 + packet * 2);
                let (sent, ..) = cues.far_from_sender(at, Some((value, 7)), None);
                assert_eq!(sent, millis(100 + burst * 20));
            }
        }
    }

    #[test]
    fn far_from_it_the_age_of_what_is_echoed_tells_what_was_waited_for() {
        let mut cues = Cues::new();
        let mut cue = |at, value, echo| {
            cues.far_from_sender(millis(at), Some((value, echo)), None)
                .1
        };
        assert_eq!(cue(100, 1_000, 50), Cue::Answer);
        assert_eq!(cue(101, 1_001, 50), Cue::None, "nothing newer was heard");
        assert_eq!(cue(110, 1_010, 60), Cue::Answer);
        assert_eq!(cue(120, 1_020, 65), Cue::None, "that was heard 5 ms before");
    }

    #[test]
    fn far_from_it_an_old_echo_shows_that_a_segment_waited_below_tcp() {
        let mut cues = Cues::new();
        let mut built = |value, echo, after| {
            let at = millis(u64::from(value) + 20);
            cues.far_from_sender(at, Some((value, echo)), after).2
        };
        assert_eq!(built(1_000, 50, None), Built::After);
        assert_eq!(built(1_001, 50, Some(51)), Built::Unknown);
        assert_eq!(built(1_002, 51, Some(53)), Built::After);
        assert_eq!(built(1_006, 52, Some(54)), Built::Before);
    }

    #[test]
    fn a_clock_that_counts_something_else_tells_no_times() {
        let mut cues = Cues::new();
        for ms in 0..5_000_u64 {
            let value = (ms * 1_000) as u32;
            let (sent, ..) = cues.far_from_sender(millis(ms), Some((value, 0)), None);
            assert_eq!(sent, millis(ms), "microseconds");
        }
        let mut cues = Cues::new();
        for ms in 0..5_000_u64 {
            let value = (ms / 10) as u32;
            let (sent, ..) = cues.far_from_sender(millis(ms), Some((value, 0)), None);
            assert!(
                millis(ms).since(sent) <= MAX_CORRECTION,
                "hundredths of a second"
            );
        }
    }
}
