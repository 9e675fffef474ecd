/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * section_repair.h - walk over sections whose headers may be wrong.
 *
 * The functions tell where their rows are.  If the header disagrees, the functions count,
 * provided that everything fits then:
 *
 *	too many entries for their space	as many as there is space for
 *	rows after the end			the end is moved, if all rows can
 *						be read then and a section, or
 *						nothing, follows
 *	another section before the end		the end is moved there
 *	no header at all			the next one is looked for
 */
#ifndef BOBBIN_CONVERT_SECTION_REPAIR_H
#define BOBBIN_CONVERT_SECTION_REPAIR_H

#include <bobbin/sframe.h>

/**
 * struct section_walk - where a walk is
 * @data: the bytes of all sections; headers are changed where they are wrong
 * @size: their number
 * @addr: address of @data
 * @pos: offset of what comes next
 * @rows_left: rows that may still be read to find out what is wrong
 * @note: called for each thing that was corrected or left out; @offset is from
 *	@data
 * @ctx: for @note
 */
struct section_walk {
	uint8_t *data;
	uint64_t size, addr, pos, rows_left;
	void (*note)(void *ctx, uint64_t offset, enum bobbin_reason reason);
	void *ctx;
};

/* Start a walk; fill in @note and @ctx before the first step. */
struct section_walk section_walk(uint8_t *data, uint64_t size, uint64_t addr);

/* The next section.  1, or 0 at the end. */
int section_walk_next(struct section_walk *walk, struct bobbin_sframe_view *ret);

#endif
