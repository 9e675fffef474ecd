/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * sframe_listing.h - the forms in which `bobbin sframe dump` prints.
 *
 *	file { section { table { function { row } } } absence }
 *
 * A defect may stand wherever a section, table, function or row may.  Addresses
 * are as the section has them; offsets count from the start of the file.
 */
#ifndef BOBBIN_CLI_SFRAME_LISTING_H
#define BOBBIN_CLI_SFRAME_LISTING_H

#include <bobbin/sframe.h>

#include "cli/json_output.h"
#include "elf/sframe_file.h"

/**
 * struct listing_table - one SFrame table; several may stand in one section
 * @section: that it stands in
 * @view: of it
 * @at: its offset in the section
 * @number: of the table in its section, from 0
 */
struct listing_table {
	const struct sframe_section *section;
	struct bobbin_sframe_view view;
	uint64_t at;
	uint32_t number;
};

/**
 * struct listing_function - one function
 * @table: that it stands in
 * @index: of it
 * @fde: the entry
 * @target: what a relocation says about it, or NULL
 */
struct listing_function {
	const struct listing_table *table;
	uint32_t index;
	struct bobbin_sframe_fde fde;
	const struct sframe_target *target;
};

struct listing_form {
	void (*file)(struct json_output *out, const char *path, const struct sframe_file *file);
	void (*section)(struct json_output *out, const struct sframe_section *section);
	void (*table)(struct json_output *out, const struct listing_table *table);
	void (*function)(struct json_output *out, const struct listing_function *function);
	void (*row)(struct json_output *out, const struct listing_function *function,
		    const struct bobbin_sframe_fre *fre, const struct bobbin_rule *rule);
	void (*defect)(struct json_output *out, uint64_t offset, enum bobbin_reason reason);
	void (*function_end)(struct json_output *out);
	void (*table_end)(struct json_output *out);
	/* @padding: zero bytes between and after the tables */
	void (*section_end)(struct json_output *out, uint64_t padding);
	void (*sections_end)(struct json_output *out);
	void (*absence)(struct json_output *out, const struct sframe_absence *absence);
	void (*file_end)(struct json_output *out);
};

extern const struct listing_form sframe_text, sframe_json;

/* "AMD64" and so on, of a table's ABI. */
const char *listing_abi(const struct bobbin_sframe_view *view);

/* The names of the header's flags, by bit. */
#define LISTING_FLAGS 3
extern const char *const listing_flags[LISTING_FLAGS];

/* The flags as they stand in the header; a view may have others. */
uint8_t listing_header_flags(const struct bobbin_sframe_view *view);

#endif
