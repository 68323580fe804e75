/* SPDX-License-Identifier: GPL-2.0-only OR BSD-3-Clause */
/* BtlBw, the bottleneck's bandwidth. The twin of `congestion::bbr1::btl_bw`. */
#pragma once

#include "state.h"

static inline void update_btl_bw(struct controller *bbr, u64 delivery_rate, bool is_app_limited)
{
	if (!is_app_limited || delivery_rate >= btl_bw(bbr))
		max_filter_update(&bbr->btl_bw, config.btl_bw_window, bbr->round.count, delivery_rate);
}
