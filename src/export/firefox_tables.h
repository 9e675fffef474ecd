/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * firefox_tables.h - what the threads of a profile for the Firefox Profiler have in common.
 *
 * All tables are columns, and the rows of one are the numbers in others:
 *
 *	stacks ─► frames ─► functions ─► resources ─► libs
 *	             ├────► native symbols ─────────────┘
 *	             └─ a location has as many frames as lines: inlined functions are frames, too
 */
#ifndef BOBBIN_EXPORT_FIREFOX_TABLES_H
#define BOBBIN_EXPORT_FIREFOX_TABLES_H

#include <stddef.h>
#include <stdint.h>

#include "base/hash_index.h"
#include "base/name_pool.h"
#include "export/json_output.h"
#include "export/profile.h"

/* Of frames and of markers, in the order of firefox_put_categories(). */
enum firefox_category {
	FIREFOX_OTHER,
	FIREFOX_USER,
	FIREFOX_KERNEL,
	FIREFOX_JIT,
	FIREFOX_CATEGORY_COUNT
};

/* A file of code: @mapping is the first one of it. */
struct firefox_lib {
	uint32_t mapping;
};

/* Where functions are: a lib, or what is called @name in its place. */
struct firefox_resource {
	const char *name;
	uint32_t lib;
};

/* A function of the profile in one lib; readers find the lib of a frame by its function. */
struct firefox_function {
	uint32_t function, lib, resource, source;
};

/* The machine code of a function; @address: of its start, as those of frames; @size: 0: not known. */
struct firefox_symbol {
	uint64_t address, size;
	uint32_t lib, function;
};

/* @symbol: PROFILE_NONE where it is not known. */
struct firefox_frame {
	uint32_t location, function, symbol;
};

/**
 * struct firefox_tables - the tables, and what finds their rows
 * @sources: paths of source files
 * @leaves: of each stack of the profile, the row of its innermost frame
 * @mapping_libs: of each mapping of the profile, or PROFILE_NONE
 * @frames: of each line of the profile
 * @error: the first one: 0, -ENOMEM or -E2BIG
 */
struct firefox_tables {
	const struct profile *profile;
	const char **strings, **sources;
	struct firefox_lib *libs;
	struct firefox_resource *resources;
	struct firefox_function *functions;
	struct firefox_symbol *symbols;
	struct firefox_frame *frames;
	uint32_t *leaves, *mapping_libs;
	size_t string_count, source_count, lib_count, resource_count, function_count, symbol_count,
		stack_count;
	size_t string_room, source_room, lib_room, resource_room, function_room, symbol_room;
	struct hash_index string_index, source_index, lib_index, resource_index, function_index,
		symbol_index;
	struct name_pool pool;
	int error;
};

/* 0, -ENOMEM or -E2BIG; firefox_tables_fini() in any case. */
int firefox_tables_init(struct firefox_tables *tables, const struct profile *profile);
void firefox_tables_fini(struct firefox_tables *tables);

/* The number of a string; those of firefox_passing_string() need not last. */
uint32_t firefox_string(struct firefox_tables *tables, const char *text);
uint32_t firefox_passing_string(struct firefox_tables *tables, const char *text);

/* A string that is no number, without what is left out of what is printed. */
void firefox_put_text(struct firefox_tables *tables, struct json_output *json, const char *key,
		      const char *text);

static inline const struct profile_mapping *firefox_lib_mapping(const struct firefox_tables *tables,
								uint32_t lib)
{
	return &tables->profile->mappings[tables->libs[lib].mapping];
}

/* In its lib's file. */
static inline uint64_t firefox_address(const struct firefox_tables *tables,
				       const struct profile_location *location)
{
	const struct profile_mapping *m = &tables->profile->mappings[location->mapping];

	return location->address - m->start + m->offset;
}

static inline const struct profile_location *firefox_location(const struct firefox_tables *tables,
							      size_t stack)
{
	return &tables->profile->locations[tables->profile->stacks[stack].location];
}

/* "meta.categories" */
void firefox_put_categories(struct json_output *json);
/* "libs" */
void firefox_put_libs(struct firefox_tables *tables, struct json_output *json);
/* "shared", with all strings: after everything that has any */
void firefox_put_shared(struct firefox_tables *tables, struct json_output *json);

#endif
