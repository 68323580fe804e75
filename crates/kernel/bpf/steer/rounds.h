/* SPDX-License-Identifier: GPL-2.0-only OR BSD-3-Clause */
/*
 * Round-trip times, counted in classes. From 128 microseconds on, there are eight classes for each doubling, so the
 * middle of a class is within 1/16 of its values. Below, classes are 16 microseconds wide.
 */
#pragma once

#include "../number.h"

/* The classes reach up to 16 seconds. The last class also has longer times. */
#define ROUNDS 144
#define ROUND_UNIT 16 /* microseconds */

struct rounds {
	u32 all; /* the sum of the counts */
	u16 counts[ROUNDS];
};

static inline u32 class_of(u64 rtt)
{
	u64 value = rtt / ROUND_UNIT;
	u32 doublings = 0;

	while (value >= 16 && doublings < 17) {
		value >>= 1;
		doublings++;
	}
	value += doublings * 8;
	return value < ROUNDS ? value : ROUNDS - 1;
}

static inline u64 middle_of(u32 class)
{
	u32 doublings = class < 16 ? 0 : class / 8 - 1;
	u64 begin = (u64)(class - doublings * 8) << doublings;

	return begin * ROUND_UNIT + ((u64)ROUND_UNIT << doublings) / 2;
}

static inline void add_round(struct rounds *rounds, u64 rtt)
{
	u32 class = class_of(rtt);

	if (class >= ROUNDS)
		return;
	/* The class is full. Earlier rounds count half from now on. */
	if (rounds->counts[class] == 0xffff) {
		rounds->all = 0;
		for (u32 at = 0; at < ROUNDS; at++)
			rounds->all += rounds->counts[at] >>= 1;
	}
	rounds->counts[class]++;
	rounds->all++;
}

/* In microseconds; zero if there is no round. */
static inline u64 median_round(const struct rounds *rounds)
{
	u32 seen = 0;

	if (!rounds->all)
		return 0;
	for (u32 at = 0; at < ROUNDS; at++) {
		seen += rounds->counts[at];
		if (seen * 2 >= rounds->all)
			return middle_of(at);
	}
	return 0;
}
