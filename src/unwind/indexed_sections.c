/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
#include "unwind/indexed_sections.h"

#include <errno.h>
#include <stdlib.h>

#include "base/vector.h"
#include "core/refusal.h"
#include "sframe/layout.h"

/* What is small, unsorted or too large for the memory is searched without. */
static void make_index(struct indexed_section *s)
{
	uint32_t count = bobbin_sframe_index_count(&s->view);

	if (!count)
		return;
	s->buckets = malloc(count * sizeof(*s->buckets));
	if (s->buckets)
		bobbin_sframe_view_index(&s->view, s->buckets, count);
}

static bool is_mistaken(const struct bobbin_sframe_view *view, const struct bobbin_sframe_fde *fde)
{
	struct bobbin_sframe_fre first;
	struct bobbin_rule rule;

	return fde->pcmask && fde->num_fres &&
	       !bobbin_sframe_fre(view, fde, fde->fre_off, NULL, &first) && !first.start &&
	       !bobbin_sframe_rule(view, fde, &first, NULL, &rule) &&
	       !sframe_stub_rule_is_sane(view->arch, &rule);
}

/* There is one .plt.got in a file. */
static void find_mistaken(struct indexed_section *s)
{
	struct bobbin_sframe_fde fde;

	for (uint32_t i = 0; i < s->view.num_fdes; i++) {
		if (bobbin_sframe_fde(&s->view, i, NULL, &fde) || !is_mistaken(&s->view, &fde))
			continue;
		s->stubs = (struct bobbin_range){fde.start, fde.start + fde.size};
		return;
	}
}

static int add(struct indexed_sections *sections, const struct bobbin_sframe_view *view)
{
	struct indexed_section *s;

	if (vector_reserve(&sections->list, &sections->room, sections->count + 1, sizeof(*s)))
		return -ENOMEM;
	s = &sections->list[sections->count++];
	*s = (struct indexed_section){.view = *view};
	make_index(s);
	find_mistaken(s);
	return 0;
}

int indexed_sections_open(const void *data, size_t size, uint64_t addr,
			  const struct bobbin_arch *arch, struct bobbin_error *err,
			  struct indexed_sections *sections)
{
	struct bobbin_sframe_view view;
	uint64_t pos = 0;
	int r = 0;

	while (!r && sections->count < INDEXED_SECTIONS_MAX) {
		uint64_t start = pos;

		r = bobbin_sframe_next(data, size, addr, &pos, err, &view);
		if (r <= 0)
			break;
		r = view.arch == arch ? add(sections, &view)
				      : refuse(err, start, BOBBIN_REASON_SFRAME_ABI);
	}
	/* processes register many, mostly of one section each */
	vector_trim(&sections->list, &sections->room, sections->count, sizeof(*sections->list));
	return r;
}

void indexed_sections_fini(struct indexed_sections *sections)
{
	for (unsigned int i = 0; i < sections->count; i++)
		free(sections->list[i].buckets);
	free(sections->list);
	*sections = (struct indexed_sections){0};
}

int indexed_sections_lookup(const struct indexed_sections *sections, uint64_t pc,
			    struct bobbin_error *err, struct bobbin_row *row)
{
	for (unsigned int i = 0; i < sections->count; i++) {
		const struct indexed_section *s = &sections->list[i];
		int r = -ENOENT;

		if (pc - s->stubs.start >= s->stubs.end - s->stubs.start)
			r = bobbin_sframe_lookup(&s->view, pc, err, row);
		if (r != -ENOENT)
			return r;
	}
	return -ENOENT;
}

unsigned int indexed_sections_version(const struct indexed_sections *sections)
{
	return sections && sections->count ? sections->list[0].view.version : 0;
}

static int section_functions(const struct bobbin_sframe_view *view, function_sink sink, void *ctx)
{
	struct bobbin_sframe_fde fde;
	int r = 0;

	for (uint32_t i = 0; i < view->num_fdes && !r; i++)
		if (!bobbin_sframe_fde(view, i, NULL, &fde))
			r = sink(ctx, fde.start, fde.start + fde.size);
	return r;
}

static int lookup(void *table, const struct bobbin_arch *arch, uint64_t pc,
		  struct bobbin_error *err, struct table_answer *ret)
{
	return indexed_sections_lookup(table, pc, err, &ret->row);
}

static int functions(void *table, const struct bobbin_arch *arch, enum bobbin_source source,
		     function_sink sink, void *ctx)
{
	const struct indexed_sections *sections = table;
	int r = 0;

	for (unsigned int i = 0; i < sections->count && !r; i++)
		r = section_functions(&sections->list[i].view, sink, ctx);
	return r;
}

const struct table_ops indexed_sections_ops = {
	.kind = TABLE_SFRAME,
	.sources = {BOBBIN_SOURCE_SFRAME},
	.drops = true,
	.lookup = lookup,
	.functions = functions,
};
