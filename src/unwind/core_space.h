/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * core_space.h - what was mapped in a core file's process, with the files that are here for it.
 *
 *	a mapped file's path ─► SYSROOT/PATH, PATH, SYSROOT/NAME, BESIDE/NAME
 *	                        the first with its build ID, or, without one, with its first page
 *	none                    what the core has of it, for tables there and for side-files
 *	the vDSO                the core's memory
 *	other code              the core's memory, without tables
 */
#ifndef BOBBIN_UNWIND_CORE_SPACE_H
#define BOBBIN_UNWIND_CORE_SPACE_H

#include <bobbin/address_space.h>

#include "base/process_reader.h"
#include "elf/core_file.h"

/**
 * struct core_places - where files are looked for; paths are absolute
 * @reader: who opens them, or NULL; borrowed
 * @sysroot: a folder with the paths of the process below it, or NULL
 * @beside: another one with files by their names, or NULL
 * @program: the program's file, which the user vouches for, or NULL
 * @on_absence: told of each mapped file of code that is not here, with -ENOENT, or -ESTALE where
 *	another one is, or -ENODATA where the core lacks its first page, by which it is known; or NULL
 * @ctx: passed to it
 */
struct core_places {
	struct process_reader *reader;
	const char *sysroot, *beside, *program;
	void (*on_absence)(void *ctx, const char *path, int error);
	void *ctx;
};

/*
 * Map the code of a core file in a space that is empty.  From then on walks there read code in
 * the memory that they are given, too.  Mappings of a core that lists none are added to it, see
 * core_loader.h.  0; -ESTALE: the program of @places is another one than the core's; another
 * errno of opening it; -ENOMEM; the errno of reading the core.
 */
int core_space_load(struct bobbin_space *space, struct core_file *core,
		    const struct core_places *places);

#endif
