/* SPDX-License-Identifier: GPL-2.0-only OR BSD-3-Clause */
/* Startup. The twin of `congestion::bbr1::startup`. */
#pragma once

#include "drain.h"

static inline void check_startup_done(struct controller *bbr)
{
	if (bbr->mode == STARTUP && bbr->full_pipe.is_reached)
		bbr->mode = DRAIN;
}
