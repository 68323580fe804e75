/* SPDX-License-Identifier: GPL-2.0-only OR BSD-3-Clause */
/* The stretch of the delivery curve during which ProbeRTT kept the flow slow. The twin of `congestion::bbr::slow_stretch`. */
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
