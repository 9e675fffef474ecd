/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * sframe_contract.h - the promises of <bobbin/sframe.h> for any bytes.
 *
 * The sweep of damaged sections and the fuzzer call obeys_contract() and abort
 * where it is broken.  Lookups are also compared with a plain walk over the
 * rows of one function, which shares no code with the search and the scan, and
 * with those of the same section with an index.
 */
#ifndef TEST_SFRAME_CONTRACT_H
#define TEST_SFRAME_CONTRACT_H

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <bobbin/sframe.h>

#include "../promise.h"

/* Bounds on the work per section, so that sweeps stay fast. */
#define CONTRACT_FDES 64
#define CONTRACT_FRES 256

static inline void promised_error(int status, const struct bobbin_error *error, uint64_t size)
{
	promise(status == -EBADMSG || status == -ENOENT || status == -ENODATA);
	promise(error->reason > BOBBIN_REASON_NONE && error->reason < BOBBIN_REASON_COUNT);
	promise(error->offset <= size);
}

static inline void promised_place(const struct bobbin_place *place)
{
	promise(place->reg < BOBBIN_REG_COUNT);
	if (place->how != BOBBIN_HOW_AT_REG && place->how != BOBBIN_HOW_IN_REG_MEM)
		promise(place->reg == 0);
}

static inline void promised_rule(const struct bobbin_rule *rule)
{
	promised_place(&rule->cfa);
	promised_place(&rule->ra);
	promised_place(&rule->fp);
	promise(rule->cfa.how == BOBBIN_HOW_AT_REG || rule->cfa.how == BOBBIN_HOW_IN_REG_MEM);
	promise(rule->ra.how == BOBBIN_HOW_SAME || rule->ra.how == BOBBIN_HOW_UNDEFINED ||
		rule->ra.how == BOBBIN_HOW_IN_CFA_MEM || rule->ra.how == BOBBIN_HOW_AT_REG ||
		rule->ra.how == BOBBIN_HOW_IN_REG_MEM || rule->ra.how == BOBBIN_HOW_AT_PC);
	promise(rule->fp.how >= BOBBIN_HOW_SAME && rule->fp.how != BOBBIN_HOW_UNDEFINED &&
		rule->fp.how <= BOBBIN_HOW_IN_REG_MEM);
	promise(rule->plus == 0 && rule->index == BOBBIN_NO_INDEX &&
		rule->reason == BOBBIN_REASON_NONE);
	promise(!(rule->flags & ~(BOBBIN_RULE_SIGNAL | BOBBIN_RULE_MANGLED | BOBBIN_RULE_KEY_B)));
}

static inline bool same_place(const struct bobbin_place *a, const struct bobbin_place *b)
{
	return a->how == b->how && a->reg == b->reg && a->off == b->off;
}

static inline bool same_rule(const struct bobbin_rule *a, const struct bobbin_rule *b)
{
	return same_place(&a->cfa, &b->cfa) && same_place(&a->ra, &b->ra) &&
	       same_place(&a->fp, &b->fp) && a->flags == b->flags;
}

/* The last row of a function that starts at or before an offset: the plain way. */
static inline int walk_to_row(const struct bobbin_sframe_view *view,
			      const struct bobbin_sframe_fde *fde, uint32_t off,
			      struct bobbin_sframe_fre *ret)
{
	uint64_t at = fde->fre_off;
	bool found = false;

	for (uint32_t i = 0; i < fde->num_fres; i++) {
		struct bobbin_sframe_fre fre;

		if (bobbin_sframe_fre(view, fde, at, NULL, &fre))
			return -EBADMSG;
		if (fre.start > off)
			break;
		*ret = fre;
		at = fre.next;
		found = true;
	}
	return found ? 0 : -ENOENT;
}

static inline void promised_row(const struct bobbin_sframe_view *view,
				const struct bobbin_sframe_fde *fde, uint64_t pc,
				const struct bobbin_row *row)
{
	uint32_t off = (uint32_t)(pc - fde->start);
	struct bobbin_sframe_fre fre = {0};
	struct bobbin_rule rule;

	if (row->function != fde->start || !fde->num_fres || pc - fde->start >= fde->size)
		return;
	/* another function may start at the same place */
	if (row->end > fde->start + fde->size)
		return;
	if (walk_to_row(view, fde, fde->pcmask ? off % fde->rep_size : off, &fre))
		return;
	if (bobbin_sframe_rule(view, fde, &fre, NULL, &rule) == 0 && view->num_fdes == 1)
		promise(same_rule(&rule, &row->rule));
}

static inline void lookup_obeys_contract(const struct bobbin_sframe_view *view,
					 const struct bobbin_sframe_fde *fde, uint64_t pc)
{
	struct bobbin_row row = {.start = 4711, .end = 4712}, before = row;
	struct bobbin_error error = {0};
	int status = bobbin_sframe_lookup(view, pc, &error, &row);

	if (status) {
		promised_error(status, &error, view->size);
		promise(status != -ENODATA);
		promise(row.start == before.start && row.end == before.end);
		return;
	}
	promise(row.start <= pc && pc < row.end);
	promise(row.function <= row.start);
	promised_rule(&row.rule);
	if (fde)
		promised_row(view, fde, pc, &row);
}

static inline void rows_obey_contract(const struct bobbin_sframe_view *view,
				      const struct bobbin_sframe_fde *fde)
{
	uint64_t at = fde->fre_off;

	for (uint32_t i = 0; i < fde->num_fres && i < CONTRACT_FRES; i++) {
		struct bobbin_error error = {0};
		struct bobbin_sframe_fre fre;
		struct bobbin_rule rule;
		int status = bobbin_sframe_fre(view, fde, at, &error, &fre);

		if (status) {
			promised_error(status, &error, view->size);
			return;
		}
		promise(fre.offset == at && fre.next > at && fre.next <= view->size);
		promise(fre.num_words <= 6);
		status = bobbin_sframe_rule(view, fde, &fre, &error, &rule);
		if (status)
			promised_error(status, &error, view->size);
		else
			promised_rule(&rule);
		lookup_obeys_contract(view, fde, fde->start + fre.start);
		lookup_obeys_contract(view, fde, fde->start + fre.start - 1);
		at = fre.next;
	}
}

static inline void function_obeys_contract(const struct bobbin_sframe_view *view, uint32_t index)
{
	struct bobbin_error error = {0};
	struct bobbin_sframe_fde fde;
	int status = bobbin_sframe_fde(view, index, &error, &fde);

	if (status) {
		promised_error(status, &error, view->size);
		return;
	}
	promise(fde.start + fde.size >= fde.start);
	promise(fde.fre_type == 1 || fde.fre_type == 2 || fde.fre_type == 4);
	promise(fde.pcmask == (fde.rep_size != 0));
	promise(fde.fre_off >= view->fre_off && fde.fre_off <= view->size);
	rows_obey_contract(view, &fde);
	lookup_obeys_contract(view, &fde, fde.start);
	lookup_obeys_contract(view, &fde, fde.start - 1);
	lookup_obeys_contract(view, &fde, fde.start + fde.size / 2);
	lookup_obeys_contract(view, &fde, fde.start + fde.size - 1);
	lookup_obeys_contract(view, &fde, fde.start + fde.size);
}

static inline void index_changes_nothing_at(const struct bobbin_sframe_view *view,
					    const struct bobbin_sframe_view *indexed, uint64_t pc)
{
	struct bobbin_row row = {0}, indexed_row = {0};
	struct bobbin_error error = {0}, indexed_error = {0};
	int status = bobbin_sframe_lookup(view, pc, &error, &row);

	promise(bobbin_sframe_lookup(indexed, pc, &indexed_error, &indexed_row) == status);
	promise(error.reason == indexed_error.reason && error.offset == indexed_error.offset);
	promise(row.start == indexed_row.start && row.end == indexed_row.end);
	promise(row.function == indexed_row.function);
	promise(same_rule(&row.rule, &indexed_row.rule));
}

static inline void index_changes_nothing_near(const struct bobbin_sframe_view *view,
					      const struct bobbin_sframe_view *indexed, uint64_t pc)
{
	index_changes_nothing_at(view, indexed, pc - 1);
	index_changes_nothing_at(view, indexed, pc);
	index_changes_nothing_at(view, indexed, pc + 1);
}

static inline void index_changes_nothing_in(const struct bobbin_sframe_view *view,
					    const struct bobbin_sframe_view *indexed,
					    const struct bobbin_sframe_fde *fde)
{
	struct bobbin_sframe_fre fre = {.next = fde->fre_off};

	index_changes_nothing_near(view, indexed, fde->start);
	index_changes_nothing_near(view, indexed, fde->start + fde->size);
	for (uint32_t i = 0; i < fde->num_fres && i < CONTRACT_FRES; i++) {
		if (bobbin_sframe_fre(view, fde, fre.next, NULL, &fre))
			return;
		index_changes_nothing_at(view, indexed, fde->start + fre.start);
	}
}

/* Where signed and unsigned arithmetic wraps around, as seen from a place. */
static inline void index_changes_nothing_far_from(const struct bobbin_sframe_view *view,
						  const struct bobbin_sframe_view *indexed,
						  uint64_t place)
{
	index_changes_nothing_near(view, indexed, place);
	index_changes_nothing_near(view, indexed, place + ((uint64_t)1 << 63));
	index_changes_nothing_near(view, indexed, place + ((uint64_t)1 << 63) + view->size);
	index_changes_nothing_near(view, indexed, place + ((uint64_t)1 << 62));
	index_changes_nothing_near(view, indexed, place - ((uint64_t)1 << 62));
}

static inline void index_changes_nothing(const struct bobbin_sframe_view *view,
					 const struct bobbin_sframe_view *indexed)
{
	const struct bobbin_sframe_index *index = &indexed->index;
	struct bobbin_sframe_fde fde;

	for (uint32_t i = 0; i < view->num_fdes && i < CONTRACT_FDES; i++) {
		if (bobbin_sframe_fde(view, i, NULL, &fde) == 0)
			index_changes_nothing_in(view, indexed, &fde);
	}
	if (bobbin_sframe_fde(view, view->num_fdes - 1, NULL, &fde) == 0)
		index_changes_nothing_in(view, indexed, &fde);
	for (uint64_t i = 0; i <= index->last && i < CONTRACT_FDES; i++)
		index_changes_nothing_near(view, indexed, index->first + (i << index->shift));
	index_changes_nothing_far_from(view, indexed, 0);
	index_changes_nothing_far_from(view, indexed, view->addr);
	index_changes_nothing_far_from(view, indexed, index->first);
}

/* false: the section cannot have an index. */
static inline bool index_obeys_contract(const struct bobbin_sframe_view *view, uint32_t count)
{
	uint32_t *buckets = malloc(count * sizeof(*buckets));
	struct bobbin_sframe_view indexed = *view;
	int status;

	promise(buckets);
	status = bobbin_sframe_view_index(&indexed, buckets, count);
	if (status) {
		promise(status == -EINVAL && !indexed.index.buckets);
	} else {
		promise(view->sorted && indexed.index.buckets == buckets);
		promise(indexed.index.last + 1 < count);
		index_changes_nothing(view, &indexed);
	}
	free(buckets);
	return !status;
}

/* All calls of <bobbin/sframe.h> on @size bytes; true if they have a sane header. */
static inline bool obeys_contract(const uint8_t *data, size_t size, uint64_t addr)
{
	struct bobbin_sframe_view view, untouched;
	struct bobbin_error error = {0};
	int status;

	memset(&view, 0x5a, sizeof(view));
	memcpy(&untouched, &view, sizeof(view));
	status = bobbin_sframe_view(data, size, addr, &error, &view);
	if (status) {
		promised_error(status, &error, size);
		promise(status != -ENOENT);
		promise(memcmp(&untouched, &view, sizeof(view)) == 0);
		return false;
	}
	promise(view.size <= size && view.data == data && view.addr == addr);
	for (uint32_t i = 0; i < view.num_fdes && i < CONTRACT_FDES; i++)
		function_obeys_contract(&view, i);
	if (view.num_fdes)
		function_obeys_contract(&view, view.num_fdes - 1);
	promise(bobbin_sframe_fde(&view, view.num_fdes, NULL, NULL) == -ENOENT);
	lookup_obeys_contract(&view, NULL, 0);
	lookup_obeys_contract(&view, NULL, addr);
	lookup_obeys_contract(&view, NULL, UINT64_MAX);
	index_obeys_contract(&view, 3);
	index_obeys_contract(&view, 20);
	return true;
}

#endif
