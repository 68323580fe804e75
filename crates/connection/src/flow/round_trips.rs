//! Round-trip times from the capture to both ends of a flow.

use congestion::Duration;

use crate::MIN_MEASUREMENTS;

/// A least time, and the number of measurements.
#[derive(Debug, Clone, Copy, Default)]
struct Least {
    span: Option<Duration>,
    count: u64,
}

impl Least {
    /// Adds a measurement. Returns whether more is known than before.
    fn add(&mut self, span: Duration) -> bool {
        self.count += 1;
        let is_least = self.span.is_none_or(|least| span < least);
        if is_least {
            self.span = Some(span);
        }
        is_least || self.count <= MIN_MEASUREMENTS
    }

    /// The least time, if it was measured often enough to tell where the capture was taken.
    fn sure(&self) -> Option<Duration> {
        self.span.filter(|_| self.count >= MIN_MEASUREMENTS)
    }
}

/// The round-trip times of a flow, in two parts.
#[derive(Debug, Clone, Copy, Default)]
pub struct RoundTrips {
    /// That of the handshake, a lower bound until an RTT is measured.
    pub handshake: Option<Duration>,
    /// The least one from the capture to the receiver.
    pub far: Option<Duration>,
    /// The latest one from the capture to the sender, and the least.
    pub near: Option<Duration>,
    near_least: Least,
    /// The least time from an acknowledgement to data that echo it, whether or not the data waited for it: an upper bound
    /// on the round-trip time to the sender.
    near_bound: Least,
}

impl RoundTrips {
    /// Data are acknowledged this long after they passed.
    #[inline]
    pub fn on_far(&mut self, far: Duration) {
        self.far = Some(self.far.map_or(far, |least| least.min(far)));
    }

    /// Data echo an acknowledgement this long after it passed. Returns whether more is known than before. `has_waited`: the data
    /// waited for the acknowledgement.
    #[inline]
    pub fn on_near(&mut self, near: Duration, has_waited: bool) -> bool {
        let is_news = self.near_bound.add(near);
        if !has_waited {
            return is_news;
        }
        self.near = Some(near);
        self.near_least.add(near) || is_news
    }

    /// The least round-trip time from the capture to the sender, if it was measured often enough to tell where the capture was
    /// taken.
    pub fn nearest(&self) -> Option<Duration> {
        self.near_least.sure()
    }

    /// The same, or an upper bound that includes the application's time to write.
    pub fn nearest_bound(&self) -> Option<Duration> {
        self.near_bound.sure()
    }

    /// The best known time between a packet and its acknowledgement, if `rtt` is not known: the part to the receiver, or else the
    /// handshake.
    #[inline]
    pub fn or_least(&self, rtt: Option<Duration>) -> Option<Duration> {
        rtt.or(self.far).or(self.handshake)
    }

    /// The minimum time from a packet to its acknowledgement. The time of the handshake (in `rtt_min`) may be shorter than that of
    /// data, because its packets are short.
    #[inline]
    pub fn least_far(&self, rtt_min: Option<Duration>) -> Option<Duration> {
        let far = self.far?;
        Some(rtt_min.map_or(far, |least| least.min(far)))
    }
}
