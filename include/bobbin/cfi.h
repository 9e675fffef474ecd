/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * cfi.h - rules from DWARF call-frame information.
 *
 *	.eh_frame_hdr ── find ─► FDE ── program ─► rows (struct bobbin_row)
 *
 * Reads .eh_frame (DWARF as amended by the LSB) and .debug_frame (DWARF 2..5).
 * Only what a rule can hold is followed: the CFA, the return address, the
 * frame pointer.  Expressions that compilers, linkers and hand-written assembly
 * really use are evaluated symbolically; any other becomes a row without a
 * rule whose reason says so.
 *
 * Everything here is freestanding: no allocation, no static data, no
 * recursion, loops bounded by the bytes given.  Safe in every context.
 */
#ifndef BOBBIN_CFI_H
#define BOBBIN_CFI_H

#include <bobbin/arch.h>
#include <bobbin/range.h>
#include <bobbin/rule.h>

#ifdef __cplusplus
extern "C" {
#endif

/**
 * struct bobbin_cfi_view - the call-frame information of one file
 * @arch: the file's architecture
 * @frame, @frame_size, @frame_addr: .eh_frame or .debug_frame, borrowed, and
 *	its address in the space of the PCs that are looked up
 * @hdr, @hdr_size, @hdr_addr: .eh_frame_hdr, borrowed, or NULL
 * @table: offset of the search table from @hdr, 0: there is none that is sane
 * @table_count: its entries
 * @debug_frame: @frame is .debug_frame
 * @code, @code_count: where the file has code, ascending ranges that do not touch
 *	each other, borrowed; NULL: not known, anywhere
 *
 * Linkers that drop a function leave its entry in .debug_frame, with 0 or another
 * number for an address.  An entry is *live*, and says what holds, if
 *
 *	- it has code, and all of it lies in one range of @code;
 *	- no other entry with such code starts inside it;
 *	- it is the longest of those that start where it starts, and of those that
 *	  are as long, the last.
 *
 * Look-ups find live entries only; bobbin_cfi_next() and bobbin_cfi_fde() give all.
 *
 * Fill in everything but @table and @table_count and call
 * bobbin_cfi_view_init().
 */
struct bobbin_cfi_view {
	const struct bobbin_arch *arch;
	const uint8_t *frame, *hdr;
	uint64_t frame_size, frame_addr;
	uint64_t hdr_size, hdr_addr;
	uint64_t table;
	uint32_t table_count;
	bool debug_frame;
	const struct bobbin_range *code;
	size_t code_count;
};

/**
 * bobbin_cfi_view_init() - find the search table
 * @view: filled in as described above
 * @err: why the header is not usable, or NULL
 *
 * Checks each entry of the table once: ascending addresses, FDEs inside
 * @view->frame.
 *
 * Return: 0; -ENODATA: there is no header; -EBADMSG: the header is insane.  In
 * either case the view works, but finds FDEs by scanning.
 */
int bobbin_cfi_view_init(struct bobbin_cfi_view *view, struct bobbin_error *err);

/**
 * struct bobbin_cfi_fde - one function, with what its CIE says
 * @start, @end: PCs covered; @end is the first after them
 * @offset, @next: of the entry and of the entry after it, from @view->frame
 * @cie: offset of its CIE
 * @init, @init_end: offsets of the CIE's instructions
 * @insn, @insn_end: offsets of the FDE's instructions
 * @code_align, @data_align: factors
 * @ra_column: return-address register; rules are for the usual one alone
 * @fde_enc: pointer encoding, DW_EH_PE_…
 * @signal: augmentation 'S'
 * @key_b: augmentation 'B' (AArch64)
 * @sized: augmentation 'z': augmentation data has a size
 */
struct bobbin_cfi_fde {
	uint64_t start, end;
	uint64_t offset, next, cie;
	uint64_t init, init_end, insn, insn_end;
	uint64_t code_align;
	int64_t data_align;
	uint64_t ra_column;
	uint8_t fde_enc;
	bool signal, key_b, sized;
};

/**
 * bobbin_cfi_next() - walk over all FDEs
 * @view: the section
 * @offset: in: 0, or where the last call left it; out: where to go on, also
 *	after -EBADMSG if the entry's length was sane (else the section's end)
 * @err: where and why on failure, or NULL
 * @ret: the FDE; untouched otherwise
 *
 * Return: 1 and an FDE; 0 at the end; -EBADMSG for a malformed entry.
 */
int bobbin_cfi_next(const struct bobbin_cfi_view *view, uint64_t *offset, struct bobbin_error *err,
		    struct bobbin_cfi_fde *ret);

/**
 * bobbin_cfi_fde() - decode the FDE at an offset
 * @view: the section
 * @offset: of the entry
 * @err: where and why on failure, or NULL
 * @ret: the FDE; untouched on failure
 *
 * Return: 0; -ENOENT if the entry is a CIE or the terminator; -EBADMSG.
 */
int bobbin_cfi_fde(const struct bobbin_cfi_view *view, uint64_t offset, struct bobbin_error *err,
		   struct bobbin_cfi_fde *ret);

/**
 * bobbin_cfi_next_like() - bobbin_cfi_next() for whoever walks over many FDEs
 * @view: the section
 * @offset: as for bobbin_cfi_next()
 * @like: an FDE of @view, or all zero: a CIE that it has, too, is not decoded
 *	again
 * @err: where and why on failure, or NULL
 * @ret: the FDE; untouched otherwise; may be @like
 *
 * Return: as bobbin_cfi_next().
 */
int bobbin_cfi_next_like(const struct bobbin_cfi_view *view, uint64_t *offset,
			 const struct bobbin_cfi_fde *like, struct bobbin_error *err,
			 struct bobbin_cfi_fde *ret);

/**
 * bobbin_cfi_has_code() - the first condition of a live FDE
 * @view: the section
 * @fde: of it
 *
 * Return: whether it has code, and all of it lies in one range of @view->code.
 */
bool bobbin_cfi_has_code(const struct bobbin_cfi_view *view, const struct bobbin_cfi_fde *fde);

/**
 * bobbin_cfi_find() - the live FDE for a PC
 * @view: the section
 * @pc: see bobbin_regs_lookup_pc()
 * @err: where and why on failure, or NULL
 * @ret: the FDE, @start <= @pc < @end; untouched on failure
 *
 * log2(functions) table entries, or twice all of the section if there is no table.
 *
 * Return: 0, -ENOENT (BOBBIN_REASON_NO_FUNCTION), -EBADMSG.
 */
int bobbin_cfi_find(const struct bobbin_cfi_view *view, uint64_t pc, struct bobbin_error *err,
		    struct bobbin_cfi_fde *ret);

/* How deep DW_CFA_remember_state may nest; compilers reach 2. */
#define BOBBIN_CFI_STATES 16

/* State of a program; private. */
struct bobbin_cfi_state {
	struct bobbin_place cfa, ra, fp, sp;
	struct bobbin_place base; /* the last CFA that was a register and an offset */
	uint64_t word;            /* the packed rule; 0: not known */
	int16_t plus;
	uint8_t index, plt;
	uint8_t reason;    /* the CFA has no rule: why */
	uint8_t ra_reason; /* likewise, RA */
	uint8_t fp_reason;
	bool mangled;
};

/**
 * struct bobbin_cfi_rows - a program that is being run
 * @start, @end: of the row that was returned last; before the first row both are the
 *	function's start
 * @plt: of the same row: the lazy-binding stub's rule.  0, or N: where the PC's low
 *	four bits are >= N, the CFA is 8 bytes further than the row's rule says
 *
 * The other members are private.  A value of about 1200 bytes without pointers
 * to itself: copy it to come back to a point.
 */
struct bobbin_cfi_rows {
	const struct bobbin_cfi_view *view;
	struct bobbin_cfi_fde fde;
	uint64_t start, end;
	uint64_t pos, cie;
	struct bobbin_cfi_state now, initial;
	struct bobbin_cfi_state saved[BOBBIN_CFI_STATES];
	uint8_t depth;
	uint8_t plt;
};

/**
 * bobbin_cfi_rows_init() - start a function's program
 * @view: the section
 * @fde: the function; may be @ret->fde
 * @err: where and why on failure, or NULL
 * @ret: the program before its first row; undefined on failure
 *
 * Return: 0 or -EBADMSG.
 */
int bobbin_cfi_rows_init(const struct bobbin_cfi_view *view, const struct bobbin_cfi_fde *fde,
			 struct bobbin_error *err, struct bobbin_cfi_rows *ret);

/**
 * bobbin_cfi_rows_again() - start another function's program
 * @fde: the function, of the same section
 * @err: where and why on failure, or NULL
 * @rows: in: a program that bobbin_cfi_rows_init() or this function has started;
 *	out: the program before its first row; undefined on failure
 *
 * As bobbin_cfi_rows_init(), but what the CIE says is not run again if it is the
 * same one.
 *
 * Return: 0 or -EBADMSG.
 */
int bobbin_cfi_rows_again(const struct bobbin_cfi_fde *fde, struct bobbin_error *err,
			  struct bobbin_cfi_rows *rows);

/**
 * bobbin_cfi_rows_next() - run to the next row
 * @rows: the program
 * @err: where and why on failure, or NULL
 * @ret: the row; rows follow each other without gaps and cover the function;
 *	untouched otherwise
 *
 * Consecutive rows may have equal rules.
 *
 * Return: 1 and a row; 0 at the end; -EBADMSG.
 */
int bobbin_cfi_rows_next(struct bobbin_cfi_rows *rows, struct bobbin_error *err,
			 struct bobbin_row *ret);

/**
 * struct bobbin_cfi_word - a row whose rule is packed
 * @start: first PC; the row ends where the next one starts
 * @word: from bobbin_rule_pack(), or 0 for a rule that does not fit
 */
struct bobbin_cfi_word {
	uint64_t start, word;
};

/**
 * bobbin_cfi_rows_fill() - run to several rows
 * @rows: the program; @rows->end is where the last row ends
 * @err: where and why on failure, or NULL
 * @ret: the rows
 * @max: room in @ret, > 0
 *
 * A row whose rule does not fit in a word or is a lazy-binding stub's is always the last
 * one of a call, so that bobbin_cfi_rows_rule() and @rows->plt are about it.
 *
 * Return: the number of rows, 0 at the end; -EBADMSG if there is none before what is
 * malformed.
 */
int bobbin_cfi_rows_fill(struct bobbin_cfi_rows *rows, struct bobbin_error *err,
			 struct bobbin_cfi_word *ret, unsigned int max);

/**
 * bobbin_cfi_rows_rule() - the rule of the row that was returned last
 * @rows: the program, which has returned a row
 * @ret: the rule
 */
void bobbin_cfi_rows_rule(const struct bobbin_cfi_rows *rows, struct bobbin_rule *ret);

/**
 * bobbin_cfi_rows_find() - run to the row for a PC
 * @rows: the program
 * @pc: @rows->end <= @pc < @rows->fde.end
 * @err: where and why on failure, or NULL
 * @ret: the row, @start <= @pc < @end, with the lazy-binding stub's rule worked
 *	out; untouched on failure
 *
 * Return: 0 (the rule may be "no rule", with its reason); -ENOENT for another PC
 * (BOBBIN_REASON_NO_ROW); -EBADMSG.
 */
int bobbin_cfi_rows_find(struct bobbin_cfi_rows *rows, uint64_t pc, struct bobbin_error *err,
			 struct bobbin_row *ret);

/**
 * bobbin_cfi_lookup() - the row for a PC
 * @view: the section
 * @pc: see bobbin_regs_lookup_pc()
 * @rows: memory for the function's program, left at the row
 * @err: where and why on failure, or NULL
 * @ret: as for bobbin_cfi_rows_find()
 *
 * Return: 0 (the rule may be "no rule", with its reason); -ENOENT; -EBADMSG.
 */
int bobbin_cfi_lookup(const struct bobbin_cfi_view *view, uint64_t pc, struct bobbin_cfi_rows *rows,
		      struct bobbin_error *err, struct bobbin_row *ret);

#ifdef __cplusplus
}
#endif

#endif
