/* SPDX-License-Identifier: GPL-2.0-only OR BSD-3-Clause */
/* The minimum RTT, over two windows of time, or one. The twin of `congestion::bbr3::min_rtt`. */
#pragma once

#include "../bbr/window.h"
#include "config.h"

struct min_rtt {
	struct rtt least;
	u64 least_at;
	struct rtt recent;
	u64 recent_at;
	bool is_expired;
};

static inline void min_rtt_start(struct min_rtt *min_rtt, u64 now, u64 srtt)
{
	if (min_rtt->least.is_known)
		return;
	min_rtt->least = (struct rtt){ true, srtt };
	min_rtt->least_at = now;
	if (config.has_bbr1_min_rtt) {
		min_rtt->recent = min_rtt->least;
		min_rtt->recent_at = now;
	}
}

static inline void min_rtt_update(struct min_rtt *min_rtt, u64 now, bool has_rtt, u64 rtt, bool is_ack_delayed)
{
	bool has_one_clock = config.has_bbr1_min_rtt;

	min_rtt->is_expired =
		now > add(min_rtt->recent_at, has_one_clock ? config.min_rtt_window : config.probe_rtt_interval);
	if (has_rtt) {
		bool is_lower = !min_rtt->recent.is_known || rtt < min_rtt->recent.nanos;
		bool is_renewal = min_rtt->is_expired && !(has_one_clock && is_ack_delayed);

		if (is_lower || is_renewal) {
			min_rtt->recent = (struct rtt){ true, rtt };
			min_rtt->recent_at = now;
		}
	}
	if (!min_rtt->recent.is_known)
		return;
	if (has_one_clock) {
		min_rtt->least = min_rtt->recent;
		return;
	}
	if (now > add(min_rtt->least_at, config.min_rtt_window) || !min_rtt->least.is_known ||
	    min_rtt->recent.nanos < min_rtt->least.nanos) {
		min_rtt->least = min_rtt->recent;
		min_rtt->least_at = min_rtt->recent_at;
	}
}
