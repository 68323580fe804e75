/* SPDX-License-Identifier: GPL-2.0-only OR BSD-3-Clause */
/*
 * The kernel's types, as far as the programs use them. The loader takes the offsets of fields from the BTF of the
 * running kernel (CO-RE). Only names matter here, and only the fields in use are declared.
 */
#pragma once

#include "../number.h"

#ifdef __bpf__

#define SECTION(name) __attribute__((section(name), used))

/* The queries of `__builtin_preserve_field_info`. */
enum { BYTE_OFFSET = 0, BYTE_SIZE = 1, LEFT_SHIFT = 4, RIGHT_SHIFT = 5 };

/* The position of a bit of a structure in the running kernel. */
#define IS_SET(of, bit)                                                                                              \
	({                                                                                                            \
		const void *byte = (const void *)(of) + __builtin_preserve_field_info((of)->bit, BYTE_OFFSET);        \
		u64 bits;                                                                                             \
                                                                                                                      \
		asm volatile("" : "+r"(byte));                                                                        \
		switch (__builtin_preserve_field_info((of)->bit, BYTE_SIZE)) {                                        \
		case 1: bits = *(const u8 *)byte; break;                                                              \
		case 2: bits = *(const u16 *)byte; break;                                                             \
		case 4: bits = *(const u32 *)byte; break;                                                             \
		default: bits = *(const u64 *)byte; break;                                                            \
		}                                                                                                     \
		bits << __builtin_preserve_field_info((of)->bit, LEFT_SHIFT) >>                                       \
			__builtin_preserve_field_info((of)->bit, RIGHT_SHIFT);                                        \
	})

#else

#define SECTION(name) __attribute__((used))
#define IS_SET(of, bit) ((of)->bit)

#endif

/* <linux/tcp.h>, <net/tcp.h>, <net/sock.h>, <uapi/linux/tcp.h> */
#define TCP_INFINITE_SSTHRESH 0x7fffffff
#define TCP_CONG_NON_RESTRICTED 1
#define SK_PACING_NONE 0
#define SK_PACING_NEEDED 1

enum tcp_ca_state {
	TCP_CA_Open,
	TCP_CA_Disorder,
	TCP_CA_CWR,
	TCP_CA_Recovery,
	TCP_CA_Loss,
};

enum tcp_ca_event {
	CA_EVENT_TX_START,
};

#ifdef __bpf__
#pragma clang attribute push(__attribute__((preserve_access_index)), apply_to = record)
#endif

struct sock {
	u32 sk_pacing_status;
	unsigned long sk_pacing_rate;
	unsigned long sk_max_pacing_rate;
};

struct inet_sock {
	struct sock sk;
};

struct inet_connection_sock {
	struct inet_sock icsk_inet;
};

struct minmax_sample {
	u32 t;
	u32 v;
};

struct minmax {
	struct minmax_sample s[3];
};

struct tcp_options_received {
	u16 sack_ok : 3;
};

struct tcp_sock {
	struct inet_connection_sock inet_conn;
	u64 tcp_wstamp_ns;
	u64 tcp_clock_cache;
	u32 srtt_us; /* eight times the smoothed RTT */
	struct minmax rtt_min;
	u32 mss_cache;
	u32 packets_out;
	u32 sacked_out;
	u32 lost_out;
	u32 retrans_out;
	u32 delivered;
	u32 delivered_ce;
	u32 lost;
	u32 app_limited;
	u32 snd_ssthresh;
	u32 snd_cwnd;
	u32 snd_cwnd_clamp;
	u8 is_cwnd_limited : 1;
	struct tcp_options_received rx_opt;
};

struct rate_sample {
	s32 delivered;
	long interval_us;
	long rtt_us;
	int losses;
	s32 delivered_ce;
	u32 acked_sacked;
	u32 prior_in_flight;
	bool is_app_limited;
	bool is_ack_delayed;
};

#ifdef __bpf__
#pragma clang attribute pop
#endif

struct tcp_congestion_ops {
	u32 (*ssthresh)(void *);
	void (*set_state)(void *);
	void (*cwnd_event)(void *);
	void (*cwnd_event_tx_start)(void *); /* the third word: the loader clears it for kernels without this hook */
	void (*cong_control)(void *);
	u32 (*undo_cwnd)(void *);
	u32 (*sndbuf_expand)(void *);
	void (*init)(void *);
	void (*release)(void *);
	u32 flags;
	char name[16];
};
