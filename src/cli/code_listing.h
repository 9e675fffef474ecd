/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * code_listing.h - the instructions of a function, with their weights.
 *
 *	function, points ──► file, by its build ID ──► bytes ──► instructions ──► names, lines, text
 *
 * A point belongs to the instruction that has its byte.  Where there are no bytes each point is an
 * instruction without text.  So the sum of the weights is always that of the function.
 */
#ifndef BOBBIN_CLI_CODE_LISTING_H
#define BOBBIN_CLI_CODE_LISTING_H

#include "cli/code_weights.h"
#include "infer/machine.h"

/* Of a larger function only that much is read; that is thousands of pages of text. */
#define CODE_LISTING_MOST ((uint64_t)4 << 20)

/**
 * struct listed_insn - an instruction
 * @offset: from the start of the function
 * @length: bytes; 0: they are not there
 */
struct listed_insn {
	uint64_t offset, weight;
	uint8_t length;
};

/**
 * struct code_listing - a function
 * @function: borrowed
 * @missing: why there are no bytes; NULL: there are
 * @bytes, @size: of the function, from its start on
 */
struct code_listing {
	const struct code_function *function;
	const char *missing;
	struct listed_insn *insns;
	size_t count, room;
	uint8_t *bytes;
	uint64_t size;
	struct insn_decoder *decoder;
	struct bobbin_space *space; /* with nothing but the function's file, where it was */
};

/*
 * @symfs: a folder below which files are looked for, or NULL; @points: of @function.  0 or -ENOMEM; code_listing_fini() follows in
 * each case.
 */
int code_listing_init(struct code_listing *listing, struct bobbin_unwinder *unwinder,
		      const char *symfs, const struct code_function *function,
		      const struct code_point *points);
void code_listing_fini(struct code_listing *listing);

/*
 * What is at an offset from the start of the function, which may be outside of it, as
 * naming_frame().  Of a function whose file is not known there is no name.
 */
size_t code_listing_names(const struct code_listing *listing, struct naming *naming,
			  uint64_t offset, struct named_frame named[NAMING_MAX_INLINES]);

/*
 * An instruction as assemblers write it; "" where it has no bytes.  Where it leads to, if that is
 * outside of the function: an offset from its start, or 0, which is not.
 */
uint64_t code_listing_text(const struct code_listing *listing, const struct listed_insn *insn,
			   char text[INSN_TEXT_MAX]);

#endif
