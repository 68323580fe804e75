/* SPDX-License-Identifier: GPL-2.0-only OR BSD-3-Clause */
/* How settings are kept: for the verifier as constants, which the loader writes; for a program of the host as variables. */
#pragma once

#ifndef SETTING
#define SETTING const volatile
#endif
