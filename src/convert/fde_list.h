/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * fde_list.h - the FDEs of a file by address, without overlaps.
 */
#ifndef BOBBIN_CONVERT_FDE_LIST_H
#define BOBBIN_CONVERT_FDE_LIST_H

#include <bobbin/cfi.h>

/* Parts of an FDE at most: the program of each is run from its beginning. */
#define FDE_LIST_PARTS 64

/**
 * struct listed_fde - a part of the code and who describes it
 * @start, @end: addresses; @end may be lower than the FDE's own
 * @offset: of the FDE in its section
 * @view: index of the section
 */
struct listed_fde {
	uint64_t start, end, offset;
	uint32_t view;
};

struct fde_list {
	struct listed_fde *fdes;
	size_t count;
	uint64_t malformed;        /* entries that were passed over */
	enum bobbin_reason reason; /* of the first of them */
};

/*
 * List the FDEs with code of @count sections.  What an FDE has beyond
 * FDE_LIST_PARTS parts is left out.  Where they overlap, the first
 * section wins, and within a section the FDE that starts last.  0, -ENOMEM.
 */
int fde_list_init(const struct bobbin_cfi_view *views, unsigned int count, struct fde_list *ret);
void fde_list_fini(struct fde_list *list);

#endif
