//! The settings of a receiver, as plain data.

use crate::segment::{MAX_SACK_BLOCKS, MSS};
use units::{Bytes, ConfigError, Duration};

/// The settings of a receiver. The defaults are Linux's, except for the largest buffer.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Config {
    /// The number of full segments in order that cause an ACK: two (RFC 5681, "Generating Acknowledgments"); the end
    /// of a burst causes one, too ([`Data::push`](crate::segment::Data::push)). A greater number makes stretched
    /// ACKs, as merging of received segments does (LRO, GRO).
    pub ack_every: u32,
    /// The longest time that two or more full segments wait for the rest of [`Config::ack_every`], if that is more
    /// than two: merging of segments does not hold them long.
    pub aggregation_delay: Duration,
    /// The longest delay of an ACK. Below it the delay adapts to the arrivals, from 40 ms on, as Linux's does
    /// (`tcp_event_data_recv`, `tcp_send_delayed_ack`). Zero: every segment is acknowledged at once.
    pub max_ack_delay: Duration,
    /// The initial receive buffer, in bytes of payload: 64 KiB, which corresponds to Linux's `tcp_rmem` of 131 072
    /// bytes, half of them for overhead. The first ACKs offer it as window.
    pub initial_buffer: Bytes,
    /// The largest receive buffer of autotuning, in bytes of payload.
    ///
    /// The default is RFC 7323's largest window, 1 GiB, so that an experiment measures the path and not the buffer:
    /// 10 Gbit/s × 100 ms with losses needs several times its BDP of 125 MB. Linux's own default, `tcp_rmem`'s 6 MiB,
    /// suffices for 0.5 Gbit/s over 100 ms; the 8 MB of the paper's B4 servers for 335 Mbit/s over 200 ms.
    pub max_buffer: Bytes,
    /// The most SACK blocks of an ACK: 1 to 3, or 0 for a receiver without SACK.
    pub max_sack_blocks: usize,
    /// The most ACKs about a hole that are delayed and sent as one, for 5 % of the RTT and no more than 1 ms (Linux
    /// `tcp_comp_sack_nr`). Zero: every segment beyond a hole is acknowledged at once, as in RFC 5681.
    pub max_compressed_acks: u32,
    /// Whether the peer asked for Accurate ECN (RFC 9768): ACKs count the marks, and do not echo them.
    pub accurate_ecn: bool,
}

impl Default for Config {
    fn default() -> Config {
        Config {
            ack_every: 2,
            aggregation_delay: Duration::from_millis(1),
            max_ack_delay: Duration::from_millis(200),
            initial_buffer: Bytes::new(64 << 10),
            max_buffer: Bytes::new(1 << 30),
            max_sack_blocks: MAX_SACK_BLOCKS,
            max_compressed_acks: 44,
            accurate_ecn: false,
        }
    }
}

impl Config {
    /// The same settings with this largest buffer, and an initial buffer within it.
    #[must_use]
    pub fn with_max_buffer(&self, max: Bytes) -> Config {
        Config {
            initial_buffer: self.initial_buffer.min(max),
            max_buffer: max,
            ..*self
        }
    }

    /// Checks every field.
    ///
    /// # Errors
    /// The first invalid value, with its field and a valid one.
    pub fn validate(&self) -> Result<(), ConfigError> {
        let least = MSS * 2;
        if self.ack_every == 0 {
            return Err(ConfigError::new(
                "ack_every",
                "of no segments acknowledges nothing; give at least 1",
            ));
        }
        if self.initial_buffer < least {
            return Err(ConfigError::new(
                "initial_buffer",
                format!(
                    "of {} is smaller than two segments; give at least {least}",
                    self.initial_buffer
                ),
            ));
        }
        if self.max_buffer < self.initial_buffer {
            return Err(ConfigError::new(
                "max_buffer",
                format!(
                    "of {} is below the initial buffer; give at least {}",
                    self.max_buffer, self.initial_buffer
                ),
            ));
        }
        if self.max_sack_blocks > MAX_SACK_BLOCKS {
            return Err(ConfigError::new(
                "max_sack_blocks",
                format!(
                    "of {} does not fit beside the timestamps; give at most {MAX_SACK_BLOCKS}",
                    self.max_sack_blocks
                ),
            ));
        }
        Ok(())
    }
}
