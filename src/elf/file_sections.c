/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* file_sections.c - the public side of struct sframe_file. */
#include <bobbin/elf.h>
#include <errno.h>
#include <stdlib.h>

#include "core/deps.h"
#include "elf/sframe_file.h"

struct bobbin_elf {
	struct sframe_file file;
};

BOBBIN_API int bobbin_elf_open(int fd, struct bobbin_error *err, struct bobbin_elf **ret)
{
	struct bobbin_elf *elf = calloc(1, sizeof(*elf));
	struct bobbin_error error;
	int r = elf ? sframe_file_init(fd, &error, &elf->file) : -ENOMEM;

	if (!r) {
		*ret = elf;
		return 0;
	}
	if (err)
		*err = elf ? error : (struct bobbin_error){0};
	free(elf);
	return r;
}

BOBBIN_API void bobbin_elf_close(struct bobbin_elf *elf)
{
	if (!elf)
		return;
	sframe_file_fini(&elf->file);
	free(elf);
}

BOBBIN_API const struct bobbin_arch *bobbin_elf_arch(const struct bobbin_elf *elf)
{
	return elf->file.arch;
}

BOBBIN_API size_t bobbin_elf_code(const struct bobbin_elf *elf, const struct bobbin_range **ret)
{
	*ret = elf->file.code.ranges;
	return elf->file.code.count;
}

BOBBIN_API size_t bobbin_elf_count(const struct bobbin_elf *elf)
{
	return elf->file.section_count;
}

BOBBIN_API int bobbin_elf_section(const struct bobbin_elf *elf, size_t number,
				  struct bobbin_elf_section *ret)
{
	const struct sframe_section *s;

	if (number >= elf->file.section_count)
		return -ENOENT;
	s = &elf->file.sections[number];
	*ret = (struct bobbin_elf_section){
		.name = s->name,
		.image = s->image,
		.data = s->data,
		.size = s->size,
		.addr = s->addr,
		.offset = s->offset,
		.from_image = s->from_image,
		.relocatable = s->relocated,
	};
	return 0;
}

BOBBIN_API int bobbin_elf_next(const struct bobbin_elf *elf, size_t number, uint64_t *pos,
			       struct bobbin_error *err, struct bobbin_sframe_view *ret)
{
	if (number < elf->file.section_count)
		return sframe_section_next(&elf->file.sections[number], pos, err, ret);
	if (err)
		*err = (struct bobbin_error){0};
	return -ENOENT;
}
