//! The results for one direction of a connection, in numbers.

use connection::{Connection, Flow, Limit, Sample, Shares};
use serde::Serialize;
use tables::statistics::Sorted;
use units::{Bytes, Duration, Rate};

use super::capture_point::CapturePoint;
use super::causes::{Causes, Counted};
use super::known::{KnownPath, rounded};
use super::policer::policer;
use crate::guess::Guess;
use crate::signs::Signs;

/// The fastest rate of a link, in bit/s. A faster one is an error of clocks, or forged.
pub const MAX_RATE_BPS: u64 = 10_000_000_000_000;

/// The shortest RTprop. A capture's clock cannot tell a shorter one from 0.
const MIN_RTPROP: Duration = Duration::from_micros(1);

/// The smallest BDP of a path, in bytes. A smaller one comes from accidental rates and times.
const MIN_BDP_BYTES: u64 = 10;

/// The smallest buffer of a path, in bytes: two of the longest packets that the Internet carries everywhere.
const MIN_BUFFER_BYTES: f64 = 3_000.0;

/// The data of one direction.
#[derive(Debug, Clone, Default, Serialize)]
pub struct FlowSummary {
    /// The sender.
    pub from: String,
    /// The receiver.
    pub to: String,
    /// Where the capture was taken relative to the sender and the receiver.
    pub place: &'static str,
    /// The least round-trip time from the capture to the sender.
    pub to_sender_ms: Option<f64>,
    /// The least round-trip time from the capture to the receiver.
    pub to_receiver_ms: Option<f64>,
    /// Payload sent, retransmissions included.
    pub sent_bytes: u64,
    /// Packets with payload.
    pub packets: u64,
    /// Packets with payload that were captured a second time, at another interface or at the other end. No other counter
    /// includes them.
    pub copies: u64,
    /// Acknowledgements that were captured. Without any, nothing tells what arrived and what limited the flow.
    pub acks: u64,
    /// The payload of a full packet.
    pub mss_bytes: u64,
    /// Payload acknowledged.
    pub delivered_bytes: u64,
    /// Payload acknowledged per second of the connection's life.
    pub goodput_bps: Option<u64>,
    /// RTprop: the least RTT.
    pub rtprop_ms: Option<f64>,
    /// The distribution of RTTs: each acknowledgement of data that measured one counts once, as in the record of a run. The
    /// minimum and the maximum include the handshake's.
    pub rtt_ms: Option<RttSummary>,
    /// The mean difference between consecutive RTTs.
    pub jitter_ms: Option<f64>,
    /// BtlBw: the greatest delivery rate after BBR's filter, of payload.
    pub btl_bw_bps: Option<u64>,
    /// The same as a rate of IP packets.
    pub btl_bw_ip_bps: Option<u64>,
    /// True if the flow filled the pipe. If not, the bottleneck may be faster than BtlBw.
    pub is_pipe_filled: bool,
    /// The data in flight, over the samples.
    pub inflight_bytes: Option<Spread>,
    /// The RTT less RTprop, over the samples.
    pub queue_ms: Option<Spread>,
    /// Retransmitted packets.
    pub retransmitted: u64,
    /// Retransmitted payload, of packets whose original was captured.
    pub retransmitted_bytes: u64,
    /// Lost packets: the retransmitted ones less the spurious ones. `None` if nothing tells retransmissions from copies;
    /// `retransmitted` and `spurious` may then count copies.
    pub lost: Option<u64>,
    /// Lost packets that were lost before the capture.
    pub lost_before: u64,
    /// Packets that were retransmitted although the original had arrived.
    pub spurious: u64,
    /// Reordered packets.
    pub reordered: u64,
    /// Packets that arrived twice although they were sent once.
    pub duplicated: u64,
    /// Payload that was acknowledged but not captured.
    pub missed_bytes: u64,
    /// Packets that were forgotten before they were acknowledged, because too many were outstanding. Their RTTs, losses and
    /// retransmissions are unknown.
    pub unfollowed: u64,
    /// Packets with a congestion mark.
    pub marked: u64,
    /// The number of recoveries.
    pub recoveries: u64,
    /// Recoveries that began with a timeout.
    pub timeouts: u64,
    /// The limits of the flow, as shares of the time.
    pub limited_by: Option<LimitedBy>,
    /// The rate of a policer, if there is a sign of one.
    pub policer_bps: Option<u64>,
    /// The bytes acknowledged at once beyond BtlBw: the mean over rounds of each round's maximum.
    pub ack_aggregation_bytes: Option<u64>,
    /// A guess at the congestion controller.
    pub controller: Option<Guess>,
    /// The path, if both RTprop and BtlBw are known.
    pub path: Option<KnownPath>,
}

/// A distribution.
#[derive(Debug, Clone, Copy, Default, Serialize)]
pub struct Spread {
    /// The median.
    pub p50: f64,
    /// The 95th percentile.
    pub p95: f64,
    /// The maximum.
    pub max: f64,
}

/// A distribution of RTTs.
#[derive(Debug, Clone, Copy, Default, Serialize)]
pub struct RttSummary {
    /// The minimum.
    pub min: f64,
    /// The mean.
    pub mean: f64,
    /// The median.
    pub p50: f64,
    /// The 95th percentile.
    pub p95: f64,
    /// The maximum.
    pub max: f64,
}

/// The limits of a flow, as shares of the time from the end of its handshake to its last packet.
#[derive(Debug, Clone, Copy, Default, Serialize)]
pub struct LimitedBy {
    /// The application, or its send buffer.
    pub application: f64,
    /// The receive window.
    pub receiver: f64,
    /// Congestion control or the path: the sum of the values below.
    pub congestion: f64,
    /// The initial growth: Startup or slow start. This value and those below are `None` if nothing tells what the sender
    /// knew.
    pub slow_start: Option<f64>,
    /// Later, while the bottleneck was not busy.
    pub window: Option<f64>,
    /// The bottleneck, which is busy.
    pub bottleneck: Option<f64>,
    /// The bottleneck's buffer, which is full: packets are lost.
    pub buffer: Option<f64>,
}

/// A share of [`LimitedBy`].
pub struct LimitShare {
    /// The name of its field.
    pub name: &'static str,
    /// Its meaning, for the documentation.
    pub meaning: &'static str,
    /// Returns its value.
    pub of: fn(&LimitedBy) -> Option<f64>,
}

impl FlowSummary {
    /// Where the capture was taken, in words.
    pub fn captured(&self) -> &'static str {
        self.place.parse().unwrap_or(CapturePoint::Unknown).words()
    }

    /// The summary of this side's data, if it had any.
    pub fn of(connection: &Connection, side: usize) -> Option<FlowSummary> {
        let flow = connection.sides[side].flow.as_deref()?;
        let totals = &flow.totals;
        let (near, far) = connection.halves(side);
        let place = CapturePoint::of(connection, side);
        let life = connection.last.since(connection.first);
        let samples = flow.samples();
        let rtprop = match (flow.model.rtt_min, flow.far()) {
            // For QUIC, the place of the capture becomes known late: at first, the ends' computing time in the handshake
            // hides it.
            (Some(least), Some(far)) if connection.is_quic && place == CapturePoint::Sender => {
                Some(least.min(far))
            }
            // An acknowledgement is seen at one end and its data at the other, if both ends were captured.
            (Some(least), _) if totals.copies * 2 > totals.packets => {
                let parts = near.zip(far).map(|(near, far)| near + far);
                Some(parts.map_or(least, |sum| least.min(sum)))
            }
            (least, _) => least,
        };
        let btl_bw = Some(flow.model.btl_bw_max());
        let btl_bw =
            btl_bw.filter(|rate| !rate.is_zero() && with_headers(*rate, flow) <= MAX_RATE_BPS);
        let millis = |span: Option<Duration>| span.map(Duration::as_millis_f64);
        let [from, to] = [side, 1 - side].map(|end| connection.ends[end].to_string());
        let is_heard = totals.acks > 0;
        let is_known = place != CapturePoint::Unknown && is_heard;
        let course = (samples, flow.rounds.done());
        let policed = rtprop
            .and_then(|least| policer(flow.recovery.losses.kept(), course, least, flow.mss()));
        let mut summary = FlowSummary {
            from,
            to,
            place: place.name(),
            to_sender_ms: millis(near),
            to_receiver_ms: millis(far),
            sent_bytes: totals.bytes,
            packets: totals.packets,
            copies: totals.copies,
            acks: totals.acks,
            mss_bytes: flow.mss(),
            delivered_bytes: totals.delivered,
            goodput_bps: (is_heard && !life.is_zero())
                .then(|| rate(totals.delivered, life).bits_per_sec())
                .filter(|rate| *rate <= MAX_RATE_BPS),
            rtprop_ms: millis(rtprop),
            rtt_ms: rtts(flow),
            jitter_ms: millis(flow.model.jitter()),
            btl_bw_bps: btl_bw.map(Rate::bits_per_sec),
            btl_bw_ip_bps: btl_bw.map(|rate| with_headers(rate, flow)),
            is_pipe_filled: flow.model.is_filled(),
            inflight_bytes: spread(samples, |sample| {
                is_known.then_some(sample.inflight.get() as f64)
            }),
            queue_ms: spread(samples, |sample| {
                let queue = sample.rtt?.saturating_sub(rtprop?);
                Some(queue.as_millis_f64())
            }),
            retransmitted: flow.retransmitted(),
            retransmitted_bytes: flow.recovery.repeats.bytes,
            lost: flow
                .tells_copies(connection.has_timestamps(side))
                .then(|| flow.recovery.repeats.lost() + flow.lost_before()),
            lost_before: flow.lost_before(),
            spurious: flow.recovery.repeats.spurious,
            reordered: totals.reordered,
            duplicated: flow.recovery.repeats.duplicated,
            missed_bytes: totals.missed,
            unfollowed: totals.unfollowed,
            marked: totals.marked,
            recoveries: flow.recovery.recoveries.count,
            timeouts: flow.recovery.recoveries.timeouts,
            limited_by: connection
                .shares(side)
                .and_then(|shares| LimitedBy::of(&shares)),
            policer_bps: policed
                .map(Rate::bits_per_sec)
                .filter(|rate| *rate <= MAX_RATE_BPS),
            ack_aggregation_bytes: flow.aggregation(),
            controller: Guess::of(&Signs::of(flow, place == CapturePoint::Sender)),
            path: None,
        };
        if connection.is_blind(side, place == CapturePoint::Sender) {
            summary.hide(connection);
        }
        summary.path = summary.known_path(flow, policed.is_some());
        Some(summary)
    }

    /// Removes the results that need the sender's knowledge at departures, which is unknown.
    fn hide(&mut self, connection: &Connection) {
        if !connection.is_quic {
            let handshake = connection.handshake.rtt();
            self.rtprop_ms = handshake.map(Duration::as_millis_f64);
        }
        (self.rtt_ms, self.jitter_ms, self.queue_ms) = (None, None, None);
        (self.btl_bw_bps, self.btl_bw_ip_bps, self.policer_bps) = (None, None, None);
        (self.inflight_bytes, self.ack_aggregation_bytes) = (None, None);
        self.is_pipe_filled = false;
        self.controller = None;
        if let Some(by) = &mut self.limited_by {
            (by.slow_start, by.window) = (None, None);
            (by.bottleneck, by.buffer) = (None, None);
        }
    }

    fn known_path(&self, flow: &Flow, is_policed: bool) -> Option<KnownPath> {
        let shortest = MIN_RTPROP.as_millis_f64();
        let rtprop = self.rtprop_ms.filter(|rtprop| *rtprop >= shortest)?;
        let rate = |bps: u64| Rate::from_bits_per_sec(rounded(bps));
        let packet = flow.model.btl_bw_max().time_for(Bytes::new(flow.mss()));
        // Drops by a policer are not random losses.
        let causes = if is_policed {
            Causes::NONE
        } else {
            let counted = Counted {
                packets: self.packets,
                lost: self.lost?.min(self.packets),
                rtt_min: flow.model.rtt_min?,
                packet,
            };
            Causes::of(flow.recovery.losses.kept(), flow.samples(), &counted)
        };
        let longest = self.queue_ms.map_or(0.0, |queue| queue.max);
        let queue = causes.full.map_or(longest, Duration::as_millis_f64);
        let own = rate(self.btl_bw_ip_bps?);
        let rtt = Duration::from_micros(rounded((rtprop * 1e3) as u64));
        let bdp = Some(own.bytes_in(rtt).get()).filter(|bdp| *bdp >= MIN_BDP_BYTES)?;
        let smallest = MIN_BUFFER_BYTES / bdp as f64;
        Some(KnownPath {
            rate: own,
            rate_of_all: own,
            rtt,
            buffer: (queue / rtprop).max(0.1).max(smallest),
            smallest,
            packet: packet.as_millis_f64() / rtprop,
            causes,
            is_pipe_filled: self.is_pipe_filled,
            policed: self.policer_bps.map(rate),
        })
    }
}

impl LimitedBy {
    /// All shares, in their order.
    pub const SHARES: &'static [LimitShare] = &[
        LimitShare {
            name: "application",
            meaning: "the share of the time in which the application was the limit; this share and the next two add up to one",
            of: |by| Some(by.application),
        },
        LimitShare {
            name: "receiver",
            meaning: "the share of the time in which the receiver was the limit",
            of: |by| Some(by.receiver),
        },
        LimitShare {
            name: "congestion",
            meaning: "the share of the time in which congestion control was the limit",
            of: |by| Some(by.congestion),
        },
        LimitShare {
            name: "slow_start",
            meaning: "the part of `limited_congestion` in slow start",
            of: |by| by.slow_start,
        },
        LimitShare {
            name: "window",
            meaning: "the part of `limited_congestion` in which the window was the limit",
            of: |by| by.window,
        },
        LimitShare {
            name: "bottleneck",
            meaning: "the part of `limited_congestion` in which the bottleneck was the limit",
            of: |by| by.bottleneck,
        },
        LimitShare {
            name: "buffer",
            meaning: "the part of `limited_congestion` in which the bottleneck's buffer was the limit",
            of: |by| by.buffer,
        },
    ];

    fn of(shares: &Shares) -> Option<LimitedBy> {
        let total = shares.total().as_secs_f64();
        let share = |limit| shares.of(limit).as_secs_f64() / total;
        let parts = [
            Limit::SlowStart,
            Limit::Window,
            Limit::Bottleneck,
            Limit::Buffer,
        ]
        .map(share);
        let [slow_start, window, bottleneck, buffer] = parts;
        (total > 0.0).then(|| LimitedBy {
            application: share(Limit::Application),
            receiver: share(Limit::Receiver),
            congestion: parts.iter().sum(),
            slow_start: Some(slow_start),
            window: Some(window),
            bottleneck: Some(bottleneck),
            buffer: Some(buffer),
        })
    }
}

fn rate(bytes: u64, span: Duration) -> Rate {
    Rate::from_transfer(units::Bytes::new(bytes), span)
}

/// The rate of IP packets for a rate of payload.
fn with_headers(rate: Rate, flow: &Flow) -> u64 {
    let (ip, payload) = (flow.totals.ip_bytes, flow.totals.bytes.max(1));
    let scaled = u128::from(rate.bits_per_sec()) * u128::from(ip) / u128::from(payload);
    u64::try_from(scaled).unwrap_or(u64::MAX)
}

fn rtts(flow: &Flow) -> Option<RttSummary> {
    let [min, max] = [flow.model.rtt_min?, flow.model.rtt_max?].map(Duration::as_millis_f64);
    // If no data show an RTT, the handshake does.
    let mean = flow.rtts.mean().or(flow.model.rtt_mean())?.as_millis_f64();
    let kept: Sorted = flow.rtts.kept().map(Duration::as_millis_f64).collect();
    // They are whole microseconds.
    let quantile = |share| {
        kept.quantile(share)
            .map_or(mean, |rtt| rtt.max(min).min(max))
    };
    Some(RttSummary {
        min,
        mean,
        p50: quantile(0.5),
        p95: quantile(0.95),
        max,
    })
}

fn spread(samples: &[Sample], of: impl Fn(&Sample) -> Option<f64>) -> Option<Spread> {
    let values: Sorted = samples.iter().filter_map(of).collect();
    Some(Spread {
        p50: values.quantile(0.5)?,
        p95: values.quantile(0.95)?,
        max: values.max()?,
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_list_has_every_share() {
        let by = LimitedBy {
            application: 0.0,
            receiver: 1.0,
            congestion: 2.0,
            slow_start: Some(3.0),
            window: Some(4.0),
            bottleneck: Some(5.0),
            buffer: Some(6.0),
        };
        let fields = serde_json::to_value(by).expect("plain data");
        let listed = LimitedBy::SHARES.iter();
        let listed = listed.map(|share| (share.name.to_owned(), (share.of)(&by).into()));
        assert_eq!(fields, serde_json::Value::Object(listed.collect()));
    }
}
