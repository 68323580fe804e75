/* SPDX-License-Identifier: GPL-2.0-only OR BSD-3-Clause */
/* The excess of acknowledged data over the expected amount. The twin of `congestion::bbr3::extra_acked`. */
#pragma once

#include "../bbr/max_filter.h"

#define EXTRA_ACKED_ROUNDS_BEFORE 9
#define EXTRA_ACKED_STARTUP_ROUNDS_BEFORE 0

struct extra_acked {
	u64 interval_start;
	u64 delivered;
	struct max_filter filter;
};

static inline void extra_acked_update(struct extra_acked *extra, u64 now, u64 acked, u64 bw, u64 cwnd, u64 round,
				      bool is_pipe_full)
{
	u64 window = is_pipe_full ? EXTRA_ACKED_ROUNDS_BEFORE : EXTRA_ACKED_STARTUP_ROUNDS_BEFORE;
	u64 expected = bytes_in(bw, since(now, extra->interval_start));

	if (extra->delivered <= expected) {
		extra->delivered = 0;
		extra->interval_start = now;
		expected = 0;
	}
	extra->delivered = add(extra->delivered, acked);
	max_filter_update(&extra->filter, window, round, min(sub(extra->delivered, expected), cwnd));
}
