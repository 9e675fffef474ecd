/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * gnu_sframe.h - types of SFrame's section and segment, for a libelf without them.
 */
#ifndef BOBBIN_ELF_GNU_SFRAME_H
#define BOBBIN_ELF_GNU_SFRAME_H

#include <elf.h>

/* binutils include/elf/common.h */
#ifndef PT_GNU_SFRAME
#define PT_GNU_SFRAME 0x6474e554
#endif
#ifndef SHT_GNU_SFRAME
#define SHT_GNU_SFRAME 0x6ffffff4
#endif

#endif
