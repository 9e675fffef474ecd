/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
#include "symbol/naming.h"

#include <bobbin/unwind.h>
#include <errno.h>
#include <inttypes.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/types.h>
#include <time.h>
#include <unistd.h>

#include "base/clock.h"
#include "base/memory_origin.h"
#include "base/proc_maps.h"
#include "base/shortage.h"
#include "base/vector.h"
#include "symbol/code_label.h"
#include "symbol/interval.h"
#include "symbol/jit_naming.h"
#include "symbol/recorded_names.h"
#include "symbol/symbolizer.h"
#include "target/gdb_jit.h"
#include "target/lineage.h"
#include "unwind/module.h"
#include "unwind/space.h"

/* Addresses repeat in almost every sample: names are looked up once. */
#define CACHE_BITS 16
#define KERNEL_CACHE_BITS 12
/* Functions of a file that are asked for before they are met. */
#define EXPECTED_MAX 16384
/* In place of a file's number among the symbolizer's. */
#define NO_FILE UINT_MAX

struct cached_name {
	uint64_t key; /* of the file and offset; 0: empty */
	unsigned int count;
	struct symbol *symbols;
};

/* A function of the kernel; @pc: of the frame, 0: empty. */
struct cached_kernel {
	uint64_t pc;
	struct symbol symbol;
};

/* What became of a mapped file; by its number. */
struct known_file {
	bool looked;
	int tried_pid; /* through which it was looked at */
	bool found;
	int fd;        /* of the very file, if it has no build ID; negative: none */
	bool replaced; /* what is at its path is, or may be, another file */
	bool expected; /* its names were asked for */
};

struct naming {
	struct symbolizer *symbolizer;
	bool shares; /* @symbolizer is not its own */
	struct bobbin_unwinder *unwinder;
	struct jit_naming jit;
	struct code_labels labels;
	struct loaded_programs programs;
	struct recorded_names *kept; /* or NULL */
	bool trusts_paths;           /* the user says where the files are */
	enum naming_kernel kernel;
	struct cached_name cache[1u << CACHE_BITS];
	struct cached_kernel kernel_cache[1u << KERNEL_CACHE_BITS];
	struct known_file *files;
	size_t file_count, file_room;
	struct naming_loss loss;
	size_t replaced_count;
	char *replaced;    /* the path of the first of them */
	char left_out[40]; /* "N frames left out" */
};

/* Other errors are the file's, and cost its names. */
static void note_loss(struct naming *n, int error)
{
	if (!is_shortage(error) && error != -EAGAIN)
		return;
	n->loss.frames++;
	n->loss.error = error;
}

int naming_symbolizer_open(const struct symbolizer_options *options, struct process_reader *reader,
			   const char *debug_path, struct symbolizer **ret)
{
	struct symbolizer_options own = *options;

	own.debuginfod = getenv("DEBUGINFOD_URLS");
	own.reader = reader;
	if (!own.debug_path)
		own.debug_path = debug_path;
	return symbolizer_open(&own, ret);
}

int naming_open(const struct symbolizer_options *options, struct symbolizer *shared,
		struct bobbin_unwinder *unwinder, struct recorded_names *kept, struct naming **ret)
{
	struct naming *n = calloc(1, sizeof(*n));
	int r;

	if (!n) {
		recorded_names_close(kept);
		return -ENOMEM;
	}
	n->kept = kept;
	n->unwinder = unwinder;
	n->symbolizer = shared;
	n->shares = shared;
	n->trusts_paths = options->symfs;
	code_labels_init(&n->labels, unwinder);
	loaded_programs_init(&n->programs);
	r = shared ? 0
		   : naming_symbolizer_open(options, unwinder_reader(unwinder),
					    recorded_names_debug_path(kept), &n->symbolizer);
	if (r)
		naming_close(n);
	else
		*ret = n;
	return r;
}

void naming_close(struct naming *naming)
{
	if (!naming)
		return;
	for (size_t i = 0; i < 1u << CACHE_BITS; i++)
		free(naming->cache[i].symbols);
	if (!naming->shares)
		symbolizer_close(naming->symbolizer);
	code_labels_fini(&naming->labels);
	loaded_programs_fini(&naming->programs);
	recorded_names_close(naming->kept);
	jit_naming_fini(&naming->jit);
	for (size_t i = 0; i < naming->file_count; i++)
		if (naming->files[i].looked && naming->files[i].fd >= 0)
			close(naming->files[i].fd);
	free(naming->files);
	free(naming->replaced);
	free(naming);
}

void naming_start(struct naming *naming)
{
	symbolizer_start(naming->symbolizer);
}

size_t naming_memory(const struct naming *naming)
{
	struct symbolizer_stats stats;

	symbolizer_get_stats(naming->symbolizer, &stats);
	return stats.memory + name_pool_memory(&naming->labels.names);
}

const char *naming_replaced(const struct naming *naming, size_t *count)
{
	*count = naming->replaced_count;
	return naming->replaced;
}

struct naming_loss naming_loss(const struct naming *naming)
{
	return naming->loss;
}

static void note_replaced(struct naming *n, const struct mapped_file *file)
{
	if (!n->replaced_count++)
		n->replaced = strdup(file->path);
}

static void look_at(struct naming *n, const struct mapped_file *file, struct known_file *known)
{
	int fd = unwinder_file_open(n->unwinder, file);
	bool was_replaced = known->replaced;

	known->looked = true;
	known->tried_pid = file->pid;
	known->found = fd >= 0;
	known->fd = fd;
	known->replaced = fd == -ESTALE;
	if (known->replaced && !was_replaced)
		note_replaced(n, file);
	/* a build ID is looked at each time, and there are many such files */
	if (fd >= 0 && file->build_id_len) {
		close(fd);
		known->fd = -1;
	}
}

/* NULL: it is no file, or there is no memory. */
static struct known_file *known_file(struct naming *n, const struct mapping *m)
{
	struct known_file *known;

	if (!m || m->file->kind != FILE_REGULAR ||
	    vector_reserve(&n->files, &n->file_room, (size_t)m->file->number + 1,
			   sizeof(*n->files)))
		return NULL;
	while (n->file_count <= m->file->number)
		n->files[n->file_count++] = (struct known_file){0};
	known = &n->files[m->file->number];
	if (!known->looked || (!known->found && known->tried_pid != m->file->pid))
		look_at(n, m->file, known);
	return known;
}

/* An address in a file, or in an image; @mapped: NULL in some images. */
struct file_place {
	struct bobbin_space *space;
	uint64_t pc;
	const struct bobbin_place_info *place;
	const struct mapping *mapped;
};

/*
 * Whose names these are.  A file without a build ID is known by a descriptor that was compared
 * with the recording; what may be another file is not looked at.
 */
static int file_id(struct naming *n, const struct file_place *at, unsigned int *ret)
{
	const struct bobbin_place_info *place = at->place;
	const struct bobbin_mapping *m = &place->mapping;
	const struct mapping *mapped = at->mapped;
	const struct known_file *known;
	const struct module *module;
	char path[MAP_FILE_SIZE]; /* the very bytes, whatever has become of the path */
	struct symbol_file file = {
		.path = m->path,
		.open_path = path,
		.build_id = m->build_id,
		.build_id_len = m->build_id_len,
		.pid = m->pid,
	};

	if (place->image)
		return symbolizer_image(n->symbolizer, place->image, place->image_size, m->path,
					ret);
	if (mapped) {
		space_note_root(at->space, mapped);
		file.roots = mapped->file->roots;
	}
	module = unwinder_module(n->unwinder, at->space, at->pc);
	if (mapped && module && module->base)
		return module_symbols(n->symbolizer, module, mapped->file, ret);
	known = known_file(n, mapped);
	/* its build ID is that of another file, see perf_reader.h */
	if (known && known->replaced && !m->pid && m->build_id_len && m->ino)
		return -ESTALE;
	if (m->build_id_len || !known || n->trusts_paths) {
		map_file_path(m->pid, m->start, m->end, path);
		file.open_path = m->pid ? path : NULL;
	} else if (known->fd >= 0) {
		snprintf(path, sizeof(path), OWN_FILES "%d", known->fd);
	} else {
		return -ESTALE;
	}
	return symbolizer_file(n->symbolizer, &file, ret);
}

static struct code_spot spot_of(struct naming *n, const struct file_place *at)
{
	struct code_spot spot = {
		.file_offset = at->place->file_offset,
		.mapped_offset = at->place->mapping.offset,
		.path = at->place->mapping.path,
	};
	uint64_t offset;

	code_spot_place(&spot, unwinder_module(n->unwinder, at->space, at->pc));
	if (!spot.module &&
	    !bobbin_function_start(n->unwinder, at->space, at->pc, &spot.function, &offset)) {
		spot.registered = true;
		spot.vaddr = spot.function + offset;
	}
	return spot;
}

/* By what was there when the recording was made. */
static int name_by_recording(struct naming *n, const struct bobbin_place_info *place,
			     struct symbol *ret)
{
	struct recorded_function kept;

	if (!recorded_names_find(n->kept, &place->mapping, place->file_offset, &kept))
		return 0;
	return symbolizer_kept(n->symbolizer, kept.name, kept.address,
			       place->file_offset - kept.offset, ret);
}

/* The recording tells which functions of a file there will be. */
static void expect_kept(struct naming *n, struct known_file *known,
			const struct bobbin_place_info *place, unsigned int id)
{
	const struct recorded_function *functions;
	size_t count = recorded_names_functions(n->kept, &place->mapping, &functions);
	struct offset_range *ranges;

	known->expected = true;
	if (count > EXPECTED_MAX)
		count = EXPECTED_MAX;
	ranges = !count ? NULL : malloc(count * sizeof(*ranges));
	if (!ranges)
		return;
	for (size_t i = 0; i < count; i++)
		ranges[i] = (struct offset_range){functions[i].offset,
						  functions[i].offset + functions[i].reach};
	symbolizer_expect(n->symbolizer, id, ranges, count);
	free(ranges);
}

/* @error: why there may be a better answer; or 0. */
static int look_up(struct naming *n, const struct file_place *at, unsigned int id,
		   struct symbol ret[NAMING_MAX_INLINES], int *error)
{
	const struct bobbin_place_info *place = at->place;
	struct code_spot spot = spot_of(n, at);
	struct known_file *known = place->image || id == NO_FILE ? NULL : known_file(n, at->mapped);
	int count = 0;

	/* of files inside of files the offsets are others */
	if (known && !known->expected && (!spot.module || !spot.module->base))
		expect_kept(n, known, place, id);
	/* of another kernel's vDSO there is nothing to read */
	if (id != NO_FILE && (!place->image || spot.module))
		count = code_symbols(n->symbolizer, &spot, id, ret, NAMING_MAX_INLINES);
	*error = count < 0 ? count : 0;
	if (count <= 0)
		count = name_by_recording(n, place, ret);
	if (count <= 0)
		count = code_label(&n->labels, &spot, ret);
	if (count < 0)
		*error = count;
	return count > 0 ? count : 0;
}

/* What the cache knows a place in a file by: in another root it may have other names. */
static uint64_t key_of(const struct file_place *at, unsigned int id)
{
	const struct mapping *m = at->mapped;
	uint64_t file = m && id == NO_FILE ? ~(uint64_t)m->file->number : id;
	uint64_t roots = m ? file_roots_count(&m->file->roots) : 0;

	return (at->place->file_offset << 12 ^ file ^ roots << 60) + 1;
}

static struct cached_name *slot_of(struct naming *n, uint64_t key)
{
	return &n->cache[(key * 0x9e3779b97f4a7c15ull) >> (64 - CACHE_BITS)];
}

/* Look the symbols of a place up. */
static void fill_slot(struct naming *n, const struct file_place *at, unsigned int id, uint64_t key,
		      struct cached_name *slot)
{
	struct symbol found[NAMING_MAX_INLINES];
	int error, count = look_up(n, at, id, found, &error);

	note_loss(n, error);
	free(slot->symbols);
	*slot = (struct cached_name){0};
	slot->symbols = malloc((size_t)count * sizeof(*found) + 1);
	if (!slot->symbols) {
		note_loss(n, -ENOMEM);
		return;
	}
	memcpy(slot->symbols, found, (size_t)count * sizeof(*found));
	slot->count = (unsigned int)count;
	/* else it is asked for again */
	if (!error)
		slot->key = key;
}

/* Files of a recording stay what they were: their numbers are enough. */
static bool is_recorded(const struct file_place *at)
{
	return at->mapped && !at->place->mapping.pid;
}

/* Symbols of an address in a file, through the cache. */
static size_t file_symbols(struct naming *n, const struct file_place *at, const struct symbol **ret)
{
	const uint64_t lasting = is_recorded(at) ? key_of(at, NO_FILE) : 0;
	struct cached_name *slot = slot_of(n, lasting);
	unsigned int id;
	uint64_t key;
	int r;

	if (lasting && slot->key == lasting) {
		*ret = slot->symbols;
		return slot->count;
	}
	r = file_id(n, at, &id);
	if (r == -ESTALE) {
		id = NO_FILE;
	} else if (r) {
		note_loss(n, r);
		return 0;
	}
	key = lasting ? lasting : key_of(at, id);
	slot = slot_of(n, key);
	if (slot->key != key)
		fill_slot(n, at, id, key, slot);
	*ret = slot->symbols;
	return slot->count;
}

void naming_kernel_is(struct naming *naming, enum naming_kernel kernel)
{
	naming->kernel = kernel;
	memset(naming->kernel_cache, 0, sizeof(naming->kernel_cache));
}

struct loaded_programs *naming_programs(struct naming *naming)
{
	return &naming->programs;
}

static const struct bobbin_mapping kernel_mapping = {.path = NAMING_KERNEL};

/* false: the recording has no names of it. */
static bool name_kept_kernel(struct naming *n, struct named_frame *frame)
{
	const struct recorded_function *functions;
	struct recorded_function kept;

	if (!recorded_names_functions(n->kept, &kernel_mapping, &functions))
		return false;
	if (recorded_names_find(n->kept, &kernel_mapping, frame->pc, &kept))
		note_loss(n, symbolizer_kernel_kept(n->symbolizer, kept.name, kept.address,
						    frame->pc - kept.offset, &frame->symbol));
	return true;
}

static void look_up_kernel(struct naming *n, struct named_frame *frame)
{
	if (name_kept_kernel(n, frame) || n->kernel == KERNEL_IS_OTHER)
		return;
	note_loss(n, symbolizer_kernel(n->symbolizer, frame->pc, &frame->symbol));
	if (n->kernel == KERNEL_HAS_RUN && frame->symbol.name && naming_is_bpf(frame->symbol.name))
		frame->symbol = (struct symbol){0};
}

/* Programs of BPF come and go, and are in no cache. */
static bool name_program(struct naming *n, struct named_frame *frame)
{
	const struct loaded_program *program = loaded_programs_find(&n->programs, frame->pc);

	if (program)
		note_loss(n, symbolizer_kernel_kept(n->symbolizer, program->name, program->start,
						    frame->pc - program->start, &frame->symbol));
	return program;
}

static size_t name_kernel(struct naming *n, struct named_frame *frame)
{
	struct cached_kernel *cached =
		&n->kernel_cache[(frame->pc * 0x9e3779b97f4a7c15ull) >> (64 - KERNEL_CACHE_BITS)];

	frame->kind = FRAME_KERNEL;
	frame->dso = NAMING_KERNEL;
	if (name_program(n, frame))
		return 1;
	if (cached->pc != frame->pc) {
		look_up_kernel(n, frame);
		*cached = (struct cached_kernel){frame->pc, frame->symbol};
	}
	frame->symbol = cached->symbol;
	return 1;
}

/* A JIT compiler's code, if it has told its names. */
static bool name_compiled(struct naming *n, const struct bobbin_space *space,
			  const struct naming_moment *moment, uint64_t pc,
			  struct named_frame *frame)
{
	int r = jit_naming_find(&n->jit, n->symbolizer, space, moment, pc, &frame->symbol);

	note_loss(n, r);
	if (r <= 0)
		return false;
	frame->symbol.offset += frame->pc - pc;
	frame->kind = FRAME_JIT;
	frame->dso = "[JIT]";
	return true;
}

/* Memory without a file, or what is mapped nowhere. */
static size_t name_bare(struct naming *n, const struct bobbin_place_info *place, uint64_t pc,
			struct named_frame *frame)
{
	const struct code_spot spot = {
		.file_offset = pc,
		.mapped_offset = place ? place->mapping.start : 0,
		.path = place ? place->mapping.path : "",
	};

	frame->kind = FRAME_UNKNOWN;
	frame->dso = place ? code_region(spot.path) : "[unknown]";
	if (place)
		note_loss(n, code_label(&n->labels, &spot, &frame->symbol));
	return 1;
}

/* As perf shows it, which knows no such thing: an unknown function at 0. */
static size_t name_left_out(struct naming *n, uint64_t count, struct named_frame *frame)
{
	snprintf(n->left_out, sizeof(n->left_out), "%" PRIu64 " frames left out", count);
	frame->pc = 0;
	frame->kind = FRAME_UNKNOWN;
	frame->dso = n->left_out;
	return 1;
}

/* @past: how far the frame's PC is after the address of the symbols. */
static size_t name_inlines(const struct named_frame *base, const struct symbol *symbols,
			   size_t count, uint64_t past, struct named_frame *ret)
{
	for (size_t i = 0; i < count; i++) {
		ret[i] = *base;
		ret[i].symbol = symbols[i];
		ret[i].symbol.offset += past;
		ret[i].inlined = symbols[i].inlined;
		if (symbols[i].inlined)
			ret[i].kind = FRAME_INLINED;
	}
	return count;
}

size_t naming_frame(struct naming *naming, struct bobbin_space *space,
		    const struct naming_moment *moment, const struct bobbin_frame *frame,
		    struct named_frame *ret)
{
	struct named_frame base = {.pc = frame->pc, .kind = FRAME_USER, .source = frame->source};
	uint64_t pc = bobbin_frame_lookup_pc(frame);
	const struct symbol *symbols;
	struct bobbin_place_info place;
	bool mapped;
	size_t count;

	*ret = base;
	if (frame->source == BOBBIN_SOURCE_LEFT_OUT)
		return name_left_out(naming, frame->pc, ret);
	if (frame->kernel)
		return name_kernel(naming, ret);
	mapped = !bobbin_space_find(space, pc, &place);
	if (!mapped || (!place.image && code_region(place.mapping.path)))
		return name_compiled(naming, space, moment, pc, ret)
			       ? 1
			       : name_bare(naming, mapped ? &place : NULL, pc, ret);
	if (memory_may_be_made(place.mapping.path) && name_compiled(naming, space, moment, pc, ret))
		return 1;
	base.dso = place.mapping.path;
	base.file_offset = place.file_offset;
	count = file_symbols(naming, &(struct file_place){space, pc, &place, space_find(space, pc)},
			     &symbols);
	if (count)
		return name_inlines(&base, symbols, count, frame->pc - pc, ret);
	*ret = base;
	return 1;
}
