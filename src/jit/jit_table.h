/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * jit_table.h - read struct code_jit_unwind_table while it grows.
 *
 * Freestanding and async-signal-safe.  The table may be another process's, and is
 * not trusted: every field is read through a reader once and checked, every loop
 * is bounded.
 *
 * The reader of a table that grows has two duties.  It copies an aligned word of 8
 * bytes in one piece, as a plain load does and the kernel's copies do; the order
 * of loads is this part's concern.  And it keeps no copies from one read to the
 * next: what is read after used_len must not have been copied before it.
 */
#ifndef BOBBIN_JIT_JIT_TABLE_H
#define BOBBIN_JIT_JIT_TABLE_H

#include <bobbin/code_abi.h>
#include <bobbin/step.h>

/* Tables in a chain that are looked at; writers double their sizes. */
#define JIT_MAX_TABLES 64

#define JIT_HEAD_SIZE sizeof(struct code_jit_unwind_table)
#define JIT_FRE_SIZE sizeof(struct code_jit_unwind_fre)

/* The slot at an offset from the CFA, 0: none. */
static inline struct bobbin_place jit_slot(int32_t off)
{
	return (struct bobbin_place){.how = off ? BOBBIN_HOW_IN_CFA_MEM : BOBBIN_HOW_SAME,
				     .off = off};
}

/* A chain of tables, and who is told what is wrong with it. */
struct jit_chain {
	const struct bobbin_arch *arch; /* whose byte order it has */
	const struct code_jit_info *info;
	const struct bobbin_mem *mem; /* that it is in */
	struct bobbin_error *err;     /* or NULL */
};

/* Whether a table at an address can have these lengths.  0, -EBADMSG. */
int jit_table_check(uint64_t addr, uint64_t reserved, uint64_t used, struct bobbin_error *err);

/*
 * The row for an address.  0; -ENOENT: no entry covers @pc (yet),
 * BOBBIN_REASON_NO_FUNCTION; -EBADMSG: malformed where it matters for @pc, with
 * @err.offset from the table that it is in; -EFAULT: memory cannot be read, with the
 * reader's reason.
 */
int jit_table_lookup(const struct jit_chain *chain, uint64_t pc, struct bobbin_row *ret);

/*
 * All rows in order, as long as @sink returns 0; what it returned, or -EBADMSG and
 * -EFAULT as jit_table_lookup().  Entries are read @room_count at a time into @room.
 */
int jit_table_rows(const struct jit_chain *chain, struct code_jit_unwind_fre *room,
		   size_t room_count, int (*sink)(void *ctx, const struct bobbin_row *row),
		   void *ctx);

/*
 * What an entry means; @ret is untouched on failure.  0; -EBADMSG: more offsets
 * than it counts or a signed return address where there are none.  The two bits
 * of @info that are a size of words in SFrame mean nothing here.
 */
int jit_fre_rule(const struct bobbin_arch *arch, const struct code_jit_unwind_fre *fre,
		 struct bobbin_rule *ret);

#endif
