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

/*
 * Add a section; @section says all but @name and @image, which are copied, and
 * its data become the file's, or are freed.  @image may be NULL.
 */
int sframe_reader_add(struct sframe_reader *reader, const char *name, const char *image,
		      struct sframe_section section);

/*
 * An array that grows one by one: room for the entry behind @count, which says
 * how much room there is.  -ENOMEM.
 */
int sframe_reader_grow(void **array, size_t count, size_t entry_size);

/* All of an ELF file that is no core file. */
int sframe_reader_read(struct sframe_reader *reader);

#endif
