/* SPDX-License-Identifier: GPL-2.0-only OR BSD-3-Clause */
/* The observable state of a controller. The twin of `congestion::Snapshot`, in the order of crates/kernel/src/snapshot.rs. */
#pragma once

#include "number.h"

struct snapshot {
	u64 cwnd;
	u64 pacing_rate;
	u64 send_quantum;
	u64 mode;
	u64 bw; /* zero: unknown */
	u64 min_rtt; /* U64_MAX: unknown */
	ratio pacing_gain;
	ratio cwnd_gain;
	u64 round;
	/* U64_MAX: no bound. */
	u64 short_term_bw;
	u64 short_term_inflight;
	u64 long_term_inflight;
};
