//! What an application does, as plain data.

use serde::{Deserialize, Serialize};
use units::{Bytes, ConfigError, Duration, Rate};

use super::random::Random;
use super::sizes::Sizes;

/// The most requests that may be outstanding at once.
const MAX_OUTSTANDING: u32 = 1024;

/// An application: what is sent, and when.
#[derive(Debug, Clone, PartialEq, Eq, Default, Serialize)]
#[serde(rename_all = "lowercase")]
pub enum Config {
    /// As much as the connection takes, without end.
    #[default]
    Bulk,
    /// One object, there from the beginning.
    Transfer {
        /// Its size.
        bytes: Bytes,
    },
    /// Requests that cross the network, and what they ask for.
    Requests(Requests),
    /// Objects at random times.
    Poisson(Poisson),
    /// Writes of one size at a steady rate, as a media encoder makes them.
    #[serde(rename = "rate")]
    RateLimited(RateLimited),
    /// Video fetched in chunks ahead of its playing.
    Video(Video),
}

/// Requests over one connection that is kept open; the next is made when a response has arrived and was thought about.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct Requests {
    /// The size of a request.
    pub request: Bytes,
    /// The sizes of the responses.
    pub response: Sizes,
    /// From a response's last byte to the next request.
    pub think: Pause,
    /// How many requests are made altogether; `None`: without end.
    #[serde(serialize_with = "units::bounds::count_as_text")]
    pub count: Option<u64>,
    /// How many requests may be unanswered at once (pipelining): 1 waits for each response.
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

/// How long somebody thinks.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub enum Pause {
    /// Always as long.
    #[serde(rename = "")]
    Fixed(Duration),
    /// Exponentially distributed.
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
    /// The mean time between two arrivals. If not given it is zero, which whoever reads it has to replace.
    #[serde(default, deserialize_with = "units::bounds::positive")]
    pub interval: Duration,
    /// The sizes of the objects.
    pub sizes: Sizes,
    /// What carries them.
    #[serde(default)]
    pub connections: Connections,
    /// How many arrive altogether; `None`: without end.
    #[serde(default, serialize_with = "units::bounds::count_as_text")]
    pub count: Option<u64>,
}

impl Poisson {
    /// What is offered on average.
    pub fn offered_load(&self) -> Rate {
        Rate::from_transfer(self.sizes.mean(), self.interval)
    }
}

/// What carries the objects of a Poisson process.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize)]
#[serde(rename = "way to use connections", rename_all = "lowercase")]
pub enum Connections {
    /// Each has a connection of its own, with a handshake.
    #[default]
    New,
    /// One connection is kept open for all; they queue.
    Kept,
}

/// Frames of one size at a steady rate. A frame that finds the backlog full is skipped.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct RateLimited {
    /// The mean rate of what is written.
    #[serde(deserialize_with = "units::bounds::positive")]
    pub rate: Rate,
    /// The size of a frame, written at once.
    #[serde(deserialize_with = "units::bounds::positive")]
    pub write: Bytes,
    /// How much may wait for room in the send buffer, the frame included. If not given it is zero, which whoever reads it
    /// has to replace.
    #[serde(default, deserialize_with = "units::bounds::positive")]
    pub backlog: Bytes,
    /// A frame that takes longer from its writing to its delivery is counted as late; `None`: none is.
    #[serde(default, deserialize_with = "units::bounds::positive")]
    pub deadline: Option<Duration>,
}

/// Video in chunks over one connection (adaptive streaming over HTTP): a request for each; the first ones back to back,
/// later ones as the buffer empties, which makes the traffic go on and off.
///
/// The ladder's step is the highest within four fifths of the smoothed throughput of the chunks so far, beginning with
/// the lowest.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct Video {
    /// How long a chunk plays.
    pub chunk: Duration,
    /// The bitrates to choose from, ascending; one is a video of a fixed bitrate.
    pub ladder: Vec<Rate>,
    /// How much must be there before the playing begins, or goes on after a stall.
    pub startup: Duration,
    /// How much may be there: the next chunk is asked for as soon as it fits.
    pub max_buffer: Duration,
    /// How long the video is; `None`: without end.
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
    /// Whether the receiver asks for what it gets, so that the requests need a sender and a receiver in the other
    /// direction.
    pub const fn has_requests(&self) -> bool {
        matches!(self, Config::Requests(_) | Config::Video(_))
    }

    /// Checks every field.
    ///
    /// # Errors
    /// The first value that makes no sense, with its field and the way to mend it.
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
        // First the sizes, as an interval that was made of their mean is wrong if they are.
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
        // Chunks are whole: what can be there before the playing begins is a multiple of one.
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
