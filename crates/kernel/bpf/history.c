/* SPDX-License-Identifier: GPL-2.0-only OR BSD-3-Clause */
/*
 * A program of the host for the test that compares the reconstructed state at sending with the true one. For each ACK,
 * it reads the data that had been delivered, lost and in flight before the ACK, the data that is delivered and lost
 * now, and the data that had been delivered when the packet left. It writes the data that was lost since then, and the
 * data that was in flight at that time.
 */
#include <stdio.h>

#define MOMENTS 64
#include "kernel/history.h"

struct question {
	u32 delivered_before;
	u32 lost_before;
	u32 inflight_before;
	u32 delivered;
	u32 lost;
	u32 sampled_at;
};

int main(void)
{
	static struct history history;
	struct question question;

	while (fread(&question, sizeof(question), 1, stdin) == 1) {
		u32 answer[2];

		history_note(&history, question.delivered_before, question.lost_before, question.inflight_before);
		answer[0] = question.lost - history_lost_at(&history, question.sampled_at);
		answer[1] = inflight_at_send(question.delivered - question.sampled_at, answer[0]);
		if (fwrite(answer, sizeof(answer), 1, stdout) != 1)
			return 2;
	}
	return ferror(stdin) ? 2 : 0;
}
