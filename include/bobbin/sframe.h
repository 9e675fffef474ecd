/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * sframe.h - read SFrame sections, versions 1, 2 and 3.
 *
 *	struct bobbin_sframe_view v;
 *	struct bobbin_row row;
 *
 *	if (bobbin_sframe_view(bytes, size, address, &error, &v) == 0 &&
 *	    bobbin_sframe_lookup(&v, pc, &error, &row) == 0)
 *		use(&row.rule);
 *
 * A view borrows the section's bytes and is checked once; lookups trust only
 * what they check again, never read outside the section, and allocate nothing.
 */
#ifndef BOBBIN_SFRAME_H
#define BOBBIN_SFRAME_H

#include <bobbin/arch.h>
#include <bobbin/rule.h>

#ifdef __cplusplus
extern "C" {
#endif

/**
 * struct bobbin_sframe_index - where in the FDE table to search for a PC
 * @buckets: one for each piece of the covered addresses and one after them:
 *	the last FDE whose function starts at or before the piece's first byte;
 *	borrowed.  NULL: there is no index
 * @first: start of the first function, where the first piece begins
 * @last: number of the last piece
 * @shift: a piece has 2^@shift bytes
 */
struct bobbin_sframe_index {
	const uint32_t *buckets;
	uint64_t first;
	uint32_t last;
	uint8_t shift;
};

/**
 * struct bobbin_sframe_view - a section with a sane header
 * @data: the section's first byte, borrowed
 * @size: bytes of this section by its header, <= the size that was given
 * @addr: address of @data in the space of the PCs that are looked up
 * @arch: by the header's ABI
 * @num_fdes: function descriptor entries
 * @num_fres: frame row entries, as the header says
 * @fde_off: offset of the first FDE from @data
 * @fre_off: offset of the FRE sub-section from @data
 * @fre_len: bytes of the FRE sub-section
 * @fixed_fp, @fixed_ra: fixed offsets from the CFA, 0: tracked by rows
 * @version: 1, 2 or 3
 * @flags: of the header
 * @fde_size: bytes of one FDE (17, 20, 16)
 * @sorted: FDEs ascend, binary search works
 * @index: set by bobbin_sframe_view_index()
 *
 * A value: copy it freely.  It lives as long as the bytes, and the index.
 */
struct bobbin_sframe_view {
	const uint8_t *data;
	uint64_t size, addr;
	const struct bobbin_arch *arch;
	uint32_t num_fdes, num_fres;
	uint64_t fde_off, fre_off;
	uint32_t fre_len;
	int8_t fixed_fp, fixed_ra;
	uint8_t version, flags, fde_size;
	bool sorted;
	struct bobbin_sframe_index index;
};

/* struct bobbin_sframe_view.flags */
#define BOBBIN_SFRAME_SORTED 0x01
#define BOBBIN_SFRAME_FRAME_POINTER 0x02
#define BOBBIN_SFRAME_PCREL 0x04

/**
 * bobbin_sframe_view() - check a section's header
 * @data: the section; unaligned is fine
 * @size: bytes available, e.g. the size of the segment; zero bytes after the
 *	section are accepted
 * @addr: address of @data in the space of the PCs that will be looked up
 * @err: where and why on failure, or NULL
 * @ret: the view; untouched on failure
 *
 * Sections that a linker only concatenated are several views, see
 * bobbin_sframe_next().  Safe in every context.
 *
 * Return: 0; -ENODATA for an all-zero or empty region; -EBADMSG.
 */
int bobbin_sframe_view(const void *data, size_t size, uint64_t addr, struct bobbin_error *err,
		       struct bobbin_sframe_view *ret);

/**
 * bobbin_sframe_next() - walk over sections that stand back to back
 * @data: the first section
 * @size: bytes available
 * @addr: address of @data in the space of the PCs that will be looked up
 * @pos: in: 0, or where the last call left it; out: after the section.  Where
 *	the section began if it was refused
 * @err: where (from @data) and why on failure, or NULL
 * @ret: the section; untouched otherwise
 *
 * Zero bytes between and after the sections are padding.  Safe in every
 * context.
 *
 * Return: 1 and a section; 0 at the end; -EBADMSG.
 */
int bobbin_sframe_next(const void *data, size_t size, uint64_t addr, uint64_t *pos,
		       struct bobbin_error *err, struct bobbin_sframe_view *ret);

/**
 * bobbin_sframe_index_count() - how many buckets an index should have
 * @view: a checked section
 *
 * Two to four functions for each, so that an index takes 1 to 2 bytes a
 * function.  Safe in every context.
 *
 * Return: the number; 0: an index would not help, as the section is not sorted
 * or small.
 */
uint32_t bobbin_sframe_index_count(const struct bobbin_sframe_view *view);

/**
 * bobbin_sframe_view_index() - make lookups in a sorted section faster
 * @view: a checked section; its @index is set, no other field may change later
 * @buckets: memory for the index, borrowed for as long as the view and its
 *	copies are used; with arbitrary numbers in it on failure
 * @count: of @buckets, best by bobbin_sframe_index_count(); 3 at least
 *
 * Lookups give the same answers with and without an index, whatever the bytes.
 * Reads the FDE table once, front to back.  Safe in every context.
 *
 * Return: 0; -EINVAL: the functions do not ascend, one is more than 2^62 bytes
 * away from the section, there are none, or @count is less than 3 or more than
 * 2^30 + 1; @view is unchanged.
 */
int bobbin_sframe_view_index(struct bobbin_sframe_view *view, uint32_t *buckets, uint32_t count);

/**
 * struct bobbin_sframe_fde - one function
 * @start: first PC
 * @size: bytes of code
 * @num_fres: rows
 * @fre_off: offset of its first row from the section's first byte
 * @info, @info2: as in the section; @info2 is 0 before V3
 * @rep_size: with PCMASK: bytes of one repeated block, else 0
 * @fre_type: bytes of a row's start: 1, 2 or 4
 * @pcmask: rows repeat every @rep_size bytes
 * @flex: V3 flexible FDE
 * @signal: V3 signal frame
 * @key_b: AArch64 key B
 */
struct bobbin_sframe_fde {
	uint64_t start;
	uint32_t size, num_fres;
	uint64_t fre_off;
	uint8_t info, info2, rep_size, fre_type;
	bool pcmask, flex, signal, key_b;
};

/**
 * bobbin_sframe_fde() - decode one FDE
 * @view: a checked section
 * @index: < @view->num_fdes
 * @err: where and why on failure, or NULL
 * @ret: the entry; untouched on failure
 *
 * Safe in every context.
 *
 * Return: 0, -ENOENT for an index out of range, -EBADMSG.
 */
int bobbin_sframe_fde(const struct bobbin_sframe_view *view, uint32_t index,
		      struct bobbin_error *err, struct bobbin_sframe_fde *ret);

/**
 * struct bobbin_sframe_fre - one row as the section has it
 * @start: bytes from the function's (or repeated block's) start
 * @info: the info byte
 * @num_words: data words
 * @word_size: 1, 2 or 4 bytes
 * @words: the data words, sign-extended; flexible control words are unsigned
 * @offset: of the row from the section's first byte
 * @next: offset of the byte after the row
 */
struct bobbin_sframe_fre {
	uint32_t start;
	uint8_t info, num_words, word_size;
	int32_t words[6];
	uint64_t offset, next;
};

/**
 * bobbin_sframe_fre() - decode one row
 * @view: a checked section
 * @fde: the row's function
 * @offset: of the row: @fde->fre_off, or @next of the row before
 * @err: where and why on failure, or NULL
 * @ret: the row; untouched on failure
 *
 * Safe in every context.
 *
 * Return: 0 or -EBADMSG.
 */
int bobbin_sframe_fre(const struct bobbin_sframe_view *view, const struct bobbin_sframe_fde *fde,
		      uint64_t offset, struct bobbin_error *err, struct bobbin_sframe_fre *ret);

/**
 * bobbin_sframe_rule() - what a row means
 * @view: a checked section
 * @fde: the row's function
 * @fre: the row
 * @err: where and why on failure, or NULL
 * @ret: the rule; untouched on failure
 *
 * Safe in every context.  SFrame V3 specification, chapters on the ABI-specific
 * interpretation of data words and on flexible FDEs.
 *
 * Return: 0 or -EBADMSG.
 */
int bobbin_sframe_rule(const struct bobbin_sframe_view *view, const struct bobbin_sframe_fde *fde,
		       const struct bobbin_sframe_fre *fre, struct bobbin_error *err,
		       struct bobbin_rule *ret);

/**
 * bobbin_sframe_lookup() - the row for a PC
 * @view: a checked section
 * @pc: see bobbin_regs_lookup_pc()
 * @err: where and why on failure, or NULL; BOBBIN_REASON_NO_FUNCTION or BOBBIN_REASON_NO_ROW
 *	with -ENOENT
 * @ret: the row, @start <= @pc < @end; untouched on failure
 *
 * A few entries are touched when the view has an index, log2(functions) when
 * the section is only sorted, all of them when it is not; then the rows of one
 * function.  Safe in every context.
 *
 * Return: 0; -ENOENT: the section says nothing about @pc; -EBADMSG: it is
 * malformed at the entries that matter for @pc.  In programs of a kernel, which read
 * the section where the process has it, also -EFAULT with BOBBIN_REASON_NO_MEMORY:
 * it cannot be read.
 */
int bobbin_sframe_lookup(const struct bobbin_sframe_view *view, uint64_t pc,
			 struct bobbin_error *err, struct bobbin_row *ret);

#ifdef __cplusplus
}
#endif

#endif
