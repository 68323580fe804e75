//! What the hosts at both ends are like: `[host]`, and a group's own `host`.

use transport::scheduler::Pacing;
use transport::sender::LossDetection;
use units::{Bytes, Duration, Rate};

use super::error::ScenarioError;
use super::value::Value;

/// The hosts at both ends. What is not given is as Linux has it, except for buffers, which are larger than any window.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct HostSpec {
    /// `scheduler`: who spreads bursts over time: `"fq"`, the host's fair queueing; `"pacing"`, each connection whose
    /// controller needs it by itself, in front of a FIFO; `"none"`, nobody.
    pub scheduler: Option<Pacing>,
    /// `nic`: the rate of the sending host's network card; without it, it takes no time.
    pub nic: Option<Rate>,
    /// `mss`: payload of a full segment, in bytes.
    pub mss: Option<u64>,
    /// `initial_cwnd`: the congestion window at the start, in segments.
    pub initial_cwnd: Option<u64>,
    /// `send_buffer`: the most payload that the application may have written and the receiver not acknowledged.
    pub send_buffer: Option<Bytes>,
    /// `receive_buffer`: the most payload that the receive window may grow to.
    pub receive_buffer: Option<Bytes>,
    /// `initial_receive_buffer`: the most payload that the receive window is at the start.
    pub initial_receive_buffer: Option<Bytes>,
    /// `delayed_ack`: the longest that an ACK is held back; zero acknowledges every segment at once.
    pub delayed_ack: Option<Duration>,
    /// `ack_every`: how many full segments make an ACK.
    pub ack_every: Option<u64>,
    /// `aggregation_delay`: how long received segments wait for the rest of `ack_every`, where that is more than two.
    pub aggregation_delay: Option<Duration>,
    /// `sack_blocks`: how many SACK blocks an ACK may carry; 0 for hosts without SACK.
    pub sack_blocks: Option<u64>,
    /// `compressed_acks`: how many ACKs about a hole are held back at most, to be sent as one; 0 holds none back.
    pub compressed_acks: Option<u64>,
    /// `min_rto`: the shortest retransmission timeout.
    pub min_rto: Option<Duration>,
    /// `max_rto`: the longest retransmission timeout, backoff included.
    pub max_rto: Option<Duration>,
    /// `loss_detection`: how losses are found: `"rack"`, by time, with tail loss probes (RFC 8985); `"dupacks"`, by three
    /// duplicate ACKs (RFC 6675).
    pub loss_detection: Option<LossDetection>,
    /// `ecn`: whether the connection is ECN-capable.
    pub ecn: Option<bool>,
    /// `offload`: whether the sender hands segments down in bursts (TSO) or one by one.
    pub offload: Option<bool>,
}

/// The name of a way of pacing in scenarios.
pub const fn scheduler_name(pacing: Pacing) -> &'static str {
    match pacing {
        Pacing::Fq => "fq",
        Pacing::PerConnection => "pacing",
        Pacing::None => "none",
    }
}

/// The name of a way to find losses in scenarios.
pub const fn loss_detection_name(way: LossDetection) -> &'static str {
    match way {
        LossDetection::Rack => "rack",
        LossDetection::DupThreshold => "dupacks",
    }
}

/// The least MSS that IPv4 promises (RFC 9293, section 3.7.1), and what fits a jumbo frame.
const MSS: std::ops::RangeInclusive<u64> = 536..=8948;

impl HostSpec {
    /// Nothing given.
    pub const UNSET: HostSpec = HostSpec {
        scheduler: None,
        nic: None,
        mss: None,
        initial_cwnd: None,
        send_buffer: None,
        receive_buffer: None,
        initial_receive_buffer: None,
        delayed_ack: None,
        ack_every: None,
        aggregation_delay: None,
        sack_blocks: None,
        compressed_acks: None,
        min_rto: None,
        max_rto: None,
        loss_detection: None,
        ecn: None,
        offload: None,
    };

    /// The fields of `[host]`.
    pub const KEYS: [&str; 17] = [
        "scheduler",
        "nic",
        "mss",
        "initial_cwnd",
        "send_buffer",
        "receive_buffer",
        "initial_receive_buffer",
        "delayed_ack",
        "ack_every",
        "aggregation_delay",
        "sack_blocks",
        "compressed_acks",
        "min_rto",
        "max_rto",
        "loss_detection",
        "ecn",
        "offload",
    ];

    /// These fields, and those of `base` where they are not given.
    #[must_use]
    pub fn over(&self, base: &HostSpec) -> HostSpec {
        HostSpec {
            scheduler: self.scheduler.or(base.scheduler),
            nic: self.nic.or(base.nic),
            mss: self.mss.or(base.mss),
            initial_cwnd: self.initial_cwnd.or(base.initial_cwnd),
            send_buffer: self.send_buffer.or(base.send_buffer),
            receive_buffer: self.receive_buffer.or(base.receive_buffer),
            initial_receive_buffer: self.initial_receive_buffer.or(base.initial_receive_buffer),
            delayed_ack: self.delayed_ack.or(base.delayed_ack),
            ack_every: self.ack_every.or(base.ack_every),
            aggregation_delay: self.aggregation_delay.or(base.aggregation_delay),
            sack_blocks: self.sack_blocks.or(base.sack_blocks),
            compressed_acks: self.compressed_acks.or(base.compressed_acks),
            min_rto: self.min_rto.or(base.min_rto),
            max_rto: self.max_rto.or(base.max_rto),
            loss_detection: self.loss_detection.or(base.loss_detection),
            ecn: self.ecn.or(base.ecn),
            offload: self.offload.or(base.offload),
        }
    }

    /// Reads `[host]` or a group's `host`; the error's field is relative to it.
    pub fn read(value: &Value) -> Result<HostSpec, ScenarioError> {
        let mut host = HostSpec::UNSET;
        for entry in value.entries("a table such as [host] with initial_cwnd = 10")? {
            let assigned = host.assign(&entry.key, &entry.value);
            assigned.map_err(|error| error.within(&entry.key))?;
        }
        Ok(host)
    }

    /// Sets the field `key`; the error's field is relative to it.
    fn assign(&mut self, key: &str, value: &Value) -> Result<(), ScenarioError> {
        match key {
            "scheduler" => self.scheduler = Some(scheduler(value)?),
            "nic" => self.nic = Some(value.positive_rate()?),
            "mss" => self.mss = Some(mss(value)?),
            "initial_cwnd" => self.initial_cwnd = Some(at_least_one(value, "segments")?),
            "send_buffer" => self.send_buffer = Some(buffer(value)?),
            "receive_buffer" => self.receive_buffer = Some(buffer(value)?),
            "initial_receive_buffer" => self.initial_receive_buffer = Some(buffer(value)?),
            "delayed_ack" => self.delayed_ack = Some(value.parse()?),
            "ack_every" => self.ack_every = Some(at_least_one(value, "segments")?),
            "aggregation_delay" => self.aggregation_delay = Some(value.parse()?),
            "sack_blocks" => self.sack_blocks = Some(sack_blocks(value)?),
            "compressed_acks" => self.compressed_acks = Some(few(value)?),
            "min_rto" => self.min_rto = Some(value.positive_time()?),
            "max_rto" => self.max_rto = Some(value.positive_time()?),
            "loss_detection" => self.loss_detection = Some(loss_detection(value)?),
            "ecn" => self.ecn = Some(value.yes_or_no()?),
            "offload" => self.offload = Some(value.yes_or_no()?),
            _ => return Err(ScenarioError::unknown_key(key, &HostSpec::KEYS)),
        }
        Ok(())
    }
}

fn scheduler(value: &Value) -> Result<Pacing, ScenarioError> {
    let all = [Pacing::Fq, Pacing::PerConnection, Pacing::None];
    value.one_of(
        "scheduler",
        &all.map(|pacing| (scheduler_name(pacing), pacing)),
    )
}

fn loss_detection(value: &Value) -> Result<LossDetection, ScenarioError> {
    let all = [LossDetection::Rack, LossDetection::DupThreshold];
    value.one_of(
        "loss detection",
        &all.map(|way| (loss_detection_name(way), way)),
    )
}

fn mss(value: &Value) -> Result<u64, ScenarioError> {
    let mss = value.whole()?;
    match MSS.contains(&mss) {
        true => Ok(mss),
        false => Err(value.wrong(&format!(
            "is no segment size; give {} to {} bytes, such as 1448",
            MSS.start(),
            MSS.end()
        ))),
    }
}

fn at_least_one(value: &Value, what: &str) -> Result<u64, ScenarioError> {
    match few(value)? {
        0 => Err(value.wrong(&format!("{what} make no sense; give 1 or more"))),
        count => Ok(count),
    }
}

/// A count beyond which there is no such host, and arithmetic that nobody needs.
fn few(value: &Value) -> Result<u64, ScenarioError> {
    match value.whole()? {
        count if count > 1_000_000 => Err(value.wrong("is more than 1000000")),
        count => Ok(count),
    }
}

fn sack_blocks(value: &Value) -> Result<u64, ScenarioError> {
    let most = transport::segment::MAX_SACK_BLOCKS as u64;
    match value.whole()? {
        blocks if blocks <= most => Ok(blocks),
        _ => Err(value.wrong(&format!(
            "blocks do not fit beside the timestamps; give 0 to {most}"
        ))),
    }
}

fn buffer(value: &Value) -> Result<Bytes, ScenarioError> {
    let buffer: Bytes = value.parse()?;
    let least = transport::segment::MSS * 2;
    match buffer < least {
        true => Err(value.wrong(&format!("is less than two segments; give at least {least}"))),
        false => Ok(buffer),
    }
}
