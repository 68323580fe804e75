/* SPDX-License-Identifier: GPL-2.0-only OR BSD-3-Clause */
/*
 * The events that a transport reports to a controller. The twin of `congestion::controller`, which explains each field.
 * Truth values are words here, as all other fields.
 */
#pragma once

#include "number.h"

struct connection {
	u64 now;
	u64 mss;
	u64 initial_cwnd;
	u64 seed;
	u64 has_selective_acks;
};

/* The state when a packet was sent, and the state now that it is lost. */
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

/* An event as a value, for tests that replay and record events. */
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

/* Fields that an event does not have are zero. */
struct event {
	u64 kind;
	u64 mss;
	struct connection connection;
	struct lost lost;
	struct ack ack; /* for other events: only `now`, `inflight` and `rtt` */
};
