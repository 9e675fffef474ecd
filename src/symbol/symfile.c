/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
#include "symbol/symfile.h"

#include "base/elf_walk.h"
#include "base/shortage.h"
#include "base/vector.h"
#include "symbol/file_paths.h"
#include "symbol/functions.h"

#include <errno.h>
#include <malloc.h>
#include <stdlib.h>
#include <string.h>

#define MAX_FRAMES 256
#define PAGE 4096ull
#define UNKNOWN_NAME "??"

/* A part of the file that is mapped. */
struct symfile_segment {
	uint64_t offset, size, address;
	bool executable;
};

enum symfile_state {
	SYMFILE_SHUT,
	SYMFILE_OPEN,
	SYMFILE_MISSING, /* nothing could be opened */
};

struct symfile {
	struct file_paths paths;
	void *image; /* an image in memory, else NULL */
	size_t image_size;
	struct build_id build_id;
	enum symfile_state state;
	uint64_t used;          /* when last, for eviction */
	unsigned int overgrown; /* how often it took more than all the memory */
	size_t memory;          /* when last measured */
	struct symfile_segment *segments;
	size_t segment_count;
	struct symlist functions;
	struct debuginfo *debuginfo;
};

static void symfile_shut(struct symfile *f)
{
	debuginfo_close(f->debuginfo);
	f->debuginfo = NULL;
	symlist_fini(&f->functions);
	free(f->segments);
	f->segments = NULL;
	f->segment_count = 0;
	f->state = SYMFILE_SHUT;
}

/* Other paths for the same file: it is read again.  Returns 0, -ENOMEM. */
static int symfile_set_paths(struct symfile *f, const struct symbol_file *file)
{
	int err = file_paths_set(&f->paths, file);

	if (!err)
		symfile_shut(f);
	return err;
}

/* @image is taken over, if not NULL.  Returns 0, -ENOMEM. */
static int symfile_new(const struct symbol_file *file, void *image, size_t image_size,
		       struct symfile **ret)
{
	struct symfile *f = calloc(1, sizeof(*f));

	if (!f || file_paths_init(&f->paths, file)) {
		free(f);
		return -ENOMEM;
	}
	if (file->build_id_len)
		memcpy(f->build_id.bytes, file->build_id, file->build_id_len);
	f->build_id.len = file->build_id_len;
	f->image = image;
	f->image_size = image_size;
	*ret = f;
	return 0;
}

static void symfile_free(struct symfile *f)
{
	symfile_shut(f);
	file_paths_fini(&f->paths);
	free(f->image);
	free(f);
}

static bool has_section(const struct elf_file *file, const char *name)
{
	Elf_Scn *section = file->elf ? elf_file_section(file->elf, name) : NULL;
	GElf_Shdr header;

	return section && gelf_getshdr(section, &header) && header.sh_type != SHT_NOBITS;
}

static bool has_dwarf(const struct elf_file *file)
{
	return has_section(file, ".debug_info") || has_section(file, ".zdebug_info");
}

/* Leaves what cannot be found closed. */
static int find_files(struct symfile *f, struct symfile_context *c, struct elf_file *main,
		      struct elf_file *debug)
{
	bool wants_dwarf = c->wish.inlines || c->wish.lines;
	int err;

	c->paths.roots = &f->paths.roots;
	c->paths.inside = f->paths.inside;
	err = f->image ? elf_file_open_image(f->image, f->image_size, main)
		       : elf_file_find_main(&c->paths, f->paths.open_path, f->paths.path,
					    &f->build_id, main);

	if (is_shortage(err) || (has_section(main, ".symtab") && (!wants_dwarf || has_dwarf(main))))
		return err;
	err = elf_file_find_debug(&c->paths, main, &f->build_id, debug);
	return is_shortage(err) ? err : 0;
}

static int read_segments(struct symfile *f, Elf *elf)
{
	GElf_Phdr header;
	size_t count;

	if (elf_getphdrnum(elf, &count) || !count)
		return 0;
	f->segments = calloc(count, sizeof(*f->segments));
	if (!f->segments)
		return -ENOMEM;
	for (size_t i = 0; elf_next_segment(elf, &i, &header);)
		if (header.p_type == PT_LOAD)
			f->segments[f->segment_count++] = (struct symfile_segment){
				.offset = header.p_offset,
				.size = header.p_filesz,
				.address = header.p_vaddr,
				.executable = header.p_flags & PF_X,
			};
	return 0;
}

/*
 * objcopy --only-keep-debug empties the segments.  GNU ld and gold, but not lld,
 * lay a file out as it is in memory, page by page, and lld's text is the one
 * that starts in mid-page.
 */
static void restore_segments(struct symfile *f, Elf *elf)
{
	GElf_Phdr header;
	size_t load = 0;

	for (size_t i = 0; load < f->segment_count && elf_next_segment(elf, &i, &header);) {
		struct symfile_segment *s = &f->segments[load];

		if (header.p_type != PT_LOAD)
			continue;
		if (s->executable && !s->size && (!load || s->address % PAGE == 0)) {
			s->offset = s->address - (f->segments[0].address & ~(PAGE - 1));
			s->size = header.p_memsz;
		}
		load++;
	}
}

/* Whether DWARF is still read: it is given up when it took too much too often. */
static bool symfile_may_grow(const struct symfile *f)
{
	return f->overgrown < 8;
}

static int read_files(struct symfile *f, struct symfile_context *c, struct elf_file *main,
		      struct elf_file *debug)
{
	int err = read_segments(f, main->elf ? main->elf : debug->elf);

	if (!err && !main->elf)
		restore_segments(f, debug->elf);
	err = err ? err : functions_read(main->elf, debug->elf, c->limit, &f->functions);
	if (err || (!c->wish.inlines && !c->wish.lines) || !symfile_may_grow(f))
		return err;
	/* DWARF that cannot be used, for whatever reason, is the same as none. */
	err = debuginfo_open(has_dwarf(main) ? main : debug, &c->paths, &c->names, &c->wish,
			     c->limit / 2, &f->debuginfo);
	return is_shortage(err) ? err : 0;
}

static int symfile_open(struct symfile *f, struct symfile_context *c)
{
	struct elf_file main = ELF_FILE_CLOSED, debug = ELF_FILE_CLOSED;
	int err = 0;

	if (f->state != SYMFILE_SHUT)
		return 0;
	err = find_files(f, c, &main, &debug);
	f->state = main.elf || debug.elf ? SYMFILE_OPEN : SYMFILE_MISSING;
	if (!err && f->state == SYMFILE_OPEN)
		err = read_files(f, c, &main, &debug);
	if (err)
		symfile_shut(f);
	elf_file_close(&main);
	elf_file_close(&debug);
	return err;
}

/* Code first: linkers may put other segments into the same page. */
static const struct symfile_segment *find_segment(const struct symfile *f, uint64_t offset)
{
	for (unsigned int code = 2; code-- > 0;)
		for (size_t i = 0; i < f->segment_count; i++) {
			const struct symfile_segment *s = &f->segments[i];

			if (s->executable == code && offset >= s->offset &&
			    offset - s->offset < s->size)
				return s;
		}
	return NULL;
}

/* The offsets of addresses of a segment. */
static struct offset_range find_range(const struct symfile_segment *s, struct interval_gap same)
{
	same = interval_gap_cut(same, (struct interval_gap){s->address, s->address + s->size});
	/* another segment may be at parts of it */
	if (!s->executable || same.start >= same.end)
		return (struct offset_range){0};
	return (struct offset_range){same.start - s->address + s->offset,
				     same.end - s->address + s->offset};
}

static int name_function(struct symfile *f, struct symfile_context *c,
			 const struct interval *function, struct debug_frame *frame)
{
	char name[NAME_MAX_SIZE];

	frame->start = function->start;
	frame->size = function->size;
	frame->guessed = function->value & FUNCTION_GUESSED;
	function_name(&f->functions, function, name, sizeof(name));
	return names_symbol(&c->names, name, &frame->name);
}

/* DWARF has the ends of functions that the symbol table leaves open. */
static bool knows_better(const struct debug_frame *frame, const struct interval *function)
{
	return frame->name.name && function->value & FUNCTION_GUESSED;
}

/*
 * Inlined functions by DWARF, the one around them by the symbol table, which
 * tells clones and cold parts apart.
 */
static int find_frames(struct symfile *f, struct symfile_context *c, uint64_t address,
		       struct debug_frame *frames, struct interval_gap *same)
{
	const struct interval *function = interval_map_find(&f->functions.map, address);
	int n = 0, err = 0;

	*same = interval_map_gap(&f->functions.map, address);
	if (f->debuginfo)
		n = debuginfo_frames(f->debuginfo, address, frames, MAX_FRAMES, same);
	if (n < 0)
		return n;
	if (!n)
		frames[n++] = (struct debug_frame){0};
	if (function && !frames[n - 1].inlined && !knows_better(&frames[n - 1], function))
		err = name_function(f, c, function, &frames[n - 1]);
	/* Padding between functions may have a line. */
	if (n == 1 && !frames[0].name.name)
		return err;
	return err ? err : n;
}

static struct symbol symbol_of(const struct debug_frame *frame, const struct debug_frame *outer,
			       uint64_t address)
{
	return (struct symbol){
		.name = frame->name.name ? frame->name.name : UNKNOWN_NAME,
		.mangled = frame->name.mangled ? frame->name.mangled : UNKNOWN_NAME,
		.start = outer->start,
		.size = outer->size,
		.guessed = outer->guessed,
		.offset = address - outer->start,
		.src_file = frame->file,
		.line = frame->line,
		.inlined = frame->inlined,
	};
}

/* As symfile_set_resolve(). */
static int symfile_resolve(struct symfile *f, struct symfile_context *c, uint64_t offset,
			   struct symbol *ret, size_t max, struct offset_range *holds)
{
	struct debug_frame frames[MAX_FRAMES];
	const struct symfile_segment *segment;
	struct interval_gap same;
	int err = symfile_open(f, c), n;
	uint64_t address;

	*holds = (struct offset_range){0};
	if (err || f->state != SYMFILE_OPEN)
		return err;
	segment = find_segment(f, offset);
	if (!segment)
		return 0;
	address = segment->address + (offset - segment->offset);
	n = find_frames(f, c, address, frames, &same);
	for (int i = 0; i < n && (size_t)i < max; i++)
		ret[i] = symbol_of(&frames[i], &frames[n - 1], address);
	if (n >= 0)
		*holds = find_range(segment, same);
	return n < 0 || (size_t)n < max ? n : (int)max;
}

/* The bytes that are held, besides names. */
static void measure(struct symfile_set *set, struct symfile *f)
{
	set->memory -= f->memory;
	f->memory = sizeof(*f) + f->image_size + symlist_memory(&f->functions) +
		    f->segment_count * sizeof(*f->segments);
	if (f->debuginfo)
		f->memory += debuginfo_memory(f->debuginfo);
	set->memory += f->memory;
}

static void forget(struct symfile_set *set, unsigned int number)
{
	struct symfile *f = set->files[number];

	if (!f)
		return;
	set->memory -= f->memory;
	symfile_free(f);
	set->files[number] = NULL;
}

static int make_room(struct symfile_set *set, unsigned int number)
{
	int err = vector_reserve(&set->files, &set->capacity, (size_t)number + 1,
				 sizeof(struct symfile *));

	while (!err && set->count <= number)
		set->files[set->count++] = NULL;
	return err;
}

int symfile_set_put(struct symfile_set *set, unsigned int number, const struct symbol_file *file,
		    void *image, size_t image_size)
{
	int err = make_room(set, number);

	if (!err && !image && set->files[number]) {
		err = symfile_set_paths(set->files[number], file);
		measure(set, set->files[number]);
		return err;
	}
	if (!err)
		forget(set, number);
	err = err ? err : symfile_new(file, image, image_size, &set->files[number]);
	if (err)
		free(image);
	return err;
}

bool symfile_set_has(const struct symfile_set *set, unsigned int number)
{
	return number < set->count && set->files[number];
}

static struct symfile *least_recent(const struct symfile_set *set)
{
	struct symfile *least = NULL;

	for (size_t i = 0; i < set->count; i++) {
		struct symfile *f = set->files[i];

		if (f && f->state == SYMFILE_OPEN && (!least || f->used < least->used))
			least = f;
	}
	return least;
}

/* Shut the least recently used, at last @current itself, if it may still be read again. */
static void enforce_limit(struct symfile_set *set, struct symfile *current)
{
	while (set->memory > set->context.limit) {
		struct symfile *f = least_recent(set);

		if (!f || (f == current && !symfile_may_grow(f)))
			break;
		f->overgrown += f == current;
		symfile_shut(f);
		measure(set, f);
	}
}

int symfile_set_resolve(struct symfile_set *set, unsigned int number, uint64_t offset,
			struct symbol *ret, size_t max, struct offset_range *holds)
{
	struct symfile *f = set->files[number];
	const bool was_shut = f->state == SYMFILE_SHUT;
	int n;

	f->used = ++set->clock;
	n = symfile_resolve(f, &set->context, offset, ret, max, holds);
	measure(set, f);
	enforce_limit(set, f);
	/* to read a file takes several times what stays of it */
	if (was_shut)
		malloc_trim(0);
	return n;
}

unsigned int symfile_set_open(const struct symfile_set *set)
{
	unsigned int n = 0;

	for (size_t i = 0; i < set->count; i++)
		n += set->files[i] && set->files[i]->state == SYMFILE_OPEN;
	return n;
}

void symfile_set_shut(struct symfile_set *set, unsigned int number)
{
	symfile_shut(set->files[number]);
}

bool symfile_set_misses(const struct symfile_set *set, unsigned int number)
{
	return symfile_set_has(set, number) && set->files[number]->state == SYMFILE_MISSING;
}
