/* SPDX-License-Identifier: GPL-2.0-only OR BSD-3-Clause */
/*
 * A program of the host for the test of the order in which a kernel calls the hooks. A line of standard input sets a
 * field, or calls a hook. Standard output has the events that the algorithm receives.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define MOMENTS 64
#define SETTING
#include "event.h"

#define SINGLE_PACKET_RATE 150000

struct config {
	u64 none;
};

struct snapshot {
	u64 cwnd;
	u64 pacing_rate;
};

struct controller {
	u64 mss;
};

static struct snapshot controller_snapshot(const struct controller *controller);

static void controller_init(struct controller *controller, const struct connection *connection)
{
	controller->mss = connection->mss;
	puts(connection->has_selective_acks ? "new" : "new, without SACK");
}

static void on_handshake(struct controller *controller UNUSED, u64 now UNUSED, u64 rtt)
{
	printf("handshake %llu\n", rtt);
}

static void on_mtu_change(struct controller *controller, u64 mss)
{
	controller->mss = mss;
	printf("mtu_change %llu\n", mss);
}

static void on_idle_restart(struct controller *controller UNUSED, u64 now UNUSED)
{
	puts("idle_restart");
}

static void on_packet_lost(struct controller *controller, const struct lost *lost)
{
	printf("lost %llu at %llu\n", lost->bytes / controller->mss, lost->now);
}

static void on_recovery_entered(struct controller *controller UNUSED, u64 now UNUSED)
{
	puts("entered");
}

static void on_recovery_left(struct controller *controller UNUSED)
{
	puts("left");
}

static void on_recovery_undone(struct controller *controller UNUSED)
{
	puts("undone");
}

static void on_repaired_loss(struct controller *controller UNUSED, u64 now UNUSED)
{
	puts("repaired_loss");
}

static void on_marked(struct controller *controller UNUSED)
{
	puts("marked");
}

static void on_timeout(struct controller *controller, u64 now UNUSED, u64 inflight)
{
	printf("timeout, %llu in flight\n", inflight / controller->mss);
}

static void on_ack(struct controller *controller, const struct ack *ack)
{
	printf("ack of %llu, lost since its packet left %llu%s\n", ack->newly_acked / controller->mss,
	       ack->rate.lost_since_send / controller->mss, ack->is_window_full ? ", window full" : "");
}

#include "kernel/program.h"

struct config config;
static struct tcp_sock tp = { .mss_cache = 1000, .snd_cwnd = 10, .snd_cwnd_clamp = ~0U };
static struct rate_sample rs = { .rtt_us = -1 };
static struct flow flow;
static bool has_flow;

/* Keeps the window that the kernel has set, so that the next hook sees it. */
static struct snapshot controller_snapshot(const struct controller *controller)
{
	return (struct snapshot){ times(tp.snd_cwnd, controller->mss), 0 };
}

static u64 time_of_host(void)
{
	return 0;
}

static u32 number_of_host(void)
{
	return 0;
}

static void *storage_of_host(void *map UNUSED, void *sk UNUSED, void *value UNUSED, u64 flags)
{
	has_flow |= flags & BPF_SK_STORAGE_GET_F_CREATE;
	return has_flow ? &flow : NULL;
}

static long no_storage_of_host(void *map UNUSED, void *sk UNUSED)
{
	memset(&flow, 0, sizeof(flow));
	has_flow = false;
	return 0;
}

/* Whether the line sets this field. */
#define SETS(OF, FIELD) (!strcmp(word, #FIELD) ? (OF.FIELD = value, true) : false)

int main(void)
{
	char word[32];
	long long value;

	bpf_ktime_get_ns = time_of_host;
	bpf_get_prandom_u32 = number_of_host;
	bpf_sk_storage_get = storage_of_host;
	bpf_sk_storage_delete = no_storage_of_host;
	while (scanf("%31s %lld", word, &value) == 2) {
		u64 state[] = { (u64)&tp, value };
		u64 sample[] = { (u64)&tp, (u64)&rs };

		if (!strcmp(word, "init"))
			init(state);
		else if (!strcmp(word, "set_state"))
			set_state(state);
		else if (!strcmp(word, "cong_control"))
			cong_control(sample);
		else if (!strcmp(word, "undo_cwnd"))
			undo_cwnd(state);
		else if (!strcmp(word, "cwnd_event"))
			cwnd_event(state);
		else if (!strcmp(word, "cwnd_event_tx_start"))
			cwnd_event_tx_start(state);
		else if (!(SETS(tp, tcp_clock_cache) || SETS(tp, snd_cwnd) || SETS(tp, packets_out) || SETS(tp, lost_out) ||
			   SETS(tp, lost) || SETS(tp, delivered) || SETS(tp, delivered_ce) || SETS(tp, app_limited) ||
			   SETS(tp, is_cwnd_limited) || SETS(tp.rx_opt, sack_ok) || SETS(rs, losses) || SETS(rs, acked_sacked) ||
			   (!strcmp(word, "sampled") && (rs.delivered = value, rs.interval_us = 1))))
			return 2;
	}
	return feof(stdin) ? 0 : 2;
}
