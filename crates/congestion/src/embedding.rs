//! Embedding in another transport: a guide.
//!
//! A transport keeps three things: a [`Sampler`](crate::sampling::Sampler), a [`Controller`](crate::Controller), and a
//! table of the packets in flight with the [`PacketState`](crate::PacketState) of each. It reports events to them in
//! the order that [`crate::controller`] prescribes, and checks two conditions before it sends.
//!
//! | when | tell | then read |
//! | --- | --- | --- |
//! | data comes after a silence, nothing in flight | `on_idle_restart` | pacing rate |
//! | a packet leaves | `Sampler::on_packet_sent`, keep what it returns; `on_packet_sent` | |
//! | window and pacer are willing, but no data waits | `Sampler::mark_app_limited` | |
//! | an ACK arrives | for each packet acknowledged `Sampler::on_packet_acked`; for each found lost `Sampler::on_packet_lost` and `on_packet_lost`; `on_recovery` if that changed; `Sampler::sample`, and `on_ack` with it | cwnd, pacing rate, quantum |
//! | an ACK reports ECN marks | their bytes as `Ack::ce_marked`; and, at most once a round trip and not during a recovery, `on_recovery` with `Recovery::Entered(Cause::Ecn)` before `on_ack`; a loss in that recovery is one more `Recovery::Entered` | cwnd |
//! | a loss timer fires | as above, without the ACK | cwnd |
//! | a retransmission timeout, persistent congestion | the losses; `on_timeout` | cwnd |
//! | a loss turns out not to have been one | `on_recovery` with `Recovery::Undone` | cwnd, pacing rate |
//! | the path's MTU changes | `on_mtu_change` | quantum |
//!
//! A packet may leave while what is in flight, itself included, is at most [`cwnd`](crate::Controller::cwnd), and when
//! the pacer allows: after a burst of up to [`send_quantum`](crate::Controller::send_quantum) bytes, the next may leave
//! when the burst has taken its time at [`pacing_rate`](crate::Controller::pacing_rate). BBR depends on that; Reno and
//! CUBIC are only the gentler for it. A sender that waits for its pacer, and would else fill its window, uses its window
//! in the sense of [`Ack::is_cwnd_limited`](crate::Ack::is_cwnd_limited) (RFC 9002, "Underutilizing the Congestion
//! Window"); one that waits for its application, or for the receiver's flow control, does not. Only one that waits for its
//! window sets [`Ack::is_window_full`](crate::Ack::is_window_full): BBRv3 raises a bound only while that bound is the limit.
//!
//! # QUIC and TCP
//!
//! A **QUIC** stack never sends a packet number twice, so that each packet has one state and each ACK is about one
//! sending. A recovery lasts until a packet that was sent during it is acknowledged, and a loss from after its start
//! begins the next; a loss from before it never does, even when it is found after the recovery's end (RFC 9002,
//! `InCongestionRecovery`). What QUIC calls a probe timeout is no event here; persistent congestion is
//! [`on_timeout`](crate::Controller::on_timeout). Packets without ack-eliciting frames are not in flight, and are not
//! reported. What an ACK shows to be lost is found only after the ACK has been processed; `on_ack` waits for that.
//! Packets may be sent as capable of ECN if [`responds_to_ecn`](crate::Controller::responds_to_ecn) says so.
//!
//! A **TCP-like** sender repeats sequence numbers: a retransmission is a new packet to the sampler, with a new state that
//! replaces the old one, and gives no round-trip time unless timestamps tell which sending was acknowledged (Karn's
//! algorithm, RFC 6298 section 3). Bytes count as acknowledged once, when SACK or the cumulative ACK first covers them;
//! in flight is RFC 6675's *pipe*, not all from SND.UNA to SND.NXT. A recovery lasts until all that was outstanding at
//! its start is acknowledged, however many losses turn up meanwhile. How fast to retransmit within it (PRR, RFC 9937)
//! is the transport's business, below the window, for the controllers that want it
//! ([`wants_prr`](crate::Controller::wants_prr)). Evidence for an undo comes from DSACK or timestamps (RFC 3708, RFC
//! 3522); in QUIC from an ACK for a packet that was declared lost.
//!
//! # A sender
//!
//! All of it, as the crate's example `embed` has it:
//!
#![doc = "```"]
#![doc = include_str!("../examples/embed.rs")]
#![doc = "```"]
