/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
#include "profile/image_records.h"

#include <string.h>
#include <sys/mman.h>
#include <sys/sysmacros.h>

#include "base/process_reader.h"
#include "unwind/space.h"

/* The kernel's word counts more: a file that is mapped there has been told of. */
static bool is_unknown_to_kernel(const struct bobbin_space *space, const struct remote_range *range)
{
	struct bobbin_place_info place;

	return range->image->path[0] == '/' && !bobbin_space_find(space, range->start, &place) &&
	       place.mapping.path == range->image->path;
}

/*
 * Which file is at an image's path now, if its build ID is not known: names are shown of it as
 * long as nobody changes it.
 */
static void note_file(const struct process *process, const struct remote_image *image,
		      struct perf_mmap *ret)
{
	const struct remote_process remote = {process->space->maps.reader, process->pid};
	struct stat st;

	if (image->build_id_len || process_file_stat(&remote, image->path, &st) ||
	    !S_ISREG(st.st_mode))
		return;
	ret->maj = major(st.st_dev);
	ret->min = minor(st.st_dev);
	ret->ino = st.st_ino;
}

static int tell(const struct process *process, const struct remote_range *range, uint64_t time,
		uint64_t id, snapshot_sink sink, void *ctx)
{
	const struct remote_image *image = range->image;
	struct perf_event event;

	if (range->start < image->start || !is_unknown_to_kernel(process->space, range))
		return 0;
	event = (struct perf_event){
		.type = PERF_RECORD_MMAP2,
		.misc = PERF_RECORD_MISC_USER,
		.pid = (uint32_t)process->pid,
		.tid = (uint32_t)process->pid,
		.time = time,
		.id = id,
		.mmap =
			{
				.addr = range->start,
				.len = range->end - range->start,
				.pgoff = range->start - image->start,
				.prot = PROT_READ | PROT_EXEC,
				.flags = MAP_PRIVATE,
				.build_id_len = image->build_id_len,
				.filename = image->path,
			},
	};

	memcpy(event.mmap.build_id, image->build_id, sizeof(image->build_id));
	note_file(process, image, &event.mmap);
	return sink(ctx, &event);
}

/* The first told image's range that ends after @from and begins in the memory, or NULL. */
static const struct remote_range *next_told(const struct process *process,
					    const struct perf_mmap *memory, uint64_t from)
{
	const struct remote_code *code = process->space->remote;

	for (size_t i = code ? remote_code_after(code, from) : 0;
	     code && i < code->count && code->ranges[i].start < memory->addr + memory->len; i++)
		if (code->ranges[i].image && code->ranges[i].id <= process->code.told)
			return &code->ranges[i];
	return NULL;
}

bool image_records_told(const struct process *process, const struct perf_mmap *memory)
{
	return next_told(process, memory, memory->addr);
}

int image_records_over(struct process *process, const struct perf_event *mapped, uint64_t id,
		       snapshot_sink sink, void *ctx)
{
	const struct perf_mmap *memory = &mapped->mmap;
	const struct remote_range *range = next_told(process, memory, memory->addr);
	int r = 0;

	for (; range && !r; range = next_told(process, memory, range->end))
		r = tell(process, range, mapped->time, id, sink, ctx);
	return r;
}

int image_records(struct process *process, uint64_t time, uint64_t id, snapshot_sink sink,
		  void *ctx)
{
	const struct remote_code *code = process->space->remote;
	uint64_t told = process->code.told;
	int r = 0;

	for (size_t i = 0; code && i < code->count && !r; i++) {
		const struct remote_range *range = &code->ranges[i];

		if (range->id <= process->code.told || !range->image)
			continue;
		r = tell(process, range, time, id, sink, ctx);
		if (range->id > told)
			told = range->id;
	}
	process->code.told = told;
	return r;
}
