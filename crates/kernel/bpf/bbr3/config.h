/* SPDX-License-Identifier: GPL-2.0-only OR BSD-3-Clause */
/* The settings. The twin of `congestion::bbr3::Config` and of the constants beside it. */
#pragma once

#include "../number.h"
#include "../setting.h"

struct config {
	ratio startup_pacing_gain;
	ratio drain_pacing_gain;
	ratio down_pacing_gain;
	ratio up_pacing_gain;
	ratio cwnd_gain;
	ratio up_cwnd_gain;
	ratio probe_rtt_cwnd_gain;
	ratio pacing_margin;
	ratio loss_threshold;
	ratio beta;
	ratio headroom;
	u64 min_rtt_window;
	u64 probe_rtt_interval;
	u64 probe_rtt_duration;
	u64 least_probe_wait;
	u64 random_probe_wait;
	u64 most_probe_rounds;
	u64 full_losses;
	u64 offload_quanta;
	u64 has_ecn;
	u64 ecn_max_rtt;
	u64 ignores_self_limited;
	u64 has_bbr1_min_rtt;
};

extern SETTING struct config config;
