/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * sframe_attachment.h - a copy of a linked ELF file with a loaded .sframe section.
 *
 *	before:  Ehdr Phdr… bytes                Shdr… [trailing data]
 *	after:   Ehdr Phdr… bytes                Shdr… [trailing data] gap
 *	         ┌ PT_LOAD R ──────────────┐
 *	         │ [moved Phdr…]  .sframe  │ .shstrtab Shdr…
 *	         └─────────────────────────┘
 *
 * Every byte of the original keeps its offset and its address.  The new segment
 * lies after all others, in memory and in the file, with at least a page free
 * in front of it: strip(1) of binutils 2.40 lets such a segment begin up to a
 * page earlier.  The program headers stay where they are if there is room after
 * them for those that are new, which most linkers do not leave; PT_NULL entries
 * make room, too.  Otherwise the new segment holds them, at the distance from the
 * file's start that the first segment has (address minus offset): ld.so's own
 * __ehdr_start + e_phoff and AT_PHDR of kernels before 5.18 are right only so.
 * Where that would cost more than SFRAME_ATTACHMENT_GAP of file (a big .bss) or
 * SFRAME_ATTACHMENT_REACH of addresses (a file of gigabytes) it is given up, and
 * such kernels cannot run the result.
 *
 * A section that the file has already is replaced.  If an earlier attachment is
 * the end of the file, it is cut off first: a file does not grow by being
 * converted again.
 *
 * What does not survive: eu-strip(1) overwrites program headers that are not
 * after the ELF header, so strip first; kernels before 6.7 do not clear the
 * .bss of a program interpreter that is not in its last segment.
 */
#ifndef BOBBIN_ELF_SFRAME_ATTACHMENT_H
#define BOBBIN_ELF_SFRAME_ATTACHMENT_H

#include <bobbin/arch.h>
#include <bobbin/reason.h>

#include "elf/elf_headers.h"

/* The most that equal distances may cost in file bytes, which are a hole, ... */
#define SFRAME_ATTACHMENT_GAP ((uint64_t)1 << 20)
/* ... and in addresses, which nothing occupies. */
#define SFRAME_ATTACHMENT_REACH ((uint64_t)1 << 30)
/* A section may have this many bytes. */
#define SFRAME_ATTACHMENT_MAX ((uint64_t)1 << 36)

/**
 * struct sframe_attachment - where the section will go
 * @addr: address of the section's first byte, in the file's own space
 * @offset: of the same byte in the file that will be written
 * @arch: of the file
 *
 * The others are the plan: the headers to write (@load, @sframe and @section
 * index the entries whose sizes are not known yet; @section 0: no section
 * headers) and how much of the original precedes them.
 */
struct sframe_attachment {
	uint64_t addr, offset;
	const struct bobbin_arch *arch;

	struct elf_headers headers;
	uint64_t kept;
	uint64_t segment_offset, segment_addr;
	size_t load, sframe, section;
	bool moved;
	int fd;
};

/*
 * Plan for the file of @fd, which stays the caller's and must stay open and
 * the same until sframe_attachment_fini().  @addr does not depend on the size of
 * the section.
 * -EBADMSG with a reason and a file offset for what is no sound 64-bit ELF file
 * of a known machine; -ENOTSUP, likewise, for relocatable and core files, files
 * that load nothing, and files with no room for another segment; -EINVAL if @fd
 * is no regular file; -ENOMEM; the errno of reading.
 */
int sframe_attachment_init(int fd, struct bobbin_error *err, struct sframe_attachment *ret);

/*
 * Write the whole new file with @size > 0 bytes of @section to @out_fd, an empty
 * regular file.  May be called more than once.  -EINVAL for no bytes; -EFBIG;
 * -EIO if the original shrank; -ENOMEM; the errno of reading or writing: what
 * was written then is of no use.
 */
int sframe_attachment_write(struct sframe_attachment *attachment, const void *section,
			    uint64_t size, int out_fd);

void sframe_attachment_fini(struct sframe_attachment *attachment);

#endif
