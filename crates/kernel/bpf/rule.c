/* SPDX-License-Identifier: GPL-2.0-only OR BSD-3-Clause */
/*
 * A program of the host for the test that compares the match of rules with its twin. It reads settings, a table of
 * networks and new connections from standard input, again and again. It writes the place of the rule that matches each
 * connection to standard output.
 */
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define SETTING
#include "steer/rule.h"

struct entry {
	struct network network;
	u32 unused;
	u64 rules;
};

/* The parts of the way from a connection to its interface that are there. */
enum known {
	NOTHING,
	SOCKET,
	ROUTE,
	DEVICE,
};

struct question {
	u32 context[offsetof(struct bpf_sock_ops, sk) / 4]; /* its words before the pointers */
	u64 share;
	u64 known;
	u64 interface[INTERFACE_NAME_BYTES / 8];
};

static struct entry *entries;
static u64 count;

static bool is_in(const struct network *of, const struct network *address)
{
	for (u32 bit = 0; bit < of->length; bit++) {
		u8 apart = ((const u8 *)of->address)[bit / 8] ^ ((const u8 *)address->address)[bit / 8];

		if (apart >> (7 - bit % 8) & 1)
			return false;
	}
	return true;
}

/* The most specific network up to the key's length. Of equal ones, the later entry has replaced the earlier. */
static void *lookup_of_host(void *map UNUSED, const void *key)
{
	const struct network *address = key;
	struct entry *best = 0;

	for (struct entry *entry = entries; entry < entries + count; entry++) {
		u32 length = entry->network.length;

		if (length <= address->length && is_in(&entry->network, address) && (!best || length >= best->network.length))
			best = entry;
	}
	return best ? &best->rules : 0;
}

static struct tcp_sock *same_of_host(void *sk)
{
	return sk;
}

static u64 answer_of(const struct question *of)
{
	union {
		struct net_device device;
		u64 name[INTERFACE_NAME_BYTES / 8];
	} device = { .name = { of->interface[0], of->interface[1] } };
	struct dst_entry route = { .dev = of->known >= DEVICE ? &device.device : 0 };
	struct sock sk = { .sk_dst_cache = of->known >= ROUTE ? &route : 0 };
	struct bpf_sock_ops context = { .sk = of->known >= SOCKET ? &sk : 0 };

	memcpy(&context, of->context, sizeof(of->context));
	return rule_of(&context, of->share);
}

static bool is_read(void *to, u64 size, u64 number)
{
	return fread(to, size, number, stdin) == number;
}

int main(void)
{
	struct question question;
	u64 questions;

	bpf_map_lookup_elem = lookup_of_host;
	bpf_skc_to_tcp_sock = same_of_host;
	while (is_read(&steering, sizeof(steering), 1)) {
		if (!is_read(&count, sizeof(count), 1))
			return 2;
		entries = realloc(entries, (count + 1) * sizeof(*entries));
		if (!entries || !is_read(entries, sizeof(*entries), count) || !is_read(&questions, sizeof(questions), 1))
			return 2;
		while (questions--) {
			u64 answer;

			if (!is_read(&question, sizeof(question), 1))
				return 2;
			answer = answer_of(&question);
			if (fwrite(&answer, sizeof(answer), 1, stdout) != 1)
				return 2;
		}
	}
	return ferror(stdin) ? 2 : 0;
}
