/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
#include "symbol/debuginfo.h"

#include "symbol/debugdata.h"

#include <elf.h>
#include <errno.h>
#include <stdlib.h>

_Static_assert(NAME_CACHE_SIZE == 1 << (64 - 54), "hash of debugname.c");

static struct debuginfo *debuginfo_new(const struct object *o, const struct debug_paths *paths,
				       struct name_pool *names, uint64_t limit)
{
	struct debuginfo *d = calloc(1, sizeof(*d));

	if (!d)
		return NULL;
	d->name_cache = calloc(NAME_CACHE_SIZE, sizeof(*d->name_cache));
	if (!d->name_cache) {
		free(d);
		return NULL;
	}
	d->object = o;
	d->paths = paths;
	d->names = names;
	d->limit = limit;
	d->work = WORK_PER_SCAN;
	return d;
}

/* The supplement only answers references, so which code it covers does not matter. */
static int open_alternate(struct debuginfo *d)
{
	int err = debugfile_open_alternate(d->paths, d->object, &d->alternate_object);

	if (err)
		return err == -ENOMEM ? err : 0;
	d->alternate = debuginfo_new(d->alternate_object, d->paths, d->names, d->limit);
	return d->alternate ? debug_units_read(d->alternate) : -ENOMEM;
}

int debuginfo_open(const struct object *o, const struct debug_paths *paths, struct name_pool *names,
		   uint64_t limit, struct debuginfo **ret)
{
	struct debuginfo *d;
	int err;

	/* Relocatable objects would have to be relocated first. */
	if (o->type == ET_REL)
		return -BOBBIN_ENOENT;
	d = debuginfo_new(o, paths, names, limit);
	if (!d)
		return -ENOMEM;
	err = debug_has_section(d, SECTION_INFO) && debug_has_section(d, SECTION_ABBREV)
		      ? 0
		      : -BOBBIN_ENOENT;
	err = err ? err : open_alternate(d);
	err = err ? err : debug_units_read(d);
	err = err ? err : debug_units_scan(d);
	if (err) {
		debuginfo_close(d);
		return err;
	}
	*ret = d;
	return 0;
}

void debuginfo_close(struct debuginfo *d)
{
	if (!d)
		return;
	debuginfo_trim(d);
	debuginfo_close(d->alternate);
	object_close(d->alternate_object);
	debug_sections_fini(d);
	free(d->units);
	free(d->name_cache);
	interval_map_fini(&d->code);
	free(d);
}

static int read_tables(struct debuginfo *d, struct unit *u, const struct debug_wish *wish)
{
	int err = debug_unit_load(d, u);

	if (!err && wish->inlines && !u->data->scopes_read) {
		err = scope_table_read(d, u, &u->data->scopes);
		u->data->scopes_read = true;
		d->loads++;
	}
	if (!err && wish->lines && u->data->has_lines && !u->data->lines_read) {
		err = line_table_read(d, u, &u->data->lines);
		u->data->lines_read = true;
		d->loads++;
	}
	return err;
}

static void set_line(struct debuginfo *d, const struct unit *u, uint32_t file, uint32_t line,
		     struct debug_frame *frame)
{
	frame->file = line_table_file(d, u, file);
	frame->line = frame->file ? line : 0;
}

static void set_first_line(struct debuginfo *d, const struct unit *u, uint64_t address,
			   struct debug_frame *frame)
{
	const struct line_row *row = line_table_find(&u->data->lines, address);

	if (row)
		set_line(d, u, row->file, row->line, frame);
}

/* The chain of scopes from @scope outwards: what is inlined, then the function. */
static int add_scopes(struct debuginfo *d, const struct unit *u, const struct scope *scope,
		      const struct debug_wish *wish, struct debug_frame *ret, size_t max)
{
	const struct scope *scopes = u->data->scopes.scopes;
	size_t n = 0;

	while (scope && n < max) {
		int err = debug_function_name(d, u->offset + scope->die, &ret[n].name);

		if (err == -ENOMEM)
			return err;
		ret[n].inlined = scope->outer != SCOPE_NONE;
		if (wish->lines && ret[n].inlined && n + 1 < max)
			set_line(d, u, scope->call_file, scope->call_line, &ret[n + 1]);
		scope = ret[n++].inlined ? &scopes[scope->outer] : NULL;
	}
	return (int)n;
}

static int unit_frames(struct debuginfo *d, struct unit *u, uint64_t address,
		       const struct debug_wish *wish, struct debug_frame *ret, size_t max)
{
	const struct interval *range = NULL;
	int n = 0;

	if (wish->lines)
		set_first_line(d, u, address, &ret[0]);
	if (wish->inlines)
		range = interval_map_find(&u->data->scopes.ranges, address);
	if (range)
		n = add_scopes(d, u, &u->data->scopes.scopes[range->value], wish, ret, max);
	return !n && ret[0].file ? 1 : n;
}

int debuginfo_frames(struct debuginfo *d, uint64_t address, const struct debug_wish *wish,
		     struct debug_frame *ret, size_t max)
{
	const struct interval *range = interval_map_find(&d->code, address);
	struct unit *u;
	int err;

	if (!range || !max)
		return 0;
	u = &d->units[range->value];
	d->work = WORK_PER_ADDRESS + WORK_PER_BYTE * u->size;
	if (d->alternate)
		d->alternate->work = WORK_PER_ADDRESS;
	for (size_t i = 0; i < max; i++)
		ret[i] = (struct debug_frame){0};
	err = read_tables(d, u, wish);
	if (err)
		return err == -ENOMEM ? err : 0;
	return unit_frames(d, u, address, wish, ret, max);
}

static size_t measure(const struct debuginfo *d)
{
	size_t sum = sizeof(*d) + NAME_CACHE_SIZE * sizeof(*d->name_cache) +
		     d->unit_capacity * sizeof(*d->units) + interval_map_memory(&d->code) +
		     debug_sections_memory(d);

	for (size_t i = 0; i < d->unit_count; i++)
		sum += debug_unit_memory(&d->units[i]);
	return sum;
}

size_t debuginfo_memory(struct debuginfo *d)
{
	if (!d->memory || d->measured_loads != d->loads) {
		d->memory = measure(d);
		d->measured_loads = d->loads;
	}
	return d->memory + (d->alternate ? debuginfo_memory(d->alternate) : 0);
}

void debuginfo_trim(struct debuginfo *d)
{
	for (size_t i = 0; i < d->unit_count; i++)
		debug_unit_unload(&d->units[i]);
	debug_sections_trim(d);
	d->memory = 0;
	if (d->alternate)
		debuginfo_trim(d->alternate);
}
