/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
#include "symbol/debugdata.h"

#include <dwarf.h>
#include <errno.h>
#include <stdlib.h>
#include <string.h>

/* Enough for most root DIEs, and for all but absurd ones. */
#define ROOT_VIEW 512
#define ROOT_VIEW_MAX (64 << 10)
#define LONGEST_HEADER 48

static int add_unit(struct debuginfo *d, const struct unit *u)
{
	if (d->unit_count == d->unit_capacity) {
		size_t more = d->unit_capacity ? 2 * d->unit_capacity : 64;
		struct unit *units = reallocarray(d->units, more, sizeof(*units));

		if (!units)
			return -ENOMEM;
		d->units = units;
		d->unit_capacity = more;
	}
	d->units[d->unit_count++] = *u;
	return 0;
}

/* A unit of a kind or version that is not known here is passed over. */
static bool is_usable(const struct unit *u, unsigned int type)
{
	if (u->version < 2 || u->version > 5 || (u->address_size != 4 && u->address_size != 8))
		return false;
	return type == DW_UT_compile || type == DW_UT_partial || type == DW_UT_skeleton;
}

static unsigned int read_unit_type(struct bytes *b, struct unit *u)
{
	unsigned int type = DW_UT_compile;

	if (u->version >= 5) {
		type = bytes_u8(b);
		u->address_size = bytes_u8(b);
		u->abbrevs = bytes_get(b, u->offset_size);
		if (type == DW_UT_skeleton)
			bytes_skip(b, 8); /* dwo_id */
	} else {
		u->abbrevs = bytes_get(b, u->offset_size);
		u->address_size = bytes_u8(b);
	}
	return type;
}

/* False if the rest of the section cannot be understood. */
static bool read_unit_header(struct debuginfo *d, uint64_t offset, struct unit *u)
{
	struct bytes b = debug_view(d, SECTION_INFO, offset, LONGEST_HEADER);
	uint64_t length = bytes_u32(&b), left;
	unsigned int type;

	*u = (struct unit){.offset = offset, .offset_size = 4};
	if (length == 0xffffffff) {
		u->offset_size = 8;
		length = bytes_u64(&b);
	}
	left = debug_section_size(d, SECTION_INFO) - offset;
	if (b.bad || length > left - b.pos || !length)
		return false;
	u->size = b.pos + length;
	u->version = (uint8_t)bytes_u16(&b);
	type = read_unit_type(&b, u);
	u->header_size = (uint8_t)b.pos;
	u->broken = b.bad || !is_usable(u, type) || u->header_size > u->size ||
		    u->size > UINT32_MAX;
	return true;
}

int debug_units_read(struct debuginfo *d)
{
	uint64_t size = debug_section_size(d, SECTION_INFO);
	struct unit u;
	int err = 0;

	for (uint64_t at = 0; at < size && !err && debug_spend(d, 1); at += u.size) {
		if (!read_unit_header(d, at, &u))
			break;
		if (d->unit_count * sizeof(u) > d->limit)
			return -ENOMEM;
		err = add_unit(d, &u);
	}
	return err;
}

struct unit *debug_unit_at(struct debuginfo *d, uint64_t offset)
{
	size_t low = 0, high = d->unit_count;
	struct unit *u;

	while (low < high) {
		size_t middle = low + (high - low) / 2;

		if (d->units[middle].offset <= offset)
			low = middle + 1;
		else
			high = middle;
	}
	if (!low)
		return NULL;
	u = &d->units[low - 1];
	return !u->broken && offset - u->offset < u->size ? u : NULL;
}

static bool read_root_view(struct debuginfo *d, const struct unit *u, uint64_t want,
			   struct die *ret)
{
	uint64_t left = u->size - u->header_size;
	struct bytes b = debug_view(d, SECTION_INFO, u->offset + u->header_size,
				    left < want ? left : want);
	const struct abbrev *a = abbrev_find(&u->data->abbrevs, bytes_uleb(&b));

	if (b.bad || !a || !debug_spend(d, a->count))
		return false;
	die_read(&b, u, &u->data->abbrevs, a, ret);
	return !b.bad;
}

static bool read_root(struct debuginfo *d, const struct unit *u, struct die *ret)
{
	return read_root_view(d, u, ROOT_VIEW, ret) || read_root_view(d, u, ROOT_VIEW_MAX, ret);
}

static uint64_t number_or(const struct value *v, uint64_t otherwise)
{
	return v->kind == VALUE_NUMBER ? v->number : otherwise;
}

static const char *read_directory(struct debuginfo *d, const struct unit *u, const struct value *v)
{
	char directory[4096];

	if (!value_text(d, u, v, directory, sizeof(directory)))
		return NULL;
	return symbol_pool_keep(d->names, directory, strlen(directory));
}

/* Bases first: the other attributes count from them, wherever they stand. */
static void take_root(struct debuginfo *d, struct unit *u, const struct die *root)
{
	/* Behind the header of a table, where none is named. */
	uint64_t first = u->offset_size == 8 ? 16 : 8;
	struct unit_data *data = u->data;

	data->addr_base = number_or(&root->values[DIE_ADDR_BASE], first);
	data->str_offsets_base = number_or(&root->values[DIE_STR_OFFSETS_BASE], first);
	data->rnglists_base = number_or(&root->values[DIE_RNGLISTS_BASE], 0);
	data->has_lines = root->values[DIE_STMT_LIST].kind == VALUE_NUMBER;
	data->stmt_list = root->values[DIE_STMT_LIST].number;
	data->directory = read_directory(d, u, &root->values[DIE_COMP_DIR]);
	if (!value_address(d, u, &root->values[DIE_LOW], &data->low))
		data->low = 0;
}

static int load(struct debuginfo *d, struct unit *u, struct die *root)
{
	int err;

	u->data = calloc(1, sizeof(*u->data));
	if (!u->data)
		return -ENOMEM;
	err = abbrev_table_read(d, u->abbrevs, &u->data->abbrevs);
	if (!err && !read_root(d, u, root))
		err = -BOBBIN_EBADMSG;
	if (err) {
		debug_unit_unload(u);
		u->broken = err != -ENOMEM;
		return err;
	}
	take_root(d, u, root);
	d->loads++;
	return 0;
}

int debug_unit_load(struct debuginfo *d, struct unit *u)
{
	struct die root;

	if (u->broken)
		return -BOBBIN_EBADMSG;
	return u->data ? 0 : load(d, u, &root);
}

/* DW_TAG_partial_unit and the like have no code of their own. */
static int scan_unit(struct debuginfo *d, struct unit *u)
{
	struct die root;
	int err = u->broken ? -BOBBIN_EBADMSG : load(d, u, &root);

	if (err)
		return err == -ENOMEM ? err : 0;
	err = debug_ranges_add(d, u, &root, &d->code, (uint64_t)(u - d->units));
	debug_unit_unload(u);
	return err < 0 ? err : 0;
}

int debug_units_scan(struct debuginfo *d)
{
	int err = 0;

	for (size_t i = 0; i < d->unit_count && !err && d->work; i++) {
		err = scan_unit(d, &d->units[i]);
		if (!err && interval_map_memory(&d->code) > d->limit)
			err = -ENOMEM;
	}
	interval_map_sort(&d->code);
	interval_map_shrink(&d->code);
	return err;
}

void debug_unit_unload(struct unit *u)
{
	if (!u->data)
		return;
	abbrev_table_fini(&u->data->abbrevs);
	scope_table_fini(&u->data->scopes);
	line_table_fini(&u->data->lines);
	free(u->data);
	u->data = NULL;
}

size_t debug_unit_memory(const struct unit *u)
{
	const struct unit_data *data = u->data;

	if (!data)
		return 0;
	return sizeof(*data) + data->abbrevs.capacity * sizeof(struct abbrev) +
	       data->abbrevs.attribute_capacity * sizeof(struct abbrev_attribute) +
	       data->scopes.capacity * sizeof(struct scope) +
	       interval_map_memory(&data->scopes.ranges) +
	       data->lines.capacity * sizeof(struct line_row) +
	       interval_map_memory(&data->lines.sequences) +
	       data->lines.file_count * sizeof(*data->lines.files);
}
