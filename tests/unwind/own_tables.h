/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * own_tables.h - unwind tables that are mapped into this process.
 *
 * Found as unwinders in user space find them: dl_iterate_phdr(), then the
 * segments PT_GNU_SFRAME and PT_GNU_EH_FRAME.  No file is read.
 */
#ifndef OWN_TABLES_H
#define OWN_TABLES_H

#include <bobbin/cfi.h>
#include <bobbin/sframe.h>

struct own_object {
	uint64_t start, end; /* of all segments */
	struct bobbin_sframe_view sframe;
	struct bobbin_cfi_view cfi;
	bool has_sframe, has_cfi;
	bool is_program; /* not a library */
};

/* Find the tables of all objects that are loaded now. */
void own_tables_init(const struct bobbin_arch *arch);

/* The object with an address, or NULL.  Safe in signal handlers. */
const struct own_object *own_object_of(uint64_t addr);

#endif
