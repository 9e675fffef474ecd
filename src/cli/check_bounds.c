/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
#include "cli/check_bounds.h"

#include <errno.h>
#include <stdlib.h>

#include "base/vector.h"
#include "object/start_placement.h"

/* Between sections, so that a function that is too long touches nothing. */
#define LAYOUT_GAP 4096

static int by_index(const void *a, const void *b)
{
	const struct placed_section *x = a, *y = b;

	return (x->index > y->index) - (x->index < y->index);
}

/* The sections that relocations name, each once, one after the other. */
static size_t place(const struct sframe_section *section, struct placed_section *placed)
{
	uint64_t at = LAYOUT_GAP;
	size_t count = 0, used = 0;

	for (size_t i = 0; i < section->target_count; i++) {
		const struct sframe_target *t = &section->targets[i];

		if (t->section)
			placed[count++] = (struct placed_section){.index = t->section_index,
								  .size = t->section_size,
								  .exec = t->exec};
	}
	if (count)
		qsort(placed, count, sizeof(*placed), by_index);
	for (size_t i = 0; i < count; i++) {
		if (used && placed[used - 1].index == placed[i].index)
			continue;
		placed[used] = placed[i];
		placed[used].start = at;
		at += placed[used++].size + LAYOUT_GAP;
	}
	return used;
}

static uint64_t placed_start(const void *ctx, const struct sframe_target *target)
{
	const struct check_bounds *b = ctx;
	const struct placed_section *p;

	if (!target->section)
		return target->start;
	p = bsearch(&(struct placed_section){.index = target->section_index}, b->placed,
		    b->placed_count, sizeof(*p), by_index);
	return p->start + target->start;
}

void check_bounds_init(const struct sframe_file *file, struct check_bounds *ret)
{
	*ret = (struct check_bounds){.bounds = {.arch = file->arch}, .linked = &file->code};
}

static int lay_out(struct check_bounds *b, const struct sframe_section *section)
{
	free(b->placed);
	free(b->laid_out);
	b->placed = calloc(section->target_count + 1, sizeof(*b->placed));
	b->laid_out = calloc(section->target_count + 1, sizeof(*b->laid_out));
	if (!b->placed || !b->laid_out)
		return -ENOMEM;
	b->placed_count = place(section, b->placed);
	b->bounds.text = b->laid_out;
	b->bounds.text_count = 0;
	for (size_t i = 0; i < b->placed_count; i++) {
		const struct placed_section *p = &b->placed[i];

		if (p->exec)
			b->laid_out[b->bounds.text_count++] =
				(struct bobbin_range){p->start, p->start + p->size};
	}
	return 0;
}

int check_bounds_section(struct check_bounds *bounds, const struct sframe_section *section)
{
	if (section->relocated)
		return lay_out(bounds, section);
	bounds->bounds.text = bounds->linked->ranges;
	bounds->bounds.text_count = (uint32_t)bounds->linked->count;
	return 0;
}

int check_bounds_table(struct check_bounds *bounds, const struct sframe_section *section,
		       const struct bobbin_sframe_view *view)
{
	int r = vector_reserve(&bounds->order, &bounds->order_max, (size_t)view->num_fdes + 1,
			       sizeof(*bounds->order));

	if (r)
		return r;
	bounds->bounds.order = bounds->order;
	bounds->bounds.order_max = view->num_fdes;
	if (section->relocated)
		start_placement(section, view, placed_start, bounds);
	return 0;
}

void check_bounds_fini(struct check_bounds *bounds)
{
	free(bounds->laid_out);
	free(bounds->placed);
	free(bounds->order);
}
