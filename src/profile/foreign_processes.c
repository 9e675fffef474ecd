/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
#include "profile/foreign_processes.h"

#include <errno.h>
#include <stdlib.h>

#include "base/clock.h"
#include "base/process_stat.h"
#include "base/vector.h"

/* Until it is looked whether the number is another process's. */
#define ASK_NS 10000000ull

static struct foreign_process *find(struct foreign_processes *foreign, int pid)
{
	for (size_t i = 0; i < FOREIGN_PROCESSES; i++)
		if (foreign->slots[i].pid == pid)
			return &foreign->slots[i];
	return NULL;
}

static struct foreign_process *oldest(struct foreign_processes *foreign)
{
	struct foreign_process *found = &foreign->slots[0];

	for (size_t i = 1; i < FOREIGN_PROCESSES; i++)
		if (foreign->slots[i].described < found->described)
			found = &foreign->slots[i];
	return found;
}

static bool is_due(struct foreign_process *process, uint64_t now)
{
	if (now - process->described >= NS_PER_SECOND)
		return true;
	if (now - process->asked < ASK_NS)
		return false;
	process->asked = now;
	return process_start_time(process->pid) != process->start;
}

struct threads {
	int pid, error;
	int *tids;
	size_t count, room;
};

static void add_thread(void *ctx, struct thread *thread)
{
	struct threads *t = ctx;

	if (t->error || thread->process->pid != t->pid)
		return;
	t->error = vector_reserve(&t->tids, &t->room, t->count + 1, sizeof(*t->tids));
	if (!t->error)
		t->tids[t->count++] = thread->tid;
}

static int forget(struct foreign_process *process, struct process_table *table,
		  const struct perf_event *at, foreign_sink sink, void *ctx)
{
	struct threads threads = {.pid = process->pid};
	int r;

	if (!process->pid)
		return 0;
	process->pid = 0;
	process_table_visit_threads(table, add_thread, &threads);
	r = threads.error;
	for (size_t i = 0; i < threads.count && !r; i++) {
		struct perf_event event = {
			.type = PERF_RECORD_EXIT,
			.pid = (uint32_t)threads.pid,
			.tid = (uint32_t)threads.tids[i],
			.cpu = at->cpu,
			.time = at->time,
		};

		r = sink(ctx, &event);
	}
	free(threads.tids);
	return r;
}

int foreign_processes_ask(struct foreign_processes *foreign, struct process_table *table,
			  bool known, const struct perf_event *event, foreign_sink sink, void *ctx)
{
	int pid = (int)event->pid, r;
	struct foreign_process *process = pid > 0 ? find(foreign, pid) : NULL;
	uint64_t now = clock_now();

	if (pid <= 0 || (known && (!process || !is_due(process, now))))
		return 0;
	if (!process)
		process = oldest(foreign);
	r = forget(process, table, event, sink, ctx);
	if (r)
		return r;
	*process = (struct foreign_process){pid, process_start_time(pid), now, now};
	return 1;
}

void foreign_processes_drop(struct foreign_processes *foreign, int pid)
{
	struct foreign_process *process = pid ? find(foreign, pid) : NULL;

	if (process)
		*process = (struct foreign_process){0};
}
