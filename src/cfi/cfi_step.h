/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * cfi_step.h - from a frame to its caller by a row of call-frame information.
 *
 * As bobbin_step() by the row's rule, and also where the row has none because it has
 * expressions (reason CFI_EXPRESSION).  Their value for the registers of the frame is that of
 * DWARF 5, section 2.5, as far as it makes sense in call-frame information.  Nothing is written,
 * the stack has a fixed size, and jumps backwards end with the operations that a walk may use.
 */
#ifndef BOBBIN_CFI_CFI_STEP_H
#define BOBBIN_CFI_CFI_STEP_H

#include <bobbin/cfi.h>

#include "core/table_step.h"

/*
 * @rows: has come to the frame's row, by bobbin_cfi_rows_find().  @pc: what was looked up, of
 * the table.  As bobbin_step().
 */
enum bobbin_reason cfi_step(const struct bobbin_cfi_rows *rows, uint64_t pc,
			    const struct bobbin_mem *mem, struct table_step *step);

#endif
