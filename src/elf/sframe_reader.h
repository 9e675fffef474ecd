/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * sframe_reader.h - what the readers of a struct sframe_file share.
 */
#ifndef BOBBIN_ELF_SFRAME_READER_H
#define BOBBIN_ELF_SFRAME_READER_H

#include <gelf.h>

#include "elf/sframe_sections.h"

/* A section, or a file that is only bytes, is read up to this size. */
#define SFRAME_FILE_MAX_RAW ((uint64_t)1 << 30)

/**
 * struct sframe_reader - a file that is being read
 * @elf: the file
 * @fd: the same
 * @header: its header
 * @budget: bytes that may still be looked at; tables of a sound file do not
 *	overlap, so that a few times its size is enough for all of them
 * @err: where and why on failure, or NULL
 * @file: what was found
 */
struct sframe_reader {
	Elf *elf;
	int fd;
	GElf_Ehdr header;
	uint64_t budget;
	struct bobbin_error *err;
	struct sframe_file *file;
};

/* Spend some of the budget; -EBADMSG if it is exhausted. */
int sframe_reader_spend(struct sframe_reader *reader, uint64_t offset, uint64_t size);

/*
 * Bytes of the file, the caller's to free: libelf would search all chunks that
 * it gave before.  -EBADMSG if the file does not hold them all, -EFBIG, -ENOMEM.
 */
int sframe_reader_bytes(struct sframe_reader *reader, uint64_t offset, uint64_t size,
			uint8_t **ret);

/* Each of these: -EBADMSG with a reason and a file offset, -ENOMEM. */

/* image_sections.c: all sections of an ELF file that is no core file. */
int image_sections_read(struct sframe_reader *reader);

/* sframe_relocation.c: relocate the sections that were found, and remember the targets. */
int sframe_relocate(struct sframe_reader *reader);

/* core_images.c: the sections of the ELF files that a core file's process had mapped. */
int core_images_read(struct sframe_reader *reader);

#endif
