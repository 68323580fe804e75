/* SPDX-License-Identifier: GPL-2.0-only OR BSD-3-Clause */
/* The settings that the loader passes: rules in order, of which the first match counts. They are constants for the verifier. */
#pragma once

#include "../setting.h"
#include "assign.h"
#include "context.h"
#include "interface.h"
#include "resent.h"

struct ports {
	u64 first;
	u64 last;
};

/* The quantities of a connection that rules bound: `crates/rules/src/quantity.rs`. */
enum quantity {
	HANDSHAKE_RTT, /* in nanoseconds */
	RESENT_SHARE, /* of the packets of the client network's connections, in millionths */
	QUANTITIES,
};

struct span {
	u64 from;
	u64 below; /* or U64_MAX */
};

/* An empty range, whose first port is above its last, stands for no range. */
struct rule {
	struct ports listen[MAX_PORT_RANGES];
	struct ports connect[MAX_PORT_RANGES];
	struct span spans[QUANTITIES];
	struct interface interfaces[MAX_INTERFACES]; /* no name: any interface */
	u64 follows; /* whether its connections' objects and round trips are followed */
	u64 least; /* the bytes of the smallest object that is reported */
	u64 ends[MAX_ARMS];
	u64 controllers[MAX_ARMS][CONTROLLER_NAME_BYTES / 8]; /* names, with zeros behind them */
	char name[RULE_NAME_BYTES]; /* the name for people */
};

struct steering {
	u64 key[2];
	struct unit unit;
	u64 count;
	u64 remembers; /* whether a rule has bounds for the share of resent packets */
	struct rule rules[MAX_RULES];
};

/*
 * Another layout of the same size, or another meaning of a word, takes another name, which differs within the first 15
 * characters. The layout's digest, by the test in `crates/kernel/src/steering.rs`: 0x72f7a7b3b6df6d70
 */
SETTING struct steering steering SECTION(".rodata.rules");

/* The rules that match a network, one bit for each. The most specific network counts. */
struct network {
	u32 length;
	u32 address[4]; /* in network order */
};

struct {
	int (*type)[BPF_MAP_TYPE_LPM_TRIE];
	int (*map_flags)[BPF_F_NO_PREALLOC];
	int (*max_entries)[1]; /* set by the loader */
	struct network *key;
	u64 *value;
} networks SECTION(".maps");

static inline u64 rules_of_network(const struct bpf_sock_ops *context)
{
	struct network network = { .length = 128 };
	u64 *rules;

	if (context->family == AF_INET) {
		network.address[2] = from_network(0xffff);
		network.address[3] = FIELD(context, remote_ip4);
	} else {
		network.address[0] = FIELD(context, remote_ip6[0]);
		network.address[1] = FIELD(context, remote_ip6[1]);
		network.address[2] = FIELD(context, remote_ip6[2]);
		network.address[3] = FIELD(context, remote_ip6[3]);
	}
	rules = bpf_map_lookup_elem(&networks, &network);
	return rules ? *rules : 0;
}

static inline bool has_port(const volatile struct ports *ports, u32 port)
{
	for (u32 range = 0; range < MAX_PORT_RANGES; range++)
		if (ports[range].first <= port && port <= ports[range].last)
			return true;
	return false;
}

/* A value of U64_MAX is unknown, and matches no bounds. */
static inline bool is_within(const volatile struct span *span, u64 value)
{
	if (value == U64_MAX)
		return !span->from && span->below == U64_MAX;
	return span->from <= value && value < span->below;
}

/* Fast Open sends data before there is an RTT. */
static inline u64 rtt_of(const struct bpf_sock_ops *context)
{
	u64 rtt = (context->srtt_us >> 3) * NANOS_PER_MICRO;

	return rtt ? rtt : U64_MAX;
}

/* Without a name, any interface will do. */
static inline bool has_interface(const struct bpf_sock_ops *context, const volatile struct interface *names)
{
	struct interface interface;

	if (!names[0].words[0])
		return true;
	interface_of(context, &interface);
	for (u32 at = 0; at < MAX_INTERFACES; at++)
		if (interface.words[0] && interface.words[0] == names[at].words[0] && interface.words[1] == names[at].words[1])
			return true;
	return false;
}

/*
 * Reads each volatile field by itself. Otherwise the compiler takes a constant for its value at compile time, which is
 * zero.
 */
static inline void own_unit(struct unit *unit)
{
	unit->kind = steering.unit.kind;
	unit->v4_mask[0] = steering.unit.v4_mask[0];
	unit->v4_mask[1] = steering.unit.v4_mask[1];
	unit->v6_mask[0] = steering.unit.v6_mask[0];
	unit->v6_mask[1] = steering.unit.v6_mask[1];
	unit->slot = steering.unit.slot;
	unit->boot = steering.unit.boot;
}

/*
 * Whether the rule matches a new connection, apart from the network. The verifier checks this for any rule, and not for
 * each. Otherwise some policies would be too much for it.
 */
SEPARATE u32 holds(struct bpf_sock_ops *context, u32 place, u64 share)
{
	bool is_server = context->op == BPF_SOCK_OPS_PASSIVE_ESTABLISHED_CB;
	u32 port = is_server ? FIELD(context, local_port) : from_network(FIELD(context, remote_port));
	u64 values[QUANTITIES] = { [HANDSHAKE_RTT] = rtt_of(context), [RESENT_SHARE] = share };
	const volatile struct rule *rule;

	if (place >= MAX_RULES)
		return false;
	rule = &steering.rules[place];
	for (u32 quantity = 0; quantity < QUANTITIES; quantity++)
		if (!is_within(&rule->spans[quantity], values[quantity]))
			return false;
	return has_port(is_server ? rule->listen : rule->connect, port) && has_interface(context, rule->interfaces);
}

/* The first rule that matches a new connection, or MAX_RULES if none does. */
SEPARATE u32 rule_of(struct bpf_sock_ops *context, u64 share)
{
	u64 candidates = rules_of_network(context);

	for (u32 place = 0; place < MAX_RULES && place < steering.count; place++)
		if (candidates >> place & 1 && holds(context, place, share))
			return place;
	return MAX_RULES;
}
