/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * sframe_reader.h - what the readers of a struct sframe_file share.
 */
#ifndef BOBBIN_ELF_SFRAME_READER_H
#define BOBBIN_ELF_SFRAME_READER_H

#include <gelf.h>

#include "elf/sframe_file.h"

#ifndef PT_GNU_SFRAME
#define PT_GNU_SFRAME 0x6474e554 /* binutils include/elf/common.h */
#endif
#ifndef SHT_GNU_SFRAME
#define SHT_GNU_SFRAME 0x6ffffff4
#endif

/**
 * struct sframe_reader - a file that is being read
 * @elf: the file
 * @header: its header
 * @budget: bytes that may still be looked at; tables of a sound file do not
 *	overlap, so that a few times its size is enough for all of them
 * @err: where and why on failure, or NULL
 * @file: what was found
 */
struct sframe_reader {
	Elf *elf;
	GElf_Ehdr header;
	uint64_t budget;
	struct bobbin_error *err;
	struct sframe_file *file;
};

/* Spend some of the budget; -EBADMSG if it is exhausted. */
int sframe_reader_spend(struct sframe_reader *reader, uint64_t offset, uint64_t size);

/*
 * Bytes of the file, in libelf's keeping, as they stand there.  -EBADMSG if the
 * file does not hold them all.
 */
int sframe_reader_bytes(struct sframe_reader *reader, uint64_t offset, uint64_t size,
			const void **ret);

/*
 * Add a section; @section says all but @name, @image and @data, which are
 * copied.  @image may be NULL.
 */
int sframe_reader_add(struct sframe_reader *reader, const char *name, const char *image,
		      const void *data, struct sframe_section section);

/* Add a range of code, unless it is empty or wraps. */
int sframe_reader_add_text(struct sframe_reader *reader, uint64_t start, uint64_t size);

/* All of an ELF file that is no core file. */
int sframe_reader_read(struct sframe_reader *reader);

#endif
