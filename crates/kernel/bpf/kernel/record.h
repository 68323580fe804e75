/* SPDX-License-Identifier: GPL-2.0-only OR BSD-3-Clause */
/*
 * For the test that replays what a kernel told the algorithm: each event, and what an observer sees after it. Only a program that is
 * compiled with RECORDED has any of it.
 */
#pragma once

#ifdef RECORDED

#include "flow.h"

struct record {
	u64 flow;
	struct event event;
	struct snapshot seen;
};

struct {
	int (*type)[BPF_MAP_TYPE_RINGBUF];
	int (*max_entries)[1 << 26];
} records SECTION(".maps");

/* Events that found no room. */
u64 unrecorded;

static inline struct record *record_of(struct flow *flow, u64 kind)
{
	struct record *record = bpf_ringbuf_reserve(&records, sizeof(*record), 0);

	if (!record) {
		__sync_fetch_and_add(&unrecorded, 1);
		return record;
	}
	__builtin_memset(record, 0, sizeof(*record));
	record->flow = (u64)flow;
	record->event.kind = kind;
	return record;
}

/* After an event; WHAT fills in what is known of it. */
#define RECORD(FLOW, KIND, WHAT)                                                                                      \
	do {                                                                                                          \
		struct record *record = record_of(FLOW, KIND);                                                        \
                                                                                                                      \
		if (record) {                                                                                         \
			struct event *event UNUSED = &record->event;                                                  \
                                                                                                                      \
			WHAT;                                                                                         \
			record->seen = controller_snapshot(&(FLOW)->controller);                                      \
			bpf_ringbuf_submit(record, 0);                                                                \
		}                                                                                                     \
	} while (0)

#define NAME(name) "recorded_" name

#else

#define RECORD(FLOW, KIND, WHAT)
#define NAME(name) "fullpipe_" name

#endif
