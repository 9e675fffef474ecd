/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
#include "bpfwalk/mapping_builder.h"

#include <errno.h>
#include <stdlib.h>

#include "base/vector.h"

void mapping_builder_fini(struct mapping_builder *entries)
{
	free(entries->list);
	entries->list = NULL;
}

/* @mapping may be NULL. */
static struct kernel_mapping mapped_entry(struct mapping_builder *e, const struct mapping *mapping)
{
	struct kernel_mapping entry = {.file = KERNEL_NO_FILE, .under = KERNEL_NO_FILE};

	if (mapping && !bpf_tables_mapping(e->tables, mapping, &entry))
		e->whole = false;
	return entry;
}

/* The entry where @mapping and @range overlap; one of them may be NULL. */
static struct kernel_mapping entry_of(struct mapping_builder *e, const struct mapping *mapping,
				      const struct remote_range *range)
{
	struct kernel_mapping entry = mapped_entry(e, mapping);

	if (!range || !remote_range_serves(range))
		return entry;
	if (!bpf_tables_registered(e->tables, range, true, &entry))
		e->whole = false;
	e->grows |= range->table->jit.mem.read != NULL;
	return entry;
}

static int add(struct mapping_builder *e, uint64_t start, uint64_t end, struct kernel_mapping entry)
{
	if (e->count == KERNEL_LIST_MAX)
		return -E2BIG;
	entry.start = start;
	entry.end = end;
	return vector_push(e->list, e->count, e->room, entry);
}

static uint64_t lower(uint64_t a, uint64_t b)
{
	return a < b ? a : b;
}

int mapping_builder_make(struct mapping_builder *entries, const struct bobbin_space *space)
{
	const struct mapping *m = space->maps.list, *last = m + space->maps.count;
	const struct remote_range *r = NULL, *last_range = NULL;
	uint64_t at = 0;
	int error = 0;

	entries->count = 0;
	entries->whole = true;
	entries->grows = false;
	if (space->remote) {
		r = space->remote->ranges;
		last_range = r + space->remote->count;
	}
	while (!error && (m < last || r < last_range)) {
		uint64_t mapped = m < last ? m->start : UINT64_MAX;
		uint64_t registered = r < last_range ? r->start : UINT64_MAX;
		uint64_t end = UINT64_MAX;

		if (at < lower(mapped, registered))
			at = lower(mapped, registered);
		if (m < last)
			end = at < mapped ? mapped : m->end;
		if (r < last_range)
			end = lower(end, at < registered ? registered : r->end);
		error = add(entries, at, end,
			    entry_of(entries, at < mapped ? NULL : m, at < registered ? NULL : r));
		at = end;
		m += m < last && m->end <= at;
		r += r < last_range && r->end <= at;
	}
	return error;
}

bool mapping_builder_at(struct mapping_builder *entries, struct bobbin_space *space, uint64_t addr,
			struct kernel_mapping *ret)
{
	const struct remote_range *range = remote_code_find(space->remote, addr);
	const struct mapping *mapping = space_find(space, addr);

	if (!range && !mapping)
		return false;
	*ret = mapped_entry(entries, mapping);
	if (range && remote_range_serves(range))
		bpf_tables_registered(entries->tables, range, false, ret);
	return true;
}
