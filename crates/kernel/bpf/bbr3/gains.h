/* SPDX-License-Identifier: GPL-2.0-only OR BSD-3-Clause */
/* The gains of each state. The twin of `Bbr3::pacing_gain` and `Bbr3::cwnd_gain`. */
#pragma once

#include "state.h"

static inline ratio pacing_gain(const struct controller *bbr)
{
	switch (bbr->mode) {
	case STARTUP:
		return config.startup_pacing_gain;
	case DRAIN:
		return config.drain_pacing_gain;
	case DOWN:
		return config.down_pacing_gain;
	case UP:
		return config.up_pacing_gain;
	default:
		return ONE;
	}
}

static inline ratio cwnd_gain(const struct controller *bbr)
{
	if (bbr->mode == UP)
		return config.up_cwnd_gain;
	return bbr->mode == PROBE_RTT ? config.probe_rtt_cwnd_gain : config.cwnd_gain;
}
