/* SPDX-License-Identifier: GPL-2.0-only OR BSD-3-Clause */
/*
 * What a transport tells a controller: the twin of `congestion::controller`, which says what each field means.
 * What is true or false there is a word here, one as the others.
 */
#pragma once

#include "number.h"

struct connection {
	u64 now;
	u64 mss;
	u64 initial_cwnd;
	u64 seed;
};

/* What was known when a packet was sent, and what is known now that it is lost. */
struct lost {
	u64 now;
	u64 bytes;
	u64 sequence;
	u64 prior_delivered;
	u64 prior_lost;
	u64 inflight_at_send;
	u64 is_app_limited;
	u64 total_delivered;
	u64 total_lost;
};

struct rate_of_ack {
	u64 has_delivery_rate;
	u64 delivery_rate;
	u64 delivered;
	u64 prior_delivered;
	u64 total_delivered;
	u64 total_lost;
	u64 newly_lost;
	u64 inflight_at_send;
	u64 lost_since_send;
	u64 is_app_limited;
	u64 delivered_ce;
	u64 total_delivered_ce;
};

struct ack {
	u64 now;
	u64 newly_acked;
	u64 prior_inflight;
	u64 inflight;
	struct rate_of_ack rate;
	u64 has_rtt;
	u64 rtt;
	u64 is_ack_delayed;
	u64 next_departure;
	u64 is_window_full;
	u64 ce_marked;
};

/* An event as a value: what tests replay, and record. */
enum kind {
	NEW,
	IDLE_RESTART,
	LOST,
	ENTERED,
	LEFT,
	UNDONE,
	TIMEOUT,
	HANDSHAKE,
	MTU_CHANGE,
	ACK,
	REPAIRED_LOSS,
	MARKED,
};

/* What an event does not have is zero. */
struct event {
	u64 kind;
	u64 mss;
	struct connection connection;
	struct lost lost;
	struct ack ack; /* of other events: its `now`, `inflight` and `rtt` */
};
