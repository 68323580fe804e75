/* SPDX-License-Identifier: GPL-2.0-only OR BSD-3-Clause */
/*
 * What was in flight and what had been lost when a packet left. Mainline's rate sample says of the newest acknowledged packet
 * only how much had been delivered then; so moments are remembered by that. They are as many as two windows need, a few
 * packets apart.
 *
 * MOMENTS, a power of two, is the algorithm's: one that does not ask has a single one.
 */
#pragma once

#include "../number.h"

struct moment {
	u32 delivered;
	u32 lost;
	u32 inflight;
};

struct history {
	u32 count;
	struct moment moments[MOMENTS];
};

/* With so much delivered and lost, as much came to be in flight until the next ACK. */
static inline void history_note(struct history *history, u32 delivered, u32 lost, u32 inflight)
{
	const struct moment *newest = &history->moments[(history->count - 1) % MOMENTS];

	if (history->count && delivered - newest->delivered < max(inflight / (MOMENTS / 2 + 1), 1))
		return;
	history->moments[history->count++ % MOMENTS] = (struct moment){ delivered, lost, inflight };
}

/* The latest moment that is not after a packet left, or the first that is known. Counters may have wrapped. */
static inline struct moment history_at(const struct history *history, u32 delivered)
{
	u32 low = sub(history->count, MOMENTS), high = history->count;

	for (u32 length = MOMENTS; length > 1; length /= 2) {
		u32 middle = low + (high - low) / 2;

		if (high - low > 1 && (s32)(history->moments[middle % MOMENTS].delivered - delivered) <= 0)
			low = middle;
		else if (high - low > 1)
			high = middle;
	}
	return history->moments[low % MOMENTS];
}
