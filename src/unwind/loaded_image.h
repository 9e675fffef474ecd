/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * loaded_image.h - what the dynamic loader has mapped into the own process.
 *
 * An image is identified by its address, its name and its proof, which is some bytes of it in
 * memory: the build ID or, without one, the ELF header.  They differ from those of a library
 * that is mapped to the same address later.
 */
#ifndef BOBBIN_UNWIND_LOADED_IMAGE_H
#define BOBBIN_UNWIND_LOADED_IMAGE_H

#include <bobbin/types.h>
#include <link.h>

#define IMAGE_PROOF_MAX 40

struct image_text {
	uint64_t start, end;
};

struct loaded_image {
	uint64_t bias;           /* addresses are this much more than the file says */
	uint64_t base;           /* address of the first segment */
	char *name;              /* as the loader says; "": the program */
	char *soname;            /* or NULL */
	struct image_text *text; /* executable segments */
	size_t text_count;
	uint64_t proof; /* address of the bytes that it is known by; 0: there are none */
	uint8_t proof_bytes[IMAGE_PROOF_MAX], proof_len;
	bool has_build_id; /* it is the proof */
	bool stays;        /* never unloaded: the program and what it is linked with */
	const ElfW(Dyn) * dynamic;
};

struct image_list {
	struct loaded_image *images;
	size_t count, room;
};

/* What is loaded now.  -ENOMEM. */
int image_list_init(struct image_list *ret);
void image_list_fini(struct image_list *list);

void loaded_image_fini(struct loaded_image *image);

/* Whether two lists speak of the same image. */
bool loaded_image_same(const struct loaded_image *a, const struct loaded_image *b);

#endif
