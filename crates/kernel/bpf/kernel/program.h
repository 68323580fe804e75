/* SPDX-License-Identifier: GPL-2.0-only OR BSD-3-Clause */
/*
 * The hooks of a congestion controller (<net/tcp.h>, `struct tcp_congestion_ops`), for the algorithm that was included
 * before. The arguments of a hook are an array of words.
 */
#pragma once

#include "translate.h"

/* The differences between kernels, and the version of the program. The loader sets them. */
struct load {
	/* The number of the argument of `cong_control` that is the rate sample: 3, or 1 before Linux 6.10. */
	u64 rate_sample_argument;
	char version[32];
};

const volatile struct load load SECTION(".rodata.load");
SETTING struct config config SECTION(".rodata.config");

const char LICENSE[] SECTION("license") = "Dual BSD/GPL";

static inline struct tcp_sock *socket_of(u64 *arguments)
{
	return (struct tcp_sock *)arguments[0];
}

/* Each branch has its own load, because the verifier must see which argument it is. */
static inline const struct rate_sample *rate_sample_of(u64 *arguments)
{
	u64 sample;

	if (load.rate_sample_argument == 3) {
		sample = arguments[3];
		asm volatile("" : "+r"(sample));
	} else {
		sample = arguments[1];
		asm volatile("" : "+r"(sample));
	}
	return (const struct rate_sample *)sample;
}

/*
 * Without FQ, TCP itself must keep the pacing rate. The kernel's own controllers request this with a compare-and-swap
 * (`bbr_init`), which no program may do here. If FQ takes over between the comparison and the store, FQ corrects the
 * value with the next packet.
 */
static inline void ask_for_pacing(struct tcp_sock *tp)
{
	struct sock *sk = &tp->inet_conn.icsk_inet.sk;

	if (sk->sk_pacing_status == SK_PACING_NONE)
		sk->sk_pacing_status = SK_PACING_NEEDED;
}

/* Reports the handshake's round trip, or the RTTs of a connection that had another controller. */
static inline void tell_rtt(const struct tcp_sock *tp, struct flow *flow, u64 now)
{
	u64 smoothed = (tp->srtt_us >> 3) * NANOS_PER_MICRO;
	u64 least = tp->rtt_min.s[0].v * NANOS_PER_MICRO;

	if (!tp->srtt_us)
		return;
	on_handshake(&flow->controller, now, smoothed);
	RECORD(flow, HANDSHAKE, event->ack.now = now; event->ack.rtt = smoothed);
	on_handshake(&flow->controller, now, least);
	RECORD(flow, HANDSHAKE, event->ack.now = now; event->ack.rtt = least);
}

static inline void begin(struct tcp_sock *tp)
{
	u64 now = bpf_ktime_get_ns();
	struct connection connection = {
		.now = now,
		.mss = tp->mss_cache,
		.initial_cwnd = times(tp->snd_cwnd, tp->mss_cache),
		.seed = (u64)bpf_get_prandom_u32() << 32 | bpf_get_prandom_u32(),
		.has_selective_acks = IS_SET(tp, rx_opt.sack_ok),
	};
	struct flow *flow;

	/* Deletes the state of an earlier use of this controller. */
	bpf_sk_storage_delete(&flows, tp);
	flow = bpf_sk_storage_get(&flows, tp, 0, BPF_SK_STORAGE_GET_F_CREATE);
	if (!flow)
		return;
	flow->delivered_packets = tp->delivered;
	flow->lost_packets = tp->lost;
	flow->marked_packets = tp->delivered_ce;
	flow->sampled_at = tp->delivered;
	history_note(&flow->history, tp->delivered, tp->lost, 0);
	controller_init(&flow->controller, &connection);
	RECORD(flow, NEW, event->connection = connection);
	tell_rtt(tp, flow, now);
	obey(tp, flow);
}

SECTION("struct_ops") void init(u64 *arguments)
{
	struct tcp_sock *tp = socket_of(arguments);

	tp->snd_ssthresh = TCP_INFINITE_SSTHRESH;
	ask_for_pacing(tp);
	begin(tp);
}

SECTION("struct_ops") void release(u64 *arguments)
{
	bpf_sk_storage_delete(&flows, socket_of(arguments));
}

SECTION("struct_ops") void cong_control(u64 *arguments)
{
	struct tcp_sock *tp = socket_of(arguments);
	const struct rate_sample *rs = rate_sample_of(arguments);
	struct flow *flow = flow_of(tp);
	u64 now = tp->tcp_clock_cache;

	if (!flow) {
		/* There was no memory for the state before. */
		begin(tp);
		return;
	}
	note_sample(tp, flow, rs);
	tell_mss(tp, flow);
	tell_losses(tp, flow, now, rs->losses);
	tell_recovery(flow, now);
	if (rs->acked_sacked)
		tell_ack(tp, flow, now, rs);
	obey(tp, flow);
}

SECTION("struct_ops") void set_state(u64 *arguments)
{
	struct tcp_sock *tp = socket_of(arguments);
	struct flow *flow = flow_of(tp);
	u32 state = (u8)arguments[1];
	u64 now = tp->tcp_clock_cache;

	if (!flow)
		return;
	tell_reduction(tp, flow, now, state);
	if (is_timeout(tp, state)) {
		tell_losses(tp, flow, now, U32_MAX);
		tell_timeout(tp, flow, now);
		flow->told_ca_state = state;
		obey(tp, flow);
	} else if (state == TCP_CA_Loss) {
		flow->lost_packets = tp->lost;
	}
	flow->ca_state = state;
}

/* The kernel uses the returned value as the window. */
SECTION("struct_ops") u32 undo_cwnd(u64 *arguments)
{
	struct tcp_sock *tp = socket_of(arguments);
	struct flow *flow = flow_of(tp);

	if (!flow)
		return tp->snd_cwnd;
	/* Losses that a timer has found since the latest ACK. */
	tell_losses(tp, flow, tp->tcp_clock_cache, 0);
	tell_recovery(flow, tp->tcp_clock_cache);
	on_recovery_undone(&flow->controller);
	RECORD(flow, UNDONE, event->ack.now = tp->tcp_clock_cache);
	/* If this ACK shows other losses, the next recovery has to be told. */
	flow->told_ca_state = TCP_CA_Open;
	obey(tp, flow);
	return tp->snd_cwnd;
}

/* Only an application-limited flow restarts: if the window was full, the flow was not idle. */
static inline void restart_from_idle(struct tcp_sock *tp)
{
	struct flow *flow = tp->app_limited ? flow_of(tp) : 0;

	if (!flow)
		return;
	on_idle_restart(&flow->controller, tp->tcp_clock_cache);
	RECORD(flow, IDLE_RESTART, event->ack.now = tp->tcp_clock_cache);
	obey(tp, flow);
}

SECTION("struct_ops") void cwnd_event(u64 *arguments)
{
	if ((u32)arguments[1] == CA_EVENT_TX_START)
		restart_from_idle(socket_of(arguments));
}

/* Since Linux 7.1, this hook replaces the event. */
SECTION("struct_ops") void cwnd_event_tx_start(u64 *arguments)
{
	restart_from_idle(socket_of(arguments));
}

/* There is no threshold: the algorithm sets the window before and after a loss. */
SECTION("struct_ops") u32 ssthresh(u64 *arguments)
{
	return socket_of(arguments)->snd_ssthresh;
}

/* In windows. The window may also grow during recovery (Linux `bbr_sndbuf_expand`). */
SECTION("struct_ops") u32 sndbuf_expand(u64 *arguments UNUSED)
{
	return 3;
}

/*
 * There is no hook `min_tso_segs`. With one that always returned 2, Linux 6.18 used another number about once a second,
 * and sent a whole window as one burst. Without the hook, the kernel uses `net.ipv4.tcp_min_tso_segs`, which is 2.
 */
#define HOOKS                                                                                                         \
	.init = (void *)init, .release = (void *)release, .cong_control = (void *)cong_control,                       \
	.set_state = (void *)set_state, .undo_cwnd = (void *)undo_cwnd, .cwnd_event = (void *)cwnd_event,             \
	.cwnd_event_tx_start = (void *)cwnd_event_tx_start,                                                           \
	.ssthresh = (void *)ssthresh, .sndbuf_expand = (void *)sndbuf_expand,   \
	.flags = TCP_CONG_NON_RESTRICTED
