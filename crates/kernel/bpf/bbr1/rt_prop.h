/* SPDX-License-Identifier: GPL-2.0-only OR BSD-3-Clause */
/* RTprop, the round-trip propagation time. The twin of `congestion::bbr1::rt_prop`. */
#pragma once

#include "../bbr/window.h"
#include "config.h"

struct rt_prop {
	struct rtt least;
	u64 last_seen;
	bool is_expired;
};

static inline void rt_prop_update(struct rt_prop *rt_prop, u64 now, bool has_rtt, u64 rtt, bool is_ack_delayed)
{
	bool is_seen, is_renewal;

	rt_prop->is_expired = since(now, rt_prop->last_seen) > config.rt_prop_window;
	if (!has_rtt)
		return;
	is_seen = !rt_prop->least.is_known || rtt < rt_prop->least.nanos;
	is_renewal = rt_prop->is_expired && !is_ack_delayed;
	if (is_seen || is_renewal) {
		rt_prop->last_seen = now;
		rt_prop->least = (struct rtt){ true, rtt };
	}
}

/* ProbeRTT has measured it. */
static inline void rt_prop_mark_seen(struct rt_prop *rt_prop, u64 now)
{
	rt_prop->last_seen = now;
	rt_prop->is_expired = false;
}
