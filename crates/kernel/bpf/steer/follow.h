/* SPDX-License-Identifier: GPL-2.0-only OR BSD-3-Clause */
/*
 * A connection's objects, told apart by what is sent and acknowledged, and its round-trip times.
 *
 * The kernel asks the program before each packet whether it wants room in the header. It wants none; but when nothing is
 * outstanding then, a burst of data begins here, and the last one ended when the kernel last noted a delivery.
 */
#pragma once

#include "context.h"
#include "rounds.h"

/* So long after everything was acknowledged new data is another object, whether it was asked for or not: in microseconds. */
#define QUIET 100000

/* What goes on; times are microseconds of the kernel's monotonic clock. */
struct followed {
	u64 begun; /* the object's first packet; zero: there is none */
	u64 acknowledged; /* what had been, when it began; and so on */
	u64 received;
	u64 packets;
	u64 resent;
	u64 paused; /* of its time, without anything outstanding */
	u64 ended; /* its last burst, as long as nothing came after it */
	u64 number; /* of objects before it */
	u64 min_rtt;
	struct rounds rounds;
};

struct {
	int (*type)[BPF_MAP_TYPE_SK_STORAGE];
	int (*map_flags)[BPF_F_NO_PREALLOC];
	int *key;
	struct followed *value;
} followed SECTION(".maps");

struct object {
	u64 cookie;
	struct steered steered;
	u64 number;
	u64 begun; /* nanoseconds since boot */
	u64 busy; /* microseconds */
	u64 bytes;
	u64 packets;
	u64 resent;
	u64 is_whole;
};

struct {
	int (*type)[BPF_MAP_TYPE_RINGBUF];
	int (*max_entries)[1 << 22];
} objects SECTION(".maps");

static inline u64 micros(void)
{
	return bpf_ktime_get_ns() / NANOS_PER_MICRO;
}

/* Tells of the object, as far as it was acknowledged; there must be one. */
static inline void tell_object(struct bpf_sock_ops *context, struct followed *of, const struct tcp_sock *tp, u64 now, bool is_whole)
{
	struct steered *steered;
	void *sk = context->sk;
	u64 ended = of->ended ? of->ended : tp->delivered_mstamp;
	u64 bytes = tp->bytes_acked - of->acknowledged;
	struct object *object;

	if (!sk || !bytes || ended < of->begun)
		return;
	steered = bpf_sk_storage_get(&connections, sk, 0, 0);
	if (!steered)
		return;
	of->number++;
	object = bpf_ringbuf_reserve(&objects, sizeof(*object), 0);
	if (!object) {
		count(UNTOLD_OBJECTS);
		return;
	}
	object->cookie = bpf_get_socket_cookie(context);
	object->steered = *steered;
	object->number = of->number;
	object->begun = bpf_ktime_get_boot_ns() - (now - of->begun) * NANOS_PER_MICRO;
	object->busy = ended - of->begun;
	object->busy -= of->paused < object->busy ? of->paused : object->busy;
	object->bytes = bytes;
	object->packets = tp->data_segs_out - of->packets;
	object->resent = tp->total_retrans - of->resent;
	object->is_whole = is_whole;
	bpf_ringbuf_submit(object, 0);
}

static inline void begin_object(struct followed *of, const struct tcp_sock *tp, u64 now)
{
	of->begun = now;
	of->acknowledged = tp->bytes_acked;
	of->received = tp->bytes_received;
	of->packets = tp->data_segs_out;
	of->resent = tp->total_retrans;
	of->paused = 0;
}

/* A packet is about to leave, and nothing is outstanding. */
static inline void follow_packet(struct bpf_sock_ops *context)
{
	void *sk = context->sk;
	struct followed *of;
	struct tcp_sock *tp;
	u64 now;

	if (!sk || context->args[0] == BPF_WRITE_HDR_TCP_CURRENT_MSS)
		return;
	of = bpf_sk_storage_get(&followed, sk, 0, 0);
	tp = bpf_skc_to_tcp_sock(sk);
	if (!of || !tp)
		return;
	now = micros();
	if (!of->begun) {
		if (context->skb_len)
			begin_object(of, tp, now);
		return;
	}
	if (tp->bytes_acked == of->acknowledged)
		/* The packet before this one could not leave. */
		return;
	if (!of->ended)
		of->ended = tp->delivered_mstamp;
	if (!context->skb_len)
		/* An acknowledgement, or the end of the connection, which hides when the data before it was delivered. */
		return;
	if (tp->bytes_received != of->received || now - of->ended >= QUIET) {
		tell_object(context, of, tp, now, true);
		begin_object(of, tp, now);
	} else {
		of->paused += now - of->ended;
	}
	of->ended = 0;
}

/*
 * Whether the kernel is to ask before each packet. It need not while data waits to be sent and nothing is lost: the acknowledgement
 * of that data is of another round, which comes before everything is acknowledged. Only what was sent again may have no round
 * of its own (Karn), so that is told instead.
 */
static inline void ask_before_packets(struct bpf_sock_ops *context, bool is_to)
{
	u32 flags = context->bpf_sock_ops_cb_flags;
	u32 wanted = flags & ~(BPF_SOCK_OPS_WRITE_HDR_OPT_CB_FLAG | BPF_SOCK_OPS_RETRANS_CB_FLAG);

	wanted |= is_to ? BPF_SOCK_OPS_WRITE_HDR_OPT_CB_FLAG : BPF_SOCK_OPS_RETRANS_CB_FLAG;
	if (wanted != flags)
		bpf_sock_ops_cb_flags_set(context, wanted);
}

/* Once a round trip, and at the first acknowledgement of a burst. */
static inline void follow_round(struct bpf_sock_ops *context)
{
	void *sk = context->sk;
	struct followed *of;
	struct tcp_sock *tp;
	u64 rtt;

	if (!sk)
		return;
	of = bpf_sk_storage_get(&followed, sk, 0, 0);
	tp = bpf_skc_to_tcp_sock(sk);
	if (!of || !tp)
		return;
	/* Before Linux 6.10 it is not told; then that of the packet that was acknowledged last. */
	rtt = FIELD(context, args[0]);
	if (!rtt)
		rtt = tp->rack.rtt_us;
	add_round(&of->rounds, rtt);
	/* The kernel's is of the last minutes. */
	rtt = tp->rtt_min.s[0].v;
	if (rtt < of->min_rtt)
		of->min_rtt = rtt;
	ask_before_packets(context, tp->write_seq == tp->snd_nxt || tp->retrans_out || tp->lost_out || tp->sacked_out);
}
