/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
#include "symbol/code_label.h"

#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/base_name.h"
#include "base/memory_origin.h"
#include "base/proc_maps.h"
#include "core/known_code.h"
#include "core/restorer.h"

#define ANONYMOUS "[anon]"
#define SIGNAL_RETURN "[signal return]"

void code_labels_init(struct code_labels *labels, struct bobbin_unwinder *unwinder)
{
	*labels = (struct code_labels){.unwinder = unwinder};
	name_pool_init(&labels->names);
}

void code_labels_fini(struct code_labels *labels)
{
	name_pool_fini(&labels->names);
}

void code_spot_place(struct code_spot *spot, struct module *module)
{
	if (module && elf_image_vaddr(&module->image, spot->file_offset, &spot->vaddr))
		spot->module = module;
}

const char *code_region(const char *path)
{
	if (path[0] == '[')
		return path;
	return memory_origin(path) == MEMORY_BARE ? ANONYMOUS : NULL;
}

/* File offsets for addresses. */
static bool read_code(void *ctx, uint64_t offset, void *dst, size_t size)
{
	return module_code(ctx, offset, dst, size);
}

/* Whether this is what signal handlers return to, and where that starts in the file. */
static bool is_signal_return(const struct code_spot *spot, uint64_t *offset)
{
	uint8_t code[RESTORER_SIZE];
	int start;

	if (!spot->module || spot->file_offset < RESTORER_BEFORE ||
	    !module_code(spot->module, spot->file_offset - RESTORER_BEFORE, code, sizeof(code)))
		return false;
	start = restorer_find(spot->module->image.arch, code);
	if (start == RESTORER_NONE)
		return false;
	*offset = spot->file_offset + (uint64_t)(int64_t)start;
	return true;
}

/*
 * Whether the spot is only where the instruction before a root would be, which nobody has called:
 * fibers return to its first byte.
 */
static bool is_before_root(const struct code_spot *spot)
{
	const struct code_reader code = {read_code, spot->module};
	uint64_t start;

	return spot->module && !table_set_function(&spot->module->tables, spot->vaddr, &start) &&
	       known_code_root(spot->module->image.arch, &code, spot->file_offset + 1);
}

/*
 * Whether @symbol, whose size is a guess, ends before the spot: unwind tables know
 * a function that starts or ends between.
 */
static bool is_contradicted(const struct code_spot *spot, const struct symbol *symbol)
{
	uint64_t start, own = spot->vaddr - symbol->offset;

	if (!spot->module || !symbol->guessed)
		return false;
	if (table_set_function(&spot->module->tables, spot->vaddr, &start))
		return start > own;
	return table_set_function(&spot->module->tables, own, &start);
}

int module_symbols(struct symbolizer *symbolizer, const struct module *module,
		   const struct mapped_file *file, unsigned int *ret)
{
	char open_path[64];
	struct symbol_file f = {
		.path = module->base ? NULL : file->path,
		.open_path = open_path,
		.roots = file->roots,
		.build_id = module->image.build_id,
		.build_id_len = module->image.build_id_len,
	};

	if (module->elf_fd < 0)
		return -ENOENT;
	snprintf(open_path, sizeof(open_path), OWN_FILES "%d", module->elf_fd);
	return symbolizer_file(symbolizer, &f, ret);
}

/* Go's run time has a name for each function, which strip(1) leaves. */
static int go_symbol(const struct code_spot *spot, struct symbol *ret)
{
	uint64_t start;
	const char *name = spot->module ? pclntab_name(&spot->module->go, spot->vaddr, &start)
					: NULL;

	if (!name)
		return 0;
	*ret = (struct symbol){
		.name = name, .mangled = name, .start = start, .offset = spot->vaddr - start};
	return 1;
}

int code_symbols(struct symbolizer *symbolizer, const struct code_spot *spot, unsigned int id,
		 struct symbol *ret, size_t max)
{
	uint64_t base = spot->module ? spot->module->base : 0, offset;
	int count = symbolizer_resolve(symbolizer, id, spot->file_offset - base, ret, max);

	if (!count && is_before_root(spot)) {
		count = symbolizer_resolve(symbolizer, id, spot->file_offset - base + 1, ret, max);
		for (int i = 0; i < count; i++)
			ret[i].offset--;
	} else if (!count && is_signal_return(spot, &offset)) {
		count = symbolizer_resolve(symbolizer, id, offset - base, ret, max);
		for (int i = 0; i < count; i++)
			ret[i].offset -= offset - spot->file_offset;
	}
	if (count > 0 && is_contradicted(spot, &ret[count - 1]))
		return 0;
	return count ? count : go_symbol(spot, ret);
}

static int keep(struct code_labels *labels, const char *name, uint64_t start, uint64_t at,
		struct symbol *ret)
{
	struct symbol symbol = {.start = start, .offset = at - start};
	int r = name_pool_intern(&labels->names, name, &symbol.name);

	if (r)
		return r;
	symbol.mangled = symbol.name;
	*ret = symbol;
	return 1;
}

static int keep_start(struct code_labels *labels, const struct code_spot *spot, uint64_t start,
		      uint64_t at, struct symbol *ret)
{
	const char *base = base_name(spot->path);
	char *name;
	int r;

	if (asprintf(&name, "%.*s+0x%" PRIx64, (int)map_path_length(base), base, start) < 0)
		return -ENOMEM;
	r = keep(labels, name, start, at, ret);
	free(name);
	return r;
}

/* Many addresses of few gaps are asked for. */
static uint64_t gap_start(struct code_labels *labels, const struct code_spot *spot)
{
	size_t count = labels->gap_count < CODE_LABEL_GAPS ? labels->gap_count : CODE_LABEL_GAPS;
	struct code_gap *gap = labels->gaps;

	for (; gap < labels->gaps + count; gap++)
		if (gap->module == spot->module && spot->vaddr >= gap->start &&
		    spot->vaddr < gap->end)
			return gap->start;
	gap = &labels->gaps[labels->gap_count++ % CODE_LABEL_GAPS];
	gap->module = spot->module;
	/* half of an answer would give many functions one name */
	do
		module_gap(spot->module, spot->vaddr, &gap->start, &gap->end);
	while (spot->module->inferred.waits && unwinder_finish_code(labels->unwinder, NULL));
	return gap->start;
}

int code_label(struct code_labels *labels, const struct code_spot *spot, struct symbol *ret)
{
	const char *region = code_region(spot->path);
	uint64_t start;

	if (is_signal_return(spot, &start))
		return keep(labels, SIGNAL_RETURN, start, spot->file_offset, ret);
	if (region)
		return keep(labels, region, spot->mapped_offset, spot->file_offset, ret);
	if (spot->registered)
		return keep_start(labels, spot, spot->function, spot->vaddr, ret);
	/* where functions begin cannot be known: one name for all would be false */
	if (!spot->module)
		return keep_start(labels, spot, spot->file_offset, spot->file_offset, ret);
	if (is_before_root(spot))
		start = spot->vaddr + 1;
	else if (!table_set_function(&spot->module->tables, spot->vaddr, &start))
		start = gap_start(labels, spot);
	/* addresses of several files in one are told apart by where they are in it */
	if (spot->module->base)
		return keep_start(labels, spot, spot->file_offset - (spot->vaddr - start),
				  spot->file_offset, ret);
	return keep_start(labels, spot, start, spot->vaddr, ret);
}
