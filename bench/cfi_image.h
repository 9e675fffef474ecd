/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * cfi_image.h - the call-frame information of a linked file.
 */
#ifndef BOBBIN_BENCH_CFI_IMAGE_H
#define BOBBIN_BENCH_CFI_IMAGE_H

#include <bobbin/cfi.h>
#include <errno.h>

#include "elf/elf_image.h"
#include "unwind/call_frames.h"

/**
 * struct cfi_image - a file
 * @image: its bytes
 * @views: of .eh_frame and .debug_frame, those that there are; borrow
 * @count: their number
 */
struct cfi_image {
	struct elf_image image;
	struct bobbin_cfi_view views[CALL_FRAMES_SECTIONS];
	unsigned int count;
};

/* 0, or the negative errno of reading; then there is nothing to give back. */
static inline int cfi_image_init(int fd, struct cfi_image *ret)
{
	int r = elf_image_init(fd, NULL, &ret->image);

	if (r)
		return r;
	if (!ret->image.linked || ret->image.unread.reason) {
		elf_image_fini(&ret->image);
		return -EBADMSG;
	}
	ret->count = call_frames_views(&ret->image, ret->views);
	return 0;
}

static inline void cfi_image_fini(struct cfi_image *c)
{
	elf_image_fini(&c->image);
}

#endif
