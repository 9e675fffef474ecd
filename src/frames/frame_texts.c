/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
#include "frames/frame_texts.h"

#include <errno.h>
#include <link.h>
#include <stdlib.h>

#include "core/bisect.h"

/* Compilers align functions so; what they skip is less. */
#define ALIGNMENT 16

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

int frame_texts_init(struct fde_list *list, struct frame_texts *ret)
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

void frame_texts_fini(struct frame_texts *texts)
{
	free(texts->ranges);
	*texts = (struct frame_texts){0};
}
