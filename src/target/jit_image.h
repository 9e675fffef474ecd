/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * jit_image.h - where an ELF image in a process's memory has code and unwind tables.
 *
 *	image ─► section headers ─► code:      [address, size)…
 *	                         └► .eh_frame, .sframe: where they were loaded to, and
 *	                            where the image has them
 *
 * Compilers hand such images to debuggers (gdb_jit.h).  LLVM's are relocatable: the
 * headers have the addresses to which sections were loaded, and relocations are
 * applied there, not in the image.  Others have all in the image.  Only headers and
 * section names are read: images are mostly debug information.  All of it is what the
 * process says, which may change while it is read.
 */
#ifndef BOBBIN_TARGET_JIT_IMAGE_H
#define BOBBIN_TARGET_JIT_IMAGE_H

#include "target/gdb_jit.h"

/* A section of code is not larger, nor are all of a process. */
#define JIT_IMAGE_TEXT_MAX (UINT64_C(4) << 30)
/* Names of sections, with which symbols' may stand together. */
#define JIT_IMAGE_NAMES_MAX (UINT64_C(16) << 20)

struct jit_text {
	uint64_t start, end;
};

/* A section that is a table. */
struct jit_part {
	uint64_t size;   /* 0: there is none */
	uint64_t loaded; /* its address in the process; 0: it was not loaded */
	uint64_t kept;   /* the address of the image's bytes of it; 0: it has none */
};

struct jit_image {
	struct jit_text *texts; /* ascending; they may overlap */
	size_t text_count;
	struct jit_part sframe, eh_frame;
	uint64_t mark; /* of all headers */
};

/*
 * Read an image of @process that is for this machine's architecture.  0; -EBADMSG: it is
 * not, or makes no sense; -ENOMEM; the errno of reading memory.
 */
int jit_image_read(const struct remote_process *process, const struct gdb_jit_entry *entry,
		   const struct bobbin_arch *arch, struct jit_image *ret);
void jit_image_fini(struct jit_image *image);

/* Whether an image's headers are as they were when it was read. */
bool jit_image_is_same(const struct remote_process *process, const struct gdb_jit_entry *entry,
		       const struct bobbin_arch *arch, const struct jit_image *image);

#endif
