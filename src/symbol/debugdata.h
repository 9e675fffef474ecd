/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * debugdata.h - what the files that read DWARF share.
 *
 *	debugsection.c	bytes of a section, read or decompressed
 *	debugform.c	abbreviations and attribute values
 *	debugunit.c	units, their root attributes, which code they cover
 *	debugrange.c	range lists
 *	debugscope.c	functions and inlined calls of a unit
 *	debugline.c	the line table of a unit
 *	debugname.c	the name of a function
 *	debuginfo.c	the interface
 *
 * The bytes of a section are seen through one movable window, so a view of a
 * section ends with the next view of the same section.
 */
#ifndef BOBBIN_SYMBOL_DEBUGDATA_H
#define BOBBIN_SYMBOL_DEBUGDATA_H

#include "core/bytes.h"
#include "symbol/debuginfo.h"
#include "symbol/interval.h"

enum debug_section_id {
	SECTION_INFO,
	SECTION_ABBREV,
	SECTION_LINE,
	SECTION_STR,
	SECTION_LINE_STR,
	SECTION_RANGES,
	SECTION_RNGLISTS,
	SECTION_ADDR,
	SECTION_STR_OFFSETS,
	SECTION_COUNT
};

struct debug_section {
	const struct object_section *header; /* NULL: there is none */
	const uint8_t *data;                 /* all of it, if it is in memory anyway */
	uint8_t *owned;                      /* the same, if it was decompressed */
	uint64_t size;
	uint8_t *window;
	uint64_t window_at;
	size_t window_size, window_capacity;
	bool ready, broken;
};

struct abbrev_attribute {
	uint16_t name, form;
	int32_t constant; /* of DW_FORM_implicit_const, saturated */
};

struct abbrev {
	uint64_t code;
	uint32_t first, count; /* attributes */
	uint16_t tag;
	bool children;
};

struct abbrev_table {
	struct abbrev *abbrevs;
	size_t count, capacity;
	struct abbrev_attribute *attributes;
	size_t attribute_count, attribute_capacity;
};

enum value_kind {
	VALUE_NONE,
	VALUE_ADDRESS,
	VALUE_ADDRESS_INDEX,
	VALUE_NUMBER,
	VALUE_TEXT, /* in the view */
	VALUE_STR,  /* offsets */
	VALUE_LINE_STR,
	VALUE_STR_INDEX,
	VALUE_ALTERNATE_STR,
	VALUE_UNIT_REFERENCE,
	VALUE_REFERENCE,
	VALUE_ALTERNATE_REFERENCE,
	VALUE_LIST_INDEX,
	VALUE_OTHER, /* a value of no use here */
};

struct value {
	enum value_kind kind;
	uint64_t number;
	const char *text; /* ends with the view that it was read from */
};

/* The attributes that are of use here. */
enum die_attribute {
	DIE_NAME,
	DIE_LINKAGE_NAME,
	DIE_LOW,
	DIE_HIGH,
	DIE_RANGES,
	DIE_ORIGIN,
	DIE_SPECIFICATION,
	DIE_CALL_FILE,
	DIE_CALL_LINE,
	DIE_STMT_LIST,
	DIE_COMP_DIR,
	DIE_ADDR_BASE,
	DIE_STR_OFFSETS_BASE,
	DIE_RNGLISTS_BASE,
	DIE_ATTRIBUTES
};

struct die {
	uint16_t tag;
	bool children;
	struct value values[DIE_ATTRIBUTES];
};

#define SCOPE_NONE UINT32_MAX

struct scope {
	uint32_t die;   /* offset in the unit */
	uint32_t outer; /* scope that it was inlined into, or SCOPE_NONE */
	uint32_t call_file, call_line;
};

struct scope_table {
	struct scope *scopes;
	size_t count, capacity;
	struct interval_map ranges; /* value: scope */
};

struct line_row {
	uint64_t address;
	uint32_t line, file;
};

struct line_table {
	struct line_row *rows;
	size_t count, capacity;
	struct interval_map sequences; /* value: first row << 32 | rows */
	const char **files;            /* known names by number */
	size_t file_count;
};

/* Bounded: names of files with higher numbers are not kept. */
#define LINE_FILES_KEPT 65536

/* What is kept of a unit that was needed. */
struct unit_data {
	struct abbrev_table abbrevs;
	uint64_t low, addr_base, str_offsets_base, rnglists_base, stmt_list;
	bool has_lines;
	const char *directory;
	struct scope_table scopes;
	struct line_table lines;
	bool scopes_read, lines_read;
};

struct unit {
	uint64_t offset, size; /* in .debug_info, with the header */
	uint64_t abbrevs;
	uint8_t version, address_size, offset_size, header_size;
	bool broken;
	struct unit_data *data;
};

/* Step budgets: for each address, besides the size of what has to be read; for all units. */
#define WORK_PER_ADDRESS (16ull << 20)
#define WORK_PER_BYTE 4
#define WORK_PER_SCAN (256ull << 20)

struct name_cache_entry {
	uint64_t offset;
	struct name_pair name;
};

#define NAME_CACHE_SIZE 1024

struct debuginfo {
	const struct object *object;
	const struct debug_paths *paths;
	struct name_pool *names;
	uint64_t limit;
	uint64_t work;           /* steps left */
	uint64_t loads;          /* grows when more is held */
	uint64_t measured_loads; /* when @memory was true */
	size_t memory;
	struct debug_section sections[SECTION_COUNT];
	struct unit *units; /* by offset */
	size_t unit_count, unit_capacity;
	struct interval_map code; /* value: unit */
	struct name_cache_entry *name_cache;
	struct object *alternate_object;
	struct debuginfo *alternate;
	bool alternate_tried;
};

/* Take @steps from the budget; false when it is used up. */
static inline bool debug_spend(struct debuginfo *d, uint64_t steps)
{
	if (d->work < steps) {
		d->work = 0;
		return false;
	}
	d->work -= steps;
	return true;
}

/* debugsection.c */

bool debug_has_section(struct debuginfo *d, enum debug_section_id id);
uint64_t debug_section_size(struct debuginfo *d, enum debug_section_id id);

/* Up to @want bytes at @offset; bad if @offset is outside or the read fails. */
struct bytes debug_view(struct debuginfo *d, enum debug_section_id id, uint64_t offset,
			uint64_t want);

/* Copy a string, cut to @size - 1 bytes.  False if there is none. */
bool debug_text(struct debuginfo *d, enum debug_section_id id, uint64_t offset, char *dst,
		size_t size);

size_t debug_sections_memory(const struct debuginfo *d);
void debug_sections_trim(struct debuginfo *d);
void debug_sections_fini(struct debuginfo *d);

/* debugform.c */

/* Returns 0, -EBADMSG, -ENOMEM. */
int abbrev_table_read(struct debuginfo *d, uint64_t offset, struct abbrev_table *ret);
const struct abbrev *abbrev_find(const struct abbrev_table *t, uint64_t code);
void abbrev_table_fini(struct abbrev_table *t);

/* Move over one value; @b turns bad if it cannot be read. */
struct value value_read(struct bytes *b, const struct unit *u, uint16_t form, int32_t constant);

/* The attributes of a DIE whose code was read. */
void die_read(struct bytes *b, const struct unit *u, const struct abbrev_table *t,
	      const struct abbrev *a, struct die *ret);
void die_skip(struct bytes *b, const struct unit *u, const struct abbrev_table *t,
	      const struct abbrev *a);

/* Copy the string that @v stands for, cut to @size - 1 bytes.  False if there is none. */
bool value_text(struct debuginfo *d, const struct unit *u, const struct value *v, char *dst,
		size_t size);
/* The address that @v stands for. */
bool value_address(struct debuginfo *d, const struct unit *u, const struct value *v, uint64_t *ret);

/* debugunit.c */

/* List the units.  Returns 0, -ENOMEM. */
int debug_units_read(struct debuginfo *d);
/* Find which code they cover.  Returns 0, -ENOMEM. */
int debug_units_scan(struct debuginfo *d);
/* The unit around @offset of .debug_info, or NULL. */
struct unit *debug_unit_at(struct debuginfo *d, uint64_t offset);
/* Read abbreviations and root attributes, if not there.  Returns 0, -EBADMSG, -ENOMEM. */
int debug_unit_load(struct debuginfo *d, struct unit *u);
void debug_unit_unload(struct unit *u);
size_t debug_unit_memory(const struct unit *u);

/* debugrange.c */

/*
 * Add the code that @die of @u covers to @map, as far as it is code of the file.
 * Returns the number of ranges, -ENOMEM.
 */
int debug_ranges_add(struct debuginfo *d, const struct unit *u, const struct die *die,
		     struct interval_map *map, uint64_t value);

/* debugscope.c */

/* Returns 0, -ENOMEM; damage ends the table early. */
int scope_table_read(struct debuginfo *d, const struct unit *u, struct scope_table *ret);
void scope_table_fini(struct scope_table *t);

/* debugline.c */

/* Returns 0, -ENOMEM; damage ends the table early. */
int line_table_read(struct debuginfo *d, const struct unit *u, struct line_table *ret);
/* The row around @address, or NULL. */
const struct line_row *line_table_find(const struct line_table *t, uint64_t address);
/* The path of file number @file, or NULL. */
const char *line_table_file(struct debuginfo *d, const struct unit *u, uint32_t file);
void line_table_fini(struct line_table *t);

/* debugname.c */

/* The name of the function whose DIE is at @offset of .debug_info.  Returns 0, -ENOENT, -ENOMEM. */
int debug_function_name(struct debuginfo *d, uint64_t offset, struct name_pair *ret);

#endif
