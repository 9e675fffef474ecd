/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * code_page.h - the page by which a process publishes its registered code.
 *
 * Another process finds the page as the first bytes of the mapping that
 * /proc/PID/maps calls "/memfd:bobbin-code (deleted)" or "[anon:bobbin-code]", and reads it and what it points
 * to with process_vm_readv(2); no symbols are needed.  A BPF program that runs in
 * the process's context reads it with faultable reads.  Everything here is only
 * what the process says of itself: check it before use.
 *
 *	/proc/PID/maps ─► struct bobbin_code_page ─► entries[] ─► sections, JIT tables
 *
 * Protocol, docs/published-map.md:
 *
 *	struct bobbin_code_page.sequence is odd while @entries moves;
 *	struct bobbin_code_entry.sequence is odd while the entry is changed;
 *	struct bobbin_code_page.changes grows with each change, after it.
 */
#ifndef BOBBIN_CODE_PAGE_H
#define BOBBIN_CODE_PAGE_H

#include <bobbin/types.h>

#ifdef __cplusplus
extern "C" {
#endif

/* Name of the memory file, and of anonymous memory where there are no such files. */
#define BOBBIN_CODE_PAGE_NAME "bobbin-code"

#define BOBBIN_CODE_PAGE_MAGIC 0x65646f636e626f62ull /* "bobncode", little-endian */
#define BOBBIN_CODE_PAGE_VERSION 1

/**
 * struct bobbin_code_page - where the rest is
 * @magic, @version: as above; stored last, when the page is complete
 * @header_size, @entry_size: of the structures, which may grow at their ends
 * @pid: of the process, as it sees itself; another number: a child that has not
 *	set up its page yet, whose code is its parent's
 * @sequence: odd while @entries, @entry_max are changed
 * @changes: grows after each change of an entry
 * @entries: address of struct bobbin_code_entry[@entry_max]
 * @entry_max: entries there is memory for
 * @entry_count: entries at the start that were ever in use; only grows
 * @probe: address of a function that is called after each change with
 *	(number of the entry, its kind): a place for a probe.  0: none
 */
struct bobbin_code_page {
	uint64_t magic;
	uint32_t version;
	uint32_t header_size, entry_size;
	uint32_t pid;
	uint64_t sequence;
	uint64_t changes;
	uint64_t entries;
	uint64_t entry_max, entry_count;
	uint64_t probe;
};

/* struct bobbin_code_entry.kind */
#define BOBBIN_CODE_FREE 0
#define BOBBIN_CODE_SFRAME 1   /* @table, @table_size: an SFrame section */
#define BOBBIN_CODE_JIT 2      /* @table: struct code_jit_unwind_table */
#define BOBBIN_CODE_NAMED 3    /* identity without a table */
#define BOBBIN_CODE_COMPILED 4 /* @table, @table_size: a compiled table */

/**
 * struct bobbin_code_entry - one range of text
 * @sequence: odd while the entry is changed
 * @id: number of the registration, never used again; ranges of one have the same
 * @kind: BOBBIN_CODE_…
 * @flags: 0
 * @text_start, @text_end: the code
 * @table: address of the table's bytes
 * @table_size: bytes, 0 for a JIT table
 * @table_addr: address that starts of functions are relative to; mostly @table.  Of a compiled
 *	table: what is added to its addresses
 * @identity: address of struct bobbin_code_identity, or 0
 * @dropped: 0, or why the table serves no more: enum bobbin_reason in the low 16
 *	bits, offset in the table in the others.  Changes once, without @sequence
 */
struct bobbin_code_entry {
	uint64_t sequence;
	uint64_t id;
	uint32_t kind, flags;
	uint64_t text_start, text_end;
	uint64_t table, table_size, table_addr;
	uint64_t identity;
	uint64_t dropped;
};

/**
 * struct bobbin_code_identity - what file the code is from
 * @size: bytes of this structure and of @bytes; never changes
 * @debug_link_crc: CRC-32 of the debug file
 * @elf_start, @elf_end: mapped image, or 0 and 0
 * @path_len, @build_id_len, @debug_link_len: bytes at @bytes, in this order,
 *	without terminators
 * @reserved: 0
 * @bytes: path, build ID, name of the debug file
 */
struct bobbin_code_identity {
	uint32_t size, debug_link_crc;
	uint64_t elf_start, elf_end;
	uint32_t path_len, build_id_len, debug_link_len, reserved;
#ifndef __cplusplus /* has no such members */
	uint8_t bytes[];
#endif
};

#ifdef __cplusplus
}
#endif

#endif
