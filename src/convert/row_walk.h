/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * row_walk.h - the rows of a function of an SFrame section, one by one.
 */
#ifndef BOBBIN_CONVERT_ROW_WALK_H
#define BOBBIN_CONVERT_ROW_WALK_H

#include <bobbin/sframe.h>
#include <bobbin/sframe_builder.h>

#include "core/refusal.h"

/**
 * struct row_walk - where a walk is
 * @view, @fde: the function, borrowed
 * @offset: of the next row in the section
 * @left: rows from there on
 * @least: start of the row before
 * @limit: the first row that starts there, or later, ends the walk
 */
struct row_walk {
	const struct bobbin_sframe_view *view;
	const struct bobbin_sframe_fde *fde;
	uint64_t offset;
	uint32_t left, least, limit;
};

static inline struct row_walk row_walk(const struct bobbin_sframe_view *view,
				       const struct bobbin_sframe_fde *fde)
{
	return (struct row_walk){view, fde, fde->fre_off, fde->num_fres, 0, UINT32_MAX};
}

/*
 * The next row.  A row replaces the one before it if both have the same start.  1; 0 at the
 * end; -EBADMSG for a row that cannot be read or that starts before the one before it.
 */
static inline int row_walk_next(struct row_walk *walk, struct bobbin_error *err,
				struct bobbin_sframe_row *ret)
{
	struct bobbin_sframe_fre fre;
	int r;

	if (!walk->left)
		return 0;
	r = bobbin_sframe_fre(walk->view, walk->fde, walk->offset, err, &fre);
	if (r)
		return r;
	if (fre.start < walk->least)
		return refuse(err, walk->offset, BOBBIN_REASON_SFRAME_ORDER);
	if (fre.start >= walk->limit)
		return 0;
	r = bobbin_sframe_rule(walk->view, walk->fde, &fre, err, &ret->rule);
	if (r)
		return r;
	ret->start = walk->least = fre.start;
	walk->offset = fre.next;
	walk->left--;
	return 1;
}

#endif
