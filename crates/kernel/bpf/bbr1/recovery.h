/* SPDX-License-Identifier: GPL-2.0-only OR BSD-3-Clause */
/* The effect of losses on the congestion window. The twin of `congestion::bbr1::recovery`. */
#pragma once

#include "probe_bw.h"
#include "state.h"

static inline void save_cwnd(struct controller *bbr)
{
	bool is_cut = bbr->episode.is_open || bbr->mode == PROBE_RTT;

	bbr->episode.saved_cwnd = is_cut ? max(bbr->cwnd, bbr->episode.saved_cwnd) : bbr->cwnd;
}

static inline void restore_cwnd(struct controller *bbr)
{
	bbr->cwnd = max(bbr->cwnd, bbr->episode.saved_cwnd);
}

static inline void end_conservation(struct controller *bbr)
{
	bbr->episode.has_just_opened = false;
	bbr->episode.has_just_left = false;
	bbr->episode.is_conserving = false;
	if (bbr->mode != PROBE_RTT)
		restore_cwnd(bbr);
}

static inline void close_episode(struct controller *bbr)
{
	bbr->episode.is_open = false;
	end_conservation(bbr);
}

static inline void enter_recovery(struct controller *bbr)
{
	bool goes_on = bbr->episode.has_just_left && !bbr->episode.is_after_timeout;

	save_cwnd(bbr);
	bbr->episode.has_just_opened |= !goes_on;
	bbr->episode.has_just_left = false;
	bbr->episode.is_after_timeout = false;
	bbr->episode.is_open = true;
	bbr->episode.is_transport_recovering = true;
	bbr->episode.is_round_lossy = true;
}

static inline void leave_recovery(struct controller *bbr)
{
	bbr->episode.is_transport_recovering = false;
	bbr->episode.has_just_left |= bbr->episode.is_open;
}

static inline void undo_recovery(struct controller *bbr)
{
	full_pipe_restart(&bbr->full_pipe, 0);
	policer_reset(&bbr->policer);
	leave_recovery(bbr);
}

static inline void observe_policer(struct controller *bbr, const struct observation *seen)
{
	if (config.has_policer_model && policer_observe(&bbr->policer, seen))
		enter_probe_bw(bbr, seen->now);
}

static inline void collapse(struct controller *bbr, const struct observation *seen, u64 inflight)
{
	save_cwnd(bbr);
	bbr->episode.is_open = true;
	bbr->episode.is_transport_recovering = true;
	bbr->episode.is_round_lossy = true;
	bbr->episode.has_just_opened = false;
	bbr->episode.has_just_left = false;
	bbr->episode.is_after_timeout = true;
	bbr->episode.is_conserving = false;
	bbr->cwnd = add(inflight, bbr->mss);
	bbr->full_pipe.baseline = 0;
	observe_policer(bbr, seen);
}

static inline void update_episode(struct controller *bbr, const struct ack *ack)
{
	bool has_losses = ack->rate.newly_lost;

	bbr->episode.is_round_lossy |= has_losses;
	if (!bbr->round.has_just_started)
		return;
	bbr->episode.is_conserving = false;
	if (bbr->episode.is_open && !bbr->episode.is_transport_recovering && !bbr->episode.is_round_lossy)
		close_episode(bbr);
	bbr->episode.is_round_lossy = has_losses;
}

/* Returns whether packet conservation is in force, so that the window must not grow. */
static inline bool conserve_packets(struct controller *bbr, const struct ack *ack)
{
	u64 conserved = add(ack->inflight, ack->newly_acked);

	bbr->cwnd = max(sub(bbr->cwnd, lost_by(bbr, ack)), bbr->mss);
	if (bbr->episode.has_just_left)
		close_episode(bbr);
	if (bbr->episode.has_just_opened) {
		bbr->episode.has_just_opened = false;
		bbr->episode.is_conserving = true;
		bbr->round.end = ack->rate.total_delivered;
		bbr->cwnd = conserved;
	}
	if (bbr->episode.is_conserving)
		bbr->cwnd = max(bbr->cwnd, conserved);
	return bbr->episode.is_conserving;
}
