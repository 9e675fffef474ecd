/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * debuginfo.h - inlined functions and source lines from DWARF 2 to 5.
 *
 * A reader made for hostile files that are larger than memory.  Opening scans
 * the unit headers and which code each unit covers; a unit is read when an
 * address in it is asked for, and reduced to two tables: which function or
 * inlined call covers which range, and which line begins where.  Names stay in
 * the file until they are needed.  The tables of units can be dropped at any
 * time.  Nothing recurses, and a budget of steps ends what takes too long, such
 * as a million units that share one range list.
 *
 * Split DWARF (.dwo, .dwp) is not followed: such units have lines, but no
 * inlined functions.
 */
#ifndef BOBBIN_SYMBOL_DEBUGINFO_H
#define BOBBIN_SYMBOL_DEBUGINFO_H

#include "symbol/debugfile.h"
#include "symbol/namepool.h"
#include "symbol/object.h"

struct debuginfo;

struct debug_frame {
	struct name_pair name; /* NULLs if unknown */
	const char *file;      /* NULL if unknown */
	uint32_t line;
	bool inlined; /* into the next frame */
};

struct debug_wish {
	bool inlines, lines;
};

/*
 * Open the DWARF of @o, if it has any.  @o, @names and @paths must outlive it;
 * results are strings of @names.  Sections that have to be decompressed and
 * the tables of a unit may take up to @limit bytes.
 * Returns 0, -ENOENT if there is none, -ENOMEM.
 */
int debuginfo_open(const struct object *o, const struct debug_paths *paths, struct name_pool *names,
		   uint64_t limit, struct debuginfo **ret);
void debuginfo_close(struct debuginfo *d);

/*
 * What is at @address of the file: the innermost inlined function first; the
 * first frame has the line of the address, each next one that of the call.
 * Without inlines, or where no function is described, there is one frame
 * without a name if there is a line.
 * Returns the number of frames, -ENOMEM.
 */
int debuginfo_frames(struct debuginfo *d, uint64_t address, const struct debug_wish *wish,
		     struct debug_frame *ret, size_t max);

/* Bytes held now; and give back what can be read again. */
size_t debuginfo_memory(struct debuginfo *d);
void debuginfo_trim(struct debuginfo *d);

#endif
