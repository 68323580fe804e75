/* SPDX-License-Identifier: GPL-2.0-only OR BSD-3-Clause */
/* The plateau of the delivery rate. The twin of `congestion::bbr::full_pipe`. */
#pragma once

#include "../number.h"

#define FULL_PIPE_GROWTH RATIO(5, 4)
#define FULL_PIPE_ROUNDS 3

struct full_pipe {
	u64 baseline;
	u32 rounds_without_growth;
	bool is_now;
	bool is_reached;
};

static inline void full_pipe_on_round(struct full_pipe *pipe, u64 rate)
{
	if (pipe->is_now)
		return;
	if (rate >= scale(pipe->baseline, FULL_PIPE_GROWTH)) {
		pipe->baseline = rate;
		pipe->rounds_without_growth = 0;
		return;
	}
	pipe->rounds_without_growth++;
	pipe->is_now = pipe->rounds_without_growth >= FULL_PIPE_ROUNDS;
	pipe->is_reached |= pipe->is_now;
}

static inline void full_pipe_restart(struct full_pipe *pipe, u64 baseline)
{
	pipe->baseline = baseline;
	pipe->rounds_without_growth = 0;
	pipe->is_now = false;
}
