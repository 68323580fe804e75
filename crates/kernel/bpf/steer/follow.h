/* SPDX-License-Identifier: GPL-2.0-only OR BSD-3-Clause */
/*
 * The objects of a connection, separated by what it sends and what is acknowledged, and its round-trip times.
 *
 * Before each packet, the kernel asks the program whether it needs room in the header. The program needs none. But if
 * nothing is outstanding at that moment, a burst of data begins here, and the previous burst ended at the kernel's
 * latest delivery.
 */
#pragma once

#include "rounds.h"
#include "rule.h"

/*
 * If this time has passed since everything was acknowledged, new data is another object, whether it was requested or
 * not. In microseconds.
 */
#define QUIET 100000

/* The current object. Times are microseconds of the kernel's monotonic clock. */
struct followed {
	u64 begun; /* when its first packet left; zero: no object */
	u64 acknowledged; /* the total at that time; so are the next fields */
	u64 received;
	u64 packets;
	u64 resent;
	u64 paused; /* the part of its time in which nothing was outstanding */
	u64 ended; /* when its last burst ended, if nothing came after it */
	u64 number; /* the number of earlier objects */
	u64 min_rtt;
	struct rounds rounds;
};

/*
 * All data that is stored with a connection, in one piece: making it, finding it and freeing it cost more than the rest of
 * a short connection's calls.
 */
struct connection {
	struct steered steered;
	struct followed followed;
};

struct {
	int (*type)[BPF_MAP_TYPE_SK_STORAGE];
	int (*map_flags)[BPF_F_NO_PREALLOC];
	int *key;
	struct connection *value;
} connections SECTION(".maps");

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

/* Reports the acknowledged part of the object. There must be one. The kernel counts an acknowledged FIN as a byte. */
static inline void tell_object(struct bpf_sock_ops *context, struct connection *connection, const struct tcp_sock *tp, bool is_whole,
			       bool is_fin_acknowledged)
{
	struct followed *of = &connection->followed;
	u32 place = connection->steered.place;
	u64 ended = of->ended ? of->ended : tp->delivered_mstamp;
	u64 bytes = tp->bytes_acked - of->acknowledged - is_fin_acknowledged;
	struct object *object;

	if (!bytes || ended < of->begun)
		return;
	of->number++;
	/* Nobody would look at it. */
	if (place < MAX_RULES && bytes < steering.rules[place].least)
		return;
	object = bpf_ringbuf_reserve(&objects, sizeof(*object), 0);
	if (!object) {
		count(UNTOLD_OBJECTS);
		return;
	}
	object->cookie = bpf_get_socket_cookie(context);
	object->steered = connection->steered;
	object->number = of->number;
	object->begun = bpf_ktime_get_boot_ns() - bpf_ktime_get_ns() + of->begun * NANOS_PER_MICRO;
	object->busy = ended - of->begun;
	object->busy -= of->paused < object->busy ? of->paused : object->busy;
	object->bytes = bytes;
	object->packets = tp->data_segs_out - of->packets;
	object->resent = tp->total_retrans - of->resent;
	object->is_whole = is_whole;
	bpf_ringbuf_submit(object, BPF_RB_NO_WAKEUP);
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

/*
 * Sets whether the kernel calls the program before each packet. It need not do so from the beginning of a burst to its first
 * acknowledgement, nor while data waits to be sent and nothing is lost: a round comes before everything is acknowledged. Only
 * retransmitted data may have no round of its own (Karn), so the kernel reports retransmissions instead.
 */
static inline void ask_before_packets(struct bpf_sock_ops *context, bool is_to)
{
	u32 flags = context->bpf_sock_ops_cb_flags;
	u32 wanted = flags & ~(BPF_SOCK_OPS_WRITE_HDR_OPT_CB_FLAG | BPF_SOCK_OPS_RETRANS_CB_FLAG);

	wanted |= is_to ? BPF_SOCK_OPS_WRITE_HDR_OPT_CB_FLAG : BPF_SOCK_OPS_RETRANS_CB_FLAG;
	if (wanted != flags)
		bpf_sock_ops_cb_flags_set(context, wanted);
}

/* Called before a packet leaves. It matters if it has data and nothing is outstanding. */
static inline void follow_packet(struct bpf_sock_ops *context)
{
	struct connection *connection;
	void *sk = context->sk;
	struct followed *of;
	struct tcp_sock *tp;
	u64 now;

	/* The kernel also calls for pure ACKs, and without a packet when it computes the size of segments. */
	if (context->packets_out || !context->skb_len || !sk)
		return;
	connection = bpf_sk_storage_get(&connections, sk, 0, 0);
	tp = bpf_skc_to_tcp_sock(sk);
	if (!connection || !tp)
		return;
	of = &connection->followed;
	/* The kernel has read its clock for this packet (tcp_write_xmit). */
	now = tp->tcp_mstamp;
	if (!of->begun) {
		begin_object(of, tp, now);
		ask_before_packets(context, false);
		return;
	}
	if (tp->bytes_acked == of->acknowledged)
		/* The previous packet could not leave. */
		return;
	if (!of->ended)
		of->ended = tp->delivered_mstamp;
	if (tp->bytes_received != of->received || now - of->ended >= QUIET) {
		tell_object(context, connection, tp, true, false);
		begin_object(of, tp, now);
	} else {
		of->paused += now - of->ended;
	}
	of->ended = 0;
	ask_before_packets(context, false);
}

/* Whether only the FIN is left to be acknowledged, if there is one. */
static inline bool is_at_fin(const struct tcp_sock *tp)
{
	return (u32)(tp->write_seq - tp->snd_una) == 1;
}

/* Called once a round trip, and at the first acknowledgement of a burst. */
static inline void follow_round(struct bpf_sock_ops *context)
{
	struct connection *connection;
	void *sk = context->sk;
	struct followed *of;
	struct tcp_sock *tp;
	bool is_all_sent, is_last;
	u64 rtt;

	if (!sk)
		return;
	connection = bpf_sk_storage_get(&connections, sk, 0, 0);
	tp = bpf_skc_to_tcp_sock(sk);
	if (!connection || !tp)
		return;
	of = &connection->followed;
	/* Before Linux 6.10, the argument is missing. The RTT of the latest acknowledged packet replaces it. */
	rtt = FIELD(context, args[0]);
	if (!rtt)
		rtt = tp->rack.rtt_us;
	add_round(&of->rounds, rtt);
	/* The kernel's minimum covers only the last minutes. */
	rtt = tp->rtt_min.s[0].v;
	if (rtt < of->min_rtt)
		of->min_rtt = rtt;
	is_all_sent = tp->write_seq == tp->snd_nxt;
	is_last = is_all_sent && has_fin(context->state);
	/* The kernel notes this delivery after the call. */
	if (is_last && is_at_fin(tp) && !of->ended)
		of->ended = tp->tcp_mstamp;
	/* No object begins behind a FIN. */
	ask_before_packets(context, !is_last && (is_all_sent || tp->retrans_out || tp->lost_out || tp->sacked_out));
}

/* Called when a packet is sent again. If it is a FIN alone, the data were delivered before, and the FIN will be later. */
static inline void follow_retransmission(struct bpf_sock_ops *context)
{
	struct connection *connection;
	void *sk = context->sk;
	struct followed *of;
	struct tcp_sock *tp;

	if (!has_fin(context->state)) {
		ask_before_packets(context, true);
		return;
	}
	if (!sk)
		return;
	connection = bpf_sk_storage_get(&connections, sk, 0, 0);
	tp = bpf_skc_to_tcp_sock(sk);
	if (!connection || !tp)
		return;
	of = &connection->followed;
	if (tp->write_seq != tp->snd_nxt)
		ask_before_packets(context, true);
	else if (is_at_fin(tp) && of->begun && !of->ended && tp->bytes_acked != of->acknowledged)
		of->ended = tp->delivered_mstamp;
}

/*
 * Called before the FIN is sent. The FIN hides the time at which the data before it was delivered, and no object begins
 * behind it.
 */
static inline void follow_fin(struct bpf_sock_ops *context)
{
	struct connection *connection;
	void *sk = context->sk;
	struct followed *of;
	struct tcp_sock *tp;

	if (!sk)
		return;
	connection = bpf_sk_storage_get(&connections, sk, 0, 0);
	tp = bpf_skc_to_tcp_sock(sk);
	if (!connection || !tp)
		return;
	if (tp->write_seq != tp->snd_una) {
		if (tp->write_seq == tp->snd_nxt)
			ask_before_packets(context, false);
		return;
	}
	of = &connection->followed;
	if (of->begun && !of->ended && tp->bytes_acked != of->acknowledged)
		of->ended = tp->delivered_mstamp;
	bpf_sock_ops_cb_flags_set(context, context->bpf_sock_ops_cb_flags &
					   ~(BPF_SOCK_OPS_RTT_CB_FLAG | BPF_SOCK_OPS_WRITE_HDR_OPT_CB_FLAG | BPF_SOCK_OPS_RETRANS_CB_FLAG));
}
