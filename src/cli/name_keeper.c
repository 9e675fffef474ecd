/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
#include "cli/name_keeper.h"

#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "base/clock.h"
#include "base/hash_index.h"
#include "base/vector.h"
#include "cli/code_label.h"
#include "cli/kept_names.h"
#include "target/backing_file.h"
#include "unwind/space.h"

/* Distinct addresses that are noted. */
#define MAX_PLACES (1u << 18)
/* Memory for the symbols of files, and seconds after which no other file is read. */
#define MAX_MEMORY ((size_t)128 << 20)
#define MAX_SECONDS 5
#define SEEN_BITS 12

/* An address that was sampled. */
struct place {
	const struct mapped_file *file;
	uint64_t offset;
	uint64_t mapped_offset; /* where what is mapped starts in the file */
};

struct name_keeper {
	struct place *places;
	size_t count, capacity;
	struct hash_index index;
	uint64_t seed;
	uint64_t seen[1u << SEEN_BITS]; /* hashes of what was noted last */
	/* while names are looked up */
	struct symbolizer *symbolizer;
	struct code_labels labels;
	struct byte_buffer blob;
};

int name_keeper_open(struct name_keeper **ret)
{
	struct name_keeper *k = calloc(1, sizeof(*k));

	if (!k)
		return -ENOMEM;
	k->seed = hash_seed();
	*ret = k;
	return 0;
}

void name_keeper_close(struct name_keeper *keeper)
{
	if (!keeper)
		return;
	symbolizer_close(keeper->symbolizer);
	code_labels_fini(&keeper->labels);
	byte_buffer_fini(&keeper->blob);
	hash_index_fini(&keeper->index);
	free(keeper->places);
	free(keeper);
}

static bool is_noted(const struct name_keeper *k, uint64_t hash, const struct place *place)
{
	size_t at = 0;
	uint32_t i;

	while (hash_index_next(&k->index, hash, &at, &i))
		if (k->places[i].file == place->file && k->places[i].offset == place->offset)
			return true;
	return false;
}

static int note(struct name_keeper *k, const struct mapping *m, uint64_t pc)
{
	struct place place = {m->file, m->offset + (pc - m->start), m->offset};
	uint64_t hash = hash_words(place.file->number, place.offset, k->seed);

	if (k->count == MAX_PLACES || is_noted(k, hash, &place))
		return 0;
	return hash_index_push(&k->index, hash, k->places, k->count, k->capacity, place);
}

/* Most frames are those of the sample before. */
static bool is_seen(struct name_keeper *k, const struct bobbin_space *space, uint64_t pc)
{
	uint64_t hash = hash_words(pc ^ space->generation << 48, (uintptr_t)space, k->seed);
	uint64_t *seen = &k->seen[hash >> (64 - SEEN_BITS)];
	bool same = *seen == hash;

	*seen = hash;
	return same;
}

static int on_trace(void *ctx, struct bobbin_space *space, const struct bobbin_trace *trace)
{
	struct name_keeper *k = ctx;
	int r = 0;

	for (uint32_t i = 0; i < trace->count && !r; i++) {
		const struct bobbin_frame *f = &trace->frames[i];
		uint64_t pc = bobbin_frame_lookup_pc(f);
		const struct mapping *m = is_seen(k, space, pc) ? NULL : space_find(space, pc);

		if (m && (m->file->kind == FILE_REGULAR || m->file->kind == FILE_VDSO))
			r = note(k, m, pc);
	}
	return r;
}

static int by_file(const void *left, const void *right)
{
	const struct place *a = left, *b = right;

	if (a->file != b->file)
		return a->file->number < b->file->number ? -1 : 1;
	return a->offset < b->offset ? -1 : a->offset > b->offset;
}

/*
 * Through the walker's descriptor, whatever has become of the path.  Without one
 * the file could not be opened within a deadline, and is not opened here either.
 */
static int open_symbols(struct name_keeper *k, const struct mapped_file *file,
			const struct module *module, unsigned int *ret)
{
	const void *image;
	size_t size;

	if (file->kind == FILE_VDSO) {
		image = own_vdso(&size);
		return image ? symbolizer_image(k->symbolizer, image, size, file->path, ret)
			     : -ENOENT;
	}
	if (!module)
		return -ENOENT;
	/* a build ID would tell */
	if (!file->build_id_len && module_is_overwritten(module))
		return -ESTALE;
	return module_symbols(k->symbolizer, module, ret);
}

static bool name_place(struct name_keeper *k, const struct place *place, struct module *module,
		       unsigned int id, struct symbol *ret)
{
	struct code_spot spot = {
		.file_offset = place->offset,
		.mapped_offset = place->mapped_offset,
		.path = place->file->path,
	};

	code_spot_place(&spot, module);
	return code_symbols(k->symbolizer, &spot, id, ret, 1) > 0 ||
	       code_label(&k->labels, &spot, ret) > 0;
}

static bool is_same(const struct kept_function *f, const struct symbol *symbol)
{
	return f->name && f->address == symbol->start && !strcmp(f->name, symbol->mangled);
}

/* The next sampled address of a function makes it reach further. */
static void add(struct name_keeper *k, size_t at, struct kept_function *last,
		const struct place *place, const struct symbol *symbol)
{
	uint64_t start = place->offset - symbol->offset, end = place->offset + 1;

	/* before a root the offset is -1 */
	if (start > end || end - start > UINT32_MAX)
		return;
	if (is_same(last, symbol)) {
		last->reach = (uint32_t)(end - last->offset);
		return;
	}
	if (last->name)
		kept_names_add(&k->blob, at, last);
	/* it may have been another one inside of this */
	if (start < last->offset + last->reach)
		start = last->offset + last->reach;
	*last = (struct kept_function){
		.offset = start,
		.address = symbol->start,
		.reach = (uint32_t)(end - start),
		.name = symbol->mangled,
	};
}

/* Of what is at a place, which may be a file inside of the file. */
static struct module *module_of(struct bobbin_unwinder *unwinder, const struct place *place)
{
	uint64_t vaddr;
	struct module *module = unwinder_module_at(unwinder, place->file, place->mapped_offset,
						   place->offset, &vaddr);

	return module ? module : unwinder_file_module(unwinder, place->file);
}

/* The places of one file, @count of them. */
static void name_file(struct name_keeper *k, struct bobbin_unwinder *unwinder,
		      const struct place *places, size_t count)
{
	const struct module *named = NULL;
	struct kept_function last = {0};
	struct symbol symbol;
	unsigned int id = 0;
	bool open = false, begun = false;
	size_t at = 0;

	for (size_t i = 0; i < count; i++) {
		struct module *module = module_of(unwinder, &places[i]);

		if (!i || module != named) {
			open = !open_symbols(k, places->file, module, &id);
			if (last.name)
				kept_names_add(&k->blob, at, &last);
			last.name = NULL;
			named = module;
		}
		if (open && !begun)
			kept_names_begin(&k->blob, places->file, &at);
		begun |= open;
		if (open && name_place(k, &places[i], module, id, &symbol))
			add(k, at, &last, &places[i], &symbol);
	}
	if (last.name)
		kept_names_add(&k->blob, at, &last);
	if (begun)
		kept_names_end(&k->blob, at);
}

static int on_finish(void *ctx, struct bobbin_unwinder *unwinder, struct byte_buffer *ret)
{
	const struct symbolizer_options options = {.memory_limit = MAX_MEMORY};
	struct name_keeper *k = ctx;
	time_t end = clock_seconds() + MAX_SECONDS;
	size_t next, files = 0;

	if (!k->count)
		return 0;
	qsort(k->places, k->count, sizeof(*k->places), by_file);
	code_labels_init(&k->labels, unwinder);
	if (symbolizer_open(&options, &k->symbolizer))
		return -ENOMEM;
	for (size_t i = 0; i < k->count && clock_seconds() <= end; i = next) {
		for (next = i; next < k->count && k->places[next].file == k->places[i].file; next++)
			;
		if (files++ < KEPT_NAMES_MAX_FILES)
			name_file(k, unwinder, &k->places[i], next - i);
	}
	*ret = k->blob;
	k->blob = (struct byte_buffer){0};
	return 0;
}

struct recorder_names name_keeper_hooks(struct name_keeper *keeper)
{
	return (struct recorder_names){.ctx = keeper, .trace = on_trace, .finish = on_finish};
}
