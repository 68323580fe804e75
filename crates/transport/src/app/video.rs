//! A video player that fetches chunks.

use units::{Bytes, Duration, Rate, Ratio, Time};

use super::config;
use super::exchange::Exchange;
use super::objects::Transfer;

/// The share of the measured throughput that a bitrate may take.
const MAX_THROUGHPUT_SHARE: Ratio = Ratio::new(4, 5);

/// The player's buffer and requests.
#[derive(Debug, Clone)]
pub(super) struct Video {
    config: config::Video,
    pub(super) exchange: Exchange,
    start: Time,
    /// The number of chunks left to request.
    left: Option<u64>,
    is_fetching: bool,
    /// The smoothed throughput of the chunks.
    throughput: Option<Rate>,
    is_playing: bool,
    /// The buffered playing time at `updated`.
    level: Duration,
    updated: Time,
    stalled_since: Option<Time>,
    pub(super) playback: Playback,
}

/// The quality of a video's playback.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct Playback {
    /// The time from the start to the first picture; `None` before it.
    pub startup: Option<Duration>,
    /// The number of times that the buffer ran empty before the end.
    pub stalls: u64,
    /// The total time of these stalls; a stall counts when it is over.
    pub stalled: Duration,
    /// The time that has been played.
    pub played: Duration,
}

impl Video {
    pub(super) fn new(config: &config::Video, start: Time) -> Video {
        let chunks = |length: Duration| length.as_nanos().div_ceil(config.chunk.as_nanos().max(1));
        Video {
            config: config.clone(),
            exchange: Exchange::default(),
            start,
            left: config.length.map(chunks),
            is_fetching: false,
            throughput: None,
            is_playing: false,
            level: Duration::ZERO,
            updated: start,
            stalled_since: None,
            playback: Playback::default(),
        }
    }

    pub(super) fn next_timer(&self) -> Option<Time> {
        let empty = self.is_playing.then(|| self.updated + self.level);
        let fits = (!self.is_fetching && self.left != Some(0)).then(|| {
            let full = self.level + self.config.chunk;
            self.updated + full.saturating_sub(self.config.max_buffer)
        });
        [empty, fits].into_iter().flatten().min()
    }

    pub(super) fn on_timer(&mut self, now: Time) {
        self.play_until(now);
        let fits = self.level + self.config.chunk <= self.config.max_buffer;
        if now >= self.start && fits && !self.is_fetching && self.left != Some(0) {
            self.is_fetching = true;
            self.left = self.left.map(|left| left.saturating_sub(1));
            let size = self.bitrate().bytes_in(self.config.chunk);
            self.exchange
                .ask(now, self.config.request, size.max(Bytes::new(1)));
        }
    }

    pub(super) fn on_delivered(&mut self, now: Time, received: u64) -> Option<Transfer> {
        let chunk = self.exchange.objects.complete(now, received)?;
        self.play_until(now);
        self.is_fetching = false;
        self.level = self.level + self.config.chunk;
        self.measure(&chunk);
        if !self.is_playing && (self.level >= self.config.startup || self.left == Some(0)) {
            self.is_playing = true;
            match self.stalled_since.take() {
                Some(since) => {
                    self.playback.stalled = self.playback.stalled + now.since(since);
                }
                None => self.playback.startup = Some(now.since(self.start)),
            }
        }
        debug_assert!(self.level <= self.config.max_buffer);
        Some(chunk)
    }

    pub(super) fn is_finished(&self) -> bool {
        self.left == Some(0) && self.exchange.is_answered()
    }

    /// Plays the buffered video until `now`.
    fn play_until(&mut self, now: Time) {
        let elapsed = now.since(self.updated);
        if self.is_playing {
            let played = elapsed.min(self.level);
            self.playback.played = self.playback.played + played;
            if elapsed >= self.level {
                self.is_playing = false;
                if self.is_fetching || self.left != Some(0) {
                    self.playback.stalls += 1;
                    self.stalled_since = Some(self.updated + self.level);
                }
            }
            self.level = self.level.saturating_sub(played);
        }
        self.updated = self.updated.max(now);
    }

    fn measure(&mut self, chunk: &Transfer) {
        let rate = Rate::from_transfer(chunk.size, chunk.took()).bytes_per_sec();
        let smoothed = self.throughput.map_or(rate, |old| {
            let old = old.bytes_per_sec();
            old - old / 4 + rate / 4
        });
        self.throughput = Some(Rate::from_bytes_per_sec(smoothed));
    }

    /// The highest bitrate that the throughput allows, or the lowest of the ladder.
    fn bitrate(&self) -> Rate {
        let carried = self
            .throughput
            .map_or(Rate::ZERO, |rate| rate.scale(MAX_THROUGHPUT_SHARE));
        let ladder = &self.config.ladder;
        let step = ladder.iter().rev().find(|rate| **rate <= carried);
        step.or(ladder.first()).copied().unwrap_or_default()
    }
}
