/* SPDX-License-Identifier: GPL-2.0-only OR BSD-3-Clause */
/*
 * A program of the host for the test of medians. It reads a count and as many round-trip times from standard input. It
 * writes the value of the last one's class, and the median of all, to standard output.
 */
#include <stdio.h>

#include "steer/rounds.h"

int main(void)
{
	u64 many;

	while (fread(&many, sizeof(many), 1, stdin) == 1) {
		struct rounds rounds = {};
		u64 rtt = 0, answer[2];

		for (u64 at = 0; at < many; at++) {
			if (fread(&rtt, sizeof(rtt), 1, stdin) != 1)
				return 1;
			add_round(&rounds, rtt);
		}
		answer[0] = middle_of(class_of(rtt));
		answer[1] = median_round(&rounds);
		if (fwrite(answer, sizeof(answer), 1, stdout) != 1)
			return 1;
	}
	return 0;
}
