/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * known_process.h - which list of mappings a process has, and whether that is still true.
 */
#ifndef BOBBIN_KNOWN_PROCESS_H
#define BOBBIN_KNOWN_PROCESS_H

#include <bobbin/code_page.h>

/* Ancestors of a process that are asked for a list. */
#define ANCESTORS 4

/*
 * The newer of the recorder's entry and the one that was made here; NULL: there is none.  A list that
 * was made here, and not at execve(), lacks the code that the process has registered.
 */
static BOBBIN_ALWAYS_INLINE const struct kernel_process *newest_process(uint32_t pid)
{
	const struct kernel_process *theirs = bpf_map_lookup_elem(&processes, &pid);
	const struct kernel_process *ours = bpf_map_lookup_elem(&fresh, &pid);

	if (!ours || (theirs && theirs->time > ours->time))
		return theirs && theirs->list.number ? theirs : NULL;
	if (theirs && theirs->page && ours->renewed)
		return NULL;
	return ours->list.number && fresh_list_is_there(ours->list.number) ? ours : NULL;
}

/* A list that was replaced may have been overwritten during a walk. */
static BOBBIN_ALWAYS_INLINE bool list_is_current(uint32_t pid, uint64_t number)
{
	const struct kernel_process *process = newest_process(pid);

	return process && process->list.number == number;
}

/* Whether there is an entry of a process, even one that says that its list is gone. */
static BOBBIN_ALWAYS_INLINE bool is_known(uint32_t pid)
{
	const struct kernel_process *ours = bpf_map_lookup_elem(&fresh, &pid);

	return bpf_map_lookup_elem(&processes, &pid) || (ours && ours->time);
}

/*
 * The nearest of the current process, *@pid, and its ancestors of which something is known, or the
 * last one that is looked at.  @forks: only if nothing but forks is between them; else false.
 */
static BOBBIN_ALWAYS_INLINE bool nearest_known(uint32_t *pid, bool forks)
{
	struct task_struct *task = bpf_get_current_task_btf();
	const uint64_t exec_id = task->self_exec_id;

	for (unsigned int i = 0; i < ANCESTORS && !is_known(*pid); i++) {
		task = task->real_parent;
		if (forks && task->self_exec_id != exec_id)
			return false;
		*pid = (uint32_t)task->tgid;
	}
	return true;
}

/*
 * What is known of the current process; or of an ancestor, @pid, if nothing but forks is between
 * them and nobody has called exec since: user space will see whether that was right.
 */
static BOBBIN_ALWAYS_INLINE const struct kernel_process *find_process(uint32_t *pid)
{
	return nearest_known(pid, true) ? newest_process(*pid) : NULL;
}

/*
 * Whether the process has registered nothing since its list was made, and removed nothing.  What
 * is removed stays until the number has changed, and what is registered is called later.
 */
static BOBBIN_ALWAYS_INLINE bool code_is_known(const struct kernel_process *process)
{
	struct {
		uint32_t entry_size, pid;
		uint64_t sequence, changes;
	} page;

	_Static_assert(offsetof(struct bobbin_code_page, changes) ==
			       offsetof(struct bobbin_code_page, entry_size) + 16,
		       "they follow each other");
	if (!process->page)
		return true;
	if (bpf_probe_read_user(
		    &page, sizeof(page),
		    (const void *)(process->page + offsetof(struct bobbin_code_page, entry_size))))
		return false;
	return page.changes == process->changes && page.pid == process->page_pid;
}

#endif
