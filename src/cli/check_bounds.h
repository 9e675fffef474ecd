/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * check_bounds.h - where functions may lie.
 *
 * Linked files have executable ranges.  In a relocatable file each section
 * starts at 0, so they are laid out one behind the other, and the start fields of
 * the SFrame section's data are changed to what a linker would write.
 */
#ifndef BOBBIN_CLI_CHECK_BOUNDS_H
#define BOBBIN_CLI_CHECK_BOUNDS_H

#include <bobbin/sframe_validate.h>

#include "elf/sframe_file.h"

/**
 * struct check_bounds - executable ranges and memory, for bobbin_sframe_validate()
 * @bounds: what it takes
 * @text: ascending, not touching each other; owned
 * @order: owned
 */
struct check_bounds {
	struct bobbin_sframe_bounds bounds;
	struct bobbin_sframe_range *text;
	struct bobbin_sframe_order *order;
};

/*
 * For a table of a section of @file.  The section's bytes are changed if it is
 * @section->relocated.  0, -ENOMEM.
 */
int check_bounds_init(const struct sframe_file *file, const struct sframe_section *section,
		      const struct bobbin_sframe_view *view, struct check_bounds *ret);
void check_bounds_fini(struct check_bounds *bounds);

#endif
