/* SPDX-License-Identifier: GPL-2.0-only OR BSD-3-Clause */
/* Drain. The twin of `congestion::bbr1::drain`. */
#pragma once

#include "cwnd.h"
#include "probe_bw.h"

static inline void check_drain_done(struct controller *bbr, const struct ack *ack)
{
	if (bbr->mode == DRAIN && in_network(bbr, ack, ack->inflight) <= inflight_at(bbr, ONE))
		enter_probe_bw(bbr, ack->now);
}
