/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * row_words.h - rules in the words of `readelf --debug-dump=frames-interp`: "rsp+8",
 * "c-16", "u" (unchanged), "undefined", "exp" for what an expression gives.
 */
#ifndef BOBBIN_TESTS_ROW_WORDS_H
#define BOBBIN_TESTS_ROW_WORDS_H

#include <bobbin/arch.h>
#include <bobbin/rule.h>

/*
 * Print a line: address, CFA, frame pointer, return address.  @plt: as in struct
 * bobbin_cfi_rows, or 0.
 */
void row_print(const struct bobbin_arch *arch, uint64_t addr, const struct bobbin_rule *rule,
	       uint8_t plt);

#endif
