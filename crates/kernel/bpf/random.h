/* SPDX-License-Identifier: GPL-2.0-only OR BSD-3-Clause */
/* SplitMix64 with David Stafford's "Mix4", as the crate `rand_xoshiro` has it for 32 bits. */
#pragma once

#include "number.h"

struct random {
	u64 state;
};

static inline u32 random_next(struct random *random)
{
	u64 z = random->state += 0x9e3779b97f4a7c15ULL;

	z = (z ^ z >> 33) * 0x62a9d9ed799705f5ULL;
	z = (z ^ z >> 28) * 0xcb24d0a5c88c35b3ULL;
	return z >> 32;
}
