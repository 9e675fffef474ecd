// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/* exec.c - the sections of the program and of its interpreter. */
#include <linux/elf.h>
#include <linux/sched.h>
#include <linux/unwind_user_sframe.h>

#include "section_registration.h"

/* Segments of text that an image may have, and still be unwound. */
#define MAX_TEXTS 8

static unsigned int executable_texts(const struct elf64_phdr *phdrs, unsigned int count,
				     unsigned long bias, struct code_text_range texts[MAX_TEXTS])
{
	unsigned int found = 0;

	for (unsigned int i = 0; i < count && found < MAX_TEXTS; i++)
		if (phdrs[i].p_type == PT_LOAD && phdrs[i].p_flags & PF_X && phdrs[i].p_memsz)
			texts[found++] = (struct code_text_range){bias + phdrs[i].p_vaddr,
								  bias + phdrs[i].p_vaddr +
									  phdrs[i].p_memsz};
	return found;
}

/* A file whose section is no good runs all the same. */
void sframe_exec_image(const struct elf64_phdr *phdrs, unsigned int count, unsigned long bias)
{
	struct code_text_range texts[MAX_TEXTS];
	unsigned int text_count;

	for (unsigned int i = 0; i < count; i++) {
		if (phdrs[i].p_type != PT_GNU_SFRAME || !phdrs[i].p_memsz)
			continue;
		text_count = executable_texts(phdrs, count, bias, texts);
		if (text_count && phdrs[i].p_memsz <= SFRAME_MAX_TABLE &&
		    !sframe_check_ranges(texts, text_count))
			sframe_register_memory(bias + phdrs[i].p_vaddr,
					       bias + phdrs[i].p_vaddr + phdrs[i].p_memsz, texts,
					       text_count, SFRAME_HEADER);
		return;
	}
}
