/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
#include "cli/jit_naming.h"

#include "base/map_file.h"
#include "target/jitdump_marker.h"
#include "unwind/space.h"

static void find_dumps(struct jit_naming *n, const struct bobbin_space *space, pid_t pid)
{
	if (n->space == space && n->pid == pid && n->generation == space->generation)
		return;
	n->space = space;
	n->pid = pid;
	n->generation = space->generation;
	n->count = 0;
	for (size_t i = 0; i < space->maps.count && n->count < JIT_NAMING_DUMPS; i++)
		if (jitdump_marker_is(space->maps.list[i].path))
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
	r = gdb_names_find(&naming->gdb, space, pid, pc, &code);
	return r <= 0 ? r : symbolizer_jit_name(symbolizer, &code, pc, ret);
}

void jit_naming_fini(struct jit_naming *naming)
{
	gdb_names_fini(&naming->gdb);
}
