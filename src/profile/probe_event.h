/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * probe_event.h - probes as tracepoints that the kernel is told of.
 *
 *	p:bobbin/NAME FILE:OFFSET ──uprobe_events──► events/bobbin/NAME
 *
 * The kernel's own events of probes cannot be inherited, so they would be of all processes.  Those
 * of a tracepoint can: the kernel has a breakpoint in the processes that are sampled, and in no
 * others, whose hits cost nothing and fill no ring.
 *
 * A description outlives a recorder that is killed, but then nothing is trapped by it any more; the
 * next recorder removes it.
 */
#ifndef BOBBIN_PROFILE_PROBE_EVENT_H
#define BOBBIN_PROFILE_PROBE_EVENT_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define PROBE_NAME_SIZE 64

/* @name: empty: there is none. */
struct probe_event {
	char name[PROBE_NAME_SIZE];
	uint64_t id; /* perf_event_attr.config of PERF_TYPE_TRACEPOINT */
};

/*
 * Describe the place in a file, or the returns of the function that begins there.  0; -EACCES, -EPERM:
 * not allowed to change tracefs; or another negative errno: @ret is empty.
 */
int probe_event_open(const char *path, uint64_t offset, bool returns, struct probe_event *ret);

/* After the last event of perf that is of it; empty or not. */
void probe_event_close(struct probe_event *probe);

/* Remove descriptions whose recorders are gone. */
void probe_events_clean(void);

#endif
