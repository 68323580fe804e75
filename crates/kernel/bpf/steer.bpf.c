// SPDX-License-Identifier: GPL-2.0-only OR BSD-3-Clause
/*
 * Sets the controller of a control group's connections when they are set up, and reports each connection when it ends.
 *
 * The program works only while its lease lasts. The process that attached it renews the lease. If that process is gone
 * or hangs, the program only follows connections that it knows, and new ones have the controller that they would have
 * without it.
 */
#include "steer/memory.h"

const char LICENSE[] SECTION("license") = "Dual BSD/GPL";

/* A bit of `ports`. */
#define IS_OUTGOING (1ULL << 48)

/* What the program knows of a connection. sock_diag reports it, so open connections can be inspected. */
struct steered {
	u64 unit;
	u64 place; /* the rule, and the arm in the upper half */
	u64 set_up;
	u64 client[2];
	u64 ports; /* from the lowest 16 bits on: the local port, the handshake's RTT (see handshake_of), the remote port, IS_OUTGOING */
};

/* The report of a connection that has ended. */
struct ended {
	u64 cookie;
	struct steered steered;
	u64 ended;
	u64 acknowledged; /* without SYN and FIN */
	u64 packets;
	u64 resent;
	u64 lost;
	u64 srtt; /* microseconds */
	u64 min_rtt;
	u64 median_rtt; /* over its rounds; zero: unknown */
	u64 objects;
	u64 mss;
	u64 rate_delivered;
	u64 rate_interval; /* microseconds */
	u64 times[3]; /* in ticks: busy; limited by the window; limited by the buffer. Each excludes the others */
	u64 controller[CONTROLLER_NAME_BYTES / 8]; /* the name at the end; zeros: unknown */
};

struct {
	int (*type)[BPF_MAP_TYPE_RINGBUF];
	int (*max_entries)[1 << 22];
} events SECTION(".maps");

/* The end of the lease, in nanoseconds since boot. */
struct {
	int (*type)[BPF_MAP_TYPE_ARRAY];
	int (*max_entries)[1];
	u32 *key;
	u64 *value;
} lease SECTION(".maps");

/* Counters of events. */
enum count {
	ASSIGNED,
	REFUSED, /* the controller does not exist */
	UNREMEMBERED, /* no memory for the connection's data */
	UNTOLD, /* the ring of connections was full */
	UNTOLD_OBJECTS, /* the ring of objects was full */
	COUNTS,
};

struct {
	int (*type)[BPF_MAP_TYPE_PERCPU_ARRAY];
	int (*max_entries)[COUNTS];
	u32 *key;
	u64 *value;
} counts SECTION(".maps");

static inline void count(u32 what)
{
	u64 *counter = bpf_map_lookup_elem(&counts, &what);

	if (counter)
		++*counter;
}

#include "steer/follow.h"

static inline bool is_leased(u64 now)
{
	u32 first = 0;
	u64 *until = bpf_map_lookup_elem(&lease, &first);

	return until && now < *until;
}

/* The RTT of the handshake in units of 64 microseconds, up to 4 seconds; zero: unknown. */
static inline u64 handshake_of(const struct bpf_sock_ops *context)
{
	u64 rtt = ((context->srtt_us >> 3) + 63) / 64;

	return rtt < 0xffff ? rtt : 0xffff;
}

static inline void assign(struct bpf_sock_ops *context, u64 now)
{
	struct candidate candidate = {};
	int flags = BPF_SOCK_OPS_STATE_CB_FLAG;
	struct connection *connection;
	struct subject subject;
	struct unit unit;
	u64 ends[MAX_ARMS];
	const volatile u64 *wanted;
	u64 name[CONTROLLER_NAME_BYTES / 8], has[CONTROLLER_NAME_BYTES / 8];
	void *sk = context->sk;
	struct tcp_sock *tp = sk ? bpf_skc_to_tcp_sock(sk) : 0;
	u64 drawn, share = UNKNOWN_SHARE;
	u32 place, arm;

	if (!tp)
		return;
	own_unit(&unit);
	client_of(context, candidate.client);
	if (steering.remembers)
		share = remembered_share(&unit, candidate.client);
	place = rule_of(context, share);
	if (place >= MAX_RULES) {
		/* Its packets still tell the class of its network. */
		if (steering.remembers)
			bpf_sock_ops_cb_flags_set(context, context->bpf_sock_ops_cb_flags | flags);
		return;
	}
	candidate.cookie = bpf_get_socket_cookie(context);
	candidate.set_up = now;
	for (u32 at = 0; at < MAX_ARMS; at++)
		ends[at] = steering.rules[place].ends[at];
	subject_of(&subject, &unit, &candidate);
	drawn = draw(steering.key[0], steering.key[1], &subject);
	arm = arm_of(drawn, ends);
	wanted = steering.rules[place].controllers[arm & (MAX_ARMS - 1)];
	name[0] = wanted[0];
	name[1] = wanted[1];
	connection = bpf_sk_storage_get(&connections, sk, 0, BPF_SK_STORAGE_GET_F_CREATE);
	if (!connection) {
		/* A connection without stored data keeps its controller. */
		count(UNREMEMBERED);
		return;
	}
	connection->steered.unit = drawn;
	connection->steered.place = place | (u64)arm << 32;
	connection->steered.set_up = now;
	connection->steered.client[0] = candidate.client[0];
	connection->steered.client[1] = candidate.client[1];
	connection->steered.ports = context->local_port | handshake_of(context) << 16 | (u64)from_network(context->remote_port) << 32;
	if (context->op == BPF_SOCK_OPS_ACTIVE_ESTABLISHED_CB)
		connection->steered.ports |= IS_OUTGOING;
	controller_of(tp, has);
	/*
	 * The connection still belongs to this arm if the kernel refuses. Arms stay comparable only if the draw decides. To ask for
	 * what is there would take as long as to ask for another one. So the child of a listener that had chosen this name itself keeps
	 * the listener's (tcp_ca_openreq_child), also if another struct_ops was loaded under this name since.
	 */
	if ((has[0] != name[0] || has[1] != name[1]) &&
	    bpf_setsockopt(context, SOL_TCP, TCP_CONGESTION, name, CONTROLLER_NAME_BYTES))
		count(REFUSED);
	count(ASSIGNED);
	connection->followed.min_rtt = ~0U;
	if (steering.rules[place].follows)
		flags |= BPF_SOCK_OPS_RTT_CB_FLAG | BPF_SOCK_OPS_WRITE_HDR_OPT_CB_FLAG;
	bpf_sock_ops_cb_flags_set(context, context->bpf_sock_ops_cb_flags | flags);
}

static inline void tell_end(struct bpf_sock_ops *context, u64 now)
{
	struct connection *connection;
	struct followed *of;
	struct tcp_sock *tp;
	struct ended *ended;
	void *sk = context->sk;
	bool is_done, has_sent_fin, is_fin_acknowledged;

	if (!sk)
		return;
	connection = bpf_sk_storage_get(&connections, sk, 0, 0);
	tp = bpf_skc_to_tcp_sock(sk);
	/*
	 * A network keeps its class while it explores. Otherwise the controllers of a rule would be compared in different
	 * networks.
	 */
	if (steering.remembers && tp && !(connection && connection->steered.place >> 32))
		remember_end(context, tp);
	if (!connection || !tp)
		return;
	/* The FIN takes one sequence number after the data. */
	has_sent_fin = has_fin(context->args[0]);
	is_done = (u32)(tp->write_seq - tp->snd_una) <= has_sent_fin;
	is_fin_acknowledged = has_sent_fin && tp->write_seq == tp->snd_una;
	of = &connection->followed;
	if (of->begun)
		tell_object(context, connection, tp, is_done, is_fin_acknowledged);
	ended = bpf_ringbuf_reserve(&events, sizeof(*ended), 0);
	if (!ended) {
		count(UNTOLD);
		return;
	}
	ended->cookie = bpf_get_socket_cookie(context);
	ended->steered = connection->steered;
	ended->ended = now;
	/* The kernel counts sequence numbers. */
	ended->acknowledged = tp->bytes_acked - is_fin_acknowledged - (connection->steered.ports & IS_OUTGOING ? 1 : 0);
	ended->packets = tp->data_segs_out;
	ended->resent = resent_by(tp);
	ended->lost = tp->lost;
	ended->srtt = tp->srtt_us >> 3;
	ended->min_rtt = tp->rtt_min.s[0].v;
	if (of->min_rtt < ended->min_rtt)
		ended->min_rtt = of->min_rtt;
	ended->median_rtt = median_round(&of->rounds);
	ended->objects = of->number;
	ended->mss = tp->mss_cache;
	ended->rate_delivered = tp->rate_delivered;
	ended->rate_interval = tp->rate_interval_us;
	/* The sums do not include the running interval (tcp_get_info_chrono_stats), which counts if data is outstanding. */
	ended->times[0] = tp->chrono_stat[0] + (is_done ? 0 : (u32)bpf_jiffies64() - tp->chrono_start);
	ended->times[1] = tp->chrono_stat[1];
	ended->times[2] = tp->chrono_stat[2];
	/* The kernel may have refused the arm's, or the program may have chosen another one since. */
	controller_of(tp, ended->controller);
	bpf_ringbuf_submit(ended, BPF_RB_NO_WAKEUP);
}

SECTION("sockops") int steer(struct bpf_sock_ops *context)
{
	u32 op = context->op;
	bool is_new = op == BPF_SOCK_OPS_PASSIVE_ESTABLISHED_CB || op == BPF_SOCK_OPS_ACTIVE_ESTABLISHED_CB;
	u64 now;

	/* Most calls end here, or follow a connection without a read of the clock. */
	if (op == BPF_SOCK_OPS_HDR_OPT_LEN_CB)
		follow_packet(context);
	else if (op == BPF_SOCK_OPS_RTT_CB)
		follow_round(context);
	else if (op == BPF_SOCK_OPS_RETRANS_CB)
		follow_retransmission(context);
	else if (op == BPF_SOCK_OPS_STATE_CB && context->bpf_sock_ops_cb_flags & BPF_SOCK_OPS_RTT_CB_FLAG &&
		 (context->args[1] == TCP_FIN_WAIT1 || context->args[1] == TCP_LAST_ACK))
		follow_fin(context);
	if (!is_new && (op != BPF_SOCK_OPS_STATE_CB || context->args[1] != TCP_CLOSE))
		return 1;
	now = bpf_ktime_get_boot_ns();
	if (!is_leased(now))
		return 1;
	if (is_new)
		assign(context, now);
	else
		tell_end(context, now);
	return 1;
}
