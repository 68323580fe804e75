/* SPDX-License-Identifier: GPL-2.0-only OR BSD-3-Clause */
/* The storage of settings: constants for the verifier, which the loader writes, and variables for a program of the host. */
#pragma once

#ifndef SETTING
#define SETTING const volatile
#endif
