/* SPDX-License-Identifier: GPL-2.0-only OR BSD-3-Clause */
/*
 * A program of the host for the test that compares assignments with their twin. It reads a key, a unit, the ends of the
 * arms and a candidate from standard input, and writes the draw and the arm to standard output.
 */
#include <stdio.h>

#include "steer/assign.h"

struct question {
	u64 key[2];
	struct unit unit;
	u64 ends[MAX_ARMS];
	struct candidate of;
};

int main(void)
{
	struct question question;

	while (fread(&question, sizeof(question), 1, stdin) == 1) {
		struct subject subject;
		u64 answer[2];

		subject_of(&subject, &question.unit, &question.of);
		answer[0] = draw(question.key[0], question.key[1], &subject);
		answer[1] = arm_of(answer[0], question.ends);
		if (fwrite(answer, sizeof(answer), 1, stdout) != 1)
			return 1;
	}
	return 0;
}
