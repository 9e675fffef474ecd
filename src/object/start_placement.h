/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * start_placement.h - where the functions of a relocatable file's SFrame section
 * start once its sections of code have addresses.
 */
#ifndef BOBBIN_OBJECT_START_PLACEMENT_H
#define BOBBIN_OBJECT_START_PLACEMENT_H

#include <bobbin/sframe.h>

#include "elf/sframe_file.h"
#include "object/object_code.h"

/*
 * Change the start fields of a table of @section, each that a relocation says
 * something about: @place says where the function is to start.
 */
void start_placement(const struct sframe_section *section, const struct bobbin_sframe_view *view,
		     uint64_t (*place)(const void *ctx, const struct sframe_target *target),
		     const void *ctx);

/*
 * Place them where @code has their code, to be compared with it; the view becomes an
 * unsorted one.  Functions of what is no code, or of undefined symbols, start at
 * OBJECT_CODE_MAX, after all code.
 */
void start_placement_by(const struct object_code *code, const struct sframe_section *section,
			struct bobbin_sframe_view *view);

#endif
