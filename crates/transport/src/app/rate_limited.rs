//! Frames at a steady rate.

use units::Time;

use super::config;
use super::objects::{Objects, Transfer};

/// An encoder that writes frames regardless of the network.
#[derive(Debug, Clone)]
pub(super) struct RateLimited {
    config: config::RateLimited,
    start: Time,
    /// The number of frames, including skipped ones.
    frames: u64,
    /// The time of the next frame.
    next: Time,
    pub(super) objects: Objects,
    pub(super) skipped: u64,
    pub(super) late: u64,
}

impl RateLimited {
    pub(super) fn new(config: &config::RateLimited, start: Time) -> RateLimited {
        RateLimited {
            config: config.clone(),
            start,
            frames: 0,
            next: start,
            objects: Objects::default(),
            skipped: 0,
            late: 0,
        }
    }

    pub(super) fn next_timer(&self) -> Option<Time> {
        (self.next < Time::MAX).then_some(self.next)
    }

    pub(super) fn on_timer(&mut self, now: Time) {
        while let Some(at) = self.next_timer()
            && at <= now
        {
            self.frames += 1;
            // Computed from the start, so that rounding errors do not add up.
            let before = self.config.write * self.frames;
            self.next = self.start + self.config.rate.time_for(before);
            if self.objects.waiting() + self.config.write > self.config.backlog {
                self.skipped += 1;
            } else {
                self.objects.send(self.config.write, at);
            }
        }
    }

    pub(super) fn on_delivered(&mut self, now: Time, received: u64) -> Option<Transfer> {
        let frame = self.objects.complete(now, received)?;
        let deadline = self.config.deadline;
        self.late += u64::from(deadline.is_some_and(|deadline| frame.took() > deadline));
        Some(frame)
    }
}
