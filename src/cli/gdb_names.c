/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
#include "cli/gdb_names.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "base/clock.h"
#include "target/gdb_jit.h"
#include "unwind/space.h"

/* What all images of a process may take. */
#define MAX_FUNCTIONS (1u << 20)
#define MAX_NAMES ((size_t)64 << 20)
#define MAX_NAME 1024
#define MAX_BYTES ((uint64_t)256 << 20)

static int add_function(void *ctx, const struct gdb_jit_function *function)
{
	struct symlist *list = ctx;

	if (list->map.count >= MAX_FUNCTIONS || list->names_size > MAX_NAMES)
		return -E2BIG;
	return symlist_add(list, function->start, function->size, 0, function->name,
			   strnlen(function->name, MAX_NAME));
}

/* Images that cannot be read cost their names. */
static int add_images(struct symlist *list, const struct remote_process *process,
		      uint64_t descriptor)
{
	struct gdb_jit_entry *entries;
	uint64_t bytes = 0;
	int count = gdb_jit_list(process, descriptor, &entries), r = 0;

	if (count < 0)
		return count;
	for (int i = 0; i < count && bytes <= MAX_BYTES; i++) {
		r = gdb_jit_functions(process, &entries[i], add_function, list);
		if (r == -ENOMEM || r == -E2BIG)
			break;
		bytes += entries[i].size;
	}
	free(entries);
	return r;
}

static int read_names(struct gdb_names *names, const struct bobbin_space *space, int pid)
{
	const struct remote_process process = {space->maps.reader, pid};
	uint64_t descriptors[GDB_JIT_DESCRIPTORS];
	size_t count = gdb_jit_find(&space->maps, descriptors);
	int r = 0;

	symlist_fini(&names->list);
	for (size_t i = 0; i < count && r != -ENOMEM; i++)
		r = add_images(&names->list, &process, descriptors[i]);
	interval_map_sort(&names->list.map);
	return r == -ENOMEM ? r : 0;
}

static const struct interval *find(const struct gdb_names *names, int pid, uint64_t pc)
{
	return names->pid == pid ? interval_map_find(&names->list.map, pc) : NULL;
}

int gdb_names_find(struct gdb_names *names, const struct bobbin_space *space, int pid, uint64_t pc,
		   struct jitdump_code *ret)
{
	const struct interval *item = find(names, pid, pc);
	int r;

	if (!item && (names->pid != pid || names->read_at != clock_seconds())) {
		names->pid = pid;
		names->read_at = clock_seconds();
		r = read_names(names, space, pid);
		if (r)
			return r;
		item = find(names, pid, pc);
	}
	if (!item)
		return 0;
	*ret = (struct jitdump_code){
		.start = item->start,
		.size = item->size,
		.name = symlist_name(&names->list, item),
	};
	return 1;
}

void gdb_names_fini(struct gdb_names *names)
{
	symlist_fini(&names->list);
}
