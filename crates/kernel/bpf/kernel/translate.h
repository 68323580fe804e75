/* SPDX-License-Identifier: GPL-2.0-only OR BSD-3-Clause */
/* From the kernel's counters, in packets, to the events of the algorithm, in bytes. */
#pragma once

#include "flow.h"

static inline u32 packets_in_flight(const struct tcp_sock *tp)
{
	return tp->packets_out - tp->sacked_out - tp->lost_out + tp->retrans_out;
}

static inline u64 inflight(const struct tcp_sock *tp, const struct flow *flow)
{
	return times(packets_in_flight(tp), flow->controller.mss);
}

/* The window and the rate are the algorithm's; the application, or an administrator, may have set bounds. */
static inline void obey(struct tcp_sock *tp, struct flow *flow)
{
	struct sock *sk = &tp->inet_conn.icsk_inet.sk;
	struct snapshot seen = controller_snapshot(&flow->controller);

	flow->seen = seen;
	tp->snd_cwnd = max(min(seen.cwnd / flow->controller.mss, tp->snd_cwnd_clamp), 1);
	sk->sk_pacing_rate = min(seen.pacing_rate, sk->sk_max_pacing_rate);
}

static inline void tell_lost(struct flow *flow, u64 now, u32 packets)
{
	u64 bytes = times(packets, flow->controller.mss);

	if (!packets)
		return;
	flow->lost = add(flow->lost, bytes);
	flow->newly_lost = add(flow->newly_lost, bytes);
	flow->losses_told_at = now;
	on_packet_lost(&flow->controller, now, bytes);
}

/*
 * Losses that the kernel has counted since the latest look. So many as `by_ack` were shown by the ACK that is being
 * processed; more than these were found by a timer before it.
 */
static inline void tell_losses(const struct tcp_sock *tp, struct flow *flow, u64 now, u32 by_ack)
{
	u32 lost = tp->lost - flow->lost_packets;
	u32 before = flow->losses_told_at == now ? 0 : sub(lost, by_ack);

	flow->lost_packets = tp->lost;
	tell_lost(flow, now - 1, before);
	tell_lost(flow, now, lost - before);
}

static inline void tell_mss(const struct tcp_sock *tp, struct flow *flow)
{
	if (tp->mss_cache != flow->controller.mss)
		on_mtu_change(&flow->controller, tp->mss_cache);
}

static inline void tell_ack(const struct tcp_sock *tp, struct flow *flow, u64 now, const struct rate_sample *rs)
{
	u64 mss = flow->controller.mss;
	u32 delivered = tp->delivered - flow->delivered_packets;
	bool is_valid = rs->delivered >= 0 && rs->interval_us > 0;
	u64 sampled = is_valid ? times(rs->delivered, mss) : 0;
	struct ack ack = {};

	flow->delivered_packets = tp->delivered;
	flow->delivered = add(flow->delivered, times(delivered, mss));

	ack.now = now;
	ack.newly_acked = times(rs->acked_sacked, mss);
	ack.prior_inflight = times(rs->prior_in_flight, mss);
	ack.inflight = inflight(tp, flow);
	ack.next_departure = max(tp->tcp_wstamp_ns, now);
	ack.rate.has_delivery_rate = is_valid;
	ack.rate.delivery_rate = is_valid ? rate_of(sampled, rs->interval_us * NANOS_PER_MICRO) : 0;
	ack.rate.prior_delivered = sub(flow->delivered, sampled);
	ack.rate.total_delivered = flow->delivered;
	ack.rate.total_lost = flow->lost;
	ack.rate.newly_lost = flow->newly_lost;
	ack.rate.is_app_limited = rs->is_app_limited;
	ack.has_rtt = rs->rtt_us >= 0;
	ack.rtt = ack.has_rtt ? rs->rtt_us * NANOS_PER_MICRO : 0;
	ack.is_ack_delayed = rs->is_ack_delayed;
	flow->newly_lost = 0;
	on_ack(&flow->controller, &ack);
}

static inline void tell_state(const struct tcp_sock *tp, struct flow *flow, u32 state)
{
	u32 before = flow->ca_state;

	flow->ca_state = state;
	if (state == TCP_CA_Loss)
		on_timeout(&flow->controller, inflight(tp, flow));
	else if (state == TCP_CA_Recovery && before != TCP_CA_Recovery)
		on_recovery_entered(&flow->controller);
	else if (state < TCP_CA_CWR && before >= TCP_CA_CWR)
		on_recovery_left(&flow->controller);
}
