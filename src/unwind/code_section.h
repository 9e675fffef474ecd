/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * code_section.h - a registered section in the own process's memory.
 */
#ifndef BOBBIN_UNWIND_CODE_SECTION_H
#define BOBBIN_UNWIND_CODE_SECTION_H

#include "codemap/code.h"

/*
 * The row for an address, in a section that was registered.  As bobbin_sframe_lookup();
 * -ENOENT also while an empty section is not filled yet.
 */
int code_section_lookup(const struct code *code, const struct bobbin_arch *arch, uint64_t pc,
			struct bobbin_error *err, struct bobbin_row *ret);

#endif
