/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * cfi_image.h - the call-frame information of a linked file.
 */
#ifndef BOBBIN_BENCH_CFI_IMAGE_H
#define BOBBIN_BENCH_CFI_IMAGE_H

#include <bobbin/cfi.h>
#include <errno.h>

#include "elf/elf_image.h"

/**
 * struct cfi_image - a file
 * @image: its bytes
 * @views: of .eh_frame and .debug_frame, those that there are; borrow
 * @count: their number
 */
struct cfi_image {
	struct elf_image image;
	struct bobbin_cfi_view views[2];
	unsigned int count;
};

static inline void cfi_image_add(struct cfi_image *c, const struct elf_bytes *frame,
				 const struct elf_bytes *hdr)
{
	struct bobbin_cfi_view *view = &c->views[c->count];

	if (!frame->data)
		return;
	*view = (struct bobbin_cfi_view){
		.arch = c->image.arch,
		.frame = frame->data,
		.frame_size = frame->size,
		.frame_addr = frame->addr,
		.debug_frame = !hdr,
		.code = c->image.code.ranges,
		.code_count = c->image.code.count,
	};
	if (hdr) {
		view->hdr = hdr->data;
		view->hdr_size = hdr->size;
		view->hdr_addr = hdr->addr;
	}
	bobbin_cfi_view_init(view, NULL);
	c->count++;
}

/* 0, or the negative errno of reading; then there is nothing to give back. */
static inline int cfi_image_init(int fd, struct cfi_image *ret)
{
	int r = elf_image_init(fd, NULL, &ret->image);

	if (r)
		return r;
	ret->count = 0;
	if (!ret->image.linked || ret->image.unread.reason) {
		elf_image_fini(&ret->image);
		return -EBADMSG;
	}
	cfi_image_add(ret, &ret->image.eh_frame, &ret->image.eh_frame_hdr);
	cfi_image_add(ret, &ret->image.debug_frame, NULL);
	return 0;
}

static inline void cfi_image_fini(struct cfi_image *c)
{
	elf_image_fini(&c->image);
}

#endif
