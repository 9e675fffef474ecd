/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
#include "symbol/debugdata.h"

#include <dwarf.h>
#include <errno.h>
#include <stdlib.h>
#include <string.h>

/* First read of an abbreviation table; doubled until the table fits. */
#define ABBREV_VIEW 4096
#define MAX_ABBREV_TABLE (16 << 20)

#define FIRST_ATTRIBUTES 256
#define FIRST_ABBREVS 64

static int add_attribute(struct abbrev_table *t, struct abbrev_attribute a)
{
	if (t->attribute_count == t->attribute_capacity) {
		size_t more = t->attribute_capacity ? 2 * t->attribute_capacity : FIRST_ATTRIBUTES;
		struct abbrev_attribute *items = reallocarray(t->attributes, more, sizeof(a));

		if (!items)
			return -ENOMEM;
		t->attributes = items;
		t->attribute_capacity = more;
	}
	t->attributes[t->attribute_count++] = a;
	return 0;
}

static int add_abbrev(struct abbrev_table *t, struct abbrev a)
{
	if (t->count == t->capacity) {
		size_t more = t->capacity ? 2 * t->capacity : FIRST_ABBREVS;
		struct abbrev *items = reallocarray(t->abbrevs, more, sizeof(a));

		if (!items)
			return -ENOMEM;
		t->abbrevs = items;
		t->capacity = more;
	}
	t->abbrevs[t->count++] = a;
	return 0;
}

static int32_t saturate(int64_t v)
{
	return v > INT32_MAX ? INT32_MAX : v < INT32_MIN ? INT32_MIN : (int32_t)v;
}

/* Adds one attribute specification; 1 at the end of the list. */
static int read_attribute(struct bytes *b, struct abbrev_table *t)
{
	uint64_t name = bytes_uleb(b), form = bytes_uleb(b);
	struct abbrev_attribute a = {.name = (uint16_t)name, .form = (uint16_t)form};

	if (form == DW_FORM_implicit_const)
		a.constant = saturate(bytes_sleb(b));
	if (b->bad || name > UINT16_MAX || form > UINT16_MAX)
		return -BOBBIN_EBADMSG;
	return !name && !form ? 1 : add_attribute(t, a);
}

/* Adds one abbreviation; 1 at the end of the table. */
static int read_abbrev(struct bytes *b, struct abbrev_table *t)
{
	struct abbrev a = {.code = bytes_uleb(b), .first = (uint32_t)t->attribute_count};
	uint64_t tag;
	int err;

	if (b->bad || !a.code)
		return b->bad ? -BOBBIN_EBADMSG : 1;
	tag = bytes_uleb(b);
	a.tag = tag > UINT16_MAX ? 0 : (uint16_t)tag;
	a.children = bytes_u8(b);
	do
		err = read_attribute(b, t);
	while (!err);
	if (err < 0)
		return err;
	a.count = (uint32_t)t->attribute_count - a.first;
	return add_abbrev(t, a);
}

static int abbrev_compare(const void *left, const void *right)
{
	const struct abbrev *a = left, *b = right;

	return (a->code > b->code) - (a->code < b->code);
}

static bool is_sorted(const struct abbrev_table *t)
{
	for (size_t i = 1; i < t->count; i++)
		if (t->abbrevs[i - 1].code >= t->abbrevs[i].code)
			return false;
	return true;
}

static int read_view(struct debuginfo *d, uint64_t offset, uint64_t want, struct abbrev_table *t)
{
	struct bytes b = debug_view(d, SECTION_ABBREV, offset, want);
	int err = 0;

	while (!err)
		err = debug_spend(d, 1) ? read_abbrev(&b, t) : -ETIME;
	debug_spend(d, b.pos / 4);
	if (err < 0)
		return err;
	if (!is_sorted(t))
		qsort(t->abbrevs, t->count, sizeof(*t->abbrevs), abbrev_compare);
	return 0;
}

int abbrev_table_read(struct debuginfo *d, uint64_t offset, struct abbrev_table *ret)
{
	uint64_t size = debug_section_size(d, SECTION_ABBREV);
	struct abbrev_table t = {0};
	int err = -BOBBIN_EBADMSG;

	if (offset >= size)
		return err;
	for (uint64_t want = ABBREV_VIEW; want <= MAX_ABBREV_TABLE; want *= 4) {
		err = read_view(d, offset, want, &t);
		if (!err) {
			*ret = t;
			return 0;
		}
		abbrev_table_fini(&t);
		if (err != -BOBBIN_EBADMSG || want >= size - offset)
			break;
	}
	return err;
}

const struct abbrev *abbrev_find(const struct abbrev_table *t, uint64_t code)
{
	struct abbrev key = {.code = code};

	/* Producers number from one. */
	if (code - 1 < t->count && t->abbrevs[code - 1].code == code)
		return &t->abbrevs[code - 1];
	if (!t->count)
		return NULL;
	return bsearch(&key, t->abbrevs, t->count, sizeof(key), abbrev_compare);
}

void abbrev_table_fini(struct abbrev_table *t)
{
	free(t->abbrevs);
	free(t->attributes);
	*t = (struct abbrev_table){0};
}

static struct value number(enum value_kind kind, uint64_t n)
{
	return (struct value){.kind = kind, .number = n};
}

static struct value other(struct bytes *b, uint64_t size)
{
	bytes_skip(b, size);
	return number(VALUE_OTHER, 0);
}

static struct value text(struct bytes *b)
{
	const char *start = (const char *)b->data + b->pos;
	const char *end = bytes_left(b) ? memchr(start, '\0', bytes_left(b)) : NULL;

	if (!end) {
		b->bad = true;
		return number(VALUE_NONE, 0);
	}
	bytes_skip(b, (uint64_t)(end - start) + 1);
	return (struct value){.kind = VALUE_TEXT, .text = start};
}

/* Longer than others: one case for each form of the standard. */
static struct value read_form(struct bytes *b, const struct unit *u, uint16_t form,
			      int32_t constant)
{
	switch (form) {
	case DW_FORM_addr:
		return number(VALUE_ADDRESS, bytes_get(b, u->address_size));
	case DW_FORM_data1:
	case DW_FORM_flag:
		return number(VALUE_NUMBER, bytes_u8(b));
	case DW_FORM_data2:
		return number(VALUE_NUMBER, bytes_u16(b));
	case DW_FORM_data4:
		return number(VALUE_NUMBER, bytes_u32(b));
	case DW_FORM_data8:
		return number(VALUE_NUMBER, bytes_u64(b));
	case DW_FORM_data16:
		return other(b, 16);
	case DW_FORM_sdata:
		return number(VALUE_NUMBER, (uint64_t)bytes_sleb(b));
	case DW_FORM_udata:
		return number(VALUE_NUMBER, bytes_uleb(b));
	case DW_FORM_implicit_const:
		return number(VALUE_NUMBER, (uint64_t)(int64_t)constant);
	case DW_FORM_flag_present:
		return number(VALUE_NUMBER, 1);
	case DW_FORM_sec_offset:
		return number(VALUE_NUMBER, bytes_get(b, u->offset_size));
	case DW_FORM_string:
		return text(b);
	case DW_FORM_strp:
		return number(VALUE_STR, bytes_get(b, u->offset_size));
	case DW_FORM_line_strp:
		return number(VALUE_LINE_STR, bytes_get(b, u->offset_size));
	case DW_FORM_strp_sup:
	case DW_FORM_GNU_strp_alt:
		return number(VALUE_ALTERNATE_STR, bytes_get(b, u->offset_size));
	case DW_FORM_strx:
	case DW_FORM_GNU_str_index:
		return number(VALUE_STR_INDEX, bytes_uleb(b));
	case DW_FORM_strx1:
		return number(VALUE_STR_INDEX, bytes_u8(b));
	case DW_FORM_strx2:
		return number(VALUE_STR_INDEX, bytes_u16(b));
	case DW_FORM_strx3:
		return number(VALUE_STR_INDEX, bytes_get(b, 3));
	case DW_FORM_strx4:
		return number(VALUE_STR_INDEX, bytes_u32(b));
	case DW_FORM_addrx:
	case DW_FORM_GNU_addr_index:
		return number(VALUE_ADDRESS_INDEX, bytes_uleb(b));
	case DW_FORM_addrx1:
		return number(VALUE_ADDRESS_INDEX, bytes_u8(b));
	case DW_FORM_addrx2:
		return number(VALUE_ADDRESS_INDEX, bytes_u16(b));
	case DW_FORM_addrx3:
		return number(VALUE_ADDRESS_INDEX, bytes_get(b, 3));
	case DW_FORM_addrx4:
		return number(VALUE_ADDRESS_INDEX, bytes_u32(b));
	case DW_FORM_ref1:
		return number(VALUE_UNIT_REFERENCE, bytes_u8(b));
	case DW_FORM_ref2:
		return number(VALUE_UNIT_REFERENCE, bytes_u16(b));
	case DW_FORM_ref4:
		return number(VALUE_UNIT_REFERENCE, bytes_u32(b));
	case DW_FORM_ref8:
		return number(VALUE_UNIT_REFERENCE, bytes_u64(b));
	case DW_FORM_ref_udata:
		return number(VALUE_UNIT_REFERENCE, bytes_uleb(b));
	case DW_FORM_ref_addr:
		return number(VALUE_REFERENCE,
			      bytes_get(b, u->version == 2 ? u->address_size : u->offset_size));
	case DW_FORM_ref_sup4:
		return number(VALUE_ALTERNATE_REFERENCE, bytes_u32(b));
	case DW_FORM_ref_sup8:
		return number(VALUE_ALTERNATE_REFERENCE, bytes_u64(b));
	case DW_FORM_GNU_ref_alt:
		return number(VALUE_ALTERNATE_REFERENCE, bytes_get(b, u->offset_size));
	case DW_FORM_ref_sig8:
		return other(b, 8);
	case DW_FORM_rnglistx:
	case DW_FORM_loclistx:
		return number(VALUE_LIST_INDEX, bytes_uleb(b));
	case DW_FORM_block1:
		return other(b, bytes_u8(b));
	case DW_FORM_block2:
		return other(b, bytes_u16(b));
	case DW_FORM_block4:
		return other(b, bytes_u32(b));
	case DW_FORM_block:
	case DW_FORM_exprloc:
		return other(b, bytes_uleb(b));
	default:
		b->bad = true;
		return number(VALUE_NONE, 0);
	}
}

struct value value_read(struct bytes *b, const struct unit *u, uint16_t form, int32_t constant)
{
	if (form == DW_FORM_indirect) {
		uint64_t real = bytes_uleb(b);

		form = real > UINT16_MAX || real == DW_FORM_implicit_const ? 0 : (uint16_t)real;
	}
	return read_form(b, u, form, constant);
}

static int attribute_index(uint16_t name)
{
	switch (name) {
	case DW_AT_name:
		return DIE_NAME;
	case DW_AT_linkage_name:
	case DW_AT_MIPS_linkage_name:
		return DIE_LINKAGE_NAME;
	case DW_AT_low_pc:
		return DIE_LOW;
	case DW_AT_high_pc:
		return DIE_HIGH;
	case DW_AT_ranges:
		return DIE_RANGES;
	case DW_AT_abstract_origin:
		return DIE_ORIGIN;
	case DW_AT_specification:
		return DIE_SPECIFICATION;
	case DW_AT_call_file:
		return DIE_CALL_FILE;
	case DW_AT_call_line:
		return DIE_CALL_LINE;
	case DW_AT_stmt_list:
		return DIE_STMT_LIST;
	case DW_AT_comp_dir:
		return DIE_COMP_DIR;
	case DW_AT_addr_base:
	case DW_AT_GNU_addr_base:
		return DIE_ADDR_BASE;
	case DW_AT_str_offsets_base:
		return DIE_STR_OFFSETS_BASE;
	case DW_AT_rnglists_base:
		return DIE_RNGLISTS_BASE;
	default:
		return -1;
	}
}

void die_read(struct bytes *b, const struct unit *u, const struct abbrev_table *t,
	      const struct abbrev *a, struct die *ret)
{
	memset(ret, 0, sizeof(*ret));
	ret->tag = a->tag;
	ret->children = a->children;
	for (uint32_t i = 0; i < a->count && !b->bad; i++) {
		const struct abbrev_attribute *at = &t->attributes[a->first + i];
		struct value v = value_read(b, u, at->form, at->constant);
		int index = attribute_index(at->name);

		if (index >= 0)
			ret->values[index] = v;
	}
}

void die_skip(struct bytes *b, const struct unit *u, const struct abbrev_table *t,
	      const struct abbrev *a)
{
	for (uint32_t i = 0; i < a->count && !b->bad; i++) {
		const struct abbrev_attribute *at = &t->attributes[a->first + i];

		value_read(b, u, at->form, at->constant);
	}
}

/* Entry @index of a table of @size-byte numbers at @base. */
static bool table_entry(struct debuginfo *d, enum debug_section_id id, uint64_t base,
			uint64_t index, unsigned int size, uint64_t *ret)
{
	struct bytes b;
	uint64_t at, n;

	if (__builtin_mul_overflow(index, size, &at) || __builtin_add_overflow(at, base, &at))
		return false;
	b = debug_view(d, id, at, size);
	n = bytes_get(&b, size);
	if (b.bad)
		return false;
	*ret = n;
	return true;
}

bool value_text(struct debuginfo *d, const struct unit *u, const struct value *v, char *dst,
		size_t size)
{
	uint64_t offset = v->number;
	size_t len;

	switch (v->kind) {
	case VALUE_TEXT:
		len = strnlen(v->text, size - 1);
		memcpy(dst, v->text, len);
		dst[len] = '\0';
		return true;
	case VALUE_STR_INDEX:
		if (!u->data || !table_entry(d, SECTION_STR_OFFSETS, u->data->str_offsets_base,
					     v->number, u->offset_size, &offset))
			return false;
		return debug_text(d, SECTION_STR, offset, dst, size);
	case VALUE_STR:
		return debug_text(d, SECTION_STR, offset, dst, size);
	case VALUE_LINE_STR:
		return debug_text(d, SECTION_LINE_STR, offset, dst, size);
	case VALUE_ALTERNATE_STR:
		return d->alternate && debug_text(d->alternate, SECTION_STR, offset, dst, size);
	default:
		return false;
	}
}

bool value_address(struct debuginfo *d, const struct unit *u, const struct value *v, uint64_t *ret)
{
	if (v->kind == VALUE_ADDRESS) {
		*ret = v->number;
		return true;
	}
	return v->kind == VALUE_ADDRESS_INDEX && u->data &&
	       table_entry(d, SECTION_ADDR, u->data->addr_base, v->number, u->address_size, ret);
}
