/* SPDX-License-Identifier: GPL-2.0-only OR BSD-3-Clause */
/* The response to ECN marks. The twin of `congestion::bbr3::ecn`, which says what it takes from Linux's BBRv3. */
#pragma once

#include "../event.h"
#include "config.h"

#define ECN_UNIT 256ULL
#define ECN_GAIN (ECN_UNIT / 16)
#define ECN_FACTOR (ECN_UNIT / 3)
#define ECN_THRESHOLD (ECN_UNIT / 2)
#define ECN_STARTUP_ROUNDS 2

struct ecn {
	u64 alpha;
	u64 delivered;
	u64 delivered_ce;
	u32 startup_rounds;
	bool is_eligible;
	bool is_in_round;
	bool is_in_cycle;
	bool is_loss_in_cycle;
	bool is_reduced;
};

static inline void ecn_start_cycle(struct ecn *ecn)
{
	ecn->is_in_round = false;
	ecn->is_in_cycle = false;
	ecn->is_loss_in_cycle = false;
}

/* Sets the share of marked data since the last call. Returns false if nothing was delivered, because there is no share then. */
static inline bool ecn_next_share(struct ecn *ecn, const struct rate_of_ack *rate, u64 *share)
{
	u64 marked = sub(rate->total_delivered_ce, ecn->delivered_ce);
	u64 delivered = sub(rate->total_delivered, ecn->delivered);

	if (!delivered)
		return false;
	*share = min(times(marked, ECN_UNIT) / delivered, ECN_UNIT);
	ecn->delivered = rate->total_delivered;
	ecn->delivered_ce = rate->total_delivered_ce;
	return true;
}

static inline void ecn_average(struct ecn *ecn, u64 share)
{
	ecn->alpha = ((ECN_UNIT - ECN_GAIN) * ecn->alpha + ECN_GAIN * share) / ECN_UNIT;
}

/* A bound after the reduction. */
static inline u64 ecn_cut(const struct ecn *ecn, u64 bound)
{
	return times(bound, ECN_UNIT - ecn->alpha * ECN_FACTOR / ECN_UNIT) / ECN_UNIT;
}

static inline bool ecn_is_marked_too_much(const struct ecn *ecn, const struct rate_of_ack *rate)
{
	return ecn->is_eligible && times(rate->delivered_ce, ECN_UNIT) > times(rate->delivered, ECN_THRESHOLD);
}

/* To be called at the end of an ACK. The marks and losses of a probe also count for the cycle that begins at its end. */
static inline void ecn_note_marks(struct ecn *ecn, const struct rate_of_ack *rate)
{
	ecn->is_in_cycle |= rate->delivered_ce != 0;
	ecn->is_loss_in_cycle |= rate->lost_since_send != 0;
}
