/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
#include "cli/check_bounds.h"

#include <errno.h>
#include <stdlib.h>

/* Between sections, so that a function that is too long touches nothing. */
#define LAYOUT_GAP 4096

/* A section of a relocatable file that functions lie in. */
struct placed {
	size_t index;
	uint64_t start, size;
	bool exec;
};

static int by_start(const void *a, const void *b)
{
	const struct bobbin_sframe_range *x = a, *y = b;

	return (x->start > y->start) - (x->start < y->start);
}

/* Ranges that touch or overlap become one. */
static uint32_t unite(struct bobbin_sframe_range *text, size_t count)
{
	uint32_t used = 0;

	qsort(text, count, sizeof(*text), by_start);
	for (size_t i = 0; i < count; i++) {
		if (!used || text[i].start > text[used - 1].end)
			text[used++] = text[i];
		else if (text[i].end > text[used - 1].end)
			text[used - 1].end = text[i].end;
	}
	return used;
}

static int take_linked(const struct sframe_file *file, struct check_bounds *b)
{
	b->text = calloc(file->text_count + 1, sizeof(*b->text));
	if (!b->text)
		return -ENOMEM;
	for (size_t i = 0; i < file->text_count; i++)
		b->text[i] = (struct bobbin_sframe_range){file->texts[i].start, file->texts[i].end};
	b->bounds.text_count = unite(b->text, file->text_count);
	return 0;
}

static int by_index(const void *a, const void *b)
{
	const struct placed *x = a, *y = b;

	return (x->index > y->index) - (x->index < y->index);
}

/* The sections that relocations name, each once, one behind the other. */
static size_t place(const struct sframe_section *section, struct placed *placed)
{
	uint64_t at = LAYOUT_GAP;
	size_t count = 0, used = 0;

	for (size_t i = 0; i < section->target_count; i++) {
		const struct sframe_target *t = &section->targets[i];

		if (t->section)
			placed[count++] = (struct placed){.index = t->section_index,
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

static void store(uint8_t *field, unsigned int width, bool big_endian, uint64_t value)
{
	for (unsigned int i = 0; i < width; i++)
		field[i] = (uint8_t)(value >> 8 * (big_endian ? width - 1 - i : i));
}

static void move_starts(const struct sframe_section *section, const struct bobbin_sframe_view *view,
			const struct placed *placed, size_t count)
{
	for (uint32_t i = 0; i < view->num_fdes; i++) {
		uint64_t at = (uint64_t)(view->data - section->data) + view->fde_off +
			      (uint64_t)i * view->fde_size;
		const struct sframe_target *t = sframe_section_target(section, at);
		const struct placed *p;

		if (!t || !t->section)
			continue;
		p = bsearch(&(struct placed){.index = t->section_index}, placed, count,
			    sizeof(*placed), by_index);
		store(section->data + at, view->version >= 3 ? 8 : 4, view->arch->big_endian,
		      p->start + t->start - (section->addr + at));
	}
}

static int take_relocatable(const struct sframe_section *section,
			    const struct bobbin_sframe_view *view, struct check_bounds *b)
{
	struct placed *placed = calloc(section->target_count + 1, sizeof(*placed));
	size_t count;

	b->text = calloc(section->target_count + 1, sizeof(*b->text));
	if (!placed || !b->text) {
		free(placed);
		return -ENOMEM;
	}
	count = place(section, placed);
	move_starts(section, view, placed, count);
	for (size_t i = 0; i < count; i++)
		if (placed[i].exec)
			b->text[b->bounds.text_count++] = (struct bobbin_sframe_range){
				placed[i].start, placed[i].start + placed[i].size};
	free(placed);
	return 0;
}

int check_bounds_init(const struct sframe_file *file, const struct sframe_section *section,
		      const struct bobbin_sframe_view *view, struct check_bounds *ret)
{
	struct check_bounds b = {.bounds = {.arch = file->arch, .order_max = view->num_fdes}};
	int r;

	b.order = calloc((size_t)view->num_fdes + 1, sizeof(*b.order));
	if (!b.order)
		return -ENOMEM;
	if (section->relocated)
		r = take_relocatable(section, view, &b);
	else
		r = take_linked(file, &b);
	if (r) {
		check_bounds_fini(&b);
		return r;
	}
	b.bounds.text = b.text;
	b.bounds.order = b.order;
	*ret = b;
	return 0;
}

void check_bounds_fini(struct check_bounds *bounds)
{
	free(bounds->text);
	free(bounds->order);
}
