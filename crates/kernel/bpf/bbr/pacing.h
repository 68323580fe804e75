/* SPDX-License-Identifier: GPL-2.0-only OR BSD-3-Clause */
/* The pacing rate and the size of bursts. The twin of `congestion::bbr::pacing` and `congestion::pacing`. */
#pragma once

#include "../number.h"

#define NOMINAL_RTT MILLIS(1ULL)
#define BURST_TIME (NANOS_PER_SEC >> 10)
#define MAX_BURST 65535ULL
#define SINGLE_PACKET_RATE (1200000ULL / 8)
#define SLOWEST_PACKET NANOS_PER_SEC

struct pacing {
	u64 rate;
	u64 quantum;
	ratio startup_gain;
	ratio share; /* the share of the bandwidth that the margin leaves */
	ratio first_share; /* the same for the rates that come from the initial window */
	u8 fewest; /* the number of packets in the smallest burst */
	bool has_seen_rtt;
};

static inline void pacing_fit_quantum(struct pacing *pacing, u64 mss)
{
	u64 least = pacing->rate < SINGLE_PACKET_RATE ? 1 : 2;
	u64 burst = min(bytes_in(pacing->rate, BURST_TIME), MAX_BURST);

	pacing->quantum = times(mss, max(burst / mss, max(least, pacing->fewest)));
}

static inline u64 pacing_rate_for(const struct pacing *pacing, u64 bw, ratio gain)
{
	return scale(scale(bw, gain), pacing->share);
}

static inline void pacing_set_rate(struct pacing *pacing, u64 rate, u64 mss)
{
	pacing->rate = max(rate, rate_of(mss, SLOWEST_PACKET));
	pacing_fit_quantum(pacing, mss);
}

static inline void pacing_set_bw(struct pacing *pacing, u64 bw, ratio gain, u64 mss)
{
	pacing_set_rate(pacing, pacing_rate_for(pacing, bw, gain), mss);
}

static inline void pacing_set_first(struct pacing *pacing, u64 bw, u64 mss)
{
	pacing_set_rate(pacing, scale(scale(bw, pacing->startup_gain), pacing->first_share), mss);
}

static inline void pacing_fit_first_round(struct pacing *pacing, u64 rtt, u64 window, u64 mss)
{
	if (pacing->has_seen_rtt)
		return;
	pacing->has_seen_rtt = true;
	pacing_set_first(pacing, rate_of(window, max(rtt, NANOS_PER_MICRO)), mss);
}

static inline void pacing_follow(struct pacing *pacing, u64 bw, ratio gain, bool is_full, u64 mss)
{
	u64 rate = pacing_rate_for(pacing, bw, gain);

	if (is_full || rate > pacing->rate)
		pacing_set_rate(pacing, rate, mss);
}

static inline ratio rest_of(ratio share)
{
	return RATIO(sub(denominator(share), numerator(share)), denominator(share));
}

static inline void pacing_init(struct pacing *pacing, ratio margin, ratio first_margin, ratio startup_gain, u8 fewest,
			       u64 initial_cwnd, u64 mss)
{
	pacing->fewest = fewest;
	pacing->startup_gain = startup_gain;
	pacing->share = rest_of(margin);
	pacing->first_share = rest_of(first_margin);
	pacing_set_first(pacing, rate_of(initial_cwnd, NOMINAL_RTT), mss);
}
