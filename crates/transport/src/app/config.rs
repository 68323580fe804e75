//! The settings of applications, as plain data.

use serde::{Deserialize, Serialize};
use units::{Bytes, ConfigError, Duration, Rate};

use super::random::Random;
use super::sizes::Sizes;

/// The most requests that may be outstanding at once.
const MAX_OUTSTANDING: u32 = 1024;

/// An application: the data it sends, and when.
#[derive(Debug, Clone, PartialEq, Eq, Default, Serialize)]
#[serde(rename_all = "lowercase")]
pub enum Config {
    /// Endless data, as fast as the connection takes them.
    #[default]
    Bulk,
    /// One object, available from the beginning.
    Transfer {
        /// Its size.
        bytes: Bytes,
    },
    /// Requests that cross the network, and their responses.
    Requests(Requests),
    /// Objects at random times.
    Poisson(Poisson),
    /// Writes of one size at a steady rate, as a media encoder makes them.
    #[serde(rename = "rate")]
    RateLimited(RateLimited),
    /// Video fetched in chunks ahead of playback.
    Video(Video),
}

/// Requests over one connection that is kept open. The next request follows a response after a pause.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct Requests {
    /// The size of a request.
    pub request: Bytes,
    /// The sizes of the responses.
    pub response: Sizes,
    /// The pause between a response's last byte and the next request.
    pub think: Pause,
    /// The total number of requests; `None`: without end.
    #[serde(serialize_with = "units::bounds::count_as_text")]
    pub count: Option<u64>,
    /// The most requests that may be unanswered at once (pipelining): 1 waits for each response.
    pub outstanding: u32,
}

impl Default for Requests {
    fn default() -> Requests {
        Requests {
            request: Bytes::new(200),
            response: Sizes::Fixed(Bytes::new(100_000)),
            think: Pause::Fixed(Duration::ZERO),
            count: None,
            outstanding: 1,
        }
    }
}

/// A pause between a response and the next request.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub enum Pause {
    /// A constant pause.
    #[serde(rename = "")]
    Fixed(Duration),
    /// An exponentially distributed pause.
    #[serde(rename = "{}")]
    Exponential {
        /// The mean.
        mean: Duration,
    },
}

impl Pause {
    pub(super) fn draw(&self, random: &mut Random) -> Duration {
        match self {
            Pause::Fixed(pause) => *pause,
            Pause::Exponential { mean } => random.exponential(*mean),
        }
    }
}

/// Objects that arrive at the sender as a Poisson process.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Poisson {
    /// The mean time between two arrivals. If not given it is zero, and the reader of the settings has to replace it.
    #[serde(default, deserialize_with = "units::bounds::positive")]
    pub interval: Duration,
    /// The sizes of the objects.
    pub sizes: Sizes,
    /// The connections that carry them.
    #[serde(default)]
    pub connections: Connections,
    /// The total number of arrivals; `None`: without end.
    #[serde(default, serialize_with = "units::bounds::count_as_text")]
    pub count: Option<u64>,
}

/// The connections that carry the objects of a Poisson process.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize)]
#[serde(rename = "way to use connections", rename_all = "lowercase")]
pub enum Connections {
    /// Each has a connection of its own, with a handshake.
    #[default]
    New,
    /// One connection is kept open for all objects; they queue.
    Kept,
}

/// Frames of one size at a steady rate. A frame that finds the backlog full is skipped.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct RateLimited {
    /// The mean rate of writing.
    #[serde(deserialize_with = "units::bounds::positive")]
    pub rate: Rate,
    /// The size of a frame, written at once.
    #[serde(deserialize_with = "units::bounds::positive")]
    pub write: Bytes,
    /// The most bytes that may wait for room in the send buffer, including the frame. If not given it is zero, and
    /// the reader of the settings has to replace it.
    #[serde(default, deserialize_with = "units::bounds::positive")]
    pub backlog: Bytes,
    /// The time from writing to delivery after which a frame counts as late; `None`: no frame does.
    #[serde(default, deserialize_with = "units::bounds::positive")]
    pub deadline: Option<Duration>,
}

/// Video in chunks over one connection (adaptive streaming over HTTP), with a request for each. The first requests
/// are back to back; later ones follow as the buffer drains, so the traffic goes on and off.
///
/// The bitrate is the highest within four fifths of the smoothed throughput of the chunks so far, beginning with the
/// lowest.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct Video {
    /// The playing time of a chunk.
    pub chunk: Duration,
    /// The available bitrates, ascending; a video of fixed bitrate has one.
    pub ladder: Vec<Rate>,
    /// The buffered playing time at which playback begins, or resumes after a stall.
    pub startup: Duration,
    /// The most buffered playing time: the next chunk is requested as soon as it fits.
    pub max_buffer: Duration,
    /// The playing time of the video; `None`: without end.
    pub length: Option<Duration>,
    /// The size of a request.
    pub request: Bytes,
}

impl Default for Video {
    fn default() -> Video {
        Video {
            chunk: Duration::from_secs(4),
            ladder: [500, 1_000, 2_500, 5_000, 8_000, 16_000]
                .map(|kbit| Rate::from_bits_per_sec(kbit * 1_000))
                .to_vec(),
            startup: Duration::from_secs(4),
            max_buffer: Duration::from_secs(30),
            length: None,
            request: Bytes::new(500),
        }
    }
}

impl Config {
    /// Whether the receiver requests its data, so that a sender and a receiver are needed in the other direction.
    pub const fn has_requests(&self) -> bool {
        matches!(self, Config::Requests(_) | Config::Video(_))
    }

    /// Checks every field.
    ///
    /// # Errors
    /// The first invalid value, with its field and a valid one.
    pub fn validate(&self) -> Result<(), ConfigError> {
        match self {
            Config::Bulk => Ok(()),
            Config::Transfer { bytes } => at_least_a_byte("bytes", *bytes),
            Config::Requests(requests) => requests.validate(),
            Config::Poisson(poisson) => poisson.validate(),
            Config::RateLimited(limited) => limited.validate(),
            Config::Video(video) => video.validate(),
        }
    }
}

impl Requests {
    fn validate(&self) -> Result<(), ConfigError> {
        at_least_a_byte("request", self.request)?;
        self.response.validate("response")?;
        at_least_one("count", self.count)?;
        if self.outstanding == 0 || self.outstanding > MAX_OUTSTANDING {
            return Err(ConfigError::new(
                "outstanding",
                format!(
                    "of {} is out of range; give 1 to {MAX_OUTSTANDING}",
                    self.outstanding
                ),
            ));
        }
        Ok(())
    }
}

impl Poisson {
    fn validate(&self) -> Result<(), ConfigError> {
        // The sizes come first: an interval computed from their mean is invalid if they are.
        self.sizes.validate("sizes")?;
        if self.interval.is_zero() {
            return Err(ConfigError::new(
                "interval",
                "of 0s has no end of arrivals at once; give a mean time such as 10ms",
            ));
        }
        at_least_one("count", self.count)
    }
}

impl RateLimited {
    fn validate(&self) -> Result<(), ConfigError> {
        moving("rate", self.rate)?;
        at_least_a_byte("write", self.write)?;
        if self.backlog < self.write {
            return Err(ConfigError::new(
                "backlog",
                format!(
                    "of {} takes no frame; give at least {}",
                    self.backlog, self.write
                ),
            ));
        }
        Ok(())
    }
}

impl Video {
    fn validate(&self) -> Result<(), ConfigError> {
        at_least_a_byte("request", self.request)?;
        if self.chunk.is_zero() {
            return Err(ConfigError::new(
                "chunk",
                "of 0s plays nothing; give a duration such as 4s",
            ));
        }
        if self.ladder.is_empty() {
            return Err(ConfigError::new(
                "ladder",
                "has no bitrate; give at least one",
            ));
        }
        for (index, rate) in self.ladder.iter().enumerate() {
            moving(format!("ladder[{index}]"), *rate)?;
        }
        if !self.ladder.is_sorted() {
            return Err(ConfigError::new(
                "ladder",
                "is out of order; give the lowest bitrate first",
            ));
        }
        // Chunks are whole, so the buffered time before playback is a multiple of one.
        let chunks = self.max_buffer.as_nanos() / self.chunk.as_nanos();
        if chunks == 0 {
            return Err(ConfigError::new(
                "max_buffer",
                format!(
                    "of {} holds no chunk; give at least {}",
                    self.max_buffer, self.chunk
                ),
            ));
        }
        if self.startup > self.chunk * chunks {
            return Err(ConfigError::new(
                "startup",
                format!(
                    "of {} is never reached in a buffer of {chunks} chunks; give at most {}",
                    self.startup,
                    self.chunk * chunks
                ),
            ));
        }
        if self.length.is_some_and(Duration::is_zero) {
            return Err(ConfigError::new(
                "length",
                "of 0s is not a video; give a duration such as 10min, or none for one without end",
            ));
        }
        Ok(())
    }
}

fn at_least_a_byte(field: &'static str, size: Bytes) -> Result<(), ConfigError> {
    if size.is_zero() {
        return Err(ConfigError::new(
            field,
            "of no bytes sends nothing; give at least 1b",
        ));
    }
    Ok(())
}

fn at_least_one(field: &'static str, count: Option<u64>) -> Result<(), ConfigError> {
    if count == Some(0) {
        return Err(ConfigError::new(
            field,
            "of 0 sends nothing; give at least 1, or none for no end",
        ));
    }
    Ok(())
}

fn moving(field: impl Into<std::borrow::Cow<'static, str>>, rate: Rate) -> Result<(), ConfigError> {
    if rate.is_zero() {
        return Err(ConfigError::new(
            field,
            "of 0bit never sends; give a rate such as 2mbit",
        ));
    }
    Ok(())
}
