/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * The rows of one function: where they start, how long they are, and whether
 * their words are ones that the ABI knows.
 */
#include "core/bytes.h"
#include "sframe/default_rule.h"
#include "sframe/defects.h"

/* Bits of the info byte that mean nothing in flexible functions. */
#define FLEX_INFO_UNUSED SFRAME_FRE_BASE_SP

/* A row whose size is known, wherever it starts. */
struct sized_row {
	uint64_t offset, next;
	uint32_t start;
	uint8_t info;
};

static bool size_row(struct defects *d, const struct bobbin_sframe_fde *fde, uint64_t offset,
		     struct sized_row *ret)
{
	struct bytes b = bytes_of(d->view->data, d->view->size, d->view->arch->big_endian);
	uint64_t info_at = offset + fde->fre_type;

	bytes_seek(&b, offset);
	*ret = (struct sized_row){.offset = offset,
				  .start = (uint32_t)bytes_get(&b, fde->fre_type)};
	ret->info = bytes_u8(&b);
	if (b.bad) {
		defects_add(d, offset,
			    b.fault ? BOBBIN_REASON_NO_MEMORY : BOBBIN_REASON_SFRAME_ROW_CUT);
		return false;
	}
	if (SFRAME_FRE_WORD_SHIFT(ret->info) > SFRAME_FRE_WORD_SHIFT_LAST) {
		defects_add(d, info_at, BOBBIN_REASON_SFRAME_WORD_SIZE);
		return false;
	}
	bytes_skip(&b, (uint64_t)SFRAME_FRE_NUM_WORDS(ret->info)
			       << SFRAME_FRE_WORD_SHIFT(ret->info));
	if (b.bad) {
		defects_add(d, offset, BOBBIN_REASON_SFRAME_ROW_CUT);
		return false;
	}
	ret->next = b.pos;
	return true;
}

static void check_start(struct defects *d, const struct bobbin_sframe_fde *fde,
			const struct sized_row *row, const struct sized_row *before)
{
	uint32_t limit = sframe_fre_limit(fde);

	if (row->start > limit)
		defects_add(d, row->offset, BOBBIN_REASON_SFRAME_RANGE);
	else if (row->start == limit && limit)
		defects_add(d, row->offset, BOBBIN_REASON_SFRAME_ROW_AT_END);
	if (!d->fre) {
		if (row->start)
			defects_add(d, row->offset, BOBBIN_REASON_SFRAME_LATE_ROW);
		return;
	}
	if (row->start < before->start)
		defects_add(d, row->offset, BOBBIN_REASON_SFRAME_ORDER);
	else if (row->start == before->start)
		defects_add(d, row->offset, BOBBIN_REASON_SFRAME_TWIN_ROWS);
}

/* Info bytes that no row of this kind can have. */
static void check_info(struct defects *d, const struct bobbin_sframe_fde *fde,
		       const struct sized_row *row)
{
	uint64_t at = row->offset + fde->fre_type;

	if (!SFRAME_FRE_NUM_WORDS(row->info)) {
		/* V1 has no rows that end a trace */
		if (d->view->version < 2)
			defects_add(d, at, BOBBIN_REASON_SFRAME_WORD_COUNT);
		if (row->info)
			defects_add(d, at, BOBBIN_REASON_SFRAME_RESERVED);
		return;
	}
	if (fde->flex && row->info & FLEX_INFO_UNUSED)
		defects_add(d, at, BOBBIN_REASON_SFRAME_RESERVED);
	if (row->info & SFRAME_FRE_MANGLED && !d->view->arch->pac_mask)
		defects_add(d, at, BOBBIN_REASON_SFRAME_MANGLED);
}

/* Words of a flexible row up to its FP: a pair, or a word of padding for each but the CFA. */
static unsigned int words_of_values(const struct bobbin_sframe_fre *fre)
{
	unsigned int i = 2;

	for (unsigned int value = 0; value < 2 && i < fre->num_words; value++)
		i += fre->words[i] ? 2 : 1;
	return i;
}

static bool count_is_flexible(const struct bobbin_sframe_fre *fre)
{
	unsigned int i = words_of_values(fre);

	if (i > fre->num_words)
		return false;
	while (i < fre->num_words && !fre->words[i])
		i++;
	return i == fre->num_words;
}

static bool count_is_known(const struct bobbin_sframe_view *view,
			   const struct bobbin_sframe_fde *fde, const struct bobbin_sframe_fre *fre)
{
	if (!fre->num_words)
		return true;
	return fde->flex ? count_is_flexible(fre) : fre->num_words <= sframe_most_words(view);
}

static uint64_t word_at(const struct bobbin_sframe_fde *fde, const struct bobbin_sframe_fre *fre,
			unsigned int i)
{
	return fre->offset + fde->fre_type + 1 + (uint64_t)i * fre->word_size;
}

/* Check that a control word has no unused bits and, unless @needs is 0, one of @needs. */
static void check_control(struct defects *d, uint64_t at, uint32_t control, uint32_t needs)
{
	bool has_register = control & SFRAME_FLEX_REG;

	if (control & SFRAME_FLEX_UNUSED || (needs && !(control & needs)))
		defects_add(d, at, BOBBIN_REASON_SFRAME_CONTROL);
	if (control >> SFRAME_FLEX_REG_SHIFT >= BOBBIN_REG_COUNT)
		defects_add(d, at, BOBBIN_REASON_SFRAME_REGISTER);
	else if (control >> SFRAME_FLEX_REG_SHIFT && !has_register)
		defects_add(d, at, BOBBIN_REASON_SFRAME_RESERVED);
}

/* The CFA cannot be relative to itself; CFA + offset is no code address. */
static void check_controls(struct defects *d, const struct bobbin_sframe_fde *fde,
			   const struct bobbin_sframe_fre *fre)
{
	const int32_t *words = fre->words;
	const uint32_t pc = (uint32_t)d->view->arch->pc << SFRAME_FLEX_REG_SHIFT | SFRAME_FLEX_REG;
	unsigned int fp = words[2] ? 4 : 3;

	check_control(d, word_at(fde, fre, 0), (uint32_t)words[0], SFRAME_FLEX_REG);
	/* the PC may be none of the registers that rules name */
	if (fre->num_words >= 4 && words[2] && (uint32_t)words[2] != pc)
		check_control(d, word_at(fde, fre, 2), (uint32_t)words[2],
			      SFRAME_FLEX_REG | SFRAME_FLEX_DEREF);
	/* readers pass over what follows */
	if (words_of_values(fre) < fre->num_words)
		defects_add(d, fre->offset + fde->fre_type, BOBBIN_REASON_SFRAME_RESERVED);
	if (fre->num_words > fp && words[fp])
		check_control(d, word_at(fde, fre, fp), (uint32_t)words[fp], 0);
}

/* s390x before V3: odd words name registers. */
static void check_slots(struct defects *d, const struct bobbin_sframe_fde *fde,
			const struct bobbin_sframe_fre *fre)
{
	if (!sframe_is_s390x(d->view) || d->view->version >= 3)
		return;
	for (unsigned int i = 1; i < fre->num_words; i++)
		if (fre->words[i] & 1 && (uint32_t)fre->words[i] >> 1 >= BOBBIN_REG_COUNT)
			defects_add(d, word_at(fde, fre, i), BOBBIN_REASON_SFRAME_REGISTER);
}

static void check_scale(struct defects *d, const struct bobbin_sframe_fde *fde,
			const struct bobbin_sframe_fre *fre)
{
	unsigned int i = fde->flex ? 1 : 0;
	int64_t off = (int64_t)fre->words[i] * SFRAME_S390X_CFA_SCALE + SFRAME_S390X_CFA_BIAS;

	if (sframe_is_s390x(d->view) && off != (int32_t)off)
		defects_add(d, word_at(fde, fre, i), BOBBIN_REASON_SFRAME_CFA_RANGE);
}

static void check_words(struct defects *d, const struct bobbin_sframe_fde *fde,
			const struct sized_row *row)
{
	uint64_t info_at = row->offset + fde->fre_type;
	struct bobbin_sframe_fde anywhere = *fde;
	struct bobbin_sframe_fre fre;
	struct bobbin_rule rule;

	/* a wrong place was reported; the row may have other defects */
	anywhere.pcmask = false;
	anywhere.size = UINT32_MAX;
	if (bobbin_sframe_fre(d->view, &anywhere, row->offset, NULL, &fre) ||
	    !count_is_known(d->view, fde, &fre)) {
		defects_add(d, info_at, BOBBIN_REASON_SFRAME_WORD_COUNT);
		return;
	}
	if (!fre.num_words)
		return;
	if (fde->flex)
		check_controls(d, fde, &fre);
	else
		check_slots(d, fde, &fre);
	check_scale(d, fde, &fre);
	if (!bobbin_sframe_rule(d->view, fde, &fre, NULL, &rule))
		defects_of_rule(d, fde, &fre, &rule);
}

void defects_of_rows(struct defects *d, const struct bobbin_sframe_fde *fde,
		     struct rows_walked *ret)
{
	struct sized_row before = {0}, row;
	uint64_t head = d->view->version >= 3 ? SFRAME_V3_ATTR_SIZE : 0;
	uint32_t i;

	*ret = (struct rows_walked){.fde = *fde, .begin = fde->fre_off - head, .end = fde->fre_off};
	for (i = 0; i < fde->num_fres; i++, before = row) {
		d->fre = i;
		if (!size_row(d, fde, ret->end, &row))
			break;
		check_start(d, fde, &row, &before);
		check_info(d, fde, &row);
		check_words(d, fde, &row);
		ret->end = row.next;
		if (!i || row.start >= ret->last_start) {
			ret->last = row.offset;
			ret->last_start = row.start;
		}
	}
	ret->whole = i == fde->num_fres;
	d->fre = BOBBIN_SFRAME_NOWHERE;
}

void defects_of_shared_rows(struct defects *d, const struct bobbin_sframe_fde *fde,
			    const struct rows_walked *rows)
{
	uint32_t limit = sframe_fre_limit(fde);

	if (fde->num_fres && rows->last_start > limit)
		defects_add(d, rows->last, BOBBIN_REASON_SFRAME_RANGE);
	else if (fde->num_fres && rows->last_start == limit && limit)
		defects_add(d, rows->last, BOBBIN_REASON_SFRAME_ROW_AT_END);
}
