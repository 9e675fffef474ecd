/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * compaction.h - the same rules in fewer bytes.
 *
 *	functions ── chains of rows ── cuts ── pieces, one FDE each
 *
 * An FDE need not be a function: readers only search for the one that covers a PC.  Long
 * functions with many rows are cut so that their rows' starts become narrow.  If rows can be
 * shared, functions that touch become one FDE, too, while starts stay narrow, and are cut so
 * that their prologues and epilogues are found in others.  Every PC keeps its rule.
 */
#ifndef BOBBIN_CONVERT_COMPACTION_H
#define BOBBIN_CONVERT_COMPACTION_H

#include "convert/function_list.h"

/*
 * Choose the FDEs of a section and make them in @maker, which has none.  Functions do not
 * overlap and ascend for the best result.  @share: FDEs with equal rows share them and may
 * hold several functions; otherwise an FDE lies within one.  Rows of code on both sides
 * of one of @count ascending @bounds are not shared; functions do not touch there.
 *
 * Time and memory are linear in rows.  0, -ENOMEM, -ERANGE.
 */
int compact_functions(const struct function_list *list, bool share, const uint64_t *bounds,
		      size_t count, struct section_maker *maker);

#endif
