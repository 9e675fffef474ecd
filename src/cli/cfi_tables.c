/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
#include "cli/cfi_tables.h"

#include <elf.h>
#include <stddef.h>

#include "core/refusal.h"

static void add(struct cfi_tables *t, const struct elf_bytes *frame, const struct elf_bytes *hdr)
{
	struct bobbin_cfi_view *view = &t->views[t->count];

	if (!frame->data)
		return;
	*view = (struct bobbin_cfi_view){
		.arch = t->image.arch,
		.frame = frame->data,
		.frame_size = frame->size,
		.frame_addr = frame->addr,
		.debug_frame = !hdr,
		.code = t->image.code.ranges,
		.code_count = t->image.code.count,
	};
	if (hdr) {
		view->hdr = hdr->data;
		view->hdr_size = hdr->size;
		view->hdr_addr = hdr->addr;
	}
	/* without a sane header FDEs are found by scanning */
	bobbin_cfi_view_init(view, NULL);
	t->count++;
}

int cfi_tables_init(int fd, struct bobbin_error *err, struct cfi_tables *ret)
{
	int r;

	ret->count = 0;
	r = elf_image_init(fd, err, &ret->image);
	if (r)
		return r;
	if (!ret->image.linked)
		r = refuse(err, offsetof(Elf64_Ehdr, e_type), BOBBIN_REASON_ELF_TYPE);
	else if (ret->image.unread.reason)
		r = refuse(err, ret->image.unread.offset, ret->image.unread.reason);
	if (r) {
		elf_image_fini(&ret->image);
		return r;
	}
	add(ret, &ret->image.eh_frame, &ret->image.eh_frame_hdr);
	add(ret, &ret->image.debug_frame, NULL);
	return 0;
}

void cfi_tables_fini(struct cfi_tables *tables)
{
	elf_image_fini(&tables->image);
	tables->count = 0;
}
