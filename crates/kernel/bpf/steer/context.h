/* SPDX-License-Identifier: GPL-2.0-only OR BSD-3-Clause */
/*
 * The context of a control group's program for a connection (<uapi/linux/bpf.h>, `struct bpf_sock_ops`), and the
 * helpers that it may call.
 */
#pragma once

#include "../number.h"

#ifdef __bpf__
#define SECTION(name) __attribute__((section(name), used))
#else
#define SECTION(name) __attribute__((used))
#endif

/* The layout is part of the kernel's interface. Each read is of one field, because the verifier requires it. */
struct bpf_sock_ops {
	volatile u32 op;
	volatile u32 args[4];
	volatile u32 family;
	volatile u32 remote_ip4;
	volatile u32 local_ip4;
	volatile u32 remote_ip6[4];
	volatile u32 local_ip6[4];
	volatile u32 remote_port; /* in network order */
	volatile u32 local_port; /* in host order */
	volatile u32 is_fullsock;
	volatile u32 snd_cwnd;
	volatile u32 srtt_us; /* eight times the smoothed RTT */
	volatile u32 bpf_sock_ops_cb_flags;
	volatile u32 state;
	volatile u32 rtt_min;
	volatile u32 snd_ssthresh;
	volatile u32 rcv_nxt;
	volatile u32 snd_nxt;
	volatile u32 snd_una;
	volatile u32 mss_cache;
	volatile u32 ecn_flags;
	volatile u32 rate_delivered;
	volatile u32 rate_interval_us;
	volatile u32 packets_out;
	volatile u32 retrans_out;
	volatile u32 total_retrans;
	volatile u32 segs_in;
	volatile u32 data_segs_in;
	volatile u32 segs_out;
	volatile u32 data_segs_out;
	volatile u32 lost_out;
	volatile u32 sacked_out;
	volatile u32 sk_txhash;
	volatile u64 bytes_received;
	volatile u64 bytes_acked;
	void *sk;
	void *skb_data;
	void *skb_data_end;
	volatile u32 skb_len;
};

#define BPF_SOCK_OPS_ACTIVE_ESTABLISHED_CB 4
#define BPF_SOCK_OPS_PASSIVE_ESTABLISHED_CB 5
#define BPF_SOCK_OPS_RETRANS_CB 9
#define BPF_SOCK_OPS_STATE_CB 10
#define BPF_SOCK_OPS_RTT_CB 12
#define BPF_SOCK_OPS_HDR_OPT_LEN_CB 14
#define BPF_SOCK_OPS_RETRANS_CB_FLAG (1 << 1)
#define BPF_SOCK_OPS_STATE_CB_FLAG (1 << 2)
#define BPF_SOCK_OPS_RTT_CB_FLAG (1 << 3)
#define BPF_SOCK_OPS_WRITE_HDR_OPT_CB_FLAG (1 << 6)

#define TCP_FIN_WAIT1 4
#define TCP_FIN_WAIT2 5
#define TCP_CLOSE 7
#define TCP_LAST_ACK 9
#define TCP_CLOSING 11
#define AF_INET 2
#define SOL_TCP 6
#define TCP_CONGESTION 13

#ifdef __bpf__
#pragma clang attribute push(__attribute__((preserve_access_index)), apply_to = record)
#endif

struct minmax_sample {
	u32 t;
	u32 v;
};

struct minmax {
	struct minmax_sample s[3];
};

struct tcp_rack {
	u32 rtt_us;
};

struct net_device {
	char name[16];
};

struct dst_entry {
	struct net_device *dev;
};

struct sock {
	struct dst_entry *sk_dst_cache;
};

struct tcp_congestion_ops {
	char name[16];
};

struct inet_connection_sock {
	struct tcp_congestion_ops *icsk_ca_ops;
};

struct tcp_sock {
	u64 bytes_acked;
	u64 bytes_received;
	u64 bytes_retrans;
	u64 delivered_mstamp;
	u64 tcp_mstamp;
	u32 snd_una;
	u32 snd_nxt;
	u32 write_seq;
	u32 retrans_out;
	u32 lost_out;
	u32 sacked_out;
	struct tcp_rack rack;
	u32 srtt_us; /* eight times the smoothed RTT */
	struct minmax rtt_min;
	u32 mss_cache;
	u32 data_segs_out;
	u32 total_retrans;
	u32 delivered;
	u32 lost;
	u32 rate_delivered;
	u32 rate_interval_us;
	u32 chrono_start;
	u32 chrono_stat[3];
};

#ifdef __bpf__
#pragma clang attribute pop
#endif

static void *(*bpf_map_lookup_elem)(void *map, const void *key) = (void *)1;
static long (*bpf_map_update_elem)(void *map, const void *key, const void *value, u64 flags) = (void *)2;
static u64 (*bpf_ktime_get_ns)(void) = (void *)5;
static u64 (*bpf_get_socket_cookie)(void *context) = (void *)46;
static long (*bpf_setsockopt)(void *context, int level, int name, void *value, int length) = (void *)49;
static long (*bpf_sock_ops_cb_flags_set)(void *context, int flags) = (void *)59;
static void *(*bpf_sk_storage_get)(void *map, void *sk, void *value, u64 flags) = (void *)107;
static u64 (*bpf_jiffies64)(void) = (void *)118;
static u64 (*bpf_ktime_get_boot_ns)(void) = (void *)125;
static void *(*bpf_ringbuf_reserve)(void *map, u64 size, u64 flags) = (void *)131;
static void (*bpf_ringbuf_submit)(void *record, u64 flags) = (void *)132;
static struct tcp_sock *(*bpf_skc_to_tcp_sock)(void *sk) = (void *)137;

#define BPF_MAP_TYPE_ARRAY 2
#define BPF_MAP_TYPE_PERCPU_ARRAY 6
#define BPF_MAP_TYPE_LRU_HASH 9
#define BPF_MAP_TYPE_LPM_TRIE 11
#define BPF_MAP_TYPE_SK_STORAGE 24
#define BPF_MAP_TYPE_RINGBUF 27
#define BPF_F_NO_PREALLOC 1
#define BPF_SK_STORAGE_GET_F_CREATE 1
#define BPF_RB_NO_WAKEUP 1 /* the reader looks by itself */

/*
 * This load is a separate function. Otherwise the compiler first selects one of two addresses and then loads from it,
 * which the verifier rejects.
 */
#define FIELD(CONTEXT, NAME)                                                                                          \
	({                                                                                                            \
		u32 field = (CONTEXT)->NAME;                                                                          \
                                                                                                                      \
		asm volatile("" : "+r"(field));                                                                       \
		field;                                                                                                \
	})

static inline u32 from_network(u32 word)
{
	return __builtin_bswap32(word);
}

/* Whether a connection in this state has sent a FIN, or has one to send behind its data. */
static inline bool has_fin(u32 state)
{
	return state == TCP_FIN_WAIT1 || state == TCP_FIN_WAIT2 || state == TCP_CLOSING || state == TCP_LAST_ACK;
}

/* The name of a connection's controller, with zeros behind it; zeros: unknown. This takes a tenth of the time of getsockopt. */
static inline void controller_of(struct tcp_sock *tp, u64 *name)
{
	/* A TCP socket begins with its generic parts. */
	struct tcp_congestion_ops *ops = ((struct inet_connection_sock *)tp)->icsk_ca_ops;

	name[0] = ops ? *(const u64 *)&ops->name[0] : 0;
	name[1] = ops ? *(const u64 *)&ops->name[8] : 0;
}

/* The remote address, as an IPv6 address. */
static inline void client_of(const struct bpf_sock_ops *context, u64 *client)
{
	if (context->family == AF_INET) {
		client[0] = 0;
		client[1] = 0xffffULL << 32 | from_network(FIELD(context, remote_ip4));
	} else {
		client[0] = (u64)from_network(FIELD(context, remote_ip6[0])) << 32 | from_network(FIELD(context, remote_ip6[1]));
		client[1] = (u64)from_network(FIELD(context, remote_ip6[2])) << 32 | from_network(FIELD(context, remote_ip6[3]));
	}
}
