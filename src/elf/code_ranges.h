/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * code_ranges.h - where a linked file or a core file has code.
 *
 *	sections that are loaded and executable		exact; also those without
 *							bytes, in files of debug
 *							information
 *	without any, executable segments		may hold headers and
 *							constants, too
 */
#ifndef BOBBIN_ELF_CODE_RANGES_H
#define BOBBIN_ELF_CODE_RANGES_H

#include <libelf.h>

#include "base/coverage.h"

/* Read them, settled; headers that cannot be read are passed over.  0, -ENOMEM. */
int code_ranges_init(Elf *elf, struct coverage *ret);

#endif
