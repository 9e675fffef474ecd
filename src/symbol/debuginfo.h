/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * debuginfo.h - inlined functions and lines of a file, by libdw.
 *
 *	address -> unit      all units are indexed when the file is opened
 *	        -> function  of a unit, indexed when it is first needed
 *	        -> scopes    a walk down from the function, each time
 *
 * A budget counts DIEs, ranges and attributes down, so that walks end.
 * libdw trusts DWARF more than bobbin may, see docs/symbols.md.  Hence nothing
 * here recurses, what a file can cost is bounded by its size, sections and line
 * tables that would take more memory than allowed are refused before libdw sees
 * them, and no file is opened because DWARF names it: .dwo files are left out,
 * and DWARF whose supplement is not found is not used.
 */
#ifndef BOBBIN_SYMBOL_DEBUGINFO_H
#define BOBBIN_SYMBOL_DEBUGINFO_H

#include "symbol/elf_file.h"
#include "symbol/interval.h"
#include "symbol/names.h"

struct debuginfo;

struct debug_wish {
	bool inlines, lines;
	void (*no_memory)(void) __attribute__((noreturn)); /* libdw has none */
};

struct debug_frame {
	struct name_pair name; /* NULLs: unknown */
	uint64_t start, size;  /* of the part of the function that holds the address */
	const char *file;      /* NULL: unknown */
	uint32_t line;
	bool inlined;
	bool guessed; /* @size is */
};

/*
 * Read the DWARF of @file, which is taken over in any case; @names and @paths
 * must outlive the result.  At most @limit bytes are held.
 * Returns 0, -ENOENT if there is none that can be used, -ENOMEM.
 */
int debuginfo_open(struct elf_file *file, const struct search_paths *paths, struct names *names,
		   const struct debug_wish *wish, size_t limit, struct debuginfo **ret);
void debuginfo_close(struct debuginfo *d);

/*
 * The frames at @address, innermost first; without @wish->inlines at most one,
 * which has a line only.  @same is cut to the addresses that have the same.
 * Returns their number, 0 if it is not known, -ENOMEM.
 */
int debuginfo_frames(struct debuginfo *d, uint64_t address, struct debug_frame *ret, size_t max,
		     struct interval_gap *same);

/* About what is held: libdw does not tell. */
size_t debuginfo_memory(const struct debuginfo *d);

#endif
