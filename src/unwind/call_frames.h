/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * call_frames.h - call-frame information that can be searched.
 *
 * Lookups use the linker's table (.eh_frame_hdr).  Without it, or if there is .debug_frame, they
 * use a list of all live FDEs.
 */
#ifndef BOBBIN_UNWIND_CALL_FRAMES_H
#define BOBBIN_UNWIND_CALL_FRAMES_H

#include <bobbin/cfi.h>
#include <bobbin/unwind.h>

#include "convert/fde_list.h"
#include "elf/elf_image.h"
#include "unwind/table_set.h"

/* Of a file that is read again: more bytes of sections than any that was read first has. */
#define CALL_FRAMES_READ_AGAIN (512u << 20)

enum call_frames_section {
	CALL_FRAMES_EH,
	CALL_FRAMES_DEBUG,
	CALL_FRAMES_SECTIONS
};

/**
 * struct call_frames - what one file has
 * @views: by section; frame NULL: absent.  They borrow
 * @listed: @list serves; else the table of .eh_frame, if there is any
 * @unlisted: @list is to serve, but was not needed yet
 * @list: of both sections
 * @rests: the bytes were forgotten; they are read again from @file
 * @again: what was read again, owned, if @read_again
 */
struct call_frames {
	struct bobbin_cfi_view views[CALL_FRAMES_SECTIONS];
	struct fde_list list;
	bool listed, unlisted;
	bool rests, read_again;
	int file;
	struct elf_image again;
};

/*
 * The call-frame information of a file; of a bare .eh_frame.  Bytes are borrowed.  0 or
 * -ENOMEM; @ret, which is all zero before, is to be given to call_frames_fini() in either
 * case.
 */
int call_frames_init(const struct elf_image *image, struct call_frames *ret);
int call_frames_init_bare(const struct bobbin_arch *arch, const struct elf_bytes *frame,
			  struct call_frames *ret);

/* The same without the list of FDEs, for sections that are rarely asked. */
void call_frames_init_later(const struct elf_image *image, struct call_frames *ret);

/*
 * Forget the bytes and what was made of them.  If they are needed again, they are read from @fd,
 * which stays the caller's.
 */
void call_frames_rest(struct call_frames *frames, int fd);

/* Make the list if it is still to be made; before lookups.  0 or -ENOMEM. */
int call_frames_list(struct call_frames *frames);

void call_frames_fini(struct call_frames *frames);

/* Bytes that are not the caller's. */
uint64_t call_frames_held(const struct call_frames *frames);

/* Those sections that a file has, ready to be read in order; how many.  They borrow. */
unsigned int call_frames_views(const struct elf_image *image,
			       struct bobbin_cfi_view ret[CALL_FRAMES_SECTIONS]);

/* Whether there is any. */
bool call_frames_exist(const struct call_frames *frames);

extern const struct table_ops call_frames_ops;

#endif
