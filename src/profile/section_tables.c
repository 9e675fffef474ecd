/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
#include "profile/section_tables.h"

#include <errno.h>
#include <stdlib.h>

#include "base/native_arch.h"
#include "table/compile_cfi.h"
#include "table/table_sources.h"

/* Bytes of a section of which a table is made. */
#define SECTION_MAX (64u << 20)

bool section_tables_possible(const struct module *module)
{
	return module->image.arch == native_arch() && module->tables.count &&
	       module->tables.tables[0].kind > TABLE_GO &&
	       module->tables.tables[0].kind < TABLE_SIDEFILE;
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
				: compile_sframe_within(views, (unsigned int)sections->count, limit,
							&ret->own, &ret->size);
	ret->data = ret->own;
	return r;
}

/* @alone: it is the only section of call-frame information, and may have been kept compiled. */
static int make_cfi(struct module *module, const struct bobbin_cfi_view *view, bool alone,
		    uint64_t limit, struct section_table *ret)
{
	int r;

	ret->source = view->debug_frame ? BOBBIN_SOURCE_DEBUG_FRAME : BOBBIN_SOURCE_EH_FRAME;
	if (view->frame_size > SECTION_MAX)
		return -EFBIG;
	if (alone)
		return module_compiled(module, limit, &ret->data, &ret->size);
	r = compile_cfi_within(view, 1, NULL, 0, limit, &ret->own, &ret->size);
	ret->data = ret->own;
	return r;
}

/* Takes the next one in; @error: of making it. */
static int add(struct section_tables *tables, int error, const struct section_table *table,
	       uint64_t *limit)
{
	/* a section without rows says nothing */
	if (error == -ENODATA)
		return 0;
	if (error)
		return error;
	tables->list[tables->count++] = *table;
	*limit -= table->size;
	return 0;
}

static int make_all(struct module *module, uint64_t limit, struct section_tables *ret)
{
	struct bobbin_cfi_view views[CALL_FRAMES_SECTIONS];
	unsigned int count = module_cfi(module, views);
	int r = 0;

	if (table_set_has(&module->tables, TABLE_SFRAME)) {
		struct section_table table = {0};

		r = make_sframe(&module->sframe, limit, &table);
		r = add(ret, r, &table, &limit);
	}
	for (unsigned int i = 0; i < count && !r; i++) {
		struct section_table table = {0};

		r = make_cfi(module, &views[i], count == 1, limit, &table);
		r = add(ret, r, &table, &limit);
	}
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

void section_tables_fini(struct section_tables *tables)
{
	for (unsigned int i = 0; i < tables->count; i++)
		free(tables->list[i].own);
	tables->count = 0;
}
