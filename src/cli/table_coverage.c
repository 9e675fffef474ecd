/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
#include "cli/table_coverage.h"

#include <errno.h>

#include "convert/coverage.h"
#include "target/space.h"
#include "unwind/module.h"
#include "unwind/registered_tables.h"

/* What tables know, as a walk asks them, and how much of it is new. */
struct account {
	struct coverage text;  /* of the piece */
	struct coverage known; /* by the tables so far */
	uint64_t bytes;        /* of @text in @known */
	int64_t bias;          /* from the table's addresses to the piece's */
};

static int add_function(void *ctx, uint64_t start, uint64_t end)
{
	struct account *a = ctx;

	return coverage_add(&a->known, start + (uint64_t)a->bias, end + (uint64_t)a->bias);
}

/* What the table that was added last is the first to know. */
static uint64_t settle(struct account *a)
{
	uint64_t before = a->bytes;

	a->bytes = coverage_overlap(&a->known, &a->text);
	return a->bytes - before;
}

static void account_fini(struct account *a)
{
	coverage_fini(&a->text);
	coverage_fini(&a->known);
}

/* The executable segments of a file, where this mapping has them. */
static int add_segments(const struct elf_image *image, struct account *a,
			const struct code_piece *piece)
{
	int r = 0;

	for (size_t i = 0; i < image->segment_count && !r; i++) {
		const struct elf_segment *s = &image->segments[i];
		uint64_t start = s->vaddr + (uint64_t)a->bias, end = start + s->filesz;

		if (!s->exec)
			continue;
		if (start < piece->start)
			start = piece->start;
		if (end > piece->end)
			end = piece->end;
		r = coverage_add(&a->text, start, end);
	}
	return r;
}

static int account_module(struct module *m, const struct mapping *mapping, struct account *a,
			  struct code_piece *piece)
{
	static const enum bobbin_source order[] = {BOBBIN_FROM_SFRAME, BOBBIN_FROM_EH_FRAME,
						   BOBBIN_FROM_DEBUG_FRAME, BOBBIN_FROM_SIDEFILE};
	uint64_t vaddr;
	int r;

	if (!elf_image_vaddr(&m->image, mapping->offset + (piece->start - mapping->start), &vaddr))
		return coverage_add(&a->text, piece->start, piece->end);
	a->bias = (int64_t)(piece->start - vaddr);
	r = add_segments(&m->image, a, piece);
	for (size_t i = 0; i < sizeof(order) / sizeof(*order) && !r; i++) {
		r = module_functions(m, order[i], add_function, a);
		if (!r)
			piece->covered[order[i]] += settle(a);
	}
	if (m->sframe_count)
		piece->sframe_version = m->sframes[0].version;
	piece->dropped = m->sframe_error;
	return r;
}

static bool has_frame_records(const struct bobbin_space *space)
{
	return !space->arch->cfa_bias;
}

static int mapped_piece(struct bobbin_unwinder *unwinder, struct bobbin_space *space,
			const struct mapping *mapping, uint64_t start, uint64_t end,
			struct code_piece *ret)
{
	struct code_piece piece = {.start = start,
				   .end = end,
				   .path = mapping->path[0] ? mapping->path : "//anon",
				   .frame_pointer = has_frame_records(space)};
	struct module *m = unwinder_module(unwinder, space, start);
	struct account a = {0};
	int r;

	r = m ? account_module(m, mapping, &a, &piece) : coverage_add(&a.text, start, end);
	piece.text = coverage_bytes(&a.text);
	if (mapping->file->kind == FILE_VSYSCALL)
		piece.covered[BOBBIN_FROM_VSYSCALL] = piece.text;
	account_fini(&a);
	if (!r)
		*ret = piece;
	return r;
}

static int registered_piece(struct bobbin_space *space, const struct registered_range *range,
			    struct code_piece *ret)
{
	struct code_piece piece = {
		.start = range->start,
		.end = range->end,
		.path = range->image && range->image->path ? range->image->path : "//anon",
		.registered = true,
		.sframe_version = registered_version(range),
		.frame_pointer = has_frame_records(space),
	};
	struct account a = {0};
	int r, malformed;

	r = coverage_add(&a.text, piece.start, piece.end);
	malformed = registered_functions(space->arch, range, add_function, &a);
	if (malformed == -ENOMEM)
		r = malformed;
	piece.covered[piece.sframe_version ? BOBBIN_FROM_SFRAME : BOBBIN_FROM_JIT] = settle(&a);
	piece.text = coverage_bytes(&a.text);
	registered_dropped(range, &piece.dropped);
	account_fini(&a);
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
};

static size_t registered_count(const struct pieces *p)
{
	return p->space->registered ? p->space->registered->count : 0;
}

static int give_registered(struct pieces *p)
{
	struct code_piece piece;
	int r = registered_piece(p->space, &p->space->registered->ranges[p->next++], &piece);

	return r ? r : p->sink(p->ctx, &piece);
}

static int give_mapped(struct pieces *p, const struct mapping *m, uint64_t start, uint64_t end)
{
	struct code_piece piece;
	int r;

	if (start >= end)
		return 0;
	r = mapped_piece(p->unwinder, p->space, m, start, end, &piece);
	return r ? r : p->sink(p->ctx, &piece);
}

/* A mapping, in pieces around what is registered in it. */
static int give_mapping(struct pieces *p, const struct mapping *m)
{
	uint64_t at = m->start;
	int r = 0;

	while (!r && p->next < registered_count(p)) {
		const struct registered_range *range = &p->space->registered->ranges[p->next];

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
	struct pieces p = {unwinder, space, sink, ctx, 0};
	int r = 0;

	for (size_t i = 0; i < space->count && !r; i++)
		r = give_mapping(&p, &space->mappings[i]);
	while (!r && p.next < registered_count(&p))
		r = give_registered(&p);
	return r;
}
