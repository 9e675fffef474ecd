/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * sframe_relocation.h - where the functions of a relocatable file start.
 *
 * The only fields of an SFrame section that are relocated are the functions'
 * starts, each against a symbol and relative to the field itself.  Every section
 * of such a file is at address 0, so that a start is an offset in the section
 * of its function.
 */
#ifndef BOBBIN_ELF_SFRAME_RELOCATION_H
#define BOBBIN_ELF_SFRAME_RELOCATION_H

#include "elf/sframe_reader.h"

/*
 * Apply all relocations of the sections that were found, and remember their
 * targets.  -EBADMSG with a reason and a file offset, -ENOMEM.
 */
int sframe_relocate(struct sframe_reader *reader);

#endif
