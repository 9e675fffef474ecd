/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * jit_table.h - read struct code_jit_unwind_table while it grows.
 *
 * Freestanding and async-signal-safe.  The table may be another process's, and is
 * not trusted: every field is read through a reader once and checked, every loop
 * is bounded.
 */
#ifndef BOBBIN_JIT_JIT_TABLE_H
#define BOBBIN_JIT_JIT_TABLE_H

#include <bobbin/code_abi.h>
#include <bobbin/step.h>

/* Tables in a chain that are looked at; writers double their sizes. */
#define JIT_MAX_TABLES 64

/*
 * The row for an address.  @mem reads the memory that the tables are in.
 * 0; -ENOENT: no entry covers @pc (yet); -EBADMSG: malformed, with @err.offset
 * from the table that it is in; -EFAULT: memory cannot be read.
 */
int jit_table_lookup(const struct bobbin_arch *arch, const struct code_jit_info *info,
		     const struct bobbin_mem *mem, uint64_t pc, struct bobbin_error *err,
		     struct bobbin_row *ret);

/* What an entry means; @ret is untouched on failure.  0, -EBADMSG. */
int jit_fre_rule(const struct bobbin_arch *arch, const struct code_jit_unwind_fre *fre,
		 struct bobbin_rule *ret);

#endif
