/* SPDX-License-Identifier: GPL-2.0-only OR BSD-3-Clause */
/* The events of BBRv3. The twin of `congestion::bbr3`, which explains the model and the states. */
#pragma once

#include "marks.h"
#include "probe_rtt.h"
#include "undo.h"

/* The number of packets in the smallest burst. */
#define FEWEST_PACKETS 2

/* The state must be zero at the beginning. */
static inline void controller_init(struct controller *bbr, const struct connection *connection)
{
	bbr->mss = max(connection->mss, 1);
	bbr->initial_cwnd = max(connection->initial_cwnd, bbr->mss);
	bbr->cwnd = bbr->initial_cwnd;
	bbr->has_selective_acks = connection->has_selective_acks;
	bbr->min_rtt.least_at = connection->now;
	bbr->min_rtt.recent_at = connection->now;
	bbr->extra_acked.interval_start = connection->now;
	bbr->slow_stretch.from = U64_MAX;
	bbr->self_limited.from = U64_MAX;
	short_term_reset(&bbr->short_term);
	bbr->ecn.alpha = ECN_UNIT;
	bbr->inflight_long_term = INFINITE;
	bbr->probe_timing.random.state = connection->seed;
	bbr->probe_timing.cycle_start = connection->now;
	pacing_init(&bbr->pacing, config.pacing_margin, RATIO(0, 1), config.startup_pacing_gain, FEWEST_PACKETS,
		    bbr->initial_cwnd, bbr->mss);
}

static inline u64 controller_cwnd(const struct controller *bbr)
{
	return max(bbr->cwnd, bbr->mss);
}

static inline void on_handshake(struct controller *bbr, u64 now, u64 rtt)
{
	min_rtt_start(&bbr->min_rtt, now, rtt);
	pacing_fit_first_round(&bbr->pacing, rtt, bbr->initial_cwnd, bbr->mss);
}

static inline void on_mtu_change(struct controller *bbr, u64 mss)
{
	bbr->mss = max(mss, 1);
	pacing_fit_quantum(&bbr->pacing, bbr->mss);
}

static inline void on_idle_restart(struct controller *bbr, u64 now)
{
	bbr->is_restarting_from_idle = true;
	bbr->extra_acked.interval_start = now;
	if (is_in_probe_bw(bbr))
		pacing_follow(&bbr->pacing, bbr->bw, ONE, bbr->full_pipe.is_reached, bbr->mss);
	else
		check_probe_rtt_done(bbr, now);
}

static inline void note_loss(struct controller *bbr, u64 now)
{
	note_losses(bbr, now);
	if (!bbr->loss_round.is_lossy) {
		bbr->loss_round.end = bbr->delivered;
		save_state_upon_loss(bbr);
	}
	bbr->loss_round.is_lossy = true;
	bbr->ecn.is_loss_in_cycle = true;
}

SEPARATE int on_packet_lost(struct controller *bbr, const struct lost *lost)
{
	if (!bbr || !lost)
		return 0;
	bbr->delivered = max(bbr->delivered, lost->total_delivered);
	note_loss(bbr, lost->now);
	startup_losses_note(&bbr->startup_losses, lost->sequence);
	handle_lost_packet(bbr, lost);
	return 0;
}

static inline void on_recovery_entered(struct controller *bbr, u64 now)
{
	begin_recovery(bbr, now);
	if (!bbr->is_in_fast_recovery)
		bbr->fast_recovery_since = bbr->delivered;
	bbr->is_in_fast_recovery = true;
}

static inline void on_repaired_loss(struct controller *bbr, u64 now)
{
	note_loss(bbr, now);
}

/* A round trip with marks begins. It may end as one with losses. */
static inline void on_marked(struct controller *bbr)
{
	bbr->ecn.is_reduced = true;
}

static inline void on_recovery_left(struct controller *bbr)
{
	bbr->ecn.is_reduced = false;
	if (!bbr->is_recovering)
		return;
	bbr->is_recovering = false;
	restore_cwnd(bbr);
}

static inline void on_recovery_undone(struct controller *bbr)
{
	on_recovery_left(bbr);
	handle_spurious_loss(bbr);
}

static inline void on_timeout(struct controller *bbr, u64 now, u64 inflight)
{
	begin_recovery(bbr, now);
	bbr->is_in_fast_recovery = false;
	bbr->cwnd = add(inflight, bbr->mss);
}

static inline void update_max_bw(struct controller *bbr, const struct ack *ack)
{
	u64 rate = rate_or_zero(ack);

	round_update(&bbr->round, &ack->rate);
	if (bbr->round.has_just_started)
		bbr->probe_timing.rounds = add(bbr->probe_timing.rounds, 1);
	if (rate && (rate >= max_bw(bbr) || !is_sample_held_back(bbr, ack)))
		max_filter_update(&bbr->max_bw.filter, MAX_BW_CYCLES_BEFORE, bbr->max_bw.cycle, rate);
}

static inline void update_model_and_state(struct controller *bbr, const struct ack *ack)
{
	update_latest(bbr, ack);
	update_max_bw(bbr, ack);
	update_ecn(bbr, ack);
	respond_to_congestion(bbr);
	extra_acked_update(&bbr->extra_acked, ack->now, ack->newly_acked, bbr->bw, bbr->cwnd, bbr->round.count,
			   bbr->full_pipe.is_reached);
	if (bbr->round.has_just_started && !is_sample_held_back(bbr, ack))
		full_pipe_on_round(&bbr->full_pipe, rate_or_zero(ack));
	check_startup_done(bbr, ack);
	check_drain_done(bbr, ack);
	update_cycle(bbr, ack);
	hold_probe_rtt_cwnd(bbr);
	min_rtt_update(&bbr->min_rtt, ack->now, ack->has_rtt, ack->rtt, ack->is_ack_delayed);
	check_probe_rtt(bbr, ack);
	advance_latest(bbr, ack);
	bbr->bw = min(max_bw(bbr), bbr->short_term.bw);
	ecn_note_marks(&bbr->ecn, &ack->rate);
}

SEPARATE int on_ack(struct controller *bbr, const struct ack *ack)
{
	if (!bbr || !ack)
		return 0;
	window_use_update(bbr, ack->is_window_full);
	bbr->delivered = max(bbr->delivered, ack->rate.total_delivered);
	update_model_and_state(bbr, ack);
	if (ack->has_rtt)
		pacing_fit_first_round(&bbr->pacing, ack->rtt, bbr->initial_cwnd, bbr->mss);
	pacing_follow(&bbr->pacing, bbr->bw, pacing_gain(bbr), bbr->full_pipe.is_reached, bbr->mss);
	set_cwnd(bbr, ack);
	bbr->is_in_fast_recovery &= bbr->is_recovering;
	slow_stretch_follow(&bbr->self_limited, is_slow_on_purpose(bbr), bbr->delivered, ack->inflight);
	return 0;
}
