/* SPDX-License-Identifier: GPL-2.0-only OR BSD-3-Clause */
/*
 * The losses before a packet left. For the newest acknowledged packet, mainline's rate sample says only how much had
 * been delivered when it left. The history therefore notes the losses by that number, for as many moments as two
 * windows need.
 *
 * The algorithm defines MOMENTS, a power of two. An algorithm that does not use the history has one moment.
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
 * Notes the losses at this amount of delivered data, which hold until the next ACK. `inflight` is the data in flight
 * before the ACK. If losses are so frequent that the moments do not cover two windows, some are left out.
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

/* The losses at the latest moment with at most this amount of delivered data, or else at the first known moment. */
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
 * The inflight when a packet left, including the packet. Without reordering, this is the data that was delivered and
 * lost from then until the packet arrived.
 */
static inline u32 inflight_at_send(u32 delivered_since_send, u32 lost_since_send)
{
	return delivered_since_send + lost_since_send;
}
