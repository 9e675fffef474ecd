/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * Any bytes as functions and rows for the builder.
 *
 *	selector | function...
 *	function: gap (2 bytes) | size (3) | kind | number of rows | row...
 *	row: step (1) | shape | offsets
 *
 * selector: bits 0..1 the architecture, bit 2 version 2, bit 3 with sharing, bit 4
 * the section is far away, bit 5 functions descend.  What the input lacks is zero.
 *
 * Contract: what the builder takes is read back row by row, and what it refuses
 * changes nothing; the section validates without an error; functions that are
 * refused are those that <bobbin/sframe_builder.h> says; it can go on after
 * finishing.
 */
#include <bobbin/sframe.h>
#include <bobbin/sframe_builder.h>
#include <bobbin/sframe_validate.h>
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "../tests/promise.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

#define MAX_FUNCTIONS 48
#define MAX_ROWS 40
#define FRE_BYTES 16384
#define SECTION 0x500000
#define FAR_SECTION 0x7000000000

struct source {
	const uint8_t *at, *end;
};

struct sample {
	struct bobbin_sframe_function f;
	struct bobbin_sframe_row rows[MAX_ROWS];
};

/* The builder with its memory, and what it took. */
struct workshop {
	struct bobbin_sframe_builder builder;
	struct bobbin_sframe_built fdes[MAX_FUNCTIONS];
	uint8_t fres[FRE_BYTES];
	uint32_t shared[64];
	struct sample samples[MAX_FUNCTIONS];
	unsigned int count;
};

static uint32_t number(struct source *s, unsigned int bytes)
{
	uint32_t value = 0;

	for (unsigned int i = 0; i < bytes && s->at < s->end; i++)
		value |= (uint32_t)*s->at++ << 8 * i;
	return value;
}

/* Few and round, or any. */
static int32_t some_offset(struct source *s, unsigned int shape)
{
	switch (shape & 3) {
	case 0:
		return (int32_t)(int8_t)number(s, 1) * 8;
	case 1:
		return (int8_t)number(s, 1);
	case 2:
		return (int16_t)number(s, 2);
	default:
		return (int32_t)number(s, 4);
	}
}

static struct bobbin_place some_place(struct source *s, const uint8_t *hows, unsigned int count)
{
	uint8_t shape = (uint8_t)number(s, 1);
	struct bobbin_place place = {.how = hows[(shape >> 2 & 7) % count]};

	if (place.how == BOBBIN_HOW_SAME || place.how == BOBBIN_HOW_UNDEFINED)
		return place;
	place.off = some_offset(s, shape);
	if (place.how == BOBBIN_HOW_AT_REG || place.how == BOBBIN_HOW_IN_REG_MEM)
		place.reg = (uint8_t)(number(s, 1) % BOBBIN_REG_COUNT);
	return place;
}

static struct bobbin_rule some_rule(struct source *s, const struct bobbin_arch *arch)
{
	static const uint8_t cfas[] = {BOBBIN_HOW_AT_REG, BOBBIN_HOW_AT_REG, BOBBIN_HOW_AT_REG,
				       BOBBIN_HOW_IN_REG_MEM};
	static const uint8_t ras[] = {BOBBIN_HOW_SAME,       BOBBIN_HOW_IN_CFA_MEM,
				      BOBBIN_HOW_IN_CFA_MEM, BOBBIN_HOW_IN_CFA_MEM,
				      BOBBIN_HOW_UNDEFINED,  BOBBIN_HOW_AT_REG,
				      BOBBIN_HOW_IN_REG_MEM, BOBBIN_HOW_AT_PC};
	static const uint8_t fps[] = {BOBBIN_HOW_SAME,       BOBBIN_HOW_IN_CFA_MEM,
				      BOBBIN_HOW_IN_CFA_MEM, BOBBIN_HOW_AT_CFA,
				      BOBBIN_HOW_AT_REG,     BOBBIN_HOW_IN_REG_MEM};
	uint8_t shape = (uint8_t)number(s, 1);
	struct bobbin_rule rule = {.index = BOBBIN_NO_INDEX};

	rule.cfa = some_place(s, cfas, sizeof(cfas));
	if (shape & 1)
		rule.cfa.reg = shape & 2 ? arch->sp : arch->fp;
	rule.ra = some_place(s, ras, sizeof(ras));
	if (shape & 4 && arch->default_ra_off)
		rule.ra = (struct bobbin_place){.how = BOBBIN_HOW_IN_CFA_MEM,
						.off = arch->default_ra_off};
	if (rule.ra.how == BOBBIN_HOW_AT_REG && rule.ra.reg == arch->pc)
		rule.ra = (struct bobbin_place){.how = BOBBIN_HOW_AT_PC, .off = rule.ra.off};
	rule.fp = some_place(s, fps, sizeof(fps));
	if ((shape & 0x18) == 0x18 && arch->pac_mask)
		rule.flags |= BOBBIN_RULE_MANGLED | (shape & 0x20 ? BOBBIN_RULE_KEY_B : 0);
	if ((shape & 0xc0) == 0xc0)
		rule.plus = (int16_t)number(s, 1);
	return rule;
}

static void fill(struct source *s, const struct bobbin_arch *arch, uint64_t start,
		 struct sample *ret)
{
	uint8_t kind;
	uint32_t at = 0;

	*ret = (struct sample){.f = {.start = start, .size = number(s, 3), .rows = ret->rows}};
	kind = (uint8_t)number(s, 1);
	ret->f.signal = (kind & 7) == 7;
	ret->f.rep_size = (kind & 0x18) == 0x18 ? (uint8_t)number(s, 1) : 0;
	ret->f.count = number(s, 1) % MAX_ROWS;
	for (uint32_t i = 0; i < ret->f.count; i++) {
		uint8_t step = (uint8_t)number(s, 1);

		/* the first row at the start, mostly */
		at += i || step >= 0xf0 ? step & 0x7f : 0;
		if (step & 0x80 && i)
			at += (step & 0x7fu) << 8;
		ret->rows[i] = (struct bobbin_sframe_row){at, some_rule(s, arch)};
		if (ret->f.signal != ((step & 0x7f) == 0x7f))
			ret->rows[i].rule.flags |= BOBBIN_RULE_SIGNAL;
	}
}

/* Whether there is a reason to refuse a function as having no sense. */
static bool senseless(const struct bobbin_sframe_function *f)
{
	uint32_t limit = f->rep_size ? f->rep_size : f->size;
	unsigned int keys = 0;

	for (uint32_t i = 0; i < f->count; i++) {
		const struct bobbin_rule *rule = &f->rows[i].rule;

		if (i && f->rows[i].start <= f->rows[i - 1].start)
			return true;
		if (f->rows[i].start && f->rows[i].start >= limit)
			return true;
		if (!(rule->flags & BOBBIN_RULE_SIGNAL) == f->signal)
			return true;
		if (rule->flags & BOBBIN_RULE_MANGLED)
			keys |= rule->flags & BOBBIN_RULE_KEY_B ? 2 : 1;
	}
	return keys == 3;
}

static void add(struct workshop *w, struct sample *s)
{
	const struct bobbin_sframe_builder before = w->builder;
	int r;

	s->f.rows = s->rows;
	r = bobbin_sframe_builder_add(&w->builder, &s->f);
	if (!r) {
		promise(w->builder.fde_count == before.fde_count + 1);
		promise(w->builder.num_fres == before.num_fres + s->f.count);
		for (uint32_t i = 0; i < s->f.count; i++)
			promise(bobbin_sframe_builder_can_express(&w->builder, &s->rows[i].rule));
		promise(!senseless(&s->f));
		w->count++;
		return;
	}
	promise(!memcmp(&before, &w->builder, sizeof(before)));
	promise(r == -ENOBUFS || r == -EINVAL || r == -ERANGE);
	if (r == -EINVAL)
		promise(senseless(&s->f));
}

static bool same_rule(const struct bobbin_rule *a, const struct bobbin_rule *b)
{
	if (a->ra.how == BOBBIN_HOW_UNDEFINED && b->ra.how == BOBBIN_HOW_UNDEFINED)
		return true;
	return bobbin_rule_equal(a, b);
}

static void read_rows(const struct bobbin_sframe_view *view, const struct bobbin_sframe_fde *fde,
		      const struct sample *s)
{
	uint64_t at = fde->fre_off;

	for (uint32_t i = 0; i < fde->num_fres; i++) {
		struct bobbin_sframe_fre fre;
		struct bobbin_rule rule;

		promise(bobbin_sframe_fre(view, fde, at, NULL, &fre) == 0);
		promise(bobbin_sframe_rule(view, fde, &fre, NULL, &rule) == 0);
		promise(fre.start == s->rows[i].start);
		promise(same_rule(&rule, &s->rows[i].rule));
		at = fre.next;
	}
}

static bool is_sample(const struct bobbin_sframe_fde *fde, const struct sample *s)
{
	return fde->start == s->f.start && fde->size == s->f.size;
}

/* Functions have starts of their own, hence the order. */
static void read_back(struct workshop *w, const struct bobbin_sframe_view *view, bool descend)
{
	promise(view->num_fdes == w->count);
	for (unsigned int i = 0; i < w->count; i++) {
		const struct sample *s = &w->samples[descend ? w->count - 1 - i : i];
		struct bobbin_sframe_fde fde;

		promise(bobbin_sframe_fde(view, i, NULL, &fde) == 0);
		promise(is_sample(&fde, s));
		promise(fde.num_fres == s->f.count && fde.signal == s->f.signal);
		promise(fde.pcmask == !!s->f.rep_size && fde.rep_size == s->f.rep_size);
		read_rows(view, &fde, s);
	}
}

/* A first row may stand anywhere, which only is no good sense. */
static bool late(const struct workshop *w)
{
	for (unsigned int i = 0; i < w->count; i++) {
		const struct bobbin_sframe_function *f = &w->samples[i].f;

		if (!f->size || (f->count && f->rows[0].start))
			return true;
	}
	return false;
}

static void finish(struct workshop *w, bool descend)
{
	uint64_t size = bobbin_sframe_builder_size(&w->builder);
	uint8_t *out = malloc(size);
	struct bobbin_sframe_view view;

	promise(out);
	promise(bobbin_sframe_builder_finish(&w->builder, out, size - 1) == -ENOBUFS);
	promise(bobbin_sframe_builder_finish(&w->builder, out, size) == 0);
	promise(bobbin_sframe_view(out, size, w->builder.addr, NULL, &view) == 0);
	promise(view.size == size && view.arch == w->builder.arch && view.sorted);
	read_back(w, &view, descend);
	if (!late(w))
		promise(bobbin_sframe_validate(&view, NULL, NULL, NULL) < BOBBIN_SFRAME_ERROR);
	free(out);
}

static void open_shop(struct workshop *w, uint8_t selector)
{
	const struct bobbin_arch *const archs[] = {bobbin_arch_amd64(), bobbin_arch_aarch64(),
						   bobbin_arch_aarch64_be(), bobbin_arch_s390x()};

	memset(w, 0, sizeof(*w));
	promise(bobbin_sframe_builder_init(archs[selector & 3],
					   selector & 0x10 ? FAR_SECTION : SECTION,
					   selector & 4 ? 2 : 3, &w->builder) == 0);
	w->builder.fdes = w->fdes;
	w->builder.fde_max = MAX_FUNCTIONS;
	w->builder.fres = w->fres;
	w->builder.fre_max = FRE_BYTES;
	if (selector & 8) {
		w->builder.shared = w->shared;
		w->builder.shared_max = sizeof(w->shared) / sizeof(*w->shared);
	}
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	static struct workshop w;
	struct source s = {data, data + size};
	uint8_t selector = (uint8_t)number(&s, 1);
	bool descend = selector & 0x20;
	uint64_t at = descend ? 0x80000000 : 0x1000;

	open_shop(&w, selector);
	for (unsigned int i = 0; i < MAX_FUNCTIONS && s.at < s.end; i++) {
		struct sample *sample = &w.samples[w.count];
		uint32_t gap = number(&s, 2);

		fill(&s, w.builder.arch, at, sample);
		if (descend)
			at = sample->f.start -= (uint64_t)sample->f.size + gap + 1;
		else
			at += (uint64_t)sample->f.size + gap + 1;
		add(&w, sample);
		if (gap & 1 && w.count == MAX_FUNCTIONS / 4)
			finish(&w, descend);
	}
	finish(&w, descend);
	return 0;
}
