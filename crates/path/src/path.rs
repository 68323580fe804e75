//! A round trip: data in one direction, ACKs in the other.

use units::{ConfigError, Duration};

use crate::config::LinkConfig;
use crate::link::Link;
use crate::random::Streams;

/// Both directions of a path.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct PathConfig {
    /// The link of the data.
    pub forward: LinkConfig,
    /// The link of the ACKs. Its loss is ACK loss.
    pub reverse: LinkConfig,
}

impl PathConfig {
    /// RTprop at the start: both propagation delays, without serialization.
    pub fn rtprop(&self) -> Duration {
        self.forward.delay + self.reverse.delay
    }
}

/// A path from a sender to a receiver and back.
#[derive(Debug, Clone)]
pub struct Path<P> {
    /// The link of the data.
    pub forward: Link<P>,
    /// The link of the ACKs.
    pub reverse: Link<P>,
}

impl<P: Clone> Path<P> {
    /// Makes an empty path. The forward link is that of [`Link::new`] with the same seed. The reverse link's randomness
    /// has the same seed, but never overlaps with it.
    ///
    /// # Errors
    /// The first invalid value. If it is the reverse link's, its field starts with `reverse.`.
    pub fn new(config: PathConfig, seed: u64) -> Result<Path<P>, ConfigError> {
        Ok(Path {
            forward: Link::new(config.forward, seed)?,
            reverse: Link::with_streams(config.reverse, Streams::far(seed))
                .map_err(|error| error.within("reverse"))?,
        })
    }

    /// The present RTprop: both propagation delays, without serialization.
    pub fn rtprop(&self) -> Duration {
        self.forward.delay() + self.reverse.delay()
    }
}
