/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
#include "cli/table_coverage.h"

#include <errno.h>

#include "base/coverage.h"
#include "unwind/module.h"
#include "unwind/space.h"
#include "unwind/table_set.h"

/* What a set of tables knows: @known[n] is what the first n sources cover. */
struct set_coverage {
	const struct table_set *set; /* or NULL */
	enum bobbin_source sources[TABLE_SOURCES];
	unsigned int count;
	struct coverage known[TABLE_SOURCES + 1];
};

static int add_function(void *ctx, uint64_t start, uint64_t end)
{
	return coverage_add(ctx, start, end);
}

static void set_coverage_fini(struct set_coverage *c)
{
	for (size_t i = 0; i <= c->count; i++)
		coverage_fini(&c->known[i]);
	*c = (struct set_coverage){0};
}

static int add_all(struct coverage *to, const struct coverage *from)
{
	int r = 0;

	for (size_t i = 0; i < from->count && !r; i++)
		r = coverage_add(to, from->ranges[i].start, from->ranges[i].end);
	return r;
}

/* A file is mostly mapped in one piece, but may be in thousands; so may what is registered. */
static int cover(struct set_coverage *c, const struct table_set *set)
{
	int r = 0;

	if (c->set == set)
		return 0;
	set_coverage_fini(c);
	c->count = table_set_sources(set, c->sources);
	for (size_t i = 0; i < c->count && !r; i++) {
		r = add_all(&c->known[i + 1], &c->known[i]);
		/* what is malformed covers what came before the damage */
		if (!r && table_set_functions(set, c->sources[i], add_function, &c->known[i + 1]) ==
				  -ENOMEM)
			r = -ENOMEM;
	}
	if (r)
		set_coverage_fini(c);
	else
		c->set = set;
	return r;
}

/* What the tables of a piece cover of its text. */
static int count_set(struct set_coverage *c, const struct table_set *set, struct coverage *text,
		     struct code_piece *piece)
{
	uint64_t before = 0, bytes;
	int r = cover(c, set);

	for (size_t i = 0; i < c->count && !r; i++, before = bytes) {
		bytes = coverage_overlap(&c->known[i + 1], text);
		piece->covered[c->sources[i]] = bytes - before;
	}
	piece->sframe_version = indexed_sections_version(table_set_find(set, TABLE_SFRAME));
	table_set_dropped(set, &piece->dropped);
	return r;
}

/*
 * What is inferred of code that no table covers.  Where that is most of a file, the file is analysed,
 * as a walk would; of other files what was inferred before.
 */
static int count_inferred(struct set_coverage *c, struct module *m, struct coverage *text,
			  struct code_piece *piece)
{
	struct coverage *tables = &c->known[c->count];
	const uint64_t all = coverage_bytes(text);
	const uint64_t before = coverage_overlap(tables, text);
	struct coverage known = {0};
	int r = 0;

	if (before == all || !table_set_has(&m->tables, TABLE_INFERRED))
		return 0;
	r = add_all(&known, tables);
	for (size_t i = 0; i < text->count && !r; i++)
		r = inferred_rules_covered(&m->inferred, before < all / 2, &text->ranges[i],
					   add_function, &known);
	if (!r)
		piece->covered[BOBBIN_SOURCE_CODE] = coverage_overlap(&known, text) - before;
	coverage_fini(&known);
	return r;
}

/* The executable segments of a file, as far as a range of its addresses has them. */
static int add_segments(const struct elf_image *image, uint64_t from, uint64_t to,
			struct coverage *text)
{
	int r = 0;

	for (size_t i = 0; i < image->segment_count && !r; i++) {
		const struct elf_segment *s = &image->segments[i];
		uint64_t start = s->vaddr, end = s->vaddr + s->filesz;

		if (s->exec)
			r = coverage_add(text, start < from ? from : start, end > to ? to : end);
	}
	return r;
}

static int count_module(struct set_coverage *c, struct module *m, const struct mapping *mapping,
			struct code_piece *piece)
{
	struct coverage text = {0};
	uint64_t vaddr;
	int r;

	piece->text = piece->end - piece->start;
	if (!elf_image_vaddr(&m->image, mapping->offset + (piece->start - mapping->start), &vaddr))
		return 0;
	r = add_segments(&m->image, vaddr, vaddr + piece->text, &text);
	if (!r)
		r = count_set(c, &m->tables, &text, piece);
	if (!r)
		r = count_inferred(c, m, &text, piece);
	piece->text = coverage_bytes(&text);
	coverage_fini(&text);
	return r;
}

static bool has_frame_records(const struct bobbin_space *space)
{
	return !space->arch->cfa_bias;
}

static int mapped_piece(struct bobbin_unwinder *unwinder, struct bobbin_space *space,
			struct set_coverage *file, const struct mapping *mapping, uint64_t start,
			uint64_t end, struct code_piece *ret)
{
	struct code_piece piece = {.start = start,
				   .end = end,
				   .path = mapping->path[0] ? mapping->path : "//anon",
				   .text = end - start,
				   .frame_pointer = has_frame_records(space)};
	struct module *m = unwinder_module(unwinder, space, start);
	int r = m ? count_module(file, m, mapping, &piece) : 0;

	if (mapping->file->kind == FILE_VSYSCALL)
		piece.covered[BOBBIN_SOURCE_VSYSCALL] = piece.text;
	if (!r)
		*ret = piece;
	return r;
}

static int registered_piece(struct bobbin_space *space, struct set_coverage *table,
			    const struct remote_range *range, struct code_piece *ret)
{
	struct code_piece piece = {
		.start = range->start,
		.end = range->end,
		.path = range->image && range->image->path ? range->image->path : "//anon",
		.text = range->end - range->start,
		.registered = !range->debugger_image,
		.debugger_image = range->debugger_image,
		.frame_pointer = has_frame_records(space),
	};
	struct coverage text = {0};
	int r = coverage_add(&text, piece.start, piece.end);

	if (!r && range->table)
		r = count_set(table, &range->table->tables, &text, &piece);
	coverage_fini(&text);
	if (!r)
		*ret = piece;
	return r;
}

struct pieces {
	struct bobbin_unwinder *unwinder;
	struct bobbin_space *space;
	int (*sink)(void *ctx, const struct code_piece *piece);
	void *ctx;
	size_t next; /* registered range */
	struct set_coverage file, table;
};

static size_t registered_count(const struct pieces *p)
{
	return p->space->remote ? p->space->remote->count : 0;
}

static int give_registered(struct pieces *p)
{
	struct code_piece piece;
	int r = registered_piece(p->space, &p->table, &p->space->remote->ranges[p->next++], &piece);

	return r ? r : p->sink(p->ctx, &piece);
}

static int give_mapped(struct pieces *p, const struct mapping *m, uint64_t start, uint64_t end)
{
	struct code_piece piece;
	int r;

	if (start >= end)
		return 0;
	r = mapped_piece(p->unwinder, p->space, &p->file, m, start, end, &piece);
	return r ? r : p->sink(p->ctx, &piece);
}

/* A mapping, in pieces around what is registered in it. */
static int give_mapping(struct pieces *p, const struct mapping *m)
{
	uint64_t at = m->start;
	int r = 0;

	while (!r && p->next < registered_count(p)) {
		const struct remote_range *range = &p->space->remote->ranges[p->next];

		if (range->start >= m->end)
			break;
		r = give_mapped(p, m, at, range->start);
		if (!r)
			r = give_registered(p);
		if (range->end > at)
			at = range->end;
	}
	return r ? r : give_mapped(p, m, at, m->end);
}

int code_pieces(struct bobbin_unwinder *unwinder, struct bobbin_space *space,
		int (*sink)(void *ctx, const struct code_piece *piece), void *ctx)
{
	struct pieces p = {.unwinder = unwinder, .space = space, .sink = sink, .ctx = ctx};
	int r = 0;

	for (size_t i = 0; i < space->maps.count && !r; i++)
		r = give_mapping(&p, &space->maps.list[i]);
	while (!r && p.next < registered_count(&p))
		r = give_registered(&p);
	set_coverage_fini(&p.file);
	set_coverage_fini(&p.table);
	return r;
}
