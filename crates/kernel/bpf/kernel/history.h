/* SPDX-License-Identifier: GPL-2.0-only OR BSD-3-Clause */
/*
 * What had been lost when a packet left. Mainline's rate sample says of the newest acknowledged packet only how much had been
 * delivered then; so the losses are remembered by that, for as many moments as two windows need.
 *
 * MOMENTS, a power of two, is the algorithm's: one that does not ask has a single one.
 */
#pragma once

#include "../number.h"

struct moment {
	u32 delivered;
	u32 lost;
};

struct history {
	u32 count;
	struct moment moments[MOMENTS];
};

/*
 * With so much delivered, so much was lost until the next ACK, before which so much was in flight. With so many losses that the
 * moments would not do for two windows, some are left out.
 */
static inline void history_note(struct history *history, u32 delivered, u32 lost, u32 inflight)
{
	const struct moment *newest = &history->moments[(history->count - 1) % MOMENTS];
	const struct moment *oldest = &history->moments[history->count % MOMENTS];
	bool is_dense = history->count >= MOMENTS && delivered - oldest->delivered < 2 * inflight;
	u32 distance = is_dense ? inflight / (MOMENTS / 2 + 1) : 0;

	if (history->count && (newest->lost == lost || delivered - newest->delivered < distance))
		return;
	history->moments[history->count++ % MOMENTS] = (struct moment){ delivered, lost };
}

/* What had been lost at the latest moment that is not after so much was delivered, or else at the first that is known. */
static inline u32 history_lost_at(const struct history *history, u32 delivered)
{
	u32 low = sub(history->count, MOMENTS), high = history->count;

	for (u32 length = MOMENTS; length > 1; length /= 2) {
		u32 middle = low + (high - low) / 2;

		if (high - low <= 1)
			break;
		if ((s32)(history->moments[middle % MOMENTS].delivered - delivered) <= 0)
			low = middle;
		else
			high = middle;
	}
	return history->moments[low % MOMENTS].lost;
}

/*
 * What was in flight when a packet left, itself included: as much as was delivered and lost from then until it arrived itself,
 * unless packets have overtaken each other.
 */
static inline u32 inflight_at_send(u32 delivered_since_send, u32 lost_since_send)
{
	return delivered_since_send + lost_since_send;
}
