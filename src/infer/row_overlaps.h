/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * row_overlaps.h - one rule for each address, of rows of all functions.
 *
 * Where functions share code, they should agree.  Where not, what is verified holds; if rows of one
 * grade disagree, none does.
 */
#ifndef BOBBIN_INFER_ROW_OVERLAPS_H
#define BOBBIN_INFER_ROW_OVERLAPS_H

#include "infer/inferred_rows.h"

/* Sort the rows, and make those of them that overlap one.  0, -ENOMEM. */
int row_overlaps_resolve(struct infer_rows *rows);

#endif
