/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
#include "bpfwalk/section_tables.h"

#include <errno.h>
#include <stdlib.h>

#include "base/native_arch.h"
#include "bpfwalk/go_table.h"
#include "jit/jit_table.h"
#include "table/compiled_table.h"
#include "table/table_builder.h"
#include "table/table_sources.h"
#include "unwind/cached_cfi.h"
#include "unwind/late_sidefile.h"

/* Bytes of a section of which a table is made. */
#define SECTION_MAX (64u << 20)
/* Entries of JIT tables of which a table is made, and that are read at once. */
#define JIT_ROWS (1u << 18)
#define JIT_ROWS_AT_ONCE 512

bool section_tables_possible(const struct module *module)
{
	return module->image.arch == native_arch() && module->tables.count &&
	       module->tables.tables[0].ops->kind >= TABLE_GO &&
	       module->tables.tables[0].ops->kind < TABLE_SIDEFILE;
}

bool section_tables_none(const struct module *module)
{
	return module->image.arch == native_arch() && module->tables.count &&
	       module->tables.tables[0].ops->kind >= TABLE_SIDEFILE;
}

static int make_go(const struct pclntab *go, uint64_t limit, struct section_table *ret)
{
	int r = go->size > SECTION_MAX
			? -EFBIG
			: go_table_make(go, native_arch(), limit, &ret->own, &ret->size);

	ret->source = BOBBIN_SOURCE_GO;
	ret->data = ret->own;
	return r;
}

static int make_sframe(const struct indexed_sections *sections, uint64_t limit,
		       struct section_table *ret)
{
	struct bobbin_sframe_view views[INDEXED_SECTIONS_MAX];
	uint64_t bytes = 0;
	int r;

	for (size_t i = 0; i < sections->count; i++) {
		views[i] = sections->list[i].view;
		bytes += views[i].size;
	}
	ret->source = BOBBIN_SOURCE_SFRAME;
	if (!sections->count)
		return -ENODATA;
	r = bytes > SECTION_MAX ? -EFBIG
				: compile_sframe(views, (unsigned int)sections->count, limit,
						 &ret->own, &ret->size);
	ret->data = ret->own;
	return r;
}

/* @alone: it is the only section of call-frame information, whose table may be in the cache. */
static int make_cfi(struct module *module, const struct elf_image *image,
		    const struct bobbin_cfi_view *view, bool alone, uint64_t limit,
		    struct section_table *ret)
{
	int r;

	ret->source = view->debug_frame ? BOBBIN_SOURCE_DEBUG_FRAME : BOBBIN_SOURCE_EH_FRAME;
	if (view->frame_size > SECTION_MAX)
		return -EFBIG;
	if (!alone) {
		r = compile_cfi(view, 1, NULL, 0, limit, NULL, &ret->own, &ret->size);
		ret->data = ret->own;
		return r;
	}
	r = cached_cfi_table(image, &module->kept, limit);
	ret->data = module->kept.kept.data;
	ret->size = module->kept.kept.size;
	return r;
}

static void note_digest(struct section_table *table)
{
	struct content_digest d;

	content_digest_init(&d);
	content_digest_add(&d, table->data, table->size);
	content_digest_get(&d, table->digest);
}

/* Append a table; @error: of building it. */
static int add(struct section_tables *tables, int error, struct section_table *table,
	       uint64_t *limit)
{
	/* a section without rows says nothing */
	if (error == -ENODATA)
		return 0;
	/* one that was made with other limits may be larger */
	if (!error && table->size > *limit)
		error = -E2BIG;
	if (error) {
		free(table->own);
		return error;
	}
	note_digest(table);
	tables->list[tables->count++] = *table;
	*limit -= table->size;
	return 0;
}

/* @image: of the sections, not needed where their table is in the cache. */
static int make_frames(struct module *module, const struct elf_image *image, uint64_t *limit,
		       struct section_tables *ret)
{
	struct bobbin_cfi_view views[CALL_FRAMES_SECTIONS];
	unsigned int count = image ? call_frames_views(image, views) : 1;
	int r = 0;

	if (!image)
		views[0] = module->kept.views[0];
	for (unsigned int i = 0; i < count && !r; i++) {
		struct section_table table = {0};

		r = !*limit ? -E2BIG
			    : make_cfi(module, image, &views[i], count == 1, *limit, &table);
		r = add(ret, r, &table, limit);
	}
	return r;
}

static int make_all(struct module *module, uint64_t limit, struct section_tables *ret)
{
	const bool found = module->kept.found && module->kept.count == 1;
	struct elf_image own = {0};
	const struct elf_image *image = found ? NULL : module_sections(module, &own);
	int r = found || image ? 0 : -EBADMSG;

	if (!r && table_set_has(&module->tables, TABLE_GO)) {
		struct section_table table = {0};

		r = make_go(&module->go, limit, &table);
		r = add(ret, r, &table, &limit);
	}
	if (!r && table_set_has(&module->tables, TABLE_SFRAME)) {
		struct section_table table = {0};

		r = make_sframe(&module->sframe, limit, &table);
		r = add(ret, r, &table, &limit);
	}
	if (!r)
		r = make_frames(module, image, &limit, ret);
	elf_image_fini(&own);
	return r;
}

int section_tables_init(struct module *module, uint64_t limit, struct section_tables *ret)
{
	struct section_tables tables = {0};
	int r = make_all(module, limit, &tables);

	tables.whole = !r;
	if (!tables.count)
		return r ? r : -ENODATA;
	*ret = tables;
	return 0;
}

int section_tables_init_bare(const struct elf_bytes *section, uint64_t limit,
			     struct section_tables *ret)
{
	struct section_tables tables = {.count = 1};
	struct indexed_sections sections = {0};
	int r = indexed_sections_open(section->data, section->size, SECTION_TABLE_ADDR,
				      native_arch(), NULL, &sections);

	if (!r)
		r = make_sframe(&sections, limit, &tables.list[0]);
	indexed_sections_fini(&sections);
	if (!r)
		*ret = tables;
	return r;
}

void section_tables_of_code(const struct kept_table *inferred, struct section_tables *ret)
{
	struct section_table *table = &ret->list[0];

	*ret = (struct section_tables){.count = 1, .whole = true};
	table->source = BOBBIN_SOURCE_CODE;
	table->data = inferred->data;
	table->size = inferred->size;
	note_digest(table);
}

/* Bytes of the function that begins there, or 0. */
static uint64_t function_size(const struct compiled_table *table, uint64_t start)
{
	struct compiled_row row;
	uint64_t end = start;

	for (unsigned int i = 0; i < TABLE_FUNCTION_ROWS; i++) {
		if (compiled_table_find(table, end, &row) || row.start != end ||
		    row.begins != (end == start))
			break;
		end = row.end;
	}
	return end - start;
}

/* The first function of a program has no caller, whatever its table says. */
static void find_entry(struct module *module, const struct section_table *from,
		       struct kernel_file *ret)
{
	uint64_t function;
	struct compiled_table table;

	ret->entry = module->tables.entry;
	if (!ret->entry)
		return;
	if (!table_set_function(&module->tables, ret->entry, &function)) {
		ret->first = ret->entry;
		ret->first_size = module->tables.entry_size;
	}
	/* Go's knows its roots */
	if (from->source != BOBBIN_SOURCE_GO &&
	    !compiled_table_init(from->data, from->size, NULL, &table))
		ret->entry_size = function_size(&table, ret->entry);
}

/* Whether sections of the file are all that walks ask. */
static bool has_no_sidefile(const struct module *module)
{
	struct late_sidefile sidefile = module->sidefile;
	struct bobbin_row row;
	bool none;

	none = late_sidefile_lookup(&sidefile, 0, &row) == -ENODATA;
	sidefile_close(sidefile.file == module->sidefile.file ? NULL : sidefile.file);
	return none;
}

/* Programs of Go switch from the stack of a goroutine to that of the thread. */
static void find_switch(struct module *module, struct kernel_file *ret)
{
	/* its wrapper for another calling convention has a longer name, and no switch */
	uint8_t code[STACK_SWITCH_CODE];
	const uint64_t start = module_go_code(module, "runtime.systemstack", code, sizeof(code));

	if (start && stack_switch_find(code, &ret->leaves))
		ret->leaves_at = start;
}

void section_tables_describe(const struct section_tables *tables, unsigned int at,
			     struct module *module, struct kernel_file *ret)
{
	const struct section_table *table = &tables->list[at];

	ret->source = (uint8_t)table->source;
	ret->eh_returns = module->tables.eh_returns;
	ret->resort = at + 1 == tables->count && tables->whole && has_no_sidefile(module);
	find_entry(module, table, ret);
	if (table->source == BOBBIN_SOURCE_GO)
		find_switch(module, ret);
}

int section_tables_jit_end(const struct jit_source *jit, uint64_t *tail, uint64_t *used)
{
	uint64_t at = jit->info.unwind_head, head[JIT_HEAD_SIZE / sizeof(uint64_t)];

	for (unsigned int i = 0; i < JIT_MAX_TABLES; i++) {
		if (jit->mem.read(jit->mem.ctx, at, head, sizeof(head)))
			return -EFAULT;
		*tail = at;
		*used = head[1];
		at = head[2];
		if (!at)
			return 0;
	}
	return -EBADMSG;
}

struct jit_rows {
	const struct jit_source *jit;
	struct table_builder builder;
	uint32_t count;
};

static int add_row(void *ctx, const struct bobbin_row *row)
{
	struct jit_rows *rows = ctx;
	const uint64_t shift = SECTION_TABLE_ADDR - rows->jit->info.text_start;
	int r;

	if (rows->count++ == JIT_ROWS)
		return -E2BIG;
	r = table_builder_begin(&rows->builder, row->start + shift);
	if (!r)
		r = table_builder_rule(&rows->builder, row->start + shift, &row->rule);
	return r ? r : table_builder_end(&rows->builder, row->end + shift);
}

static int compile_jit(const struct jit_source *jit, const struct bobbin_arch *arch,
		       struct section_table *ret)
{
	const struct jit_chain chain = {arch, &jit->info, &jit->mem, NULL};
	struct code_jit_unwind_fre room[JIT_ROWS_AT_ONCE];
	struct jit_rows rows = {.jit = jit};
	int r = table_builder_init(arch, NULL, 0, &rows.builder);

	rows.builder.limit = (uint64_t)KERNEL_CODE_PAGES * KERNEL_PAGE;
	if (!r)
		r = jit_table_rows(&chain, room, JIT_ROWS_AT_ONCE, add_row, &rows);
	if (!r && rows.count)
		r = table_builder_make(&rows.builder, &ret->own, &ret->size);
	table_builder_fini(&rows.builder);
	ret->data = ret->own;
	return r;
}

int section_tables_of_jit(const struct jit_source *jit, const struct bobbin_arch *arch,
			  struct section_table *ret, struct kernel_file *file)
{
	struct section_table table = {.source = BOBBIN_SOURCE_JIT};
	int r = section_tables_jit_end(jit, &file->tail, &file->used);

	if (!r)
		r = compile_jit(jit, arch, &table);
	if (r)
		return r;
	note_digest(&table);
	*ret = table;
	return 0;
}

void section_tables_fini(struct section_tables *tables)
{
	for (unsigned int i = 0; i < tables->count; i++)
		free(tables->list[i].own);
	tables->count = 0;
}
