/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
#include "cli/jit_naming.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "base/clock.h"
#include "base/map_file.h"
#include "target/gdb_jit.h"
#include "unwind/space.h"

/* What all images of a process may take. */
#define MAX_FUNCTIONS (1u << 20)
#define MAX_NAMES ((size_t)64 << 20)
#define MAX_NAME 1024
#define MAX_BYTES ((uint64_t)256 << 20)

static void find_dumps(struct jit_naming *n, const struct bobbin_space *space, pid_t pid)
{
	if (n->space == space && n->pid == pid && n->generation == space->generation)
		return;
	n->space = space;
	n->pid = pid;
	n->generation = space->generation;
	n->count = 0;
	for (size_t i = 0; i < space->maps.count && n->count < JIT_NAMING_DUMPS; i++)
		if (is_jitdump_path(space->maps.list[i].path))
			n->dumps[n->count++] = space->maps.list[i].start;
}

static int find_in_dump(struct symbolizer *symbolizer, const struct bobbin_space *space, pid_t pid,
			uint64_t dump, uint64_t pc, uint64_t time, struct symbol *ret)
{
	struct bobbin_place_info place;
	struct jitdump_file file = {.pid = pid};
	char live[MAP_FILE_SIZE];

	if (bobbin_space_find(space, dump, &place))
		return 0;
	map_file_path(place.mapping.pid, place.mapping.start, place.mapping.end, live);
	file.path = place.mapping.path;
	file.open_path = place.mapping.pid ? live : NULL;
	file.major = place.mapping.major;
	file.minor = place.mapping.minor;
	file.ino = place.mapping.ino;
	return symbolizer_jit_dump(symbolizer, &file, pc, time, ret);
}

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

static const struct interval *find_interval(const struct gdb_names *names, int pid, uint64_t pc)
{
	return names->pid == pid ? interval_map_find(&names->list.map, pc) : NULL;
}

/*
 * The function at @pc, as process @pid tells debuggers of it now; read anew at most once a
 * second, when an address is not known.  1; 0: not told; -ENOMEM.
 */
static int find_told(struct gdb_names *names, const struct bobbin_space *space, int pid,
		     uint64_t pc, struct jitdump_code *ret)
{
	const struct interval *item = find_interval(names, pid, pc);
	int r;

	if (!item && (names->pid != pid || names->read_at != clock_seconds())) {
		names->pid = pid;
		names->read_at = clock_seconds();
		r = read_names(names, space, pid);
		if (r)
			return r;
		item = find_interval(names, pid, pc);
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

/* Whether what is mapped is what a process on this machine has mapped now. */
static bool is_alive(const struct bobbin_space *space, pid_t pid)
{
	return space->maps.count && space->maps.list[0].pid == pid;
}

int jit_naming_find(struct jit_naming *naming, struct symbolizer *symbolizer,
		    const struct bobbin_space *space, pid_t pid, uint64_t pc, uint64_t time,
		    struct symbol *ret)
{
	struct jitdump_code code;
	int r;

	find_dumps(naming, space, pid);
	for (size_t i = 0; i < naming->count; i++) {
		r = find_in_dump(symbolizer, space, pid, naming->dumps[i], pc, time, ret);
		if (r)
			return r;
	}
	r = symbolizer_perf_map(symbolizer, pid, pc, ret);
	if (r || !is_alive(space, pid))
		return r;
	r = find_told(&naming->gdb, space, pid, pc, &code);
	return r <= 0 ? r : symbolizer_jit_name(symbolizer, &code, pc, ret);
}

void jit_naming_fini(struct jit_naming *naming)
{
	symlist_fini(&naming->gdb.list);
}
