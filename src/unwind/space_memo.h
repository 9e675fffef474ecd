/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * space_memo.h - the last walks over the stacks of a space, whose threads take turns.
 */
#ifndef BOBBIN_UNWIND_SPACE_MEMO_H
#define BOBBIN_UNWIND_SPACE_MEMO_H

#include "unwind/last_walk.h"
#include "unwind/space.h"

/* Of the stack that @sp is on; NULL: there is no memory, the walk is only slower. */
struct walk_memo *space_memo(struct bobbin_space *space, uint64_t sp);

/*
 * A copy of a stack has often left the processor's cache, and a walk reads it
 * word after word, each of which tells where the next one is.  So its top and
 * what the last walk read are asked for at once.  @memo: may be NULL.
 */
void copy_prefetch(const struct bobbin_stack_copy *copy, const struct walk_memo *memo);

#endif
