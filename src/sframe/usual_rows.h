/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * usual_rows.h - the rows that compilers make most, straight to bytes.
 *
 *	usual_rows_start() ── usual_rows_add() for each row ── usual_rows_finish()
 *
 * Usual is, on an architecture whose calls leave the return address on the stack:
 * the CFA is SP or FP and an offset, FP is unchanged or in the frame, offsets have
 * 16 bits and so have starts of rows; there are no marks.  Each step says false if
 * something is not usual or memory runs out.  The section is as it was then, and
 * bobbin_sframe_builder_add() has to be asked.
 */
#ifndef BOBBIN_SFRAME_USUAL_ROWS_H
#define BOBBIN_SFRAME_USUAL_ROWS_H

#include <bobbin/sframe_builder.h>

#include "sframe/layout.h"

/* A row with its start is written as one word. */
#define USUAL_ROW_ROOM 8

/**
 * struct usual_rows - the rows of a function on their way to bytes
 * @builder: the section
 * @at, @end: where the next row goes, and the end of the memory
 * @body: bytes of the row before without its start; 0: there is none
 * @start: of the row before
 * @limit: starts are below it; later ones do not fit or lie behind the function
 * @count: rows
 * @width: bytes of a start
 */
struct usual_rows {
	const struct bobbin_sframe_builder *builder;
	uint8_t *at, *end;
	uint64_t body;
	uint32_t start, limit, count;
	uint8_t width;
};

/**
 * struct usual_rule - what differs between usual rules
 * @cfa: offset from the CFA's base
 * @fp: offset of FP's slot from the CFA, 0 unless @in_frame
 * @sp: the base is SP, not FP
 * @in_frame: FP is in the frame
 */
struct usual_rule {
	int32_t cfa, fp;
	bool sp, in_frame;
};

/* Start a function of @size bytes of code. */
bool usual_rows_start(const struct bobbin_sframe_builder *builder, uint32_t size,
		      struct usual_rows *ret);

/* Add to @builder what was started for it, as the function that begins at @start. */
bool usual_rows_finish(struct bobbin_sframe_builder *builder, struct usual_rows *rows,
		       uint64_t start, uint32_t size);

/* Bits that hold a number's magnitude, and one for the sign. */
static BOBBIN_ALWAYS_INLINE uint32_t usual_bits(int32_t word)
{
	return (uint32_t)(word ^ (word >> 31)) << 1;
}

/* The rule's own parts; false: it is not usual, whatever its offsets are. */
static BOBBIN_ALWAYS_INLINE bool usual_rule_of(const struct bobbin_arch *arch,
					       const struct bobbin_rule *rule,
					       struct usual_rule *ret)
{
	bool in_frame = rule->fp.how == BOBBIN_HOW_IN_CFA_MEM;

	if (rule->cfa.how != BOBBIN_HOW_AT_REG || rule->ra.how != BOBBIN_HOW_IN_CFA_MEM ||
	    rule->ra.off != arch->default_ra_off ||
	    (rule->fp.how != BOBBIN_HOW_SAME && !in_frame) ||
	    (rule->plus | (rule->index ^ BOBBIN_NO_INDEX) | rule->flags) ||
	    (rule->cfa.reg != arch->sp && rule->cfa.reg != arch->fp))
		return false;
	*ret = (struct usual_rule){
		.cfa = rule->cfa.off,
		.fp = in_frame ? rule->fp.off : 0,
		.sp = rule->cfa.reg == arch->sp,
		.in_frame = in_frame,
	};
	return true;
}

/**
 * struct usual_body - a row without its start
 * @bytes: the info byte and the words, the first one lowest; 0: an offset is not usual
 * @size: how many bytes
 */
struct usual_body {
	uint64_t bytes;
	unsigned int size;
};

static BOBBIN_ALWAYS_INLINE struct usual_body usual_body(const struct usual_rule *rule)
{
	uint32_t bits = usual_bits(rule->cfa) | usual_bits(rule->fp);
	unsigned int words = 1u + rule->in_frame;
	uint64_t info = (rule->sp ? SFRAME_FRE_BASE_SP : 0) | words << 1;

	if (bits <= 0xff)
		return (struct usual_body){info | (uint64_t)(uint8_t)rule->cfa << 8 |
						   (uint64_t)(uint8_t)rule->fp << 16,
					   1 + words};
	if (bits > 0xffff)
		return (struct usual_body){0, 0};
	return (struct usual_body){info | 1 << 5 | (uint64_t)(uint16_t)rule->cfa << 8 |
					   (uint64_t)(uint16_t)rule->fp << 24,
				   1 + 2 * words};
}

/* Little endian, as the architectures are whose calls push the return address. */
static BOBBIN_ALWAYS_INLINE void usual_store(uint8_t *at, uint64_t word)
{
	at[0] = (uint8_t)word;
	at[1] = (uint8_t)(word >> 8);
	at[2] = (uint8_t)(word >> 16);
	at[3] = (uint8_t)(word >> 24);
	at[4] = (uint8_t)(word >> 32);
	at[5] = (uint8_t)(word >> 40);
	at[6] = (uint8_t)(word >> 48);
	at[7] = (uint8_t)(word >> 56);
}

/* Add a row that starts behind the one before, unless it says the same. */
static BOBBIN_ALWAYS_INLINE bool usual_rows_add(struct usual_rows *rows, uint32_t start,
						const struct usual_rule *rule)
{
	const struct usual_body body = usual_body(rule);

	if (body.bytes == rows->body && body.bytes)
		return true;
	if (!body.bytes || start >= rows->limit || rows->end - rows->at < USUAL_ROW_ROOM)
		return false;
	usual_store(rows->at, start | body.bytes << 8 * rows->width);
	rows->at += rows->width + body.size;
	rows->body = body.bytes;
	rows->start = start;
	rows->count++;
	return true;
}

#endif
