/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * backing_file.h - open the file that a mapping is of.
 *
 * A path alone is not enough: the file may have been deleted or replaced, or
 * be meant in another mount namespace.  Its identity is its build ID; without one, its
 * inode, in a recording that it was not changed since it was mapped, or that it begins with
 * what the process had in its memory, if that is known.  In this order, the
 * first whose identity fits:
 *
 *	/proc/PID/map_files/START-END	exactly what is mapped (root)
 *	/proc/PID/root/PATH		in the process's mount namespace
 *	PATH				the process has ended
 *	DEBUG/.build-id/NN/NNN.debug	only the build ID is left
 */
#ifndef BOBBIN_TARGET_BACKING_FILE_H
#define BOBBIN_TARGET_BACKING_FILE_H

#include "base/process_reader.h"
#include "target/mapped_file.h"

/*
 * Open a regular file for reading; @reader may be NULL.  A negative errno if none fits:
 * -ENOENT; -ESTALE if PATH is, or may be, another file by now; -ETIMEDOUT.
 */
int backing_file_open(struct process_reader *reader, const struct mapped_file *file,
		      const char *debug_path);

/* The kernel's code in the own process, or NULL. */
const void *own_vdso(size_t *size);

/*
 * The bytes of the kernel's code in a process: those that were mapped with it, else the own
 * ones.  NULL: there are none, or the file is another one.
 */
const void *mapped_vdso(const struct mapped_file *file, size_t *size);

#endif
