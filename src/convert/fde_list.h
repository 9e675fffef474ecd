/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * fde_list.h - the live FDEs of a file by address; see struct bobbin_cfi_view for
 * which these are.
 */
#ifndef BOBBIN_CONVERT_FDE_LIST_H
#define BOBBIN_CONVERT_FDE_LIST_H

#include <bobbin/cfi.h>

/* A lazy-binding stub has this size, and a push of this many bytes in it. */
#define STUB_SIZE 16
#define STUB_PUSH 8

/**
 * struct listed_fde - a live FDE
 * @start, @end: its addresses
 * @offset, @next: of the FDE, and of the entry after it, in its section
 * @cie, @insn: of its CIE and its instructions
 * @view: index of the section
 */
struct listed_fde {
	uint64_t start, end;
	uint64_t offset, next, cie, insn;
	uint32_t view;
};

/**
 * struct fde_list - those of a file
 * @fdes, @count: ascending, without overlaps
 * @dead: FDEs that are not live
 * @malformed: entries that were skipped
 * @reason: of the first of them
 */
struct fde_list {
	struct listed_fde *fdes;
	size_t count;
	uint64_t dead, malformed;
	enum bobbin_reason reason;
};

/*
 * List the live FDEs of @count sections.  Those of a section that overlap one of a
 * section before it are left out, too.  0, -ENOMEM.
 */
int fde_list_init(const struct bobbin_cfi_view *views, unsigned int count, struct fde_list *ret);
void fde_list_fini(struct fde_list *list);

/* The FDE that holds an address, or NULL. */
const struct listed_fde *fde_list_find(const struct fde_list *list, uint64_t addr);

/*
 * Start the program of a listed FDE.  @rows: another one's, whose CIE is not read again if
 * it is the same; its view is NULL if there is none, and after failure.  0, -EBADMSG.
 */
int listed_fde_start(const struct bobbin_cfi_view *views, const struct listed_fde *listed,
		     struct bobbin_error *err, struct bobbin_cfi_rows *rows);

#endif
