/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
#include "profile/recording_sink.h"

#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "base/base_name.h"
#include "base/clock.h"
#include "base/hash_index.h"
#include "base/path_list.h"
#include "base/vector.h"
#include "profile/kernel_names.h"
#include "symbol/code_label.h"
#include "symbol/recorded_names.h"
#include "target/backing_file.h"
#include "unwind/module.h"
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
	uint64_t frames;        /* that were there */
};

/* What was noted last. */
struct seen {
	uint64_t hash;
	uint32_t place; /* its number and 1; 0: none */
};

/* The run time that makes code in a process. */
enum machine {
	MACHINE_NONE,
	MACHINE_JAVA,
	MACHINE_V8,
};

struct name_recorder {
	struct name_recorder_options options;
	struct place *places;
	size_t count, capacity;
	struct hash_index index;
	struct kernel_names kernel;
	uint64_t seed;
	struct seen seen[1u << SEEN_BITS];
	/* of the last process whose stacks were looked at for that */
	const struct bobbin_space *machine_of;
	int machine_pid;
	uint64_t machine_generation;
	enum machine machine;
	bool has_dump;
	struct name_stats stats;
	const char *path; /* of the file whose names are looked up */
	/* while names are looked up */
	struct symbolizer *symbolizer;
	struct code_labels labels;
	struct byte_buffer blob;
};

int name_recorder_open(const struct name_recorder_options *options, struct name_recorder **ret)
{
	struct name_recorder *k = calloc(1, sizeof(*k));

	if (!k)
		return -ENOMEM;
	k->options = *options;
	k->seed = hash_seed();
	*ret = k;
	return 0;
}

static size_t memory_of(const struct name_recorder *k)
{
	return k->options.memory ? k->options.memory : MAX_MEMORY;
}

/* Files come and go for days, and something of each stays. */
static void bound_symbols(struct name_recorder *k)
{
	struct symbolizer_stats stats;

	if (!k->symbolizer)
		return;
	symbolizer_get_stats(k->symbolizer, &stats);
	if (stats.memory <= 2 * memory_of(k))
		return;
	symbolizer_close(k->symbolizer);
	k->symbolizer = NULL;
}

void name_recorder_reset(struct name_recorder *k)
{
	hash_index_fini(&k->index);
	kernel_names_fini(&k->kernel);
	code_labels_fini(&k->labels);
	byte_buffer_fini(&k->blob);
	free(k->places);
	for (size_t i = 0; i < NAME_RECORDER_FILES; i++)
		free(k->stats.files[i].path);
	k->places = NULL;
	k->count = k->capacity = 0;
	k->index = (struct hash_index){0};
	k->kernel = (struct kernel_names){0};
	k->labels = (struct code_labels){0};
	k->blob = (struct byte_buffer){0};
	k->stats = (struct name_stats){0};
	k->machine_of = NULL;
	memset(k->seen, 0, sizeof(k->seen));
	bound_symbols(k);
}

void name_recorder_close(struct name_recorder *keeper)
{
	if (!keeper)
		return;
	name_recorder_reset(keeper);
	symbolizer_close(keeper->symbolizer);
	free(keeper);
}

/* Its number and 1, or 0. */
static uint32_t find_place(const struct name_recorder *k, uint64_t hash, const struct place *place)
{
	size_t at = 0;
	uint32_t i;

	while (hash_index_next(&k->index, hash, &at, &i))
		if (k->places[i].file == place->file && k->places[i].offset == place->offset)
			return i + 1;
	return 0;
}

/* @ret: as find_place(); 0 where there is no room. */
static int note(struct name_recorder *k, const struct mapping *m, uint64_t pc, uint32_t *ret)
{
	struct place place = {m->file, mapping_offset(m, pc), m->offset, 0};
	uint64_t hash = hash_words(place.file->number, place.offset, k->seed);
	int r;

	*ret = find_place(k, hash, &place);
	if (*ret || k->count == MAX_PLACES)
		return 0;
	r = hash_index_push(&k->index, hash, k->places, k->count, k->capacity, place);
	*ret = r ? 0 : (uint32_t)k->count;
	return r;
}

static void find_machine(struct name_recorder *k, const struct bobbin_space *space)
{
	k->machine = MACHINE_NONE;
	k->has_dump = false;
	for (size_t i = 0; i < space->maps.count; i++) {
		const char *name = base_name(space->maps.list[i].path);

		if (!strcmp(name, "libjvm.so"))
			k->machine = MACHINE_JAVA;
		else if (!strcmp(name, "node") || !strcmp(name, "nodejs"))
			k->machine = MACHINE_V8;
		k->has_dump |= is_jitdump_path(space->maps.list[i].path);
	}
}

static enum machine machine_of(struct name_recorder *k, const struct bobbin_space *space)
{
	if (k->machine_of != space || k->machine_pid != space->live_pid ||
	    k->machine_generation != space->generation) {
		k->machine_of = space;
		k->machine_pid = space->live_pid;
		k->machine_generation = space->generation;
		find_machine(k, space);
	}
	return k->machine;
}

/* Whose machine does not tell what it makes in a jitdump file. */
static void count_made_frame(struct name_recorder *k, const struct bobbin_space *space)
{
	enum machine machine = machine_of(k, space);

	if (k->has_dump)
		return;
	k->stats.java_frames += machine == MACHINE_JAVA;
	k->stats.v8_frames += machine == MACHINE_V8;
}

static int note_frame(struct name_recorder *k, struct bobbin_space *space, uint64_t pc,
		      uint32_t *ret)
{
	const struct mapping *m = space_find(space, pc);

	*ret = 0;
	if (!m)
		return 0;
	if (m->file->kind == FILE_REGULAR)
		space_note_root(space, m);
	if (m->file->kind == FILE_REGULAR || m->file->kind == FILE_VDSO)
		return note(k, m, pc, ret);
	count_made_frame(k, space);
	return 0;
}

/* Most frames are those of the sample before. */
static int count_frame(struct name_recorder *k, struct bobbin_space *space, uint64_t pc)
{
	uint64_t hash = hash_words(pc ^ space->generation << 48, (uintptr_t)space, k->seed);
	struct seen *seen = &k->seen[hash >> (64 - SEEN_BITS)];
	int r = 0;

	if (seen->hash != hash) {
		r = note_frame(k, space, pc, &seen->place);
		seen->hash = hash;
	}
	if (seen->place)
		k->places[seen->place - 1].frames++;
	return r;
}

int name_recorder_trace(struct name_recorder *k, struct bobbin_space *space,
			const struct bobbin_trace *trace)
{
	int r = 0;

	for (uint32_t i = 0; i < trace->count && !r; i++)
		if (trace->frames[i].source != BOBBIN_SOURCE_LEFT_OUT)
			r = count_frame(k, space, bobbin_frame_lookup_pc(&trace->frames[i]));
	if (trace->reason == BOBBIN_REASON_NO_TABLE)
		k->stats.java_stacks += machine_of(k, space) == MACHINE_JAVA;
	return r;
}

int name_recorder_kernel(struct name_recorder *k, const struct bobbin_frame *frames, size_t count)
{
	int r = 0;

	for (size_t i = 0; i < count && !r; i++)
		if (frames[i].source != BOBBIN_SOURCE_LEFT_OUT)
			r = kernel_names_note(&k->kernel, frames[i].pc);
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
static int open_symbols(struct name_recorder *k, const struct mapped_file *file,
			const struct module *module, unsigned int *ret)
{
	const void *image;
	size_t size;

	if (file->kind == FILE_VDSO) {
		image = mapped_vdso(file, &size);
		return image ? symbolizer_image(k->symbolizer, image, size, file->path, ret)
			     : -ENOENT;
	}
	if (!module)
		return -ENOENT;
	/* a build ID would tell */
	if (!file->build_id_len && module_is_overwritten(module))
		return -ESTALE;
	return module_symbols(k->symbolizer, module, file, ret);
}

/* @is_symbol: whether it is a name that somebody gave. */
static bool name_place(struct name_recorder *k, const struct place *place, struct module *module,
		       unsigned int id, struct symbol *ret, bool *is_symbol)
{
	struct code_spot spot = {
		.file_offset = place->offset,
		.mapped_offset = place->mapped_offset,
		.path = place->file->path,
	};
	int count;

	code_spot_place(&spot, module);
	count = code_symbols(k->symbolizer, &spot, id, ret, 1);
	k->stats.failed += count < 0;
	if (count < 0)
		k->stats.failure = count;
	*is_symbol = count > 0;
	return *is_symbol || code_label(&k->labels, &spot, ret) > 0;
}

static bool is_same(const struct recorded_function *f, const struct symbol *symbol)
{
	return f->name && f->address == symbol->start && !strcmp(f->name, symbol->mangled);
}

/* The next sampled address of a function makes it reach further. */
static void add(struct name_recorder *k, size_t at, struct recorded_function *last,
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
		recorded_names_add(&k->blob, at, last);
	/* it may have been another one inside of this */
	if (start < last->offset + last->reach)
		start = last->offset + last->reach;
	*last = (struct recorded_function){
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

/* Those with most frames are kept, in order. */
static void count_unnamed(struct name_stats *stats, const char *path, uint64_t frames)
{
	size_t at = stats->file_count < NAME_RECORDER_FILES ? stats->file_count
							    : NAME_RECORDER_FILES;

	if (!frames)
		return;
	stats->unnamed += frames;
	stats->file_count++;
	if (at == NAME_RECORDER_FILES) {
		if (frames <= stats->files[--at].frames)
			return;
		free(stats->files[at].path);
	}
	for (; at && frames > stats->files[at - 1].frames; at--)
		stats->files[at] = stats->files[at - 1];
	stats->files[at] = (struct unnamed_file){strdup(path), frames};
}

/* The places of one file, @count of them. */
static void name_file(struct name_recorder *k, struct bobbin_unwinder *unwinder,
		      const struct place *places, size_t count)
{
	const struct module *named = NULL;
	struct recorded_function last = {0};
	struct symbol symbol;
	unsigned int id = 0;
	bool open = false, begun = false, is_symbol;
	uint64_t unnamed = 0;
	size_t at = 0;

	k->path = places->file->path;
	for (size_t i = 0; i < count; i++) {
		struct module *module = module_of(unwinder, &places[i]);

		if (!i || module != named) {
			open = !open_symbols(k, places->file, module, &id);
			if (last.name)
				recorded_names_add(&k->blob, at, &last);
			last.name = NULL;
			named = module;
		}
		if (open && !begun)
			recorded_names_begin(&k->blob, places->file, &at);
		begun |= open;
		is_symbol = false;
		if (open && name_place(k, &places[i], module, id, &symbol, &is_symbol))
			add(k, at, &last, &places[i], &symbol);
		k->stats.frames += places[i].frames;
		unnamed += is_symbol ? 0 : places[i].frames;
	}
	count_unnamed(&k->stats, places->file->path, unnamed);
	if (last.name)
		recorded_names_add(&k->blob, at, &last);
	if (begun)
		recorded_names_end(&k->blob, at);
}

/* Colon-separated folders as others find them from elsewhere; NULL: none, or there is no memory. */
static char *absolute_folders(const char *folders)
{
	char *here = realpath(".", NULL), *text = NULL;
	size_t size, len;
	FILE *out = here ? open_memstream(&text, &size) : NULL;
	const char *at;

	while (out && (at = path_list_next(&folders, &len)))
		fprintf(out, "%s%s%s%.*s", ftell(out) ? ":" : "", *at == '/' ? "" : here,
			*at == '/' ? "" : "/", (int)len, at);
	free(here);
	if (!out || !fclose(out))
		return text;
	free(text);
	return NULL;
}

static void begin(struct name_recorder *k)
{
	char *folders = k->options.remember ? absolute_folders(k->options.debug_path) : NULL;

	recorded_names_head(&k->blob, folders);
	free(folders);
}

/* It is read by its descriptor. */
static void on_loss(void *ctx, const char *path, const char *reason)
{
	const struct name_recorder *k = ctx;

	k->options.on_loss(NULL, k->path, reason);
}

int name_recorder_finish(struct name_recorder *k, struct bobbin_unwinder *unwinder,
			 struct byte_buffer *ret)
{
	const struct symbolizer_options options = {
		.memory_limit = memory_of(k),
		.debug_path = k->options.debug_path,
		.reader = unwinder_reader(unwinder),
		.on_loss = k->options.on_loss ? on_loss : NULL,
		.on_damage_ctx = k,
	};
	time_t end = clock_seconds() + (k->options.seconds ? k->options.seconds : MAX_SECONDS);
	size_t next, files = 0;

	if (!k->count && !k->kernel.count)
		return 0;
	if (k->count)
		qsort(k->places, k->count, sizeof(*k->places), by_file);
	code_labels_init(&k->labels, unwinder);
	begin(k);
	if (!k->symbolizer && symbolizer_open(&options, &k->symbolizer))
		return -ENOMEM;
	kernel_names_write(&k->kernel, k->symbolizer, &k->blob);
	for (size_t i = 0; i < k->count && clock_seconds() <= end; i = next) {
		for (next = i; next < k->count && k->places[next].file == k->places[i].file; next++)
			;
		if (files++ < RECORDED_NAMES_MAX_FILES)
			name_file(k, unwinder, &k->places[i], next - i);
	}
	*ret = k->blob;
	k->blob = (struct byte_buffer){0};
	return 0;
}

const struct name_stats *name_recorder_stats(const struct name_recorder *keeper)
{
	return &keeper->stats;
}
