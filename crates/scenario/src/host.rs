//! What the hosts at both ends are like: `[host]`, and a group's own `host`.

use serde::{Deserialize, Deserializer, Serialize};
use transport::scheduler::Pacing;
use transport::sender::{FastOpen, LossDetection};
use units::bounds::{positive, refused, whole};
use units::{Bytes, Duration, Rate};

/// A table whose fields need not be given, and which may lie over another one.
macro_rules! optional {
    ($(#[$about:meta])* struct $name:ident { $($(#[$of:meta])* $field:ident: $type:ty,)+ }) => {
        $(#[$about])*
        pub struct $name { $($(#[$of])* pub $field: Option<$type>,)+ }

        impl $name {
            /// Nothing given.
            pub const UNSET: $name = $name { $($field: None,)+ };

            /// These fields, and those of `base` where they are not given.
            #[must_use]
            pub fn over(&self, base: &$name) -> $name {
                $name { $($field: self.$field.or(base.$field),)+ }
            }
        }
    };
}

optional! {
/// The hosts at both ends. What is not given is as Linux has it, except for buffers, which are larger than any window.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields, expecting = "a table such as [host] with initial_cwnd = 10")]
struct HostSpec {
    /// `scheduler`: who spreads bursts over time: `"fq"`, the host's fair queueing; `"pacing"`, each connection whose
    /// controller needs it by itself, in front of a FIFO; `"none"`, nobody.
    scheduler: Pacing,
    /// `nic`: the rate of the sending host's network card; without it, it takes no time.
    #[serde(deserialize_with = "positive")]
    nic: Rate,
    /// `mss`: payload of a full segment, in bytes.
    #[serde(deserialize_with = "mss")]
    mss: u64,
    /// `initial_cwnd`: the congestion window at the start, in segments.
    #[serde(deserialize_with = "segments")]
    initial_cwnd: u64,
    /// `ack_every`: how many full segments make an ACK.
    #[serde(deserialize_with = "segments")]
    ack_every: u64,
    /// `sack_blocks`: how many SACK blocks an ACK may carry; 0 for hosts without SACK.
    #[serde(deserialize_with = "sack_blocks")]
    sack_blocks: u64,
    /// `compressed_acks`: how many ACKs about a hole are held back at most, to be sent as one; 0 holds none back.
    #[serde(deserialize_with = "few")]
    compressed_acks: u64,
    /// `send_buffer`: the most payload that the application may have written and the receiver not acknowledged.
    #[serde(deserialize_with = "buffer")]
    send_buffer: Bytes,
    /// `receive_buffer`: the most payload that the receive window may grow to.
    #[serde(deserialize_with = "buffer")]
    receive_buffer: Bytes,
    /// `initial_receive_buffer`: the most payload that the receive window is at the start.
    #[serde(deserialize_with = "buffer")]
    initial_receive_buffer: Bytes,
    /// `delayed_ack`: the longest that an ACK is held back; zero acknowledges every segment at once.
    delayed_ack: Duration,
    /// `aggregation_delay`: how long received segments wait for the rest of `ack_every`, where that is more than two.
    aggregation_delay: Duration,
    /// `min_rto`: the shortest retransmission timeout.
    #[serde(deserialize_with = "positive")]
    min_rto: Duration,
    /// `max_rto`: the longest retransmission timeout, backoff included.
    #[serde(deserialize_with = "positive")]
    max_rto: Duration,
    /// `loss_detection`: how losses are found: `"rack"`, by time, with tail loss probes (RFC 8985); `"dupacks"`, by three
    /// duplicate ACKs (RFC 6675).
    loss_detection: LossDetection,
    /// `ecn`: whether the connection is ECN-capable.
    ecn: bool,
    /// `fast_open`: whether connections open with data (RFC 7413): `"off"`; `"on"`, once a connection before has fetched a
    /// cookie; `"known"`, from the first on.
    fast_open: FastOpen,
    /// `offload`: whether the sender hands segments down in bursts (TSO) or one by one.
    offload: bool,
}
}

fn mss<'de, D: Deserializer<'de>>(deserializer: D) -> Result<Option<u64>, D::Error> {
    // The least that IPv4 promises (RFC 9293, section 3.7.1), and what fits a jumbo frame.
    whole(
        deserializer,
        536..=8948,
        "is not a segment size; give 536 to 8948 bytes, such as 1448",
    )
}

/// Beyond it there is no such host, and arithmetic that nobody needs.
const MANY: u64 = 1_000_000;

fn segments<'de, D: Deserializer<'de>>(deserializer: D) -> Result<Option<u64>, D::Error> {
    whole(
        deserializer,
        1..=MANY,
        "segments make no sense; give 1 to 1000000",
    )
}

fn few<'de, D: Deserializer<'de>>(deserializer: D) -> Result<Option<u64>, D::Error> {
    whole(deserializer, 0..=MANY, "is more than 1000000")
}

fn sack_blocks<'de, D: Deserializer<'de>>(deserializer: D) -> Result<Option<u64>, D::Error> {
    let most = transport::segment::MAX_SACK_BLOCKS as u64;
    let reason = format!("blocks do not fit beside the timestamps; give 0 to {most}");
    whole(deserializer, 0..=most, &reason)
}

fn buffer<'de, D: Deserializer<'de>>(deserializer: D) -> Result<Option<Bytes>, D::Error> {
    let buffer = Bytes::deserialize(deserializer)?;
    let least = transport::segment::MSS * 2;
    if buffer < least {
        Err(refused(format!(
            "is less than two segments; give at least {least}"
        )))
    } else {
        Ok(Some(buffer))
    }
}
