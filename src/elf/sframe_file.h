/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * sframe_file.h - the SFrame sections of a file, for those who look at the
 * sections themselves.
 *
 * The file is ELF (its .sframe sections, or, without section headers, its
 * segment) or a section's bare bytes.  Everything is copied: a file that shrinks
 * later does no harm.
 */
#ifndef BOBBIN_ELF_SFRAME_FILE_H
#define BOBBIN_ELF_SFRAME_FILE_H

#include <bobbin/arch.h>
#include <bobbin/reason.h>

/* A file that is only bytes is taken up to this size. */
#define SFRAME_FILE_MAX_RAW ((uint64_t)1 << 30)

/**
 * struct sframe_section - one section, or several that were only concatenated
 * @name: where it comes from, e.g. ".sframe"; owned
 * @data: the bytes; owned
 * @size: their number
 * @addr: address of @data in the file's own space, 0 for bare bytes
 * @offset: of @data in the file
 */
struct sframe_section {
	char *name;
	uint8_t *data;
	uint64_t size, addr, offset;
};

/* A range of addresses that holds code. */
struct sframe_text {
	uint64_t start, end;
};

/**
 * struct sframe_file - what was found
 * @arch: of the ELF file, NULL for bare bytes
 * @sections: in the file's order
 * @texts: executable ranges of an ELF file
 */
struct sframe_file {
	const struct bobbin_arch *arch;
	struct sframe_section *sections;
	size_t section_count;
	struct sframe_text *texts;
	size_t text_count;
};

/*
 * Read all of it; @fd, which may be a pipe, stays the caller's.  A file without
 * any section is no error.  -EBADMSG with a reason and a file offset; -EFBIG;
 * -ENOMEM; the errno of reading.
 */
int sframe_file_init(int fd, struct bobbin_error *err, struct sframe_file *ret);
void sframe_file_fini(struct sframe_file *file);

#endif
