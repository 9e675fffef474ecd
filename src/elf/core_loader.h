/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * core_loader.h - what a process had mapped, by its program and its dynamic loader, for core files
 * without NT_FILE: those of Linux before 3.7, and of emulators.
 *
 *	AT_PHDR, else AT_ENTRY      the program
 *	its DT_DEBUG ─► r_debug     the loader's list of libraries
 */
#ifndef BOBBIN_ELF_CORE_LOADER_H
#define BOBBIN_ELF_CORE_LOADER_H

#include "elf/core_contents.h"
#include "elf/elf_image.h"

/*
 * Add the mappings of a core that has none.  @program: the program's file, where the core lacks
 * its headers, or NULL; @path: what the program is called then, or where the core does not tell.
 * What is not in the core adds nothing.  0; -ENOMEM; the errno of reading.
 */
int core_loader_map(struct core_file *core, const struct elf_image *program, const char *path);

#endif
