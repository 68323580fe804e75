/* SPDX-License-Identifier: GPL-2.0-only OR BSD-3-Clause */
/* The model of a token-bucket policer. The twin of `congestion::bbr1::policer`. */
#pragma once

#include "../number.h"

#define POLICER_MIN_ROUNDS 4
#define POLICER_MAX_ROUNDS (4 * POLICER_MIN_ROUNDS)
#define POLICER_LOSSY RATIO(50, 256)
#define POLICER_AGREEMENT RATIO(1, 8)
#define POLICER_AGREEMENT_RATE (4000ULL / 8)
#define POLICER_MIN_INTERVAL MILLIS(1ULL)
#define POLICER_BELIEF_ROUNDS 48

struct observation {
	u64 now;
	u64 delivered;
	u64 lost;
	bool has_losses;
	bool is_app_limited;
	bool is_round_start;
	bool is_probe_bw;
};

enum policer_phase {
	WAITING,
	SAMPLING,
	POLICED,
};

struct policer {
	enum policer_phase phase;
	u32 rounds;
	bool has_previous;
	u64 rate; /* SAMPLING: the rate of the previous interval; POLICED: the policer's rate */
	u64 start;
	u64 start_delivered;
	u64 start_lost;
};

static inline bool is_policed(const struct policer *policer)
{
	return policer->phase == POLICED;
}

static inline void policer_reset(struct policer *policer)
{
	policer->phase = WAITING;
}

static inline void policer_start_interval(struct policer *policer, const struct observation *seen)
{
	policer->phase = SAMPLING;
	policer->start = seen->now;
	policer->start_delivered = seen->delivered;
	policer->start_lost = seen->lost;
	policer->rounds = 0;
}

static inline bool policer_agree(u64 rate, u64 previous)
{
	u64 difference = rate > previous ? rate - previous : previous - rate;

	return difference <= scale(previous, POLICER_AGREEMENT) || difference <= POLICER_AGREEMENT_RATE;
}

static inline void policer_end_interval(struct policer *policer, const struct observation *seen, u64 rate)
{
	if (policer->has_previous && policer_agree(rate, policer->rate)) {
		policer->phase = POLICED;
		/* The mean of two numbers, rounded down. Their sum may overflow. */
		policer->rate = (rate & policer->rate) + ((rate ^ policer->rate) >> 1);
		policer->rounds = 0;
		return;
	}
	policer_start_interval(policer, seen);
	policer->has_previous = true;
	policer->rate = rate;
}

static inline void policer_sample(struct policer *policer, const struct observation *seen)
{
	u64 delivered, lost, length;

	if (policer->phase == WAITING) {
		if (!seen->has_losses)
			return;
		policer_start_interval(policer, seen);
		policer->has_previous = false;
	}
	if (seen->is_app_limited) {
		policer_reset(policer);
		return;
	}
	policer->rounds += seen->is_round_start;
	if (policer->rounds < POLICER_MIN_ROUNDS)
		return;
	if (policer->rounds > POLICER_MAX_ROUNDS) {
		policer_reset(policer);
		return;
	}
	if (!seen->has_losses)
		return;
	delivered = sub(seen->delivered, policer->start_delivered);
	lost = sub(seen->lost, policer->start_lost);
	length = since(seen->now, policer->start);
	if (!delivered || lost < scale(delivered, POLICER_LOSSY) || length < POLICER_MIN_INTERVAL)
		return;
	policer_end_interval(policer, seen, rate_of(delivered, length));
}

/* Takes the result of an ACK or a timeout. Returns whether the flow has just stopped assuming a policer. */
static inline bool policer_observe(struct policer *policer, const struct observation *seen)
{
	if (!is_policed(policer)) {
		policer_sample(policer, seen);
		return false;
	}
	if (!seen->is_probe_bw || !seen->is_round_start || ++policer->rounds < POLICER_BELIEF_ROUNDS)
		return false;
	policer_reset(policer);
	return true;
}
