/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * elf_image.h - what unwinding needs of an ELF file.
 *
 * Sections are found by name, or, where section headers are stripped or the
 * image is in memory, by segment.  Their bytes are copied, so that a file that
 * is truncated later does no harm.
 */
#ifndef BOBBIN_ELF_ELF_IMAGE_H
#define BOBBIN_ELF_ELF_IMAGE_H

#include <bobbin/arch.h>
#include <bobbin/reason.h>

#include "base/coverage.h"
#include "elf/elf_notes.h"

/* A loaded segment. */
struct elf_segment {
	uint64_t offset, filesz, vaddr, memsz;
	bool exec;
};

/* A section's bytes and its address in the file's own space; data NULL: absent. */
struct elf_bytes {
	uint8_t *data;
	uint64_t size, addr;
};

struct elf_image {
	const struct bobbin_arch *arch;
	uint64_t entry;
	bool program;     /* at a fixed address, or with an interpreter */
	uint64_t dynamic; /* address of PT_DYNAMIC; 0: there is none */
	bool linked;      /* an executable or a shared object: addresses mean something */
	struct elf_segment *segments;
	size_t segment_count;
	struct coverage code;               /* of a linked file */
	struct bobbin_range sframe_segment; /* as its header tells, whether or not it is there */
	struct elf_bytes sframe, eh_frame, eh_frame_hdr, debug_frame;
	struct bobbin_error unread; /* call-frame information that could not be read, or NONE */
	struct elf_bytes gopclntab; /* from the header of Go's table on, maybe with more after it */
	uint64_t go_text; /* where its functions start, if the header does not say; or 0 */
	uint8_t build_id[ELF_BUILD_ID_MAX];
	uint8_t build_id_len;
};

/*
 * Read the file of @fd, which stays the caller's.  -EBADMSG with a reason
 * and a file offset for anything that is not a sound 64-bit ELF file of a known
 * machine; -ENOMEM; the errno of reading.  elf_image_fini() gives @ret back.
 */
int elf_image_init(int fd, struct bobbin_error *err, struct elf_image *ret);

/* The same, if its sections have at most @room bytes; also -ENOBUFS: they have more. */
int elf_image_init_within(int fd, uint64_t room, struct bobbin_error *err, struct elf_image *ret);

/* Bytes of sections that an image holds. */
uint64_t elf_image_copied(const struct elf_image *image);

/* Of call-frame information alone. */
uint64_t elf_image_cfi(const struct elf_image *image);

/* Give the copies of call-frame information back, as if the file had none. */
void elf_image_drop_cfi(struct elf_image *image);

/*
 * As elf_image_init(), for an image in memory, such as the vDSO, which may lack its section headers;
 * the bytes are copied.
 */
int elf_image_init_memory(const void *bytes, size_t size, struct bobbin_error *err,
			  struct elf_image *ret);

void elf_image_fini(struct elf_image *image);

/* The address of a file offset, by the loaded segments; false: none holds it. */
bool elf_image_vaddr(const struct elf_image *image, uint64_t offset, uint64_t *ret);

/* The other way round, for what is in the file. */
bool elf_image_offset(const struct elf_image *image, uint64_t vaddr, uint64_t *ret);

/* The build ID alone; 0 bytes if there is none.  Errors as elf_image_init(). */
int elf_build_id(int fd, uint8_t id[ELF_BUILD_ID_MAX], uint8_t *len);

#endif
