/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * core_notes.h - what the notes of a core file say of its process.
 */
#ifndef BOBBIN_ELF_CORE_NOTES_H
#define BOBBIN_ELF_CORE_NOTES_H

#include "elf/core_contents.h"

/*
 * Add what notes say, the bytes of a PT_NOTE segment; the architecture is known.  Notes that are
 * too short, and of others than Linux, say nothing.  0, -ENOMEM.
 */
int core_notes_read(struct core_file *core, const uint8_t *notes, uint64_t size);

#endif
