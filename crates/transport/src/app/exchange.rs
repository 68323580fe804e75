//! Requests on their way to the sender, and their responses.

use std::collections::VecDeque;

use units::{Bytes, Time};

use super::objects::Objects;

/// Both directions of a connection with requests. A response is written once its request's last byte has been
/// delivered.
#[derive(Debug, Clone, Default)]
pub(super) struct Exchange {
    /// The responses.
    pub(super) objects: Objects,
    /// For each undelivered request: its end position in the stream, and the size of its response.
    asked: VecDeque<(u64, Bytes)>,
    /// The end position of the last request.
    end: u64,
    /// Bytes of requests that are not written yet.
    waiting: Bytes,
}

impl Exchange {
    /// Requests `response` bytes.
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

    /// Notes that `bytes` of them were written.
    pub(super) fn on_written(&mut self, bytes: Bytes) {
        debug_assert!(bytes <= self.waiting);
        self.waiting -= bytes;
    }

    /// Notes that the first `received` bytes of requests have been delivered.
    pub(super) fn on_delivered(&mut self, received: u64) {
        while let Some(&(end, response)) = self.asked.front()
            && end <= received
        {
            self.asked.pop_front();
            self.objects.release(response);
        }
    }

    /// Whether all responses have been written.
    pub(super) fn is_answered(&self) -> bool {
        self.asked.is_empty() && self.objects.is_written()
    }
}
