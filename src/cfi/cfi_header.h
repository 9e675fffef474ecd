/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * cfi_header.h - call-frame information that only .eh_frame_hdr leads to, as in a loaded file.
 */
#ifndef BOBBIN_CFI_CFI_HEADER_H
#define BOBBIN_CFI_CFI_HEADER_H

#include <bobbin/cfi.h>

/*
 * A view of .eh_frame by its header; @view: the architecture, the header and its address, else zero.
 * @segment: the addresses of what is mapped around the header; the section lies there, and may
 * reach up to its end.  Unlike bobbin_cfi_view_init() this does not read the search table: lookups
 * check the entries that they use, but may find none where the table is not sorted.
 *
 * 0; -ENODATA or -EBADMSG: there is no header or table that can be used.
 */
int cfi_view_of_header(struct bobbin_cfi_view *view, const struct bobbin_range *segment);

#endif
