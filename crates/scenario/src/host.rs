//! The hosts at both ends: `[host]`, and a group's own `host`.

use serde::{Deserialize, Deserializer, Serialize};
use transport::scheduler::{Pacing, SmallQueues};
use transport::sender::{FastOpen, LossDetection, SynTimer};
use units::bounds::{positive, refused, whole};
use units::{Bytes, Duration, Rate};

use super::change::one_or_more;

/// Defines a table of optional fields, which may override another one.
macro_rules! optional {
    ($(#[$about:meta])* struct $name:ident { $($(#[$of:meta])* $field:ident: $type:ty,)+ }) => {
        $(#[$about])*
        pub struct $name { $($(#[$of])* pub $field: Option<$type>,)+ }

        impl $name {
            /// No field is given.
            pub const UNSET: $name = $name { $($field: None,)+ };

            /// Returns these fields, and those of `base` where they are not given.
            #[must_use]
            pub fn over(&self, base: &$name) -> $name {
                $name { $($field: Option::or(Clone::clone(&self.$field), Clone::clone(&base.$field)),)+ }
            }
        }
    };
}

optional! {
/// The hosts at both ends. The defaults are Linux's, except for buffers, which are larger than any window.
#[derive(Debug, Clone, PartialEq, Eq, Default, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields, expecting = "a table such as [host] with initial_cwnd = 10")]
struct HostSpec {
    /// `scheduler`: the packet scheduler that spreads bursts over time: `"fq"`, the host's fair queueing; `"pacing"`,
    /// each connection by itself if its controller needs it, in front of a FIFO; `"none"`, none.
    scheduler: Pacing,
    /// `nic`: the rate of the sending host's network card; without it, transmission takes no time.
    #[serde(deserialize_with = "positive")]
    nic: Rate,
    /// `mss`: the payload of a full segment, in bytes.
    #[serde(deserialize_with = "mss")]
    mss: u64,
    /// `initial_cwnd`: the initial congestion window, in segments.
    #[serde(deserialize_with = "segments")]
    initial_cwnd: u64,
    /// `ack_every`: the number of full segments per ACK.
    #[serde(deserialize_with = "segments")]
    ack_every: u64,
    /// `sack_blocks`: the maximum number of SACK blocks of an ACK; 0 for hosts without SACK.
    #[serde(deserialize_with = "sack_blocks")]
    sack_blocks: u64,
    /// `compressed_acks`: the maximum number of ACKs about a hole that are combined into one; 0 combines none.
    #[serde(deserialize_with = "few")]
    compressed_acks: u64,
    /// `send_buffer`: the maximum payload that is written by the application and not acknowledged.
    #[serde(deserialize_with = "some_buffer")]
    send_buffer: Bytes,
    /// `receive_buffer`: the maximum of the receive window, in payload.
    #[serde(deserialize_with = "some_buffer")]
    receive_buffer: Bytes,
    /// `initial_receive_buffer`: the initial receive window, in payload.
    #[serde(deserialize_with = "some_buffer")]
    initial_receive_buffer: Bytes,
    /// `delayed_ack`: the maximum delay of an ACK; zero acknowledges every segment at once.
    delayed_ack: Duration,
    /// `aggregation_delay`: the time for which received segments wait for the rest of `ack_every`, if that is more than
    /// two.
    aggregation_delay: Duration,
    /// `min_rto`: the minimum retransmission timeout.
    #[serde(deserialize_with = "positive")]
    min_rto: Duration,
    /// `max_rto`: the maximum retransmission timeout, backoff included.
    #[serde(deserialize_with = "positive")]
    max_rto: Duration,
    /// `loss_detection`: the method of loss detection: `"rack"`, by time, with tail loss probes (RFC 8985);
    /// `"dupacks"`, by three duplicate ACKs (RFC 6675).
    loss_detection: LossDetection,
    /// `ecn`: true if the connection is ECN-capable.
    ecn: bool,
    /// `accurate_ecn`: true if the connection is ECN-capable with Accurate ECN (RFC 9768).
    accurate_ecn: bool,
    /// `ack_frequency`: true if senders request the frequency of ACKs that their controller wants.
    ack_frequency: bool,
    /// `fast_open`: the use of data in SYNs (RFC 7413): `"off"`; `"on"`, after an earlier connection has obtained a
    /// cookie; `"known"`, from the first connection on.
    fast_open: FastOpen,
    /// `syn_timer`: the system whose SYNs are repeated and given up: `"linux"`, since 6.5; `"linux-4.19"`; `"windows"`,
    /// 2000 and Server 2003; `"bsd"`, macOS and later FreeBSD.
    syn_timer: SynTimer,
    /// `small_queues`: the kernel whose small queues bound what a connection has waiting below TCP: `"linux"`, since 6.16;
    /// `"linux-4.19"`; `"off"`, without them, which leaves a bound of fifty bursts.
    small_queues: SmallQueues,
    /// `offload`: true if the sender passes segments on in bursts (TSO), and not one by one.
    offload: bool,
    /// `change`: changes at given times.
    #[serde(deserialize_with = "changes")]
    change: Vec<HostChangeSpec>,
}
}

/// A change of the hosts: `[[host.change]]`.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(
    deny_unknown_fields,
    expecting = "a table such as { at = \"20s\", receive_buffer = \"64mib\" }"
)]
pub struct HostChangeSpec {
    /// `at`: the time of the change, from the start of the run.
    pub at: Duration,
    /// `receive_buffer`: the new maximum of the receive window, in payload.
    #[serde(deserialize_with = "buffer")]
    pub receive_buffer: Bytes,
}

fn mss<'de, D: Deserializer<'de>>(deserializer: D) -> Result<Option<u64>, D::Error> {
    // The minimum is IPv4's guarantee (RFC 9293, section 3.7.1), and the maximum fits a jumbo frame.
    whole(
        deserializer,
        536..=8948,
        "is not a segment size; give 536 to 8948 bytes, such as 1448",
    )
}

/// The maximum of counts. No host has more, and arithmetic stays in range.
const MAX_COUNT: u64 = 1_000_000;

fn segments<'de, D: Deserializer<'de>>(deserializer: D) -> Result<Option<u64>, D::Error> {
    whole(
        deserializer,
        1..=MAX_COUNT,
        "segments make no sense; give 1 to 1000000",
    )
}

fn few<'de, D: Deserializer<'de>>(deserializer: D) -> Result<Option<u64>, D::Error> {
    whole(deserializer, 0..=MAX_COUNT, "is more than 1000000")
}

fn sack_blocks<'de, D: Deserializer<'de>>(deserializer: D) -> Result<Option<u64>, D::Error> {
    let most = transport::segment::MAX_SACK_BLOCKS as u64;
    let reason = format!("blocks do not fit beside the timestamps; give 0 to {most}");
    whole(deserializer, 0..=most, &reason)
}

fn some_buffer<'de, D: Deserializer<'de>>(deserializer: D) -> Result<Option<Bytes>, D::Error> {
    buffer(deserializer).map(Some)
}

fn buffer<'de, D: Deserializer<'de>>(deserializer: D) -> Result<Bytes, D::Error> {
    let buffer = Bytes::deserialize(deserializer)?;
    let least = transport::segment::MSS * 2;
    if buffer < least {
        Err(refused(format!(
            "is less than two segments; give at least {least}"
        )))
    } else {
        Ok(buffer)
    }
}

fn changes<'de, D: Deserializer<'de>>(
    deserializer: D,
) -> Result<Option<Vec<HostChangeSpec>>, D::Error> {
    one_or_more(deserializer).map(Some)
}
