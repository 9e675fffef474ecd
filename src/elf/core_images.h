/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * core_images.h - the SFrame sections of the ELF files that a core file's
 * process had mapped.
 *
 *	NT_FILE note ─► a mapping of a file's first page
 *	its program headers, in the core's memory ─► PT_GNU_SFRAME
 *	its bytes, in the core's memory, else in the file
 *
 * Kernels dump the first page of each ELF image, but not the read-only pages
 * after it that a file backs.  Such pages are read from the file, if it is still
 * the one that was mapped: build IDs tell.
 */
#ifndef BOBBIN_ELF_CORE_IMAGES_H
#define BOBBIN_ELF_CORE_IMAGES_H

#include "elf/sframe_reader.h"

/* Images that are looked at; what is mapped beyond them is reported as absent. */
#define CORE_IMAGES_MAX 4096

/* -EBADMSG with a reason and a file offset, -ENOMEM. */
int core_images_read(struct sframe_reader *reader);

#endif
