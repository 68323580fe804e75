/* SPDX-License-Identifier: GPL-2.0-only OR BSD-3-Clause */
/* The state of a connection. The twin of `congestion::bbr1::Bbr1`; each part has its own file. */
#pragma once

#include "../random.h"
#include "../bbr/full_pipe.h"
#include "../bbr/max_filter.h"
#include "../bbr/pacing.h"
#include "../bbr/round.h"
#include "../bbr/slow_stretch.h"
#include "../bbr/window.h"
#include "ack_aggregation.h"
#include "config.h"
#include "policer.h"
#include "rtprop.h"

enum mode {
	STARTUP,
	DRAIN,
	PROBE_BW,
	PROBE_RTT,
};

struct probe_bw {
	u64 phase;
	u64 phase_start;
};

struct probe_rtt {
	u64 end;
	bool is_at_least_window;
	bool has_round_passed;
};

struct loss_episode {
	u64 saved_cwnd;
	bool is_open;
	bool is_transport_recovering;
	bool has_just_opened;
	bool has_just_left;
	bool is_after_timeout;
	bool is_conserving;
	bool is_round_lossy;
};

/* The totals at the latest ACK, and of the losses since. */
struct totals {
	u64 delivered_time;
	u64 delivered;
	u64 lost;
};

struct losses {
	u64 at;
	u64 bytes;
};

struct controller {
	u64 mss;
	u64 initial_cwnd;
	u64 cwnd;
	struct random random;

	enum mode mode;
	bool is_restarting_from_idle;
	struct probe_bw probe_bw;
	struct probe_rtt probe_rtt;

	struct round round;
	struct max_filter btl_bw;
	struct rtprop rtprop;
	struct full_pipe full_pipe;
	struct ack_aggregation ack_aggregation;
	struct policer policer;
	struct slow_stretch slow_stretch;
	struct loss_episode episode;
	struct totals totals;
	struct losses latest_losses;
	struct pacing pacing;
};

static inline u64 btl_bw(const struct controller *bbr)
{
	return max_filter_get(&bbr->btl_bw);
}

/* The bandwidth for sending: the bottleneck's, or the policer's. */
static inline u64 bw(const struct controller *bbr)
{
	return is_policed(&bbr->policer) ? bbr->policer.rate : btl_bw(bbr);
}

static inline u64 min_cwnd(const struct controller *bbr)
{
	return least_window(bbr->mss);
}

/* The losses that `ack` has shown. */
static inline u64 lost_by(const struct controller *bbr, const struct ack *ack)
{
	return bbr->latest_losses.at == ack->now ? bbr->latest_losses.bytes : 0;
}
