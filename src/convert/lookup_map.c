/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
#include "convert/lookup_map.h"

#include <errno.h>
#include <stdlib.h>

#include "core/bisect.h"
#include "sframe/layout.h"

/* Functions with so many rows are decoded once for all lookups. */
#define MANY_ROWS 1024

/* The functions with code of a view, in the order of its table.  Their number. */
static size_t list_functions(const struct bobbin_sframe_view *view, uint32_t number,
			     struct claim *ret)
{
	struct sframe_fdes fdes = sframe_fdes_of(view);
	uint64_t entry = view->fde_off;
	size_t count = 0;

	for (uint32_t i = 0; i < view->num_fdes; i++, entry += view->fde_size) {
		uint64_t start = sframe_fde_start(&fdes, entry);
		uint32_t size = sframe_fde_size(&fdes, entry);
		uint64_t end = size > UINT64_MAX - start ? UINT64_MAX : start + size;

		if (start < end)
			ret[count++] = (struct claim){start, end, number, i};
	}
	return count;
}

static bool ascends(const struct bobbin_sframe_view *view, const struct claim *functions,
		    size_t count)
{
	for (size_t i = 1; i < count; i++)
		if ((int64_t)(functions[i].start - view->addr) <
		    (int64_t)(functions[i - 1].start - view->addr))
			return false;
	return true;
}

/* A search finds the function that starts last, and none that starts before it. */
static void clip(struct claim *functions, size_t count)
{
	uint64_t next = UINT64_MAX;

	for (size_t i = count; i-- > 0;) {
		if (i + 1 < count && functions[i + 1].start != functions[i].start)
			next = functions[i + 1].start;
		if (next > functions[i].start && next < functions[i].end)
			functions[i].end = next;
	}
}

static size_t list_all(const struct bobbin_sframe_view *views, uint32_t count, struct claim *ret)
{
	size_t all = 0;

	for (uint32_t i = 0; i < count; i++) {
		struct claim *functions = ret + all;
		size_t listed = list_functions(&views[i], i, functions);

		if (views[i].sorted && ascends(&views[i], functions, listed))
			clip(functions, listed);
		all += listed;
	}
	return all;
}

static bool are_apart(const struct claim *parts, size_t count)
{
	for (size_t i = 1; i < count; i++)
		if (parts[i].start < parts[i - 1].end)
			return false;
	return true;
}

/* Functions that may overlap become parts that do not. */
static int settle(struct lookup_map *map)
{
	struct claim *pieces;
	int r = claims_settle(map->parts, (uint32_t)map->count, &pieces, &map->count);

	if (r)
		return r;
	free(map->parts);
	map->parts = pieces;
	return 0;
}

int lookup_map_init(const struct bobbin_sframe_view *views, uint32_t count, struct lookup_map *ret)
{
	struct lookup_map map = {.views = views};
	uint64_t functions = 0;

	for (uint32_t i = 0; i < count; i++)
		functions += views[i].num_fdes;
	if (functions >= UINT32_MAX)
		return -ENOMEM;
	map.parts = calloc(functions + 1, sizeof(*map.parts));
	if (map.parts)
		map.count = list_all(views, count, map.parts);
	if (!map.parts || (!are_apart(map.parts, map.count) && settle(&map)) ||
	    rule_rows_init(&map.rows)) {
		free(map.parts);
		return -ENOMEM;
	}
	*ret = map;
	return 0;
}

/* Decode a function with very many rows, unless it is there.  false: lookups must do. */
static bool decode(struct lookup_map *map, const struct claim *part)
{
	const struct bobbin_sframe_view *view = &map->views[part->view];
	const struct claim *last = map->long_part;
	struct bobbin_sframe_fde fde;

	if (last && last->view == part->view && last->index == part->index)
		return true;
	if (bobbin_sframe_fde(view, part->index, NULL, &fde) || fde.num_fres < MANY_ROWS ||
	    fde.pcmask)
		return false;
	map->status = function_rows_read(&map->rows, view, part->index, &map->error, &map->decoded);
	map->long_part = map->status == -ENOMEM ? NULL : part;
	return map->long_part;
}

/* The last row that starts at or before an address; false: all start after it. */
static bool find_row(const struct lookup_map *map, uint64_t addr, struct bobbin_row *ret)
{
	const struct rule_rows *rows = &map->rows;
	const struct listed_function *f = &map->decoded;
	size_t after = bisect(i, 0, rows->count, rows->row[i].start > addr);

	if (!after)
		return false;
	*ret = (struct bobbin_row){
		.start = rows->row[after - 1].start,
		.end = after < rows->count ? rows->row[after].start : f->start + f->size,
		.function = f->start,
		.rule = *rule_rows_rule(rows, after - 1),
	};
	return true;
}

int lookup_map_row(struct lookup_map *map, const struct claim *part, uint64_t addr,
		   struct bobbin_error *err, struct bobbin_row *ret)
{
	struct bobbin_sframe_view view = map->views[part->view];

	if (decode(map, part)) {
		if (map->status > 0 && find_row(map, addr, ret))
			return 0;
		*err = map->status < 0 ? map->error
				       : (struct bobbin_error){0, BOBBIN_REASON_NO_ROW};
		return map->status < 0 ? map->status : -ENOENT;
	}
	if (!view.sorted) {
		view.fde_off += (uint64_t)part->index * view.fde_size;
		view.num_fdes = 1;
	}
	return bobbin_sframe_lookup(&view, addr, err, ret);
}

void lookup_map_fini(struct lookup_map *map)
{
	free(map->parts);
	rule_rows_fini(&map->rows);
	*map = (struct lookup_map){0};
}
