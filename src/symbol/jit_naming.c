/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
#include "symbol/jit_naming.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "base/clock.h"
#include "base/memory_origin.h"
#include "base/proc_maps.h"
#include "symbol/recorded_names.h"
#include "target/gdb_jit.h"
#include "unwind/module.h"
#include "unwind/space.h"

/* What all images of a process may take, of those that are told to debuggers. */
#define MAX_FUNCTIONS (1u << 20)
#define MAX_NAMES ((size_t)64 << 20)
#define MAX_NAME 1024
#define MAX_BYTES ((uint64_t)256 << 20)

/* Whether what is mapped is what a process on this machine has mapped now. */
static bool is_alive(const struct bobbin_space *space, pid_t pid)
{
	return space->maps.count && space->maps.list[0].pid == pid;
}

static void find_files(struct jit_naming *n, const struct bobbin_space *space, pid_t pid)
{
	if (n->space == space && n->pid == pid && n->generation == space->generation)
		return;
	n->space = space;
	n->pid = pid;
	n->generation = space->generation;
	n->count = 0;
	n->kept = 0;
	n->lineage = (struct lineage){0};
	if (is_alive(space, pid))
		n->lineage = lineage_read(&(struct remote_process){space->maps.reader, pid});
	for (size_t i = 0; i < space->maps.count; i++) {
		const struct mapping *m = &space->maps.list[i];

		if (n->count < JIT_NAMING_DUMPS && is_jitdump_path(m->path))
			n->dumps[n->count++] = m->start;
		if (m->start == KEPT_MAP_ADDRESS && is_kept_map_path(m->path))
			n->kept = m->start;
	}
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

/* The code of a Java virtual machine, as that tells now. */
static int find_method(struct symbolizer *symbolizer, const struct bobbin_space *space, uint64_t pc,
		       struct symbol *ret)
{
	struct hotspot_code *machine = remote_code_machine(space->remote, pc);
	struct hotspot_name name;

	if (!machine || hotspot_code_name(machine, pc, false, &name) <= 0)
		return 0;
	return symbolizer_jit_name(
		symbolizer,
		&(struct jitdump_code){.start = name.start, .size = name.size, .name = name.text},
		pc, ret);
}

/* The map that a recording has of the process, or of the one that it was forked from. */
static int find_kept(const struct jit_naming *n, struct symbolizer *symbolizer,
		     const struct bobbin_space *space, uint64_t pc, struct symbol *ret)
{
	struct bobbin_place_info place;
	bool is_there;

	if (!n->kept || bobbin_space_find(space, n->kept, &place))
		return 0;
	return symbolizer_perf_map(symbolizer, 0, place.mapping.path, pc, ret, &is_there);
}

/* The maps of those whose memory the process began with. */
static int find_inherited(const struct jit_naming *n, struct symbolizer *symbolizer,
			  const struct bobbin_space *space, const struct naming_moment *moment,
			  uint64_t pc, struct symbol *ret)
{
	const struct remote_process process = {space->maps.reader, moment->pid};
	bool alive = is_alive(space, moment->pid), is_there;
	const struct lineage *lineage = alive || !moment->lineage ? &n->lineage : moment->lineage;
	int r = 0;

	for (unsigned int i = 0; i < lineage->count && !r; i++) {
		r = symbolizer_perf_map(symbolizer, lineage->pids[i], NULL, pc, ret, &is_there);
		if (r > 0 && alive &&
		    !lineage_shares(&process, lineage->pids[i], ret->start, ret->size))
			return 0;
		if (is_there)
			return r;
	}
	return r;
}

static int find_in_maps(const struct jit_naming *n, struct symbolizer *symbolizer,
			const struct bobbin_space *space, const struct naming_moment *moment,
			uint64_t pc, struct symbol *ret)
{
	bool has_own;
	int r = find_kept(n, symbolizer, space, pc, ret);

	if (!r)
		r = symbolizer_perf_map(symbolizer, moment->pid, NULL, pc, ret, &has_own);
	else
		return r;
	return r || has_own ? r : find_inherited(n, symbolizer, space, moment, pc, ret);
}

int jit_naming_find(struct jit_naming *naming, struct symbolizer *symbolizer,
		    const struct bobbin_space *space, const struct naming_moment *moment,
		    uint64_t pc, struct symbol *ret)
{
	pid_t pid = moment->pid;
	struct jitdump_code code;
	int r;

	find_files(naming, space, pid);
	for (size_t i = 0; i < naming->count; i++) {
		r = find_in_dump(symbolizer, space, pid, naming->dumps[i], pc, moment->time, ret);
		if (r)
			return r;
	}
	r = find_in_maps(naming, symbolizer, space, moment, pc, ret);
	if (r || !is_alive(space, pid))
		return r;
	r = find_method(symbolizer, space, pc, ret);
	if (r)
		return r;
	r = find_told(&naming->gdb, space, pid, pc, &code);
	return r <= 0 ? r : symbolizer_jit_name(symbolizer, &code, pc, ret);
}

void jit_naming_fini(struct jit_naming *naming)
{
	symlist_fini(&naming->gdb.list);
}
