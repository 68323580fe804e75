/* SPDX-License-Identifier: GPL-2.0-only OR BSD-3-Clause */
/*
 * What is reconstructed of the sending of packets, as a program of the host, for the test that compares it with what was: for
 * each ACK what had been delivered, lost and in flight before it, what is delivered and lost now, and what had been delivered
 * when its packet left; then what was lost since, and was in flight at that time.
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
