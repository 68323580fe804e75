//! What a receiver is told, as plain data.

use crate::segment::{MAX_SACK_BLOCKS, MSS};
use units::{Bytes, ConfigError, Duration};

/// How a receiver acknowledges and how much it takes. The default is Linux's, except for the largest buffer.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Config {
    /// How many full segments in order make an ACK: two (RFC 5681, "Generating Acknowledgments"), or the one that ends a burst
    /// ([`Data::push`](crate::segment::Data::push)). More of them are a
    /// stretched ACK, such as segments that were merged on their way up make (LRO, GRO).
    pub ack_every: u32,
    /// How long two or more full segments wait for the rest of [`Config::ack_every`], where that is more than two: what
    /// merges segments does not hold them long.
    pub aggregation_delay: Duration,
    /// The longest that an ACK is delayed. Below it the delay follows the arrivals, from 40 ms on, as Linux's does
    /// (`tcp_event_data_recv`, `tcp_send_delayed_ack`). Zero: every segment is acknowledged at once.
    pub max_ack_delay: Duration,
    /// The receive buffer at the beginning, in bytes of payload: 64 KiB, what Linux's `tcp_rmem` of 131 072 bytes, half
    /// of them for its own books, comes to. It is what the first ACKs offer as window.
    pub initial_buffer: Bytes,
    /// What autotuning lets the receive buffer grow to, in bytes of payload.
    ///
    /// The default is RFC 7323's largest window, 1 GiB, so that an experiment measures the path and not the buffer:
    /// 10 Gbit/s × 100 ms with losses needs several times its BDP of 125 MB. Linux's own default, `tcp_rmem`'s 6 MiB,
    /// ends at 0.5 Gbit/s over 100 ms; the 8 MB of the paper's B4 servers at 335 Mbit/s over 200 ms.
    pub max_buffer: Bytes,
    /// How many SACK blocks an ACK may carry: 1 to 3, or 0 for a receiver without SACK.
    pub max_sack_blocks: usize,
    /// How many ACKs about a hole are held back at most, for 5 % of the RTT and no more than 1 ms, to be sent as one
    /// (Linux `tcp_comp_sack_nr`). Zero: every segment beyond a hole is acknowledged at once, as RFC 5681 has it.
    pub max_compressed_acks: u32,
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
        }
    }
}

impl Config {
    /// Checks every field.
    ///
    /// # Errors
    /// The first value that makes no sense, with its field and the way to mend it.
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
