// SPDX-License-Identifier: GPL-2.0-only OR BSD-3-Clause
#include "bbr1/snapshot.h"
#define MOMENTS 1
#include "kernel/program.h"

SECTION(".struct_ops.link") struct tcp_congestion_ops fullpipe_bbr1 = { HOOKS, .name = NAME("bbr1") };
