/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * lookup_map.h - which functions of several sections lookups find, and where.
 *
 *	view 0	     ├─────────┤    ├──┤
 *	view 1	├────────┤  ├──────────────┤
 *	parts	   1      0   1     0   1
 *
 * For lookups of all addresses: in an unsorted section, or in many sections, each lookup reads
 * all functions.
 */
#ifndef BOBBIN_CONVERT_LOOKUP_MAP_H
#define BOBBIN_CONVERT_LOOKUP_MAP_H

#include <bobbin/sframe.h>

#include "convert/claims.h"
#include "convert/function_rows.h"

/**
 * struct lookup_map - all functions
 * @views: as given
 * @parts, @count: ascend and do not overlap; between them no section has a function
 * @long_part: of the last function with very many rows, or NULL
 * @rows: of that function
 * @decoded, @status, @error: that function, or why it cannot be decoded
 */
struct lookup_map {
	const struct bobbin_sframe_view *views;
	struct claim *parts;
	size_t count;
	const struct claim *long_part;
	struct rule_rows rows;
	struct listed_function decoded;
	int status;
	struct bobbin_error error;
};

/*
 * Map @count sections, which are borrowed; the first that has a function at an address counts.
 * In a section that claims to be sorted and is not, lookups can miss a function of the map. n
 * log n.  0, -ENOMEM.
 */
int lookup_map_init(const struct bobbin_sframe_view *views, uint32_t count, struct lookup_map *ret);

/*
 * bobbin_sframe_lookup() for an address in a part of the map.  Functions with very many
 * rows, which lookups scan from the first, are decoded once; if one of their rows is
 * malformed, all are.
 */
int lookup_map_row(struct lookup_map *map, const struct claim *part, uint64_t addr,
		   struct bobbin_error *err, struct bobbin_row *ret);

void lookup_map_fini(struct lookup_map *map);

#endif
