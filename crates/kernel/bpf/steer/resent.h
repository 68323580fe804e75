/* SPDX-License-Identifier: GPL-2.0-only OR BSD-3-Clause */
/*
 * The share of packets that the connections of a client network resent. The twin of `crates/kernel/tests/twin/resent.rs`.
 *
 * A network's memory is one word, which is written at once: its packets with data, those of them that were resent, and
 * the share that rules see.
 */
#pragma once

#include "../number.h"

/* With fewer packets, the share is unknown. */
#define KNOWN_PACKETS 1000
/* With more packets, both counts are halved, so that recent connections count more. */
#define MAX_PACKETS (1 << 14)
#define MILLION 1000000ULL
#define UNKNOWN_SHARE U64_MAX

static inline u64 sent_of(u64 memory)
{
	return memory & 0xffff;
}

static inline u64 resent_of(u64 memory)
{
	return memory >> 16 & 0xffff;
}

/* The share that rules see, in millionths. */
static inline u64 share_of(u64 memory)
{
	return sent_of(memory) < KNOWN_PACKETS ? UNKNOWN_SHARE : memory >> 32;
}

/*
 * The packets with data that a connection resent. The kernel's total also counts SYNs, SYN-ACKs
 * (tcp_create_openreq_child) and FINs. If no bytes were resent, it counts only those.
 */
static inline u64 resent_with_data(u64 total, u64 bytes, u64 sent)
{
	return bytes ? min(total, sent) : 0;
}

/*
 * Adds a connection that has ended. It resent at most as many packets as it sent.
 *
 * A rule's controller changes the share by which the rule was chosen. So that networks do not go back and forth between
 * rules, the share that rules see crosses a bound upwards only when the measured share is a quarter above it, and
 * downwards only when it is a quarter below it.
 */
static inline u64 remember(u64 memory, u64 sent, u64 resent)
{
	u64 seen = share_of(memory), share;

	sent += sent_of(memory);
	resent += resent_of(memory);
	for (u32 halved = 0; sent > MAX_PACKETS && halved < 32; halved++) {
		sent >>= 1;
		resent >>= 1;
	}
	memory = sent | resent << 16;
	if (sent < KNOWN_PACKETS)
		return memory;
	share = resent * MILLION / sent;
	if (seen == UNKNOWN_SHARE)
		return memory | share << 32;
	return memory | max(share * 4 / 5, min(seen, share * 4 / 3)) << 32;
}
