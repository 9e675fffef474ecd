/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * file_modules.h - the unwind tables of all files that an unwinder has met.
 *
 * A file is read once, when somebody first asks for its tables, and again only if it
 * could not be opened and another process maps it.  All together hold FILE_MODULES_MAX
 * bytes of tables at most: who runs many files, with sections that are holes or
 * compressed, must not take all memory.
 */
#ifndef BOBBIN_UNWIND_FILE_MODULES_H
#define BOBBIN_UNWIND_FILE_MODULES_H

#include "unwind/module.h"

#define FILE_MODULES_MAX ((uint64_t)512 << 20)

/* Zero to begin. */
struct file_modules {
	struct module_slot *slots; /* by file number */
	uint32_t count;
	size_t room;
	uint64_t bytes; /* of tables that are held */
};

/*
 * The tables of a file, or NULL: it has none, cannot be read, or there is no
 * room.  Borrowed; valid until file_modules_fini(), as @options must be.
 */
struct module *file_modules_get(struct file_modules *modules, const struct mapped_file *file,
				struct process_reader *reader,
				const struct bobbin_unwinder_options *options);

/* Whether there was no room for a file's tables. */
bool file_modules_left_out(const struct file_modules *modules, const struct mapped_file *file);

void file_modules_fini(struct file_modules *modules);

#endif
