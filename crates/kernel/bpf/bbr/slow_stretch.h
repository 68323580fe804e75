/* SPDX-License-Identifier: GPL-2.0-only OR BSD-3-Clause */
/* The part of the delivery curve in which the flow was slow on purpose. The twin of `congestion::bbr::slow_stretch`. */
#pragma once

#include "../number.h"

struct slow_stretch {
	u64 from;
	u64 to;
};

static inline bool is_in_slow_stretch(const struct slow_stretch *stretch, u64 prior_delivered)
{
	return stretch->from <= prior_delivered && prior_delivered <= stretch->to;
}

static inline void slow_stretch_follow(struct slow_stretch *stretch, bool is_slow, u64 delivered, u64 inflight)
{
	bool is_open = stretch->to == U64_MAX;

	if (is_slow && !is_open) {
		if (!is_in_slow_stretch(stretch, delivered))
			stretch->from = delivered;
		stretch->to = U64_MAX;
	} else if (!is_slow && is_open) {
		stretch->to = add(delivered, inflight);
	}
}
