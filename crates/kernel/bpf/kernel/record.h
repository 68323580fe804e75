/* SPDX-License-Identifier: GPL-2.0-only OR BSD-3-Clause */
/*
 * Records for the test that replays the events of a kernel: each event, and the snapshot after it. Only a program that
 * is compiled with RECORDED has them.
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

/* The number of events that did not fit the ring. */
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

/* To be called after an event. WHAT fills in its fields. */
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
