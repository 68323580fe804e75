/* SPDX-License-Identifier: GPL-2.0-only OR BSD-3-Clause */
/* RTprop, the round-trip propagation time. The twin of `congestion::bbr1::rtprop`. */
#pragma once

#include "../bbr/window.h"
#include "config.h"

struct rtprop {
	struct rtt least;
	u64 last_seen;
	bool is_expired;
};

static inline void rtprop_update(struct rtprop *rtprop, u64 now, bool has_rtt, u64 rtt, bool is_ack_delayed)
{
	bool is_seen, is_renewal;

	rtprop->is_expired = since(now, rtprop->last_seen) > config.rtprop_window;
	if (!has_rtt)
		return;
	is_seen = !rtprop->least.is_known || rtt < rtprop->least.nanos;
	is_renewal = rtprop->is_expired && !is_ack_delayed;
	if (is_seen || is_renewal) {
		rtprop->last_seen = now;
		rtprop->least = (struct rtt){ true, rtt };
	}
}

/* ProbeRTT has measured it. */
static inline void rtprop_mark_seen(struct rtprop *rtprop, u64 now)
{
	rtprop->last_seen = now;
	rtprop->is_expired = false;
}
