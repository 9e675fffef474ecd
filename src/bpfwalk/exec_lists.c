/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
#include "bpfwalk/exec_lists.h"

#include <bpf/bpf.h>
#include <bpf/libbpf.h>
#include <errno.h>

#include "base/clock.h"
#include "base/hash_index.h"
#include "unwind/module.h"

/* After this time the map is looked at again: it forgets inodes, and tables come and go. */
#define KNOWN_NS 1000000000ull

static struct waiting_mapping *slot_of(struct exec_lists *exec, uint32_t pid, uint64_t start)
{
	return &exec->waiting[hash_words(pid, start, 0) % EXEC_WAITING];
}

uint64_t exec_lists_time(const struct exec_lists *exec, int pid)
{
	return exec->times[(uint32_t)pid % EXEC_WAITING];
}

static void wait_for_record(struct exec_lists *exec, const struct waiting_mapping *mapping)
{
	struct waiting_mapping *w = slot_of(exec, mapping->pid, mapping->start);

	if (!w->pid)
		exec->used[exec->used_count++] = (uint16_t)(w - exec->waiting);
	*w = *mapping;
}

static int take_list(void *ctx, void *data, size_t size)
{
	struct exec_lists *exec = ctx;
	const struct fresh_list *list = data;

	if (size < sizeof(*list) || list->count > KERNEL_FRESH_MAPPINGS)
		return 0;
	bpf_lists_told(exec->lists, list);
	exec->times[list->pid % EXEC_WAITING] = list->time;
	for (uint32_t i = 0; i < list->count; i++) {
		const struct fresh_mapping *m = &list->mappings[i];

		if (m->has_inode && list->pid)
			wait_for_record(exec, &(struct waiting_mapping){
						      .pid = list->pid,
						      .start = m->mapping.start,
						      .end = m->mapping.end,
						      .time = list->time,
						      .inode = m->inode,
					      });
	}
	return 0;
}

int exec_lists_init(struct bpf_lists *lists, struct bpf_tables *tables, int told, int inodes,
		    struct exec_lists *ret)
{
	ret->lists = lists;
	ret->tables = tables;
	ret->inodes = inodes;
	ret->told = ring_buffer__new(told, take_list, ret, NULL);
	return ret->told ? 0 : -errno;
}

void exec_lists_fini(struct exec_lists *exec)
{
	ring_buffer__free(exec->told);
	*exec = (struct exec_lists){0};
}

void exec_lists_collect(struct exec_lists *exec)
{
	if (exec->told)
		ring_buffer__consume(exec->told);
}

static bool is_same(const struct kernel_inode *a, const struct kernel_inode *b)
{
	return a->number == b->number && a->device == b->device && a->generation == b->generation;
}

static bool is_in_map(const struct exec_lists *exec, const struct kernel_inode *inode,
		      const struct kernel_inode_file *file)
{
	struct kernel_inode_file there;

	return !bpf_map_lookup_elem(exec->inodes, inode, &there) && there.file == file->file &&
	       there.delta == file->delta;
}

/* What the kernel is told of the inode of a mapped file; false: it has no table, or not yet. */
static bool describe_file(struct bpf_tables *tables, const struct mapping *mapping,
			  struct kernel_inode_file *ret)
{
	struct kernel_mapping known;
	const struct module *module;

	if (!bpf_tables_mapping(tables, mapping, &known) || known.file >= KERNEL_REGISTERED)
		return false;
	module = unwinder_file_module(tables->unwinder, mapping->file);
	ret->file = known.file;
	return module && image_delta(&module->image, 0, UINT64_MAX, &ret->delta);
}

static bool tell_inode(struct exec_lists *exec, const struct kernel_inode *inode,
		       const struct mapping *mapping)
{
	struct kernel_inode_file file = {0};

	if (!describe_file(exec->tables, mapping, &file))
		return false;
	return is_in_map(exec, inode, &file) ||
	       !bpf_map_update_elem(exec->inodes, inode, &file, BPF_ANY);
}

void exec_lists_mapped(struct exec_lists *exec, int pid, uint64_t time,
		       const struct mapping *mapping)
{
	struct waiting_mapping *w = slot_of(exec, (uint32_t)pid, mapping->start);

	if (w->pid != (uint32_t)pid || w->start != mapping->start || w->end != mapping->end ||
	    time > w->time)
		return;
	w->mapped = time;
	w->mapping = *mapping;
	w->mapping.path = NULL; /* it is the process's */
}

void exec_lists_exec(struct exec_lists *exec, int pid, uint64_t time)
{
	exec->execs[(uint32_t)pid % EXEC_WAITING] = time;
}

static void tie(struct exec_lists *exec, const struct waiting_mapping *w)
{
	const struct kernel_inode *inode = &w->inode;
	uint64_t hash = hash_words(inode->number, inode->device, 0), now = clock_now();
	struct known_inode *known = &exec->known[hash % EXEC_INODES];

	if (now < known->due && known->number == w->mapping.file->number &&
	    is_same(&known->inode, inode))
		return;
	/* without a table yet, the next list with this inode tells */
	if (tell_inode(exec, inode, &w->mapping))
		*known = (struct known_inode){*inode, w->mapping.file->number, now + KNOWN_NS};
}

void exec_lists_read_until(struct exec_lists *exec, uint64_t time)
{
	uint32_t kept = 0;

	for (uint32_t i = 0; i < exec->used_count; i++) {
		struct waiting_mapping *w = &exec->waiting[exec->used[i]];

		if (w->time > time) {
			exec->used[kept++] = exec->used[i];
			continue;
		}
		/* without a record, or after execve(), the next list with this inode tells */
		if (w->mapped && exec->execs[w->pid % EXEC_WAITING] <= w->mapped)
			tie(exec, w);
		w->pid = 0;
	}
	exec->used_count = kept;
}
