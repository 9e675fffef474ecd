/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * code_abi.h - structures by which a process tells where its code is and how to
 * unwind it.
 *
 * The layouts are those of the proposals for Linux: codectl(2) of July 2025 and
 * sframe_register(2), version 2, of May 2026.  What reviewers asked for and the
 * proposals leave open stands after the posted fields: a caller that knows the
 * posted part only passes its size, and the rest counts as zero.
 * docs/registration.md is the manual.
 *
 * All addresses are u64 in the caller's address space, all numbers of native byte
 * order, all ranges half open: start <= address < end.
 */
#ifndef BOBBIN_CODE_ABI_H
#define BOBBIN_CODE_ABI_H

#include <bobbin/types.h>

#ifdef __cplusplus
extern "C" {
#endif

/* What codectl(2) does. */
enum code_opt {
	CODE_REGISTER_ELF,
	CODE_REGISTER_JIT,
	CODE_UNREGISTER,
};

/* struct code_text_range - one of several pieces of text */
struct code_text_range {
	uint64_t start, end;
};

/* struct code_elf_info.table_flags: the table is in a file, not in memory */
#define CODE_TABLE_FILE 0x1     /* at @table_offset of @table_fd */
#define CODE_TABLE_ZSTD 0x2     /* with CODE_TABLE_FILE: as one zstd frame */
#define CODE_TABLE_COMPILED 0x4 /* with CODE_TABLE_FILE: it is no section, but a compiled table */

/**
 * struct code_elf_info - an ELF image that was mapped
 * @elf_start, @elf_end: the image, or 0 and 0
 * @text_start, @text_end: executable code
 * @sframe_start, @sframe_end: its SFrame section in memory; 0 and 0: none, or
 *	see @table_flags
 * @pathname: char *, or 0
 * @build_id: bytes, or 0
 * @debug_link_pathname: char *, or 0
 * @build_id_len: bytes at @build_id
 * @debug_link_crc: of the file that @debug_link_pathname names
 * @text_ranges: struct code_text_range *, more text of the same image; or 0
 * @text_range_count: entries at @text_ranges
 * @table_flags: CODE_TABLE_…
 * @table_fd: with CODE_TABLE_FILE: descriptor, needed during the call only
 * @reserved: 0
 * @table_offset, @table_size: where in the file, and how many bytes there
 * @table_addr: address that the section has when the image is mapped as it is
 *	now; starts of functions are relative to it.  Of a compiled table: what is added to
 *	its addresses when the image is mapped as it is now
 */
struct code_elf_info {
	uint64_t elf_start, elf_end;
	uint64_t text_start, text_end;
	uint64_t sframe_start, sframe_end;
	uint64_t pathname;
	uint64_t build_id;
	uint64_t debug_link_pathname;
	uint32_t build_id_len, debug_link_crc;
	/* after the posted structure */
	uint64_t text_ranges;
	uint32_t text_range_count, table_flags;
	int32_t table_fd;
	uint32_t reserved;
	uint64_t table_offset, table_size;
	uint64_t table_addr;
};

/* sizeof(struct code_elf_info) as posted */
#define CODE_ELF_INFO_SIZE_VER0 80

/**
 * struct code_jit_info - code that a compiler makes while the program runs
 * @text_start, @text_end: where it may lie
 * @unwind_head: struct code_jit_unwind_table *, the first
 */
struct code_jit_info {
	uint64_t text_start, text_end;
	uint64_t unwind_head;
};

/* sizeof(struct code_jit_info) as posted */
#define CODE_JIT_INFO_SIZE_VER0 24

/* struct code_jit_unwind_fre.info: as in an SFrame FRE of the default type */
#define CODE_JIT_FRE_BASE_SP 0x01 /* the CFA is SP + cfa_off, else FP + cfa_off */
#define CODE_JIT_FRE_COUNT 0x1e   /* offsets in use, 1 to 3; 0: outermost, no caller */
#define CODE_JIT_FRE_MANGLED 0x80 /* AArch64: the return address is signed */

/**
 * struct code_jit_unwind_fre - how to unwind a piece of code
 * @size: bytes of code that this holds for, not 0
 * @ip_off: of the first of them, from struct code_jit_info.text_start
 * @cfa_off: from the base register to the CFA
 * @ra_off: slot of the return address from the CFA; 0: where the architecture's
 *	call instruction leaves it (AMD64: CFA - 8; others: the link register)
 * @fp_off: slot of the caller's frame pointer from the CFA; 0: it is unchanged
 * @info: CODE_JIT_FRE_…
 */
struct code_jit_unwind_fre {
	uint32_t size;
	uint32_t ip_off;
	int32_t cfa_off, ra_off, fp_off;
	uint8_t info;
};

/**
 * struct code_jit_unwind_table - entries that are read while more are added
 * @reserved_len: bytes of memory at @fre; never changes
 * @used_len: bytes of them that are entries.  Stored with release, loaded with
 *	acquire; only grows
 * @next: struct code_jit_unwind_table * that goes on where this one ends, or 0.
 *	Stored with release, loaded with acquire; set once
 * @fre: entries, ascending and not overlapping
 */
struct code_jit_unwind_table {
	uint64_t reserved_len;
	uint64_t used_len;
	uint64_t next;
#ifndef __cplusplus /* has no such members */
	struct code_jit_unwind_fre fre[];
#endif
};

/**
 * struct sframe_setup - a section for a piece of text
 * @sframe_start, @sframe_size: the section in memory
 * @text_start, @text_size: the code
 * @flags: 0; after the posted structure
 */
struct sframe_setup {
	uint64_t sframe_start, sframe_size;
	uint64_t text_start, text_size;
	uint64_t flags;
};

/* sizeof(struct sframe_setup) as posted */
#define SFRAME_SETUP_SIZE_VER0 32

#ifdef __cplusplus
}
#endif

#endif
