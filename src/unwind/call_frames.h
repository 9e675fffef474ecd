/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * call_frames.h - call-frame information that can be searched.
 *
 * By the table that the linker made, else by one of our own of where FDEs are.
 */
#ifndef BOBBIN_UNWIND_CALL_FRAMES_H
#define BOBBIN_UNWIND_CALL_FRAMES_H

#include <bobbin/cfi.h>

#include "elf/elf_image.h"

/* An FDE for files without a sane .eh_frame_hdr. */
struct fde_range {
	uint64_t start, end, offset;
};

struct cfi_table {
	struct bobbin_cfi_view view; /* frame NULL: absent */
	struct fde_range *ranges;    /* ascending; NULL: the view's own table serves */
	size_t range_count;
};

/*
 * @hdr: of .eh_frame, without data if there is none; NULL: @frame is .debug_frame.
 * Bytes are borrowed.  0 or -ENOMEM; @t, which is all zero before, is to be given to
 * cfi_table_fini() in either case.
 */
int cfi_table_init(const struct bobbin_arch *arch, const struct elf_bytes *frame,
		   const struct elf_bytes *hdr, struct cfi_table *t);
void cfi_table_fini(struct cfi_table *t);

/*
 * The row for an address; one without a rule where the FDE is malformed.  false: it
 * does not know the address.
 */
bool cfi_table_ask(const struct cfi_table *t, uint64_t vaddr, struct bobbin_row *row);

/* Each function, as long as @sink returns 0; what it returned.  Malformed ones are left out. */
int cfi_table_functions(const struct cfi_table *t,
			int (*sink)(void *ctx, uint64_t start, uint64_t end), void *ctx);

#endif
