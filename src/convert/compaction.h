/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * compaction.h - a section says the same in fewer bytes.
 *
 *	functions ── chains of rows ── cuts ── pieces, one FDE each
 *
 * An FDE need not be a function: readers only look for the one that holds a PC.
 * Long functions with many rows are cut so that their rows' starts get narrow.
 * If rows can be shared, functions that touch become one FDE, too, while starts
 * stay narrow, and are cut so that their prologues and epilogues are found in
 * others.  Every PC keeps its rule.
 */
#ifndef BOBBIN_CONVERT_COMPACTION_H
#define BOBBIN_CONVERT_COMPACTION_H

#include "convert/section_maker.h"

/*
 * Choose the FDEs of a section anew.  Its functions do not overlap, were added
 * without sharing, in ascending order for the best result, and the section was
 * not finished yet.  @share: FDEs with equal rows share them and may hold several
 * functions; otherwise an FDE lies within one.  Rows of code on both sides of
 * one of @count ascending @bounds are not shared; functions do not touch there.
 *
 * Time and memory are linear in rows.  0; -ENOMEM, and the section is as it was.
 */
int compact_section(struct section_maker *maker, bool share, const uint64_t *bounds, size_t count);

#endif
