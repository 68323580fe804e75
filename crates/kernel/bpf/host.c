/* SPDX-License-Identifier: GPL-2.0-only OR BSD-3-Clause */
/*
 * The algorithm as a program of the host, for the tests that compare it with its twin. It reads settings and events
 * from standard input, and writes a snapshot after each event. CONTROLLER is the file that defines the algorithm.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define SETTING
#include CONTROLLER

struct config config;

static void happen(struct controller *controller, const struct event *event)
{
	switch (event->kind) {
	case NEW:
		memset(controller, 0, sizeof(*controller));
		controller_init(controller, &event->connection);
		break;
	case IDLE_RESTART:
		on_idle_restart(controller, event->ack.now);
		break;
	case LOST:
		on_packet_lost(controller, &event->lost);
		break;
	case ENTERED:
		on_recovery_entered(controller, event->ack.now);
		break;
	case LEFT:
		on_recovery_left(controller);
		break;
	case UNDONE:
		on_recovery_undone(controller);
		break;
	case TIMEOUT:
		on_timeout(controller, event->ack.now, event->ack.inflight);
		break;
	case HANDSHAKE:
		on_handshake(controller, event->ack.now, event->ack.rtt);
		break;
	case MTU_CHANGE:
		on_mtu_change(controller, event->mss);
		break;
	case ACK:
		on_ack(controller, &event->ack);
		break;
	case REPAIRED_LOSS:
		on_repaired_loss(controller, event->ack.now);
		break;
	case MARKED:
		on_marked(controller);
		break;
	default:
		exit(2);
	}
}

int main(void)
{
	static struct controller controller;
	struct event event;

	if (fread(&config, sizeof(config), 1, stdin) != 1)
		return 2;
	while (fread(&event, sizeof(event), 1, stdin) == 1) {
		struct snapshot snapshot;

		happen(&controller, &event);
		snapshot = controller_snapshot(&controller);
		if (fwrite(&snapshot, sizeof(snapshot), 1, stdout) != 1)
			return 2;
	}
	return ferror(stdin) ? 2 : 0;
}
