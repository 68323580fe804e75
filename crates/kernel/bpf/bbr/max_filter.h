/* SPDX-License-Identifier: GPL-2.0-only OR BSD-3-Clause */
/* The maximum over the last rounds or cycles. The twin of `congestion::filter`, which explains it. */
#pragma once

#include "../number.h"

struct sample {
	u64 round;
	u64 value;
};

struct max_filter {
	bool has_sample;
	struct sample first, second, third;
};

static inline u64 max_filter_get(const struct max_filter *filter)
{
	return filter->has_sample ? filter->first.value : 0;
}

static inline bool is_expired(struct sample sample, u64 round, u64 window)
{
	return sub(round, sample.round) > window;
}

SEPARATE int max_filter_update(struct max_filter *filter, u64 window, u64 round, u64 value)
{
	struct sample new = { round, value };
	struct sample first, second, third;

	if (!filter)
		return 0;
	first = filter->first;
	second = filter->second;
	third = filter->third;

	if (!filter->has_sample || value >= first.value || is_expired(third, round, window)) {
		filter->has_sample = true;
		filter->first = filter->second = filter->third = new;
		return 0;
	}
	if (value >= second.value)
		second = third = new;
	else if (value >= third.value)
		third = new;

	if (is_expired(first, round, window)) {
		bool are_both = is_expired(second, round, window);

		first = are_both ? third : second;
		second = are_both ? new : third;
		third = new;
	} else if (second.round == first.round && sub(round, first.round) > window / 4) {
		second = third = new;
	} else if (third.round == second.round && sub(round, first.round) > window / 2) {
		third = new;
	}
	filter->first = first;
	filter->second = second;
	filter->third = third;
	return 0;
}
