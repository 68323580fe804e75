/* SPDX-License-Identifier: GPL-2.0-only OR BSD-3-Clause */
/*
 * The settings. The twin of `congestion::bbr1::Config`, which explains them. The settings that exist for other
 * transports or other versions are as in `Config::linux`.
 *
 * The loader writes them as a table of these fields, in the order of crates/kernel/src/parameters.rs.
 */
#pragma once

#include "../number.h"
#include "../setting.h"

struct config {
	ratio high_gain;
	ratio drain_gain;
	ratio peak_gain;
	ratio trough_gain;
	ratio cwnd_gain;
	ratio pacing_margin;
	ratio extra_acked_gain;
	u64 cycle_phases;
	u64 btl_bw_window;
	u64 rtprop_window;
	u64 probe_rtt_duration;
	u64 has_policer_model;
};

extern SETTING struct config config;
