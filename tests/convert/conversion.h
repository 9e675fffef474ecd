/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * conversion.h - what tests of the converter have in common.
 *
 * The section must have the same rule as the call-frame information at each address, or none,
 * and then a gap tells why.
 *
 * DWARF register numbers: rbp 6, rsp 7, return address 16; x29, x30, sp 31.
 */
#ifndef BOBBIN_TESTS_CONVERSION_H
#define BOBBIN_TESTS_CONVERSION_H

#include <bobbin/sframe.h>
#include <dwarf.h>
#include <stddef.h>

#include "cfi_section.h"
#include "convert/converter.h"

#define ADVANCE(n) (DW_CFA_advance_loc | (n))
#define OFFSET(reg) (DW_CFA_offset | (reg))
#define CFA_OFFSET(n) DW_CFA_def_cfa_offset, (n)
/* the caller's rbp is CFA-16 itself, which SFrame cannot say */
#define INEXPRESSIBLE DW_CFA_val_offset, 6, 2

/* CFA = rsp + 8, and 8 more where the PC's low bits are 11 or more */
#define STUBS \
	BYTES(DW_CFA_def_cfa_expression, 11, DW_OP_breg7, 8, DW_OP_breg16, 0, DW_OP_lit15, \
	      DW_OP_and, DW_OP_lit11, DW_OP_ge, DW_OP_lit3, DW_OP_shl, DW_OP_plus)

#define SFRAME_ADDR 0x600000
#define MAX_GAPS 16
#define GIB (1ull << 30)

/**
 * struct conversion_bench - sections and their conversion
 * @eh, @debug: the first wins
 * @views, @count: those to convert
 * @long_frame: bytes of a section that is larger than struct cfi_section has room
 * @options, @stats: of the conversion
 * @data, @size, @view: its result
 * @gaps, @gap_count: what it told
 */
struct conversion_bench {
	struct cfi_section eh, debug;
	struct bobbin_cfi_view views[2];
	unsigned int count;
	uint8_t *long_frame;
	struct convert_options options;
	struct convert_stats stats;
	uint8_t *data;
	uint64_t size;
	struct bobbin_sframe_view view;
	struct convert_gap gaps[MAX_GAPS];
	size_t gap_count;
};

int conversion_set_up(void **state);
int conversion_tear_down(void **state);
/* The result of convert_cfi(); nothing else is checked. */
int conversion_try(struct conversion_bench *b);

/* Convert, again if necessary.  It succeeds; the result is sound and has no wrong rule. */
void conversion_run(struct conversion_bench *b);

/* The row at an address: 0, or -ENOENT if the section has none. */
int rule_of_byte(const struct conversion_bench *b, uint64_t pc, struct bobbin_row *row);

/*
 * The rules of @size bytes from TEXT on: a line where they change, as in rows_text(), or
 * "401000 nothing".
 */
void assert_rows(const struct conversion_bench *b, uint64_t size, const char *wanted);

/* Gap number @i; addresses are relative to TEXT. */
void assert_gap(const struct conversion_bench *b, size_t i, uint64_t start, uint64_t end,
		enum bobbin_reason reason);

/* So much was lost, and reported as gaps. */
void assert_lost(const struct conversion_bench *b, uint64_t rows, uint64_t text);

/* The function of the section that holds an address. */
struct bobbin_sframe_fde function_at(const struct conversion_bench *b, uint64_t pc);

#endif
