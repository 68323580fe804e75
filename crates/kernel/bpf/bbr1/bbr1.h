/* SPDX-License-Identifier: GPL-2.0-only OR BSD-3-Clause */
/* The events of BBRv1. The twin of `congestion::bbr1`, which explains the model and the states. */
#pragma once

#include "btl_bw.h"
#include "cycle.h"
#include "probe_rtt.h"
#include "startup.h"

/* The number of packets in the smallest burst. */
#define FEWEST_PACKETS 1

/* The state must be zero at the beginning. */
static inline void controller_init(struct controller *bbr, const struct connection *connection)
{
	bbr->mss = max(connection->mss, 1);
	bbr->initial_cwnd = max(connection->initial_cwnd, bbr->mss);
	bbr->cwnd = bbr->initial_cwnd;
	bbr->random.state = connection->seed;
	bbr->rtprop.last_seen = connection->now;
	bbr->slow_stretch.from = U64_MAX;
	bbr->totals.delivered_time = connection->now;
	bbr->latest_losses.at = connection->now;
	aggregation_start_epoch(&bbr->ack_aggregation, connection->now);
	pacing_init(&bbr->pacing, config.pacing_margin, config.pacing_margin, config.high_gain, FEWEST_PACKETS,
		    bbr->initial_cwnd, bbr->mss);
}

static inline u64 controller_cwnd(const struct controller *bbr)
{
	return max(bbr->cwnd, bbr->mss);
}

static inline void on_handshake(struct controller *bbr, u64 now, u64 rtt)
{
	rtprop_update(&bbr->rtprop, now, true, rtt, false);
	pacing_fit_first_round(&bbr->pacing, rtt, bbr->cwnd, bbr->mss);
}

static inline void on_mtu_change(struct controller *bbr, u64 mss)
{
	bbr->mss = max(mss, 1);
	pacing_fit_quantum(&bbr->pacing, bbr->mss);
}

static inline void on_idle_restart(struct controller *bbr, u64 now)
{
	bbr->is_restarting_from_idle = true;
	aggregation_start_epoch(&bbr->ack_aggregation, now);
	if (bbr->mode == PROBE_BW)
		pacing_set_bw(&bbr->pacing, bw(bbr), ONE, bbr->mss);
	else
		check_probe_rtt_done(bbr, now);
}

SEPARATE int on_packet_lost(struct controller *bbr, const struct lost *lost)
{
	if (!bbr || !lost)
		return 0;
	bbr->totals.lost = add(bbr->totals.lost, lost->bytes);
	if (bbr->latest_losses.at != lost->now) {
		bbr->latest_losses.at = lost->now;
		bbr->latest_losses.bytes = 0;
	}
	bbr->latest_losses.bytes = add(bbr->latest_losses.bytes, lost->bytes);
	return 0;
}

static inline void on_recovery_entered(struct controller *bbr, u64 now UNUSED)
{
	enter_recovery(bbr);
}

/* The flow needs no recovery. */
static inline void on_repaired_loss(struct controller *bbr UNUSED, u64 now UNUSED)
{
}

/* BBRv1 does not respond to marks. */
static inline void on_marked(struct controller *bbr UNUSED)
{
}

static inline void on_recovery_left(struct controller *bbr)
{
	leave_recovery(bbr);
}

static inline void on_recovery_undone(struct controller *bbr)
{
	undo_recovery(bbr);
}

static inline void on_timeout(struct controller *bbr, u64 now UNUSED, u64 inflight)
{
	struct observation seen = {
		.now = bbr->totals.delivered_time,
		.delivered = bbr->totals.delivered,
		.lost = bbr->totals.lost,
		.has_losses = true,
		.is_app_limited = false,
		.is_round_start = true,
		.is_probe_bw = bbr->mode == PROBE_BW,
	};

	collapse(bbr, &seen, inflight);
}

/* Only a trustworthy sample may change these parts of the model. */
static inline void update_from_sample(struct controller *bbr, const struct ack *ack)
{
	bool is_app_limited =
		ack->rate.is_app_limited || is_in_slow_stretch(&bbr->slow_stretch, ack->rate.prior_delivered);
	struct observation seen;

	round_update(&bbr->round, &ack->rate);
	seen = (struct observation){
		.now = ack->now,
		.delivered = ack->rate.total_delivered,
		.lost = ack->rate.total_lost,
		.has_losses = lost_by(bbr, ack),
		.is_app_limited = is_app_limited,
		.is_round_start = bbr->round.has_just_started,
		.is_probe_bw = bbr->mode == PROBE_BW,
	};
	observe_policer(bbr, &seen);
	update_btl_bw(bbr, ack->rate.delivery_rate, is_app_limited);
	if (bbr->round.has_just_started) {
		aggregation_on_round(&bbr->ack_aggregation);
		if (!is_app_limited)
			full_pipe_on_round(&bbr->full_pipe, btl_bw(bbr));
	}
	aggregation_on_ack(&bbr->ack_aggregation, ack->now, ack->newly_acked, bw(bbr), bbr->cwnd, bbr->mss);
}

static inline void update_model(struct controller *bbr, const struct ack *ack)
{
	bbr->totals.delivered_time = ack->now;
	bbr->totals.delivered = ack->rate.total_delivered;
	bbr->totals.lost = ack->rate.total_lost;
	if (ack->rate.has_delivery_rate)
		update_from_sample(bbr, ack);
	else
		bbr->round.has_just_started = false;
	update_episode(bbr, ack);
	rtprop_update(&bbr->rtprop, ack->now, ack->has_rtt, ack->rtt, ack->is_ack_delayed);
}

SEPARATE int on_ack(struct controller *bbr, const struct ack *ack)
{
	if (!bbr || !ack)
		return 0;
	update_model(bbr, ack);
	check_cycle_phase(bbr, ack);
	check_startup_done(bbr);
	check_drain_done(bbr, ack);
	check_probe_rtt(bbr, ack);
	bbr->is_restarting_from_idle = false;
	if (ack->has_rtt)
		pacing_fit_first_round(&bbr->pacing, ack->rtt, bbr->cwnd, bbr->mss);
	pacing_follow(&bbr->pacing, bw(bbr), pacing_gain(bbr), bbr->full_pipe.is_reached, bbr->mss);
	set_cwnd(bbr, ack);
	return 0;
}
