/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * image_sections.h - the SFrame sections of one ELF image.
 */
#ifndef BOBBIN_ELF_IMAGE_SECTIONS_H
#define BOBBIN_ELF_IMAGE_SECTIONS_H

#include "elf/sframe_reader.h"

/* All of an ELF file that is no core file.  -EBADMSG with a reason and a file offset, -ENOMEM. */
int image_sections_read(struct sframe_reader *reader);

#endif
