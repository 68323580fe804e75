/* SPDX-License-Identifier: GPL-2.0-only OR BSD-3-Clause */
/* ProbeBW: the position in the gain cycle. The twin of `congestion::bbr1::probe_bw`; `cycle.h` has the end of a phase. */
#pragma once

#include "gains.h"

static inline u64 cycle_phases(void)
{
	return max(config.cycle_phases, 2);
}

/* Begins at a random phase other than DOWN. */
static inline void enter_probe_bw(struct controller *bbr, u64 now)
{
	u64 choice = random_next(&bbr->random) * (cycle_phases() - 1) >> 32;

	bbr->mode = PROBE_BW;
	bbr->probe_bw.phase = choice < DOWN ? choice : choice + 1;
	bbr->probe_bw.phase_start = now;
}
