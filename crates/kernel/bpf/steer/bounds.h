/* SPDX-License-Identifier: GPL-2.0-only OR BSD-3-Clause */
/* The bounds of the program's loops and texts. `crates/rules/src/bounds.rs` explains them, and a test compares the two. */
#pragma once

#define MAX_RULES 32
#define MAX_ARMS 8
#define MAX_PORT_RANGES 8
#define MAX_INTERFACES 8
#define CONTROLLER_NAME_BYTES 16
#define INTERFACE_NAME_BYTES 16
#define RULE_NAME_BYTES 64
