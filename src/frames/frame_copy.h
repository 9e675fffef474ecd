/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * frame_copy.h - a copy of .eh_frame bytes somewhere in the own memory.
 *
 * Nobody says how many bytes there are: entries are followed to the terminator.
 * The kernel does the reading, so that a missing one costs no fault, and what is
 * converted does not change meanwhile.
 */
#ifndef BOBBIN_FRAMES_FRAME_COPY_H
#define BOBBIN_FRAMES_FRAME_COPY_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* Bytes of a copy at most. */
#define FRAME_COPY_MAX (64u << 20)

/**
 * struct frame_copy - whole entries
 * @bytes, @size: without the terminator
 * @addr: where they were
 * @cut: they ended without one
 */
struct frame_copy {
	uint8_t *bytes;
	size_t size;
	uint64_t addr;
	bool cut;
};

/*
 * Copy the section that begins at @addr, or the one FDE and its CIE.  0; -ENODATA: it
 * is empty; -EFAULT: the first entry cannot be read; -EBADMSG: it makes no sense;
 * -ENOMEM.
 */
int frame_copy_init(uint64_t addr, struct frame_copy *ret);
void frame_copy_fini(struct frame_copy *copy);

/* Make the FDE at an offset one that nobody finds. */
void frame_copy_hide(struct frame_copy *copy, uint64_t offset);

/* Bytes of own memory; how many of them, from the first on, could be read. */
size_t frame_memory_read(uint64_t addr, void *dst, size_t size);

#endif
