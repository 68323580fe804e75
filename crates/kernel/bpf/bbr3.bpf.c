// SPDX-License-Identifier: GPL-2.0-only OR BSD-3-Clause
#include "bbr3/snapshot.h"
#define MOMENTS 64
#include "kernel/program.h"

SECTION(".struct_ops.link") struct tcp_congestion_ops fullpipe_bbr3 = { HOOKS, .name = NAME("bbr3") };
