/* SPDX-License-Identifier: GPL-2.0-only OR BSD-3-Clause */
/* Translates the kernel's counters, in packets, into the events of the algorithm, in bytes. */
#pragma once

#include "flow.h"
#include "record.h"

static inline u32 packets_in_flight(const struct tcp_sock *tp)
{
	return tp->packets_out - tp->sacked_out - tp->lost_out + tp->retrans_out;
}

static inline u64 inflight(const struct tcp_sock *tp, const struct flow *flow)
{
	return times(packets_in_flight(tp), flow->controller.mss);
}

/* Applies the algorithm's window and rate, within the bounds of the application and the administrator. */
static inline void obey(struct tcp_sock *tp, struct flow *flow)
{
	struct sock *sk = &tp->inet_conn.icsk_inet.sk;
	struct snapshot seen = controller_snapshot(&flow->controller);

	flow->seen = seen;
	tp->snd_cwnd = max(min(seen.cwnd / flow->controller.mss, tp->snd_cwnd_clamp), 1);
	sk->sk_pacing_rate = min(seen.pacing_rate, sk->sk_max_pacing_rate);
}

/*
 * Reports losses at once, as one packet of this many segments. The kernel does not say which packets are lost. They
 * left at about the same time as the newest acknowledged packet.
 */
static inline void tell_lost(const struct tcp_sock *tp, struct flow *flow, u64 now, u32 packets)
{
	u64 mss = flow->controller.mss;
	struct lost lost = {};
	u32 lost_since, delivered_since;

	if (!packets)
		return;
	lost.now = now;
	lost.bytes = times(packets, mss);
	flow->lost = add(flow->lost, lost.bytes);
	flow->newly_lost = add(flow->newly_lost, lost.bytes);
	flow->losses_told_at = now;
	flow->losses += 2; /* by 2, so that no loss seems to follow the previous one directly */
	lost_since = tp->lost - history_lost_at(&flow->history, flow->sampled_at);
	delivered_since = tp->delivered - flow->sampled_at;
	lost.sequence = flow->losses;
	lost.prior_delivered = sub(flow->delivered, times(delivered_since, mss));
	lost.prior_lost = sub(flow->lost, times(lost_since, mss));
	lost.inflight_at_send = times(inflight_at_send(delivered_since, lost_since), mss);
	lost.is_app_limited = flow->was_app_limited;
	lost.total_delivered = add(flow->delivered, times(tp->delivered - flow->delivered_packets, mss));
	lost.total_lost = flow->lost;
	on_packet_lost(&flow->controller, &lost);
	RECORD(flow, LOST, event->lost = lost);
}

/*
 * Reports losses that the kernel has counted since the last call. The ACK that is being processed showed `by_ack` of
 * them. A timer found the others before it.
 */
static inline void tell_losses(const struct tcp_sock *tp, struct flow *flow, u64 now, u32 by_ack)
{
	u32 lost = tp->lost - flow->lost_packets;
	u32 before = flow->losses_told_at == now ? 0 : sub(lost, by_ack);

	flow->lost_packets = tp->lost;
	tell_lost(tp, flow, now - 1, before);
	tell_lost(tp, flow, now, lost - before);
}

/* Takes from the ACK the data that was sent since the previous ACK, and the data of its sample. */
static inline void note_sample(const struct tcp_sock *tp, struct flow *flow, const struct rate_sample *rs)
{
	history_note(&flow->history, flow->delivered_packets, tp->lost - rs->losses, rs->prior_in_flight);
	if (rs->delivered >= 0) {
		flow->sampled_at = tp->delivered - rs->delivered;
		flow->was_app_limited = rs->is_app_limited;
	}
}

static inline void tell_mss(const struct tcp_sock *tp, struct flow *flow)
{
	if (tp->mss_cache == flow->controller.mss)
		return;
	on_mtu_change(&flow->controller, tp->mss_cache);
	RECORD(flow, MTU_CHANGE, event->mss = tp->mss_cache);
}

static inline void tell_ack(const struct tcp_sock *tp, struct flow *flow, u64 now, const struct rate_sample *rs)
{
	u64 mss = flow->controller.mss;
	u32 delivered = tp->delivered - flow->delivered_packets;
	u64 marked = times(tp->delivered_ce - flow->marked_packets, mss);
	bool has_sampled = rs->delivered >= 0;
	bool is_valid = has_sampled && rs->interval_us > 0;
	u64 sampled = has_sampled ? times(rs->delivered, mss) : 0;
	struct ack ack = {};
	u32 lost_since = tp->lost - history_lost_at(&flow->history, flow->sampled_at);

	flow->delivered_packets = tp->delivered;
	flow->marked_packets = tp->delivered_ce;
	flow->delivered = add(flow->delivered, times(delivered, mss));
	flow->delivered_ce = add(flow->delivered_ce, marked);

	ack.now = now;
	ack.newly_acked = times(rs->acked_sacked, mss);
	ack.prior_inflight = times(rs->prior_in_flight, mss);
	ack.inflight = inflight(tp, flow);
	ack.next_departure = max(tp->tcp_wstamp_ns, now);
	ack.rate.has_delivery_rate = is_valid;
	ack.rate.delivery_rate = is_valid ? rate_of(sampled, rs->interval_us * NANOS_PER_MICRO) : 0;
	/* Unknown if the receiver has taken back what it had acknowledged (`tcp_rate_gen`). */
	ack.rate.prior_delivered = has_sampled ? sub(flow->delivered, sampled) : 0;
	ack.rate.total_delivered = flow->delivered;
	ack.rate.total_lost = flow->lost;
	ack.rate.newly_lost = flow->newly_lost;
	ack.rate.delivered = sampled;
	ack.rate.inflight_at_send = times(inflight_at_send(tp->delivered - flow->sampled_at, lost_since), mss);
	ack.rate.lost_since_send = times(lost_since, mss);
	ack.rate.is_app_limited = rs->is_app_limited;
	ack.rate.delivered_ce = is_valid && rs->delivered_ce > 0 ? times(rs->delivered_ce, mss) : 0;
	ack.rate.total_delivered_ce = flow->delivered_ce;
	ack.ce_marked = marked;
	ack.has_rtt = rs->rtt_us >= 0;
	ack.rtt = ack.has_rtt ? rs->rtt_us * NANOS_PER_MICRO : 0;
	ack.is_ack_delayed = rs->is_ack_delayed;
	/* A burst that waits for more data may leave a part of the window free (`tcp_tso_should_defer`). */
	ack.is_window_full = IS_SET(tp, is_cwnd_limited);
	flow->newly_lost = 0;
	on_ack(&flow->controller, &ack);
	RECORD(flow, ACK, event->ack = ack);
}

/*
 * Whether a retransmission timer has fired. It sets the window to the packets in flight plus one (`tcp_enter_loss`). A
 * smaller path MTU, and Fast Open data that was not accepted, enter the same state but do not change the window.
 */
static inline bool is_timeout(const struct tcp_sock *tp, u32 state)
{
	return state == TCP_CA_Loss && tp->snd_cwnd == packets_in_flight(tp) + 1;
}

static inline void tell_timeout(const struct tcp_sock *tp, struct flow *flow, u64 now)
{
	on_timeout(&flow->controller, now, inflight(tp, flow));
	RECORD(flow, TIMEOUT, event->ack.now = now; event->ack.inflight = inflight(tp, flow));
}

/*
 * The kernel uses the state CWR for marks, for a packet that the host's own queue has dropped (`__tcp_transmit_skb`),
 * and for a loss that a tail loss probe has repaired. In the last case, CWR ends within the ACK that shows the loss
 * (`tcp_process_tlp_ack`).
 */
static inline void tell_reduction(const struct tcp_sock *tp, struct flow *flow, u64 now, u32 state)
{
	if (state == TCP_CA_CWR && tp->delivered_ce != flow->marked_packets) {
		on_marked(&flow->controller);
		RECORD(flow, MARKED, event->ack.now = now);
	} else if (state == TCP_CA_CWR) {
		flow->cwr_at = now;
	} else if (flow->ca_state == TCP_CA_CWR && state < TCP_CA_CWR && flow->cwr_at == now) {
		on_repaired_loss(&flow->controller, now);
		RECORD(flow, REPAIRED_LOSS, event->ack.now = now);
	}
}

/* Reports the state of recovery after an ACK, without changes within the ACK (Linux `bbr_set_cwnd_to_recover_or_restore`). */
static inline void tell_recovery(struct flow *flow, u64 now)
{
	u32 before = flow->told_ca_state, state = flow->ca_state;

	flow->told_ca_state = state;
	if (state == TCP_CA_Recovery && before != TCP_CA_Recovery) {
		on_recovery_entered(&flow->controller, now);
		RECORD(flow, ENTERED, event->ack.now = now);
	} else if (state < TCP_CA_CWR && before >= TCP_CA_CWR) {
		on_recovery_left(&flow->controller);
		RECORD(flow, LEFT, event->ack.now = now);
	}
}
