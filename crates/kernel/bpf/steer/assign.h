/* SPDX-License-Identifier: GPL-2.0-only OR BSD-3-Clause */
/*
 * The arm of a connection. The twin of `crates/experiment/src/assignment.rs`. A keyed hash of the connection's unit
 * decides. The program therefore stores nothing, and nobody without the key can choose an arm.
 */
#pragma once

#include "../number.h"
#include "bounds.h"

/* The kinds of units. */
enum unit_kind {
	UNIT_CONNECTION,
	UNIT_PREFIX,
	UNIT_SLOT,
};

/* The unit of randomisation. */
struct unit {
	u64 kind;
	u64 v4_mask[2]; /* for an IPv4 address in an IPv6 address */
	u64 v6_mask[2];
	u64 slot; /* in nanoseconds; zero for a prefix, whose slot never ends */
	u64 boot; /* the time of boot, in nanoseconds since 1970: slots follow the calendar, and are the same on each machine */
};

/* The data of a connection. Addresses are of IPv6, with the upper half first; IPv4 is ::ffff:a.b.c.d. */
struct candidate {
	u64 cookie;
	u64 client[2];
	u64 set_up; /* nanoseconds since boot */
};

struct subject {
	u64 words[4];
};

static inline bool is_v4(const u64 *address)
{
	return !address[0] && address[1] >> 32 == 0xffff;
}

static inline u64 slot_of(const struct unit *unit, const struct candidate *of)
{
	u64 at = unit->boot + of->set_up;

	return unit->slot ? at / unit->slot : at;
}

/* The first address of a client's network. */
static inline void network_of(u64 *network, const struct unit *unit, const u64 *client)
{
	bool v4 = is_v4(client);

	network[0] = client[0] & (v4 ? unit->v4_mask[0] : unit->v6_mask[0]);
	network[1] = client[1] & (v4 ? unit->v4_mask[1] : unit->v6_mask[1]);
}

static inline void subject_of(struct subject *subject, const struct unit *unit, const struct candidate *of)
{
	subject->words[0] = unit->kind;
	subject->words[1] = 0;
	subject->words[2] = 0;
	subject->words[3] = 0;
	if (unit->kind == UNIT_PREFIX) {
		network_of(&subject->words[1], unit, of->client);
		if (unit->slot)
			subject->words[3] = slot_of(unit, of);
	} else if (unit->kind == UNIT_SLOT) {
		subject->words[1] = slot_of(unit, of);
	} else {
		subject->words[1] = of->cookie;
	}
}

static inline u64 rotate(u64 word, u32 by)
{
	return word << by | word >> (64 - by);
}

#define SIP_ROUND                                                                                                     \
	do {                                                                                                          \
		v0 += v1;                                                                                             \
		v1 = rotate(v1, 13) ^ v0;                                                                             \
		v0 = rotate(v0, 32);                                                                                  \
		v2 += v3;                                                                                             \
		v3 = rotate(v3, 16) ^ v2;                                                                             \
		v0 += v3;                                                                                             \
		v3 = rotate(v3, 21) ^ v0;                                                                             \
		v2 += v1;                                                                                             \
		v1 = rotate(v1, 17) ^ v2;                                                                             \
		v2 = rotate(v2, 32);                                                                                  \
	} while (0)

/* SipHash-2-4 (Aumasson and Bernstein, 2012) of four words. */
static inline u64 draw(u64 key0, u64 key1, const struct subject *of)
{
	u64 v0 = key0 ^ 0x736f6d6570736575ULL, v1 = key1 ^ 0x646f72616e646f6dULL;
	u64 v2 = key0 ^ 0x6c7967656e657261ULL, v3 = key1 ^ 0x7465646279746573ULL;

	for (int word = 0; word < 5; word++) {
		/* The last block is the length. */
		u64 block = word < 4 ? of->words[word & 3] : (u64)sizeof(*of) << 56;

		v3 ^= block;
		SIP_ROUND;
		SIP_ROUND;
		v0 ^= block;
	}
	v2 ^= 0xff;
	SIP_ROUND;
	SIP_ROUND;
	SIP_ROUND;
	SIP_ROUND;
	return v0 ^ v1 ^ v2 ^ v3;
}

/* The first arm whose end is above the draw's upper half. */
static inline u32 arm_of(u64 drawn, const u64 *ends)
{
	for (u32 arm = 0; arm < MAX_ARMS; arm++)
		if (drawn >> 32 < ends[arm])
			return arm;
	return 0;
}
