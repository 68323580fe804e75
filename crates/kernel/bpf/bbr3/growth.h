/* SPDX-License-Identifier: GPL-2.0-only OR BSD-3-Clause */
/* The growth of the long-term bound during a probe. The twin of `congestion::bbr3::probe_bw::up::Growth`. */
#pragma once

#include "state.h"

#define GROWTH_MOST_DOUBLINGS 30

static inline void growth_restart(struct growth *growth, u64 doublings)
{
	growth->rounds = min(doublings, GROWTH_MOST_DOUBLINGS);
	growth->acked = 0;
}

static inline void growth_raise_slope(struct growth *growth, u64 cwnd, u64 mss)
{
	u64 share = cwnd >> growth->rounds;

	growth->rounds = min(growth->rounds + 1, GROWTH_MOST_DOUBLINGS);
	growth->acked_per_packet = max(share, mss);
}

/* The number of packets by which the bound grows for this acknowledged data. */
static inline u64 growth_on_acked(struct growth *growth, u64 acked)
{
	u64 packets;

	if (!growth->acked_per_packet)
		return 0;
	growth->acked = add(growth->acked, acked);
	packets = growth->acked / growth->acked_per_packet;
	growth->acked %= growth->acked_per_packet;
	return packets;
}
