/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
#include "cli/table_coverage.h"

#include <errno.h>

#include "convert/coverage.h"
#include "target/space.h"
#include "unwind/module.h"
#include "unwind/remote_update.h"

static const enum bobbin_source asked[] = {BOBBIN_SOURCE_GO, BOBBIN_SOURCE_SFRAME,
					   BOBBIN_SOURCE_EH_FRAME, BOBBIN_SOURCE_DEBUG_FRAME,
					   BOBBIN_SOURCE_SIDEFILE};
#define ASKED (sizeof(asked) / sizeof(*asked))

static const enum bobbin_source registered_asked[] = {BOBBIN_SOURCE_SFRAME, BOBBIN_SOURCE_JIT,
						      BOBBIN_SOURCE_EH_FRAME};
#define REGISTERED_ASKED (sizeof(registered_asked) / sizeof(*registered_asked))

/* What the tables of a file know, each with those that a walk asks before it. */
struct file_coverage {
	struct module *module; /* or NULL */
	struct coverage known[ASKED];
};

/* The same of a registered table. */
struct registered_coverage {
	const struct remote_table *table; /* or NULL */
	struct coverage known[REGISTERED_ASKED];
};

static int add_function(void *ctx, uint64_t start, uint64_t end)
{
	return coverage_add(ctx, start, end);
}

static void file_coverage_fini(struct file_coverage *f)
{
	for (size_t i = 0; i < ASKED; i++)
		coverage_fini(&f->known[i]);
	*f = (struct file_coverage){0};
}

static int add_all(struct coverage *to, const struct coverage *from)
{
	int r = 0;

	for (size_t i = 0; i < from->count && !r; i++)
		r = coverage_add(to, from->ranges[i].start, from->ranges[i].end);
	return r;
}

/* A file is mostly mapped in one piece, but may be in thousands. */
static int cover_file(struct file_coverage *f, struct module *m)
{
	int r = 0;

	if (f->module == m)
		return 0;
	file_coverage_fini(f);
	for (size_t i = 0; i < ASKED && !r; i++) {
		r = module_functions(m, asked[i], add_function, &f->known[i]);
		if (!r && i)
			r = add_all(&f->known[i], &f->known[i - 1]);
	}
	if (r)
		file_coverage_fini(f);
	else
		f->module = m;
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

static int count_module(struct file_coverage *f, struct module *m, const struct mapping *mapping,
			struct code_piece *piece)
{
	struct coverage text = {0};
	uint64_t vaddr, before = 0, bytes;
	int r;

	piece->text = piece->end - piece->start;
	if (!elf_image_vaddr(&m->image, mapping->offset + (piece->start - mapping->start), &vaddr))
		return 0;
	r = cover_file(f, m);
	if (!r)
		r = add_segments(&m->image, vaddr, vaddr + piece->text, &text);
	for (size_t i = 0; i < ASKED && !r; i++, before = bytes) {
		bytes = coverage_overlap(&f->known[i], &text);
		piece->covered[asked[i]] = bytes - before;
	}
	piece->text = coverage_bytes(&text);
	coverage_fini(&text);
	if (m->sframe.count)
		piece->sframe_version = m->sframe.list[0].view.version;
	piece->dropped = m->sframe_error;
	return r;
}

static bool has_frame_records(const struct bobbin_space *space)
{
	return !space->arch->cfa_bias;
}

static int mapped_piece(struct bobbin_unwinder *unwinder, struct bobbin_space *space,
			struct file_coverage *file, const struct mapping *mapping, uint64_t start,
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

static void registered_coverage_fini(struct registered_coverage *c)
{
	for (size_t i = 0; i < REGISTERED_ASKED; i++)
		coverage_fini(&c->known[i]);
	*c = (struct registered_coverage){0};
}

/* A table may be that of thousands of ranges. */
static int cover_table(struct registered_coverage *c, const struct bobbin_space *space,
		       const struct remote_range *range)
{
	int r = 0;

	if (c->table == range->table)
		return 0;
	registered_coverage_fini(c);
	for (size_t i = 0; i < REGISTERED_ASKED && !r; i++) {
		/* what is malformed covers what came before the damage */
		if (remote_range_functions(space->arch, range, registered_asked[i], add_function,
					   &c->known[i]) == -ENOMEM)
			r = -ENOMEM;
		else if (i)
			r = add_all(&c->known[i], &c->known[i - 1]);
	}
	if (r)
		registered_coverage_fini(c);
	else
		c->table = range->table;
	return r;
}

static int registered_piece(struct bobbin_space *space, struct registered_coverage *table,
			    const struct remote_range *range, struct code_piece *ret)
{
	struct code_piece piece = {
		.start = range->start,
		.end = range->end,
		.path = range->image && range->image->path ? range->image->path : "//anon",
		.text = range->end - range->start,
		.registered = !range->debugger_image,
		.debugger_image = range->debugger_image,
		.sframe_version = remote_range_version(range),
		.frame_pointer = has_frame_records(space),
	};
	struct coverage text = {0};
	uint64_t before = 0, bytes;
	int r = cover_table(table, space, range);

	if (!r)
		r = coverage_add(&text, piece.start, piece.end);
	for (size_t i = 0; i < REGISTERED_ASKED && !r; i++, before = bytes) {
		bytes = coverage_overlap(&table->known[i], &text);
		piece.covered[registered_asked[i]] = bytes - before;
	}
	remote_range_dropped(range, &piece.dropped);
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
	struct file_coverage file;
	struct registered_coverage table;
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

	for (size_t i = 0; i < space->count && !r; i++)
		r = give_mapping(&p, &space->mappings[i]);
	while (!r && p.next < registered_count(&p))
		r = give_registered(&p);
	file_coverage_fini(&p.file);
	registered_coverage_fini(&p.table);
	return r;
}
