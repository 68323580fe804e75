/* SPDX-License-Identifier: GPL-2.0-only OR BSD-3-Clause */
/* Packet-timed round trips. The twin of `congestion::round`. */
#pragma once

#include "../event.h"

struct round {
	u64 count;
	u64 end;
	bool has_just_started;
};

static inline void round_update(struct round *round, const struct rate_of_ack *rate)
{
	round->has_just_started = rate->prior_delivered >= round->end;
	if (round->has_just_started) {
		round->count = add(round->count, 1);
		round->end = rate->total_delivered;
	}
}
