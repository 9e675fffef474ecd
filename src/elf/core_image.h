/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * core_image.h - an ELF file that was mapped in a core file's process, as far as the core has it.
 *
 * Kernels dump the first page of each ELF file, with its segments' headers and its build ID, but
 * mostly not the read-only pages after it that the file backs.
 */
#ifndef BOBBIN_ELF_CORE_IMAGE_H
#define BOBBIN_ELF_CORE_IMAGE_H

#include "elf/core_file.h"
#include "elf/elf_image.h"

/* Images of a core that are looked at. */
#define CORE_IMAGES_MAX 4096

/**
 * struct core_image - such a file
 * @start: where its first byte is mapped
 * @bias: of addresses in the process to its own
 * @head, @head_size: its bytes from the first one on, with its headers
 * @elf: what they tell: segments, build ID
 */
struct core_image {
	uint64_t start, bias;
	uint8_t *head;
	size_t head_size;
	struct elf_image elf;
};

/*
 * Read the image whose first byte is mapped at @start.  -ENODATA: the core does not have it;
 * -ENOENT: it is no ELF file, or none of the core's machine; -ENOMEM; the errno of reading.
 */
int core_image_init(const struct core_file *core, uint64_t start, struct core_image *ret);
void core_image_fini(struct core_image *image);

/*
 * Whether the code of an image is in a mapping of its file: as the process's memory says, or, where
 * the core leaves that out, as debuggers do that write one, by the segments.
 */
bool core_image_is_code(const struct core_file *core, const struct core_image *image,
			const struct core_mapping *mapping);

/*
 * The file as far as the core has its segments, with zeros for the rest and without the tables that
 * are not there as a whole: from malloc(), for elf_image_init_memory().  -ENOBUFS: it has more
 * than @room bytes; -ENOMEM; the errno of reading.
 */
int core_image_bytes(const struct core_file *core, const struct core_image *image, uint64_t room,
		     uint8_t **ret, size_t *size);

#endif
