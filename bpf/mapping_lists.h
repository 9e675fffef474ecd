/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * mapping_lists.h - lists of mappings that the kernel makes itself, and which list a process has.
 *
 * The recorder's lists follow the kernel's records some ten milliseconds late, which is the
 * whole life of many processes.  So a list is also made here: when a process has called
 * execve(), and in a task whose walk has met an address that its list does not know, when that
 * returns to user mode.  The recorder is told of each, to check the traces that name it.  Of
 * its own list and this one the newer holds.
 */
#ifndef BOBBIN_MAPPING_LISTS_H
#define BOBBIN_MAPPING_LISTS_H

#include <bobbin/code_page.h>

/* linux/mm.h */
#define VM_EXEC 4
/* Places that are tried for a list, until one is free to be written. */
#define FRESH_TRIES 3
/* A place that is being written to; no list has this number. */
#define FRESH_BUSY 1ull
/* Ancestors of a process that are asked for a list. */
#define ANCESTORS 4

#pragma GCC visibility push(default)

struct {
	__uint(type, BPF_MAP_TYPE_LRU_HASH);
	__uint(max_entries, KERNEL_PROCESSES / 4);
	__type(key, uint32_t);
	__type(value, struct kernel_process);
} fresh SEC(".maps");

struct {
	__uint(type, BPF_MAP_TYPE_LRU_HASH);
	__uint(max_entries, KERNEL_INODES);
	__type(key, struct kernel_inode);
	__type(value, struct kernel_inode_file);
} inodes SEC(".maps");

/* The number of the list at each place. */
struct {
	__uint(type, BPF_MAP_TYPE_ARRAY);
	__uint(max_entries, KERNEL_FRESH_LISTS);
	__type(key, uint32_t);
	__type(value, uint64_t);
} places SEC(".maps");

struct {
	__uint(type, BPF_MAP_TYPE_RINGBUF);
	__uint(max_entries, KERNEL_FRESH_BYTES);
} told SEC(".maps");

uint64_t last_fresh;

#pragma GCC visibility pop

extern int bpf_iter_task_vma_new(struct bpf_iter_task_vma *it, struct task_struct *task,
				 uint64_t addr) __ksym __weak;
extern struct vm_area_struct *bpf_iter_task_vma_next(struct bpf_iter_task_vma *it) __ksym __weak;
extern void bpf_iter_task_vma_destroy(struct bpf_iter_task_vma *it) __ksym __weak;

/* Whether a list that was made here is still where it was. */
static BOBBIN_ALWAYS_INLINE bool fresh_list_is_there(uint64_t number)
{
	uint32_t place = (uint32_t)(number % KERNEL_FRESH_LISTS);
	const uint64_t *there = bpf_map_lookup_elem(&places, &place);

	return there && *there == number;
}

/* The number of a list to be written to its place; 0: there is none. */
static BOBBIN_ALWAYS_INLINE uint64_t fresh_list_begin(void)
{
	for (unsigned int i = 0; i < FRESH_TRIES; i++) {
		uint64_t number = KERNEL_FRESH | __sync_fetch_and_add(&last_fresh, 1), before;
		uint32_t place = (uint32_t)(number % KERNEL_FRESH_LISTS);
		uint64_t *there = bpf_map_lookup_elem(&places, &place);

		if (!there)
			return 0;
		before = *there;
		if (before != FRESH_BUSY &&
		    __sync_val_compare_and_swap(there, before, FRESH_BUSY) == before)
			return number;
	}
	return 0;
}

static BOBBIN_ALWAYS_INLINE void fresh_list_end(uint64_t number)
{
	uint32_t place = (uint32_t)(number % KERNEL_FRESH_LISTS);
	uint64_t *there = bpf_map_lookup_elem(&places, &place);

	if (there)
		__sync_lock_test_and_set(there, number);
}

/* The file of a mapping, as the kernel knows it; the vDSO's is all zero. */
static BOBBIN_ALWAYS_INLINE bool inode_of(const struct vm_area_struct *vma,
					  struct kernel_inode *ret)
{
	const struct mm_struct *mm = vma->vm_mm;
	const struct file *file = vma->vm_file;

	*ret = (struct kernel_inode){0};
	/* Linux 7.2 wants to see that it is there */
	if (!file)
		return mm && (unsigned long)mm->context.vdso == vma->vm_start;
	ret->number = file->f_inode->i_ino;
	ret->device = file->f_inode->i_sb->s_dev;
	ret->generation = file->f_inode->i_generation;
	return true;
}

/* Memory without a file may have code that was registered, so it is left to user space. */
static BOBBIN_ALWAYS_INLINE void describe(const struct vm_area_struct *vma,
					  struct fresh_mapping *ret)
{
	const struct kernel_inode_file *file = NULL;

	ret->mapping.start = vma->vm_start;
	ret->mapping.end = vma->vm_end;
	ret->mapping.bias = 0;
	ret->mapping.file = KERNEL_NO_FILE;
	ret->mapping.under_bias = 0;
	ret->mapping.under = KERNEL_NO_FILE;
	ret->has_inode = inode_of(vma, &ret->inode);
	if (ret->has_inode)
		file = bpf_map_lookup_elem(&inodes, &ret->inode);
	if (!file)
		return;
	ret->mapping.file = file->file;
	ret->mapping.bias = vma->vm_start - (vma->vm_pgoff << 12) + file->delta;
	if (!vma->vm_file)
		ret->mapping.bias = vma->vm_start + file->delta;
}

/* One more entry of a list; the one beyond its place is counted only. */
static BOBBIN_ALWAYS_INLINE void add_mapping(struct fresh_list *list,
					     const struct vm_area_struct *vma)
{
	uint64_t at = list->count++;
	uint32_t entry = list->first + (uint32_t)at;
	struct kernel_mapping *m;

	if (at >= KERNEL_FRESH_MAPPINGS)
		return;
	describe(vma, &list->mappings[index_below(at, KERNEL_FRESH_MAPPINGS)]);
	m = bpf_map_lookup_elem(&mappings, &entry);
	if (m)
		*m = list->mappings[index_below(at, KERNEL_FRESH_MAPPINGS)].mapping;
}

static BOBBIN_ALWAYS_INLINE bool list_mappings(struct task_struct *task, struct fresh_list *list)
{
	struct bpf_iter_task_vma it;
	struct vm_area_struct *vma;
	bool begun = !bpf_iter_task_vma_new(&it, task, 0);

	while (list->count <= KERNEL_FRESH_MAPPINGS && (vma = bpf_iter_task_vma_next(&it)))
		if (vma->vm_flags & VM_EXEC)
			add_mapping(list, vma);
	bpf_iter_task_vma_destroy(&it);
	return begun && list->count <= KERNEL_FRESH_MAPPINGS;
}

/* What was known of a process is not true any more. */
static BOBBIN_ALWAYS_INLINE void drop_lists(uint32_t pid)
{
	struct kernel_process none = {.time = bpf_ktime_get_ns()};

	bpf_map_update_elem(&fresh, &pid, &none, BPF_ANY);
}

/* Without a new list the old one remains, unless that is of before execve(). */
static BOBBIN_ALWAYS_INLINE void note_failure(uint32_t pid, bool renewed, uint64_t wait)
{
	struct kernel_process *before = bpf_map_lookup_elem(&fresh, &pid);
	struct kernel_process process = {.retry = bpf_ktime_get_ns() + wait};

	if (!renewed)
		drop_lists(pid);
	else if (before)
		before->retry = process.retry;
	else
		bpf_map_update_elem(&fresh, &pid, &process, BPF_NOEXIST);
}

/* The list of the current process as it is now.  @renewed: not because of execve() */
static BOBBIN_OUT_OF_LINE void make_fresh_list(bool renewed)
{
	struct task_struct *task = bpf_get_current_task_btf();
	uint32_t pid = bpf_get_current_pid_tgid() >> 32;
	struct kernel_process process = {.time = bpf_ktime_get_ns()};
	struct fresh_list *list = bpf_ringbuf_reserve(&told, sizeof(*list), 0);
	uint64_t number = list ? fresh_list_begin() : 0;
	uint64_t wait;
	bool made;

	if (!list)
		return note_failure(pid, renewed, RENEW_NS);
	list->number = number;
	list->time = process.time;
	list->pid = pid;
	list->count = 0;
	list->first = KERNEL_MAPPINGS +
		      (uint32_t)(number % KERNEL_FRESH_LISTS) * KERNEL_FRESH_MAPPINGS;
	made = number && list_mappings(task, list);
	if (number)
		fresh_list_end(number);
	if (!made) {
		wait = list->count > KERNEL_FRESH_MAPPINGS ? RENEW_LONG_NS : RENEW_NS;
		bpf_ringbuf_discard(list, BPF_RB_NO_WAKEUP);
		return note_failure(pid, renewed, wait);
	}
	process.list.number = number;
	process.list.first = list->first;
	process.list.count = list->count;
	process.renewed = renewed ? process.time : 0;
	bpf_map_update_elem(&fresh, &pid, &process, BPF_ANY);
	bpf_ringbuf_submit(list, BPF_RB_NO_WAKEUP);
}

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
