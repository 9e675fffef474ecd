/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
#include "convert/section_tally.h"

#include <errno.h>

#include "convert/row_walk.h"

/*
 * Rows that are read for each byte of a section, at most: shared rows are read for each
 * function.
 */
#define ROWS_PER_BYTE 64

/* false: a row cannot be read. */
static bool add_rows(struct section_tally *tally, const struct bobbin_sframe_view *view,
		     const struct bobbin_sframe_fde *fde, uint64_t *budget)
{
	struct row_walk walk = row_walk(view, fde);
	struct bobbin_sframe_row row;
	struct bobbin_error error;
	int r;

	/* only an attack shares rows among so many functions */
	if (fde->num_fres > *budget)
		return false;
	*budget -= fde->num_fres;
	while ((r = row_walk_next(&walk, &error, &row)) > 0) {
		tally->rows++;
		tally->outermost += row.rule.ra.how == BOBBIN_HOW_UNDEFINED;
	}
	return !r;
}

int section_tally_add(struct section_tally *tally, const struct bobbin_sframe_view *view)
{
	uint64_t budget = view->size * ROWS_PER_BYTE;

	tally->sections++;
	tally->bytes += view->size;
	for (uint32_t i = 0; i < view->num_fdes; i++) {
		struct bobbin_sframe_fde fde;

		tally->functions++;
		if (bobbin_sframe_fde(view, i, NULL, &fde) ||
		    !add_rows(tally, view, &fde, &budget)) {
			tally->malformed++;
			continue;
		}
		tally->flex += fde.flex;
		tally->repeating += fde.pcmask;
		tally->signals += fde.signal;
		tally->empty += !fde.num_fres;
		if (coverage_add(&tally->covered, fde.start, fde.start + fde.size))
			return -ENOMEM;
	}
	return 0;
}

void section_tally_fini(struct section_tally *tally)
{
	coverage_fini(&tally->covered);
}
