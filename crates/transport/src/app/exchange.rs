//! Requests on their way to the sender, and what they ask for.

use std::collections::VecDeque;

use units::{Bytes, Time};

use super::objects::Objects;

/// Both directions of a connection over which the receiver asks. A response is written once its request's last byte has
/// been delivered.
#[derive(Debug, Clone, Default)]
pub(super) struct Exchange {
    /// The responses.
    pub(super) objects: Objects,
    /// For each request not yet delivered: the position behind it in its stream, and the size that it asks for.
    asked: VecDeque<(u64, Bytes)>,
    /// The position behind the last request.
    end: u64,
    /// Bytes of requests that could not be written yet.
    waiting: Bytes,
}

impl Exchange {
    /// The receiver asks for `response` bytes.
    pub(super) fn ask(&mut self, now: Time, request: Bytes, response: Bytes) {
        if self.objects.announce(response, now) {
            self.end = self.end.saturating_add(request.get());
            self.waiting += request;
            self.asked.push_back((self.end, response));
        }
    }

    /// Bytes of requests that the receiver wants to write.
    pub(super) const fn waiting(&self) -> Bytes {
        self.waiting
    }

    /// So many of them were taken.
    pub(super) fn on_written(&mut self, bytes: Bytes) {
        debug_assert!(bytes <= self.waiting);
        self.waiting -= bytes;
    }

    /// The first `received` bytes of requests have been delivered.
    pub(super) fn on_delivered(&mut self, received: u64) {
        while let Some(&(end, response)) = self.asked.front()
            && end <= received
        {
            self.asked.pop_front();
            self.objects.release(response);
        }
    }

    /// Whether everything that was asked for has been written.
    pub(super) fn is_answered(&self) -> bool {
        self.asked.is_empty() && self.objects.is_written()
    }
}
