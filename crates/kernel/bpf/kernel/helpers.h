/* SPDX-License-Identifier: GPL-2.0-only OR BSD-3-Clause */
/* The kernel's helper functions, by number (<uapi/linux/bpf.h>). */
#pragma once

#include "../number.h"

static u64 (*bpf_ktime_get_ns)(void) = (void *)5;
static u32 (*bpf_get_prandom_u32)(void) = (void *)7;
static void *(*bpf_sk_storage_get)(void *map, void *sk, void *value, u64 flags) = (void *)107;
static long (*bpf_sk_storage_delete)(void *map, void *sk) = (void *)108;

static void *(*bpf_ringbuf_reserve)(void *map, u64 size, u64 flags) UNUSED = (void *)131;
static void (*bpf_ringbuf_submit)(void *record, u64 flags) UNUSED = (void *)132;

#define BPF_MAP_TYPE_SK_STORAGE 24
#define BPF_MAP_TYPE_RINGBUF 27
#define BPF_F_NO_PREALLOC 1
#define BPF_SK_STORAGE_GET_F_CREATE 1
