/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * sframe_builder.h - make SFrame sections, versions 2 and 3.
 *
 *	bobbin_sframe_builder_init(arch, address, 3, &builder);
 *	give it memory: builder.fdes, builder.fres, and builder.shared or none
 *	bobbin_sframe_builder_add(&builder, &function);	for each function
 *	size = bobbin_sframe_builder_size(&builder);
 *	bobbin_sframe_builder_finish(&builder, out, size);
 *
 * Functions come in any order and leave sorted.  Each gets the smallest form
 * that holds its rows.  Nothing is allocated: when memory runs out, -ENOBUFS
 * leaves everything as it was; move what is there to larger arrays and add the
 * function again.  Safe in every context; a builder belongs to one thread at a time.
 *
 * Numbers and layout are those of the SFrame V2 and V3 specifications, chapters
 * "SFrame Header", "SFrame FDE" and "SFrame FRE"; docs/format.md has them, too.
 */
#ifndef BOBBIN_SFRAME_BUILDER_H
#define BOBBIN_SFRAME_BUILDER_H

#include <bobbin/arch.h>
#include <bobbin/rule.h>

#ifdef __cplusplus
extern "C" {
#endif

/* Rows in one function, at most: V3 counts them in 16 bits. */
#define BOBBIN_SFRAME_MAX_ROWS 65535

/**
 * struct bobbin_sframe_row - one row of a function
 * @start: bytes from the function's (or repeated block's) start
 * @rule: holds up to the next row
 */
struct bobbin_sframe_row {
	uint32_t start;
	struct bobbin_rule rule;
};

/**
 * struct bobbin_sframe_function - a function and its rows
 * @start: first PC
 * @size: bytes of code; @start + @size does not wrap around, or readers refuse
 *	the function.  Functions should not overlap: of those that do, lookups find
 *	the one that starts last
 * @rep_size: rows repeat every so many bytes (a PLT); 0: they do not
 * @signal: V3: the caller was interrupted by a signal.  All rows' rules must
 *	say the same
 * @rows: in ascending order, the first mostly at 0.  None, in V3: no caller
 * @count: <= BOBBIN_SFRAME_MAX_ROWS
 */
struct bobbin_sframe_function {
	uint64_t start;
	uint32_t size;
	uint8_t rep_size;
	bool signal;
	const struct bobbin_sframe_row *rows;
	uint32_t count;
};

/* A function that was added; private. */
struct bobbin_sframe_built {
	uint64_t start;
	uint32_t size, fre_off, num_fres;
	uint8_t info, rep_size;
	bool flex;
};

/**
 * struct bobbin_sframe_builder - a section in the making
 * @arch: of the code
 * @addr: address that the section will have
 * @version: 2 or 3
 * @fdes, @fde_max: memory for functions, of the caller
 * @fres, @fre_max: memory for rows, of the caller
 * @shared, @shared_max: table for finding equal rows, of the caller, zeroed
 *	and a power of two in size; functions with equal rows then share them.
 *	Not every reader accepts that (libsframe 3 does not with foreign byte
 *	order).  NULL: rows are not shared
 * @fde_count, @fre_len, @num_fres: used so far
 */
struct bobbin_sframe_builder {
	const struct bobbin_arch *arch;
	uint64_t addr;
	uint8_t version;
	struct bobbin_sframe_built *fdes;
	uint32_t fde_max, fde_count;
	uint8_t *fres;
	uint32_t fre_max, fre_len;
	uint32_t *shared;
	uint32_t shared_max;
	uint32_t num_fres;
};

/**
 * bobbin_sframe_builder_init() - start an empty section
 * @arch: of the code
 * @addr: address that the section will have, in the space of the functions'
 *	starts.  V2 reaches 2 GiB from it
 * @version: 2 or 3.  V2 is as binutils 2.44 reads it: starts are relative to
 *	the section, but on s390x, which came later, to their fields
 * @ret: the builder, without memory; untouched on failure
 *
 * Return: 0, or -EINVAL for another version.
 */
int bobbin_sframe_builder_init(const struct bobbin_arch *arch, uint64_t addr, unsigned int version,
			       struct bobbin_sframe_builder *ret);

/**
 * bobbin_sframe_builder_can_express() - whether a rule can be a row
 * @builder: for the architecture and the version
 * @rule: the rule
 *
 * Return: true if it can.
 */
bool bobbin_sframe_builder_can_express(const struct bobbin_sframe_builder *builder,
				       const struct bobbin_rule *rule);

/**
 * bobbin_sframe_builder_add() - add a function
 * @builder: the section
 * @function: copied
 *
 * Return: 0; -ENOBUFS: more memory is needed; -EINVAL: the rows are not
 * ascending, lie outside the function, or mix keys or signal frames with
 * others; -ERANGE: a rule is not representable, or the function is too far
 * away, or the section too large.
 */
int bobbin_sframe_builder_add(struct bobbin_sframe_builder *builder,
			      const struct bobbin_sframe_function *function);

/**
 * bobbin_sframe_builder_size() - bytes that the section will have
 * @builder: the section
 *
 * Return: the number, as of now.
 */
uint64_t bobbin_sframe_builder_size(const struct bobbin_sframe_builder *builder);

/**
 * bobbin_sframe_builder_finish() - write the section
 * @builder: the section; sorted by this
 * @out: memory for it, of any alignment; untouched on failure
 * @size: bytes at @out, >= bobbin_sframe_builder_size()
 *
 * The builder can be added to and finished again; functions that are added later
 * share rows among themselves only.  Time is linear in functions and bytes of rows
 * if the functions were added in ascending order, else n log n in functions.
 *
 * Return: 0, -ENOBUFS.
 */
int bobbin_sframe_builder_finish(struct bobbin_sframe_builder *builder, void *out, uint64_t size);

#ifdef __cplusplus
}
#endif

#endif
