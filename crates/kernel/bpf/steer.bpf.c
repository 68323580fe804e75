// SPDX-License-Identifier: GPL-2.0-only OR BSD-3-Clause
/*
 * Gives connections of a control group a controller when they are set up, and tells what became of them when they end.
 *
 * It does so as long as its lease lasts. Whoever attached it renews the lease; when he is gone, or hangs, the program does nothing
 * any more, and new connections have what they would have without it.
 */
#include "steer/rule.h"

const char LICENSE[] SECTION("license") = "Dual BSD/GPL";

/* What is kept with a connection: what sock_diag tells of it, so that open ones can be looked at. */
struct steered {
	u64 unit;
	u64 place; /* the rule, and in the upper half the arm */
	u64 set_up;
	u64 client[2];
	u64 ports; /* this side's, and in the upper half the other side's */
};

/* What became of it. */
struct ended {
	u64 cookie;
	struct steered steered;
	u64 ended;
	u64 acknowledged;
	u64 packets;
	u64 resent;
	u64 lost;
	u64 srtt; /* microseconds */
	u64 min_rtt;
	u64 median_rtt; /* of its rounds; zero: not known */
	u64 objects;
	u64 mss;
	u64 rate_delivered;
	u64 rate_interval; /* microseconds */
	u64 times[3]; /* busy, limited by the window, limited by the buffer: in ticks, without each other */
};

struct {
	int (*type)[BPF_MAP_TYPE_SK_STORAGE];
	int (*map_flags)[BPF_F_NO_PREALLOC];
	int *key;
	struct steered *value;
} connections SECTION(".maps");

struct {
	int (*type)[BPF_MAP_TYPE_RINGBUF];
	int (*max_entries)[1 << 22];
} events SECTION(".maps");

/* Until when it does anything, in nanoseconds since boot. */
struct {
	int (*type)[BPF_MAP_TYPE_ARRAY];
	int (*max_entries)[1];
	u32 *key;
	u64 *value;
} lease SECTION(".maps");

/* How often what happened. */
enum count {
	ASSIGNED,
	REFUSED, /* the controller is not there */
	UNREMEMBERED, /* no memory for what is kept */
	UNTOLD, /* the ring was full */
	UNTOLD_OBJECTS, /* theirs was */
	COUNTS,
};

struct {
	int (*type)[BPF_MAP_TYPE_ARRAY];
	int (*max_entries)[COUNTS];
	u32 *key;
	u64 *value;
} counts SECTION(".maps");

static inline void count(u32 what)
{
	u64 *counter = bpf_map_lookup_elem(&counts, &what);

	if (counter)
		__sync_fetch_and_add(counter, 1);
}

#include "steer/follow.h"

static inline bool is_leased(u64 now)
{
	u32 first = 0;
	u64 *until = bpf_map_lookup_elem(&lease, &first);

	return until && now < *until;
}

static inline void assign(struct bpf_sock_ops *context, u64 now)
{
	u32 place = rule_of(context), arm;
	struct candidate candidate = {};
	int flags = BPF_SOCK_OPS_STATE_CB_FLAG;
	struct steered *steered;
	struct followed *of;
	struct subject subject;
	struct unit unit;
	u64 ends[ARMS];
	char name[CONTROLLER];
	void *sk = context->sk;
	u64 drawn;

	if (place >= RULES || !sk)
		return;
	candidate.cookie = bpf_get_socket_cookie(context);
	candidate.set_up = now;
	client_of(context, candidate.client);
	/* Read as what it is, volatile: the compiler takes a constant for the zero that it was compiled with. */
	unit.kind = steering.unit.kind;
	unit.v4_mask[0] = steering.unit.v4_mask[0];
	unit.v4_mask[1] = steering.unit.v4_mask[1];
	unit.v6_mask[0] = steering.unit.v6_mask[0];
	unit.v6_mask[1] = steering.unit.v6_mask[1];
	unit.slot = steering.unit.slot;
	unit.boot = steering.unit.boot;
	for (u32 at = 0; at < ARMS; at++)
		ends[at] = steering.rules[place].ends[at];
	subject_of(&subject, &unit, &candidate);
	drawn = draw(steering.key[0], steering.key[1], &subject);
	arm = arm_of(drawn, ends);
	for (u32 at = 0; at < CONTROLLER; at++)
		name[at] = steering.rules[place].controllers[arm & (ARMS - 1)][at];
	steered = bpf_sk_storage_get(&connections, sk, 0, BPF_SK_STORAGE_GET_F_CREATE);
	if (!steered) {
		/* Who cannot be remembered stays as he is. */
		count(UNREMEMBERED);
		return;
	}
	steered->unit = drawn;
	steered->place = place | (u64)arm << 32;
	steered->set_up = now;
	steered->client[0] = candidate.client[0];
	steered->client[1] = candidate.client[1];
	steered->ports = context->local_port | (u64)from_network(context->remote_port) << 32;
	/* He is still of this arm: what is drawn counts, or the arms would not be alike. */
	if (bpf_setsockopt(context, SOL_TCP, TCP_CONGESTION, name, CONTROLLER))
		count(REFUSED);
	count(ASSIGNED);
	if (steering.follow) {
		of = bpf_sk_storage_get(&followed, sk, 0, BPF_SK_STORAGE_GET_F_CREATE);
		if (of) {
			of->min_rtt = ~0U;
			flags |= BPF_SOCK_OPS_RTT_CB_FLAG | BPF_SOCK_OPS_WRITE_HDR_OPT_CB_FLAG;
		}
	}
	bpf_sock_ops_cb_flags_set(context, context->bpf_sock_ops_cb_flags | flags);
}

static inline void tell_end(struct bpf_sock_ops *context, u64 now)
{
	struct steered *steered;
	struct followed *of;
	struct tcp_sock *tp;
	struct ended *ended;
	void *sk = context->sk;
	bool is_done;

	if (!sk)
		return;
	steered = bpf_sk_storage_get(&connections, sk, 0, 0);
	tp = bpf_skc_to_tcp_sock(sk);
	if (!steered || !tp)
		return;
	/* What ends the connection takes a place behind the data. */
	is_done = (u32)(tp->write_seq - tp->snd_una) <= 1;
	of = bpf_sk_storage_get(&followed, sk, 0, 0);
	if (of && of->begun)
		tell_object(context, of, tp, micros(), is_done);
	ended = bpf_ringbuf_reserve(&events, sizeof(*ended), 0);
	if (!ended) {
		count(UNTOLD);
		return;
	}
	ended->cookie = bpf_get_socket_cookie(context);
	ended->steered = *steered;
	ended->ended = now;
	ended->acknowledged = tp->bytes_acked;
	ended->packets = tp->data_segs_out;
	ended->resent = tp->total_retrans;
	ended->lost = tp->lost;
	ended->srtt = tp->srtt_us >> 3;
	ended->min_rtt = tp->rtt_min.s[0].v;
	if (of && of->min_rtt < ended->min_rtt)
		ended->min_rtt = of->min_rtt;
	ended->median_rtt = of ? median_round(&of->rounds) : 0;
	ended->objects = of ? of->number : 0;
	ended->mss = tp->mss_cache;
	ended->rate_delivered = tp->rate_delivered;
	ended->rate_interval = tp->rate_interval_us;
	/* The time that is running is not in the sums (tcp_get_info_chrono_stats): it is when data is outstanding. */
	ended->times[0] = tp->chrono_stat[0] + (is_done ? 0 : (u32)bpf_jiffies64() - tp->chrono_start);
	ended->times[1] = tp->chrono_stat[1];
	ended->times[2] = tp->chrono_stat[2];
	bpf_ringbuf_submit(ended, 0);
}

SECTION("sockops") int steer(struct bpf_sock_ops *context)
{
	u32 op = context->op;
	u64 now;

	/* Before each packet: the clock is not asked for those of a burst. */
	if (op == BPF_SOCK_OPS_HDR_OPT_LEN_CB && context->packets_out)
		return 1;
	now = bpf_ktime_get_boot_ns();
	if (!is_leased(now))
		return 1;
	if (op == BPF_SOCK_OPS_PASSIVE_ESTABLISHED_CB || op == BPF_SOCK_OPS_ACTIVE_ESTABLISHED_CB)
		assign(context, now);
	else if (op == BPF_SOCK_OPS_STATE_CB && context->args[1] == TCP_CLOSE)
		tell_end(context, now);
	else if (op == BPF_SOCK_OPS_HDR_OPT_LEN_CB)
		follow_packet(context);
	else if (op == BPF_SOCK_OPS_RTT_CB)
		follow_round(context);
	else if (op == BPF_SOCK_OPS_RETRANS_CB)
		ask_before_packets(context, true);
	return 1;
}
