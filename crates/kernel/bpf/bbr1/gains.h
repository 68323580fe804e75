/* SPDX-License-Identifier: GPL-2.0-only OR BSD-3-Clause */
/* The gains of each state. The twin of `Bbr1::pacing_gain` and `Bbr1::cwnd_gain`. */
#pragma once

#include "state.h"

#define UP 0
#define DOWN 1

static inline ratio pacing_gain(const struct controller *bbr)
{
	if (bbr->mode == STARTUP)
		return config.high_gain;
	if (bbr->mode == DRAIN)
		return config.drain_gain;
	if (bbr->mode == PROBE_RTT || is_policed(&bbr->policer))
		return ONE;
	if (bbr->probe_bw.phase == UP)
		return config.peak_gain;
	return bbr->probe_bw.phase == DOWN ? config.trough_gain : ONE;
}

static inline ratio cwnd_gain(const struct controller *bbr)
{
	if (bbr->mode == PROBE_RTT)
		return ONE;
	return bbr->mode == PROBE_BW ? config.cwnd_gain : config.high_gain;
}
