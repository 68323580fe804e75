/* SPDX-License-Identifier: GPL-2.0-only OR BSD-3-Clause */
/*
 * A program of the host for the test that compares memories of client networks with their twin. It reads connections of
 * one network from standard input, and writes the memory and the share to standard output, after each connection.
 */
#include <stdio.h>

#include "steer/resent.h"

struct question {
	u64 sent;
	u64 total;
	u64 bytes;
};

int main(void)
{
	struct question question;
	u64 memory = 0;

	while (fread(&question, sizeof(question), 1, stdin) == 1) {
		u64 resent = resent_with_data(question.total, question.bytes, question.sent);
		u64 answer[2];

		memory = remember(memory, question.sent, resent);
		answer[0] = memory;
		answer[1] = share_of(memory);
		if (fwrite(answer, sizeof(answer), 1, stdout) != 1)
			return 1;
	}
	return 0;
}
