/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
#include <bobbin/frames.h>

#include <errno.h>
#include <link.h>
#include <stdlib.h>

#include "base/native_arch.h"
#include "base/vector.h"
#include "codemap/own_registry.h"
#include "convert/converter.h"
#include "convert/fde_list.h"
#include "core/bisect.h"
#include "core/deps.h"
#include "frames/frame_copy.h"

/* Sections that one table can have. */
#define MAX_SECTIONS 4096

/* Compilers align functions so; what they skip is less. */
#define ALIGNMENT 16

/**
 * struct frame_texts - the code that some FDEs are for, as ranges
 * @ranges, @count: ascending
 * @functions: in them
 *
 *	FDEs	├───┤├────┤.├──┤        ├───┤     ├──┤
 *	ranges	├──────────────┤        ├───┤     (of a loaded file)
 *
 * Functions that touch, or have only the alignment of the next one between them,
 * make one range.  Whatever else lies between them belongs to somebody else.
 */
struct frame_texts {
	struct code_text_range *ranges;
	size_t count, functions;
};

/**
 * struct frames - what one call is about
 * @copies, @views, @count: sections, in the same order
 */
struct frames {
	struct frame_copy *copies;
	struct bobbin_cfi_view *views;
	size_t count, capacity;
	struct bobbin_frames_result result;
};

static int take_section(struct frames *frames, const void *begin)
{
	struct frame_copy copy;
	int r = frame_copy_init((uintptr_t)begin, &copy);

	if (r)
		return r;
	if (vector_push(frames->copies, frames->count, frames->capacity, copy)) {
		frame_copy_fini(&copy);
		return -ENOMEM;
	}
	frames->result.cut += copy.cut;
	return 0;
}

static int take_table(struct frames *frames, const void *const *table)
{
	for (size_t i = 0; i < MAX_SECTIONS; i++) {
		uint64_t slot = (uintptr_t)table + i * sizeof(*table);
		const void *begin;
		int r;

		if (frame_memory_read(slot, &begin, sizeof(begin)) != sizeof(begin))
			return -EFAULT;
		if (!begin)
			return 0;
		r = take_section(frames, begin);
		if (r == -ENOMEM)
			return r;
	}
	return -E2BIG;
}

static int make_views(struct frames *frames)
{
	if (!frames->count)
		return -ENODATA;
	frames->views = calloc(frames->count, sizeof(*frames->views));
	if (!frames->views)
		return -ENOMEM;
	for (size_t i = 0; i < frames->count; i++)
		frames->views[i] = (struct bobbin_cfi_view){
			.arch = native_arch(),
			.frame = frames->copies[i].bytes,
			.frame_size = frames->copies[i].size,
			.frame_addr = frames->copies[i].addr,
		};
	return 0;
}

/* The first function that ends after @addr. */
static size_t first_after(const struct fde_list *list, uint64_t addr)
{
	return bisect(i, 0, list->count, list->fdes[i].end > addr);
}

/* Leave the function out. */
static void empty(struct listed_fde *fde)
{
	fde->start = fde->end;
}

/* Leave out functions in executable segments of a loaded file. */
static int pass_over(struct dl_phdr_info *object, size_t size, void *ctx)
{
	struct fde_list *list = ctx;

	for (unsigned int i = 0; i < object->dlpi_phnum; i++) {
		const ElfW(Phdr) *segment = &object->dlpi_phdr[i];
		uint64_t start = object->dlpi_addr + segment->p_vaddr;
		uint64_t end = start + segment->p_memsz;

		if (segment->p_type != PT_LOAD || !(segment->p_flags & PF_X))
			continue;
		for (size_t f = first_after(list, start);
		     f < list->count && list->fdes[f].start < end; f++)
			empty(&list->fdes[f]);
	}
	return 0;
}

static void leave_out(struct fde_list *list)
{
	for (size_t i = 0; i < list->count; i++) {
		struct listed_fde *fde = &list->fdes[i];

		/* 0: linkers write that for a function that they threw away */
		if (!fde->start || fde->end - fde->start > UINT32_MAX)
			empty(fde);
	}
	dl_iterate_phdr(pass_over, list);
}

static bool follows(const struct code_text_range *before, const struct listed_fde *next)
{
	uint64_t gap = next->start - before->end;

	return !gap || (gap < ALIGNMENT && next->start % ALIGNMENT == 0);
}

static void join(const struct fde_list *list, struct frame_texts *texts)
{
	for (size_t i = 0; i < list->count; i++) {
		const struct listed_fde *fde = &list->fdes[i];

		if (fde->start == fde->end)
			continue;
		texts->functions++;
		if (texts->count && follows(&texts->ranges[texts->count - 1], fde))
			texts->ranges[texts->count - 1].end = fde->end;
		else
			texts->ranges[texts->count++] = (struct code_text_range){fde->start,
										 fde->end};
	}
}

/*
 * What of @list is not code of loaded files, and can be code at all; the rest is
 * empty in @list afterwards.  0; -ENODATA: no code is left; -ENOMEM.
 */
static int make_texts(struct fde_list *list, struct frame_texts *ret)
{
	struct frame_texts texts = {0};

	if (!list->count)
		return -ENODATA;
	texts.ranges = calloc(list->count, sizeof(*texts.ranges));
	if (!texts.ranges)
		return -ENOMEM;
	leave_out(list);
	join(list, &texts);
	if (!texts.count) {
		free(texts.ranges);
		return -ENODATA;
	}
	*ret = texts;
	return 0;
}

static int find_texts(struct frames *frames, struct frame_texts *ret)
{
	struct fde_list list;
	int r = fde_list_init(frames->views, (unsigned int)frames->count, &list);

	if (r)
		return r;
	r = make_texts(&list, ret);
	for (size_t i = 0; i < list.count && !r; i++)
		if (list.fdes[i].start == list.fdes[i].end)
			frame_copy_hide(&frames->copies[list.fdes[i].view], list.fdes[i].offset);
	if (!r) {
		/* those that are hidden; what becomes of the others is seen later */
		frames->result.lost_functions = list.count - ret->functions;
		frames->result.functions = frames->result.lost_functions + list.malformed;
	}
	fde_list_fini(&list);
	return r;
}

/* Convert, and register what comes out. */
static int add_section(struct frames *frames, uint64_t key, const struct frame_texts *texts)
{
	/* V3 reaches from the heap to wherever code is */
	const struct convert_options options = {
		.version = 3, .keep_functions = true, .in_place = true};
	struct convert_stats stats;
	struct registry *registry;
	uint64_t size;
	uint8_t *data;
	int r = own_registry_open(&registry);

	if (!r)
		r = convert_cfi(frames->views, (unsigned int)frames->count, &options, &stats, &data,
				&size);
	if (r)
		return r;
	r = stats.functions ? registry_add_section(registry, key, data, size, texts->ranges,
						   texts->count, free)
			    : -ENODATA;
	if (r) {
		free(data);
		return r;
	}
	frames->result.rows = stats.cfi_rows;
	frames->result.lost_rows = stats.lost_rows;
	frames->result.functions += stats.fdes;
	frames->result.lost_functions += stats.lost_fdes;
	return 0;
}

static void let_go(struct frames *frames)
{
	for (size_t i = 0; i < frames->count; i++)
		frame_copy_fini(&frames->copies[i]);
	free(frames->copies);
	free(frames->views);
}

/* Register the sections that were taken, and forget them. */
static int finish(struct frames *frames, uint64_t key, int r, struct bobbin_frames_result *ret)
{
	struct frame_texts texts;

	if (!r)
		r = make_views(frames);
	if (!r)
		r = find_texts(frames, &texts);
	if (!r) {
		r = add_section(frames, key, &texts);
		free(texts.ranges);
	}
	let_go(frames);
	if (!r && ret)
		*ret = frames->result;
	return r;
}

BOBBIN_API int bobbin_frames_register(const void *begin, struct bobbin_frames_result *ret)
{
	struct frames frames = {0};
	int r = take_section(&frames, begin);

	return finish(&frames, (uintptr_t)begin, r, ret);
}

BOBBIN_API int bobbin_frames_register_table(const void *const *table,
					    struct bobbin_frames_result *ret)
{
	struct frames frames = {0};
	int r = take_table(&frames, table);

	return finish(&frames, (uintptr_t)table, r, ret);
}

BOBBIN_API int bobbin_frames_unregister(const void *begin)
{
	struct registry *registry;
	int r;

	if (!own_registry())
		return -ENOENT;
	/* a child that nobody told of must take its parent's map over first */
	r = own_registry_open(&registry);
	return r ? r : registry_remove(registry, (uintptr_t)begin);
}
