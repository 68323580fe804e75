/* SPDX-License-Identifier: GPL-2.0-only OR BSD-3-Clause */
/* The excess of acknowledged data over the expected amount. The twin of `congestion::bbr1::ack_aggregation`. */
#pragma once

#include "../number.h"
#include "config.h"

#define AGGREGATION_HALF_WINDOW 5
#define AGGREGATION_MAX_SILENCE MILLIS(100ULL)
#define AGGREGATION_MAX_EPOCH_PACKETS (1ULL << 20)

struct ack_aggregation {
	u64 epoch_start;
	u64 epoch_acked;
	u64 current;
	u64 previous;
	u64 rounds;
};

static inline void aggregation_on_round(struct ack_aggregation *aggregation)
{
	if (++aggregation->rounds >= AGGREGATION_HALF_WINDOW) {
		aggregation->rounds = 0;
		aggregation->previous = aggregation->current;
		aggregation->current = 0;
	}
}

static inline void aggregation_start_epoch(struct ack_aggregation *aggregation, u64 now)
{
	aggregation->epoch_start = now;
	aggregation->epoch_acked = 0;
}

static inline void aggregation_on_ack(struct ack_aggregation *aggregation, u64 now, u64 acked, u64 bw, u64 cwnd,
				      u64 mss)
{
	u64 expected = bytes_in(bw, since(now, aggregation->epoch_start)) / mss * mss;

	if (aggregation->epoch_acked <= expected ||
	    add(aggregation->epoch_acked, acked) >= times(mss, AGGREGATION_MAX_EPOCH_PACKETS)) {
		aggregation_start_epoch(aggregation, now);
		expected = 0;
	}
	aggregation->epoch_acked = add(aggregation->epoch_acked, acked);
	aggregation->current = max(aggregation->current, min(sub(aggregation->epoch_acked, expected), cwnd));
}

static inline u64 aggregation_allowance(const struct ack_aggregation *aggregation, u64 bw)
{
	u64 extra = scale(max(aggregation->current, aggregation->previous), config.extra_acked_gain);

	return min(extra, bytes_in(bw, AGGREGATION_MAX_SILENCE));
}
