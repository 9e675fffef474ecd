/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
#include "object/start_relocations.h"

#include <bobbin/sframe.h>
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "core/refusal.h"
#include "elf/relocation_kind.h"
#include "elf/sframe_file.h"

/* Offset of the flags in the header, in all versions. */
#define FLAGS 3

/* Bytes of a start: 4 up to V2. */
static uint8_t start_size(const struct bobbin_sframe_view *view)
{
	return view->version < 3 ? 4 : 8;
}

static int relate(const struct object_code *code, const struct bobbin_sframe_view *view,
		  uint32_t index, struct bobbin_error *err, Elf64_Rela *ret)
{
	uint64_t field = view->fde_off + (uint64_t)index * view->fde_size;
	const struct object_text *text;
	struct bobbin_sframe_fde fde;
	int r = bobbin_sframe_fde(view, index, err, &fde);

	if (r)
		return r;
	text = object_code_text(code, fde.start);
	if (!text)
		return refuse(err, field, BOBBIN_REASON_ELF_RELOCATION);
	if (!text->symbol)
		return refuse_as(-ENOTSUP, err, text->place, BOBBIN_REASON_ELF_SYMBOL);
	*ret = (Elf64_Rela){
		.r_offset = field,
		.r_info = ELF64_R_INFO(
			(uint64_t)text->symbol,
			relocation_to_field(code->arch->elf_machine, start_size(view))),
		.r_addend = (int64_t)(fde.start - text->start - text->value),
	};
	return 0;
}

int start_relocations_init(const struct object_code *code, uint8_t *section, uint64_t size,
			   struct bobbin_error *err, struct start_relocations *ret)
{
	struct bobbin_sframe_view view;
	Elf64_Rela *entries;
	int r = bobbin_sframe_view(section, size, 0, err, &view);

	if (r)
		return r;
	entries = calloc((size_t)view.num_fdes + 1, sizeof(*entries));
	if (!entries)
		return -ENOMEM;
	for (uint32_t i = 0; i < view.num_fdes && !r; i++)
		r = relate(code, &view, i, err, &entries[i]);
	if (r) {
		free(entries);
		return r;
	}
	for (uint32_t i = 0; i < view.num_fdes; i++)
		memset(section + entries[i].r_offset, 0, start_size(&view));
	section[FLAGS] &= (uint8_t)~BOBBIN_SFRAME_SORTED;
	*ret = (struct start_relocations){entries, view.num_fdes};
	return 0;
}

void start_relocations_fini(struct start_relocations *relocations)
{
	free(relocations->entries);
	*relocations = (struct start_relocations){0};
}

/* Whether a function that was read starts where the relocation says. */
static bool agrees(const struct object_code *code, const Elf64_Rela *rela,
		   const struct sframe_target *target)
{
	const struct object_text *text = object_code_section(code, target->section_index);

	return text && target->field == rela->r_offset &&
	       text->symbol == ELF64_R_SYM(rela->r_info) &&
	       target->start == text->value + (uint64_t)rela->r_addend;
}

static bool has_all(const struct start_relocations *relocations, const struct object_code *code,
		    const uint8_t *section, struct sframe_section *read)
{
	uint64_t width = section[2] < 3 ? 4 : 8;

	for (size_t i = 0; i < relocations->count; i++) {
		if (!agrees(code, &relocations->entries[i], &read->targets[i]))
			return false;
		memset(read->data + read->targets[i].field, 0, width);
	}
	return !memcmp(read->data, section, read->size);
}

int start_relocations_check(const struct start_relocations *relocations,
			    const struct object_code *code, const uint8_t *section, uint64_t size,
			    int fd)
{
	struct sframe_file file;
	bool good;
	int r = sframe_file_init(fd, NULL, &file);

	if (r)
		return r;
	good = file.arch == code->arch && file.section_count == 1 &&
	       file.sections[0].size == size &&
	       file.sections[0].target_count == relocations->count &&
	       has_all(relocations, code, section, &file.sections[0]);
	sframe_file_fini(&file);
	return good ? 0 : -EBADMSG;
}
