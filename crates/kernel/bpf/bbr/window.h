/* SPDX-License-Identifier: GPL-2.0-only OR BSD-3-Clause */
/* The congestion window. The twin of `congestion::bbr::window`. */
#pragma once

#include "../event.h"

#define MIN_PACKETS 4

struct rtt {
	bool is_known;
	u64 nanos;
};

static inline u64 least_window(u64 mss)
{
	return times(mss, MIN_PACKETS);
}

static inline u64 bdp_of(u64 bw, struct rtt rtt, ratio gain, u64 initial)
{
	return rtt.is_known ? scale(bytes_in(bw, rtt.nanos), gain) : initial;
}

static inline u64 approach(u64 cwnd, u64 target, const struct ack *ack, bool is_full, u64 initial)
{
	if (is_full)
		return min(add(cwnd, ack->newly_acked), target);
	if (cwnd < target || ack->rate.total_delivered < initial)
		return add(cwnd, ack->newly_acked);
	return cwnd;
}
