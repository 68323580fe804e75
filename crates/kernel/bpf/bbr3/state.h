/* SPDX-License-Identifier: GPL-2.0-only OR BSD-3-Clause */
/* The state of a connection. The twin of `congestion::bbr3::Bbr3`; each part has its own file. */
#pragma once

#include "../random.h"
#include "../bbr/full_pipe.h"
#include "../bbr/max_filter.h"
#include "../bbr/pacing.h"
#include "../bbr/round.h"
#include "../bbr/slow_stretch.h"
#include "../bbr/window.h"
#include "config.h"
#include "ecn.h"
#include "extra_acked.h"
#include "min_rtt.h"

/* The value of a bound that does not exist. */
#define INFINITE U64_MAX

#define MAX_BW_CYCLES_BEFORE 1

enum mode {
	STARTUP,
	DRAIN,
	DOWN,
	CRUISE,
	REFILL,
	UP,
	PROBE_RTT,
};

enum ack_phase {
	ACKS_INIT,
	ACKS_REFILLING,
	ACKS_PROBE_STARTING,
	ACKS_PROBE_FEEDBACK,
	ACKS_PROBE_STOPPING,
};

struct max_bw {
	struct max_filter filter;
	u64 cycle;
};

struct probe_rtt {
	u64 end;
	u64 held_cwnd;
	bool is_draining;
	bool has_round_passed;
};

struct window_use {
	bool is_known;
	u64 full_at; /* the delivered data when the window was last full */
};

struct short_term {
	u64 bw;
	u64 inflight;
};

struct latest {
	bool is_known; /* if not, the other fields are zero */
	u64 bw;
	u64 inflight;
};

struct loss_round {
	u64 end;
	bool has_just_started;
	bool is_lossy;
};

struct startup_losses {
	u32 stretches;
	u64 latest;
};

struct caution {
	bool was_too_high;
	bool is_precautionary;
};

struct growth {
	u64 rounds;
	u64 acked;
	u64 acked_per_packet; /* zero: the bound does not grow */
};

struct probe_timing {
	struct random random;
	u64 cycle_start;
	u64 wait;
	u64 rounds;
};

enum undo_to {
	TO_NOTHING,
	TO_STARTUP,
	TO_UP,
};

struct before {
	enum undo_to to;
	struct short_term short_term;
	u64 inflight_long_term;
};

struct undo {
	struct before saved;
	struct before at_entry;
	bool has_losses;
	u64 losses_at;
};

static inline void note_end_of(struct undo *undo, enum undo_to to)
{
	undo->saved.to = to;
	undo->at_entry.to = to;
}

struct controller {
	u64 mss;
	u64 initial_cwnd;
	u64 cwnd;
	u64 saved_cwnd;
	u64 delivered;
	bool has_selective_acks;

	enum mode mode;
	bool is_restarting_from_idle;
	bool is_recovering;
	bool is_in_fast_recovery;
	u64 fast_recovery_since;
	u64 drain_start_round;
	struct probe_rtt probe_rtt;

	struct round round;
	struct max_bw max_bw;
	u64 bw; /* as the end of the latest ACK has left it */
	struct min_rtt min_rtt;
	struct full_pipe full_pipe;
	struct extra_acked extra_acked;
	struct slow_stretch slow_stretch;
	struct slow_stretch self_limited;
	struct window_use window_use;

	struct short_term short_term;
	struct latest latest;
	struct loss_round loss_round;
	struct startup_losses startup_losses;
	struct ecn ecn;

	u64 inflight_long_term;
	enum ack_phase ack_phase;
	bool is_probe_sample;
	struct caution caution;
	struct growth growth;
	struct probe_timing probe_timing;
	struct undo undo;

	struct pacing pacing;
};

static inline u64 max_bw(const struct controller *bbr)
{
	return max_filter_get(&bbr->max_bw.filter);
}

static inline u64 min_cwnd(const struct controller *bbr)
{
	return least_window(bbr->mss);
}

static inline u64 bdp(const struct controller *bbr, u64 bandwidth, ratio gain)
{
	return bdp_of(bandwidth, bbr->min_rtt.least, gain, bbr->initial_cwnd);
}

static inline bool is_in_probe_bw(const struct controller *bbr)
{
	return bbr->mode >= DOWN && bbr->mode <= UP;
}

static inline bool is_probing_bw(const struct controller *bbr)
{
	return bbr->mode == STARTUP || bbr->mode == REFILL || bbr->mode == UP;
}

/* Whether the application or ProbeRTT held back a packet that left when this much had been delivered. */
static inline bool is_held_back(const struct controller *bbr, bool is_app_limited, u64 delivered)
{
	return is_app_limited || is_in_slow_stretch(&bbr->slow_stretch, delivered);
}

static inline bool is_sample_held_back(const struct controller *bbr, const struct ack *ack)
{
	return is_held_back(bbr, ack->rate.is_app_limited, ack->rate.prior_delivered);
}
