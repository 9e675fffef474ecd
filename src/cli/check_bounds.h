/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * check_bounds.h - where functions may lie.
 *
 * Linked files have executable ranges.  In a relocatable file each section
 * starts at 0, so they are laid out one after the other, and the start fields of
 * the SFrame section's data are changed to what a linker would write.
 */
#ifndef BOBBIN_CLI_CHECK_BOUNDS_H
#define BOBBIN_CLI_CHECK_BOUNDS_H

#include <bobbin/sframe_validate.h>

#include "elf/sframe_file.h"

/* A section of a relocatable file that functions lie in, and where it was put. */
struct placed_section {
	size_t index;
	uint64_t start, size;
	bool exec;
};

/**
 * struct check_bounds - executable ranges and memory, for bobbin_sframe_validate()
 * @bounds: what it takes
 * @linked: of the file; borrowed
 * @laid_out: of the current section of a relocatable file; owned
 * @placed, @placed_count: what @laid_out comes from, ascending by index; owned
 * @order, @order_max: owned
 */
struct check_bounds {
	struct bobbin_sframe_bounds bounds;
	const struct coverage *linked;
	struct bobbin_range *laid_out;
	struct placed_section *placed;
	size_t placed_count;
	struct bobbin_sframe_order *order;
	size_t order_max;
};

/*
 * For a file, which is borrowed; then for each of its sections; then for each table
 * of the section, whose bytes are changed if it is @section->relocated.  0, -ENOMEM.
 */
void check_bounds_init(const struct sframe_file *file, struct check_bounds *ret);
int check_bounds_section(struct check_bounds *bounds, const struct sframe_section *section);
int check_bounds_table(struct check_bounds *bounds, const struct sframe_section *section,
		       const struct bobbin_sframe_view *view);
void check_bounds_fini(struct check_bounds *bounds);

#endif
