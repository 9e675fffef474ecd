/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
#include <bobbin/frames.h>

#include <errno.h>
#include <stdlib.h>

#include "base/native_arch.h"
#include "base/vector.h"
#include "codemap/own_registry.h"
#include "convert/converter.h"
#include "core/deps.h"
#include "frames/frame_copy.h"
#include "frames/frame_texts.h"

/* Sections that one table can have. */
#define MAX_SECTIONS 4096

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

static int find_texts(struct frames *frames, struct frame_texts *ret)
{
	struct fde_list list;
	int r = fde_list_init(frames->views, (unsigned int)frames->count, &list);

	if (r)
		return r;
	r = frame_texts_init(&list, ret);
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
		frame_texts_fini(&texts);
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
