//! A round trip: data one way, acknowledgements the other.

use units::{ConfigError, Duration};

use crate::config::LinkConfig;
use crate::link::Link;
use crate::random::Streams;

/// Both directions of a path.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct PathConfig {
    /// The way of the data.
    pub forward: LinkConfig,
    /// The way of the acknowledgements; its loss is ACK loss.
    pub reverse: LinkConfig,
}

impl PathConfig {
    /// RTprop at the start: both propagation delays, without any serialization.
    pub fn rtprop(&self) -> Duration {
        self.forward.delay + self.reverse.delay
    }
}

/// A path from a sender to a receiver and back.
#[derive(Debug, Clone)]
pub struct Path<P> {
    /// The way of the data.
    pub forward: Link<P>,
    /// The way of the acknowledgements.
    pub reverse: Link<P>,
}

impl<P: Clone> Path<P> {
    /// A path with nothing on it. The forward link is the one that [`Link::new`] makes of the same seed; the reverse
    /// link's randomness is of the same seed, but never overlaps with it.
    ///
    /// # Errors
    /// The first value that makes no sense; if it is the reverse link's, its field starts with `reverse.`.
    pub fn new(config: PathConfig, seed: u64) -> Result<Path<P>, ConfigError> {
        Ok(Path {
            forward: Link::new(config.forward, seed)?,
            reverse: Link::with_streams(config.reverse, Streams::far(seed))
                .map_err(|error| error.within("reverse"))?,
        })
    }

    /// The present RTprop: both propagation delays, without any serialization.
    pub fn rtprop(&self) -> Duration {
        self.forward.delay() + self.reverse.delay()
    }
}
