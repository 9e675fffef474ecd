/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * go_table.h - Go's table of functions becomes a compiled table.
 */
#ifndef BOBBIN_BPFWALK_GO_TABLE_H
#define BOBBIN_BPFWALK_GO_TABLE_H

#include "golang/pclntab.h"

/*
 * Make a table of at most @limit bytes, which says what pclntab_lookup() says.  @data becomes the
 * caller's.  0; -EBADMSG: the functions are in no order; otherwise as table_builder_make().
 */
int go_table_make(const struct pclntab *from, const struct bobbin_arch *arch, uint64_t limit,
		  uint8_t **data, uint64_t *size);

#endif
