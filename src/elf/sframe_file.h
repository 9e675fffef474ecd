/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * sframe_file.h - the SFrame sections of a file, for those who look at the
 * sections themselves.
 *
 *	linked ELF file		its .sframe sections, or, without section
 *				headers, its segment
 *	relocatable ELF file	its .sframe sections, relocated as if every
 *				section were at address 0
 *	core file		the sections of what was mapped, at their
 *				addresses in the process, see core_images.c
 *	anything else		a section's bare bytes
 *
 * Everything is copied: a file that shrinks later does no harm.
 */
#ifndef BOBBIN_ELF_SFRAME_FILE_H
#define BOBBIN_ELF_SFRAME_FILE_H

#include "elf/sframe_sections.h"

/*
 * Read all of it; @fd, which may be a pipe, stays the caller's.  A file without
 * any section is no error.  -EBADMSG with a reason and a file offset; -EFBIG;
 * -ENOMEM; the errno of reading.
 */
int sframe_file_init(int fd, struct bobbin_error *err, struct sframe_file *ret);

#endif
