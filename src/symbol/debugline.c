/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
#include "symbol/debugdata.h"

#include <dwarf.h>
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#define MAX_PATH_TEXT 4096
#define MAX_FORMATS 16
#define NO_INDEX UINT64_MAX

/* A line program: its header and where its parts are in the view. */
struct line_program {
	struct unit forms; /* how values are encoded */
	uint64_t tables, code, end;
	uint8_t min_instruction, max_operations, line_range, opcode_base;
	int8_t line_base;
	uint8_t operands[256];
};

struct line_state {
	uint64_t address;
	uint32_t line, file;
};

/* The rows of one sequence as they come. */
struct line_run {
	struct debuginfo *d;
	const struct line_program *p;
	struct line_table table;
	struct line_state at;
	size_t first; /* row of the sequence */
};

static bool read_sizes(struct bytes *b, const struct unit *u, struct line_program *p)
{
	uint64_t length = bytes_u32(b), header_length;

	p->forms = *u;
	p->forms.offset_size = 4;
	if (length == 0xffffffff) {
		p->forms.offset_size = 8;
		length = bytes_u64(b);
	}
	if (b->bad || length > bytes_left(b))
		return false;
	p->end = b->pos + length;
	p->forms.version = (uint8_t)bytes_u16(b);
	if (p->forms.version >= 5) {
		p->forms.address_size = bytes_u8(b);
		bytes_skip(b, 1); /* segment selector size */
	}
	header_length = bytes_get(b, p->forms.offset_size);
	if (b->bad || header_length > p->end - b->pos)
		return false;
	p->code = b->pos + header_length;
	return true;
}

static bool read_header(struct bytes *b, const struct unit *u, struct line_program *p)
{
	if (!read_sizes(b, u, p) || p->forms.version < 2 || p->forms.version > 5 ||
	    (p->forms.address_size != 4 && p->forms.address_size != 8))
		return false;
	p->min_instruction = bytes_u8(b);
	p->max_operations = p->forms.version >= 4 ? bytes_u8(b) : 1;
	bytes_skip(b, 1); /* default is_stmt */
	p->line_base = (int8_t)bytes_u8(b);
	p->line_range = bytes_u8(b);
	p->opcode_base = bytes_u8(b);
	for (unsigned int i = 1; i < p->opcode_base; i++)
		p->operands[i] = bytes_u8(b);
	p->tables = b->pos;
	/* VLIW machines, which have several operations an instruction, are not supported. */
	return !b->bad && p->line_range && p->max_operations <= 1 && p->opcode_base;
}

static struct bytes program_view(struct debuginfo *d, const struct unit *u)
{
	uint64_t offset = u->data->stmt_list;
	struct bytes b = debug_view(d, SECTION_LINE, offset, 12);
	uint64_t length = bytes_u32(&b);

	if (length == 0xffffffff)
		length = bytes_u64(&b);
	return b.bad ? b : debug_view(d, SECTION_LINE, offset, b.pos + length);
}

static int add_row(struct line_run *r)
{
	struct line_table *t = &r->table;

	/* Rows run upwards; what goes back is damage. */
	if (t->count > r->first && t->rows[t->count - 1].address > r->at.address)
		return 0;
	if (t->count == t->capacity) {
		size_t more = t->capacity ? 2 * t->capacity : 256;
		struct line_row *rows;

		if (more > r->d->limit / sizeof(*rows))
			return -E2BIG;
		rows = reallocarray(t->rows, more, sizeof(*rows));
		if (!rows)
			return -ENOMEM;
		t->rows = rows;
		t->capacity = more;
	}
	t->rows[t->count++] = (struct line_row){
		.address = r->at.address,
		.line = r->at.line,
		.file = r->at.file,
	};
	return 0;
}

/* The sequence counts only if it is code of the file. */
static int end_sequence(struct line_run *r)
{
	struct line_table *t = &r->table;
	size_t count = t->count - r->first;
	uint64_t start = count ? t->rows[r->first].address : 0, size = r->at.address - start;
	int err = 0;

	r->at = (struct line_state){.line = 1, .file = 1};
	if (!count || !object_is_text(r->d->object, start, size) || count > UINT32_MAX ||
	    r->first > UINT32_MAX) {
		t->count = r->first;
		return 0;
	}
	err = interval_map_add(&t->sequences, start, size, (uint64_t)r->first << 32 | count);
	r->first = t->count;
	return err;
}

static int extended_operation(struct line_run *r, struct bytes *b)
{
	uint64_t length = bytes_uleb(b), next;
	unsigned int kind;
	int err = 0;

	if (b->bad || !length || length > bytes_left(b)) {
		b->bad = true;
		return 0;
	}
	next = b->pos + length;
	kind = bytes_u8(b);
	if (kind == DW_LNE_end_sequence)
		err = end_sequence(r);
	else if (kind == DW_LNE_set_address && length - 1 <= 8)
		r->at.address = bytes_get(b, (unsigned int)length - 1);
	bytes_seek(b, next);
	return err;
}

static void advance(struct line_run *r, uint64_t operations)
{
	r->at.address += operations * r->p->min_instruction;
}

static int special_operation(struct line_run *r, unsigned int opcode)
{
	unsigned int adjusted = opcode - r->p->opcode_base;

	advance(r, adjusted / r->p->line_range);
	r->at.line += (uint32_t)(r->p->line_base + (int)(adjusted % r->p->line_range));
	return add_row(r);
}

static void skip_operation(struct line_run *r, struct bytes *b, unsigned int opcode)
{
	for (unsigned int i = 0; i < r->p->operands[opcode]; i++)
		bytes_uleb(b);
}

static int standard_operation(struct line_run *r, struct bytes *b, unsigned int opcode)
{
	switch (opcode) {
	case DW_LNS_copy:
		return add_row(r);
	case DW_LNS_advance_pc:
		advance(r, bytes_uleb(b));
		break;
	case DW_LNS_advance_line:
		r->at.line += (uint32_t)bytes_sleb(b);
		break;
	case DW_LNS_set_file:
		r->at.file = (uint32_t)bytes_uleb(b);
		break;
	case DW_LNS_const_add_pc:
		advance(r, (255u - r->p->opcode_base) / r->p->line_range);
		break;
	case DW_LNS_fixed_advance_pc:
		r->at.address += bytes_u16(b);
		break;
	default:
		skip_operation(r, b, opcode);
	}
	return 0;
}

static int run_program(struct line_run *r, struct bytes *b)
{
	int err = 0;

	while (!err && b->pos < r->p->end && !b->bad && debug_spend(r->d, 1)) {
		unsigned int opcode = bytes_u8(b);

		if (opcode >= r->p->opcode_base)
			err = special_operation(r, opcode);
		else if (opcode)
			err = standard_operation(r, b, opcode);
		else
			err = extended_operation(r, b);
	}
	r->table.count = r->first; /* an unfinished sequence */
	return err;
}

int line_table_read(struct debuginfo *d, const struct unit *u, struct line_table *ret)
{
	struct bytes b = program_view(d, u);
	struct line_program p = {0};
	struct line_run r = {.d = d, .p = &p, .at = {.line = 1, .file = 1}};
	int err;

	if (b.bad || !read_header(&b, u, &p))
		return 0;
	bytes_seek(&b, p.code);
	d->work += p.end;
	err = run_program(&r, &b);
	if (err) {
		line_table_fini(&r.table);
		return err == -ENOMEM ? err : 0;
	}
	interval_map_sort(&r.table.sequences);
	interval_map_shrink(&r.table.sequences);
	*ret = r.table;
	return 0;
}

const struct line_row *line_table_find(const struct line_table *t, uint64_t address)
{
	const struct interval *sequence = interval_map_find(&t->sequences, address);
	size_t first, low, high;

	if (!sequence)
		return NULL;
	low = first = sequence->value >> 32;
	high = first + (uint32_t)sequence->value;
	while (low < high) {
		size_t middle = low + (high - low) / 2;

		if (t->rows[middle].address <= address)
			low = middle + 1;
		else
			high = middle;
	}
	return low > first ? &t->rows[low - 1] : NULL;
}

/* An entry of the directory or file table. */
struct line_entry {
	struct value name;
	uint64_t directory;
};

/* Tables of version 2 to 4: strings up to an empty one. */
static bool find_old_entry(struct debuginfo *d, struct bytes *b, const struct unit *forms,
			   bool files, uint64_t index, struct line_entry *ret)
{
	for (uint64_t i = 1; debug_spend(d, 1); i++) {
		struct line_entry e = {
			.name = value_read(b, forms, DW_FORM_string, 0),
		};

		if (b->bad || !e.name.text[0])
			return false;
		if (files) {
			e.directory = bytes_uleb(b);
			bytes_uleb(b); /* time */
			bytes_uleb(b); /* size */
		}
		if (i == index && !b->bad) {
			*ret = e;
			return true;
		}
	}
	return false;
}

struct entry_format {
	uint64_t content;
	uint16_t form;
};

static void read_new_entry(struct bytes *b, const struct unit *forms,
			   const struct entry_format *formats, unsigned int count,
			   struct line_entry *ret)
{
	*ret = (struct line_entry){0};
	for (unsigned int i = 0; i < count; i++) {
		struct value v = value_read(b, forms, formats[i].form, 0);

		if (formats[i].content == DW_LNCT_path)
			ret->name = v;
		else if (formats[i].content == DW_LNCT_directory_index)
			ret->directory = v.number;
	}
}

/* Tables of version 5: described, counted, numbered from 0.  Moves past the table. */
static bool find_new_entry(struct debuginfo *d, struct bytes *b, const struct unit *forms,
			   uint64_t index, struct line_entry *ret)
{
	struct entry_format formats[MAX_FORMATS];
	unsigned int count = bytes_u8(b);
	uint64_t entries;
	bool found = false;

	if (count > MAX_FORMATS)
		return false;
	for (unsigned int i = 0; i < count; i++) {
		formats[i].content = bytes_uleb(b);
		formats[i].form = (uint16_t)bytes_uleb(b);
	}
	entries = bytes_uleb(b);
	for (uint64_t i = 0; i < entries && !b->bad && debug_spend(d, 1 + count); i++) {
		struct line_entry e;

		read_new_entry(b, forms, formats, count, &e);
		if (i == index && !b->bad) {
			*ret = e;
			found = true;
		}
	}
	return found && !b->bad;
}

/* Entry @directory and entry @file; the first may be asked for alone with NO_INDEX. */
static bool find_entry(struct debuginfo *d, const struct line_program *p, struct bytes b,
		       uint64_t directory, uint64_t file, struct line_entry *ret)
{
	bool files = file != NO_INDEX;
	struct line_entry ignored;

	bytes_seek(&b, p->tables);
	if (p->forms.version >= 5) {
		if (!files)
			return find_new_entry(d, &b, &p->forms, directory, ret);
		find_new_entry(d, &b, &p->forms, NO_INDEX, &ignored);
		return find_new_entry(d, &b, &p->forms, file, ret);
	}
	if (!files)
		return find_old_entry(d, &b, &p->forms, false, directory, ret);
	find_old_entry(d, &b, &p->forms, false, 0, &ignored);
	return !b.bad && find_old_entry(d, &b, &p->forms, true, file, ret);
}

/* Append a path component, as far as it fits; an absolute one starts anew. */
static void append_component(char *path, size_t size, const char *component)
{
	size_t len = component[0] == '/' ? 0 : strlen(path), more;

	if (len && path[len - 1] != '/' && len + 1 < size)
		path[len++] = '/';
	more = strnlen(component, size - 1 - len);
	memcpy(path + len, component, more);
	path[len + more] = '\0';
}

static const char *read_file_name(struct debuginfo *d, const struct unit *u, uint32_t file)
{
	struct bytes b = program_view(d, u);
	char path[MAX_PATH_TEXT] = "", component[MAX_PATH_TEXT];
	struct line_program p = {0};
	struct line_entry entry, directory;

	if (b.bad || !read_header(&b, u, &p) || !find_entry(d, &p, b, 0, file, &entry))
		return NULL;
	if (u->data->directory)
		append_component(path, sizeof(path), u->data->directory);
	if ((entry.directory || p.forms.version >= 5) &&
	    find_entry(d, &p, b, entry.directory, NO_INDEX, &directory) &&
	    value_text(d, &p.forms, &directory.name, component, sizeof(component)))
		append_component(path, sizeof(path), component);
	if (!value_text(d, &p.forms, &entry.name, component, sizeof(component)))
		return NULL;
	append_component(path, sizeof(path), component);
	return symbol_pool_keep(d->names, path, strlen(path));
}

/* Make room for number @file; without memory names are just not kept. */
static bool reserve_file(struct line_table *t, uint32_t file)
{
	size_t count = (size_t)file + 16;
	const char **files;

	if (file < t->file_count)
		return true;
	if (file >= LINE_FILES_KEPT)
		return false;
	files = reallocarray(t->files, count, sizeof(*files));
	if (!files)
		return false;
	memset(files + t->file_count, 0, (count - t->file_count) * sizeof(*files));
	t->files = files;
	t->file_count = count;
	return true;
}

const char *line_table_file(struct debuginfo *d, const struct unit *u, uint32_t file)
{
	struct line_table *t = &u->data->lines;

	if (!u->data->has_lines)
		return NULL;
	if (!reserve_file(t, file))
		return read_file_name(d, u, file);
	if (!t->files[file])
		t->files[file] = read_file_name(d, u, file);
	return t->files[file];
}

void line_table_fini(struct line_table *t)
{
	free(t->rows);
	free(t->files);
	interval_map_fini(&t->sequences);
	*t = (struct line_table){0};
}
