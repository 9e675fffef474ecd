/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * Which cgroups the sampled processes are in.
 *
 * Stacks that a program in the kernel has walked have no sample of perf's beside them that says it.
 * So /proc is asked, which takes some ten microseconds: of what runs already, when a process has its
 * first sample, when it has called exec, and once a second.  One that has ended by then was where its parent was.
 */
#include <errno.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "base/cgroup_files.h"
#include "base/clock.h"
#include "profile/recorder_state.h"

/* Until it is looked whether a process has been moved. */
#define ASK_NS NS_PER_SECOND
/* That are asked where a process has ended: the shell of a short script may have, too. */
#define ANCESTORS 4
/* Numbers that are no inode's. */
#define OWN_IDS (1ull << 63)

/* The number of a folder's inode, which is the kernel's number of the cgroup; 0: it is not found. */
static uint64_t id_of_folder(struct recorder *r, const char *path)
{
	char name[2 * PATH_MAX];
	struct stat st;

	if (!r->cgroup_mount) {
		r->cgroup_mount = calloc(1, PATH_MAX);
		if (r->cgroup_mount)
			cgroup_events_mount(MOUNTS_FILE, r->cgroup_mount);
	}
	/* outside of the own namespace there is nothing to be found by this path */
	if (!r->cgroup_mount || !*r->cgroup_mount || strstr(path, "/.."))
		return 0;
	snprintf(name, sizeof(name), "%s%s", r->cgroup_mount, path);
	return stat(name, &st) ? 0 : st.st_ino;
}

/* *@ret: that of a path; NULL: there is no room for more. */
static int find(struct recorder *r, const char *path, const struct cgroup **ret)
{
	struct cgroup_table *table = &r->cgroups;
	uint64_t id;
	int error;

	*ret = cgroup_table_named(table, path);
	if (*ret)
		return 0;
	id = id_of_folder(r, path);
	/* another cgroup may have had this one's number, or is in another hierarchy */
	if (!id || cgroup_table_find(table, id))
		id = OWN_IDS | table->count;
	error = cgroup_table_add(table, id, path);
	if (error)
		return error == -E2BIG ? 0 : error;
	*ret = cgroup_table_find(table, id);
	return 0;
}

static int ask(struct recorder *r, struct process *process, unsigned int ancestors);

/* Where its parent is; that may have been moved since, but more is not to be had. */
static int ask_parent(struct recorder *r, struct process_cgroup *known, unsigned int ancestors)
{
	const struct thread *parent = known->parent && ancestors
					      ? process_table_find(r->processes, known->parent)
					      : NULL;
	int error;

	if (!parent || parent->process->pid != known->parent)
		return 0;
	error = ask(r, parent->process, ancestors - 1);
	if (parent->process->cgroup.last)
		known->last = parent->process->cgroup.last;
	return error;
}

static struct ended_process *place_of(struct recorder *r, int pid)
{
	return &r->ended[(unsigned int)pid % ENDED_PROCESSES];
}

/* It has samples still after it was said to have ended, the last one when it leaves its CPU. */
static void recall(struct recorder *r, struct process *process)
{
	const struct ended_process *ended = place_of(r, process->pid);

	if (ended->pid != process->pid)
		return;
	process->cgroup.last = ended->cgroup.last;
	process->cgroup.parent = ended->cgroup.parent;
}

void recorder_note_end(struct recorder *r, const struct perf_event *event)
{
	const struct thread *thread = process_table_find(r->processes, (int)event->tid);

	if (thread && thread->process->pid == (int)event->pid)
		*place_of(r, thread->process->pid) =
			(struct ended_process){thread->process->pid, thread->process->cgroup};
}

static int ask(struct recorder *r, struct process *process, unsigned int ancestors)
{
	struct process_cgroup *known = &process->cgroup;
	char path[PATH_MAX];

	if (known->asked && r->time - known->asked < ASK_NS)
		return 0;
	known->asked = r->time;
	if (!cgroup_of_process(process->pid, path)) {
		if (!known->last && !known->parent)
			recall(r, process);
		return ask_parent(r, known, ancestors);
	}
	known->parent = 0;
	return find(r, path, &known->last);
}

int recorder_ask_cgroup(struct recorder *r, struct process *process)
{
	return ask(r, process, ANCESTORS);
}
