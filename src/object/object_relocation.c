/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
#include "object/object_relocation.h"

#include <stdlib.h>

#include "core/bytes.h"
#include "core/refusal.h"
#include "elf/relocation_kind.h"

/* Where a relocation points; what lies outside of its section is nowhere. */
static uint64_t target_of(const struct object_reader *reader, const Elf64_Rela *rela)
{
	size_t symbol = ELF64_R_SYM(rela->r_info);
	const struct object_place *place = object_reader_place(reader, symbol);
	uint64_t offset;

	if (!place)
		return 0;
	offset = reader->symbols[symbol].st_value + (uint64_t)rela->r_addend;
	return offset <= place->size ? place->start + offset : 0;
}

static int apply(const struct object_reader *reader, const struct object_place *frame,
		 const Elf64_Rela *rela, uint64_t at)
{
	uint32_t type = (uint32_t)ELF64_R_TYPE(rela->r_info);
	struct relocation_kind kind;
	uint64_t field, value;

	if (!relocation_kind(reader->headers.file.e_machine, type, &kind))
		return refuse(reader->err, at, BOBBIN_REASON_ELF_RELOCATION);
	if (!kind.width)
		return 0;
	if (rela->r_offset > frame->size || frame->size - rela->r_offset < kind.width ||
	    ELF64_R_SYM(rela->r_info) >= reader->symbol_count)
		return refuse(reader->err, at, BOBBIN_REASON_ELF_RELOCATION);
	field = frame->start + rela->r_offset;
	value = target_of(reader, rela) - (kind.pcrel ? field : 0);
	bytes_store(frame->frame->data + field, value, kind.width,
		    reader->headers.arch->big_endian);
	return 0;
}

static int apply_all(struct object_reader *reader, size_t section, const struct object_place *frame)
{
	const Elf64_Shdr *header = &reader->headers.sections[section];
	Elf64_Rela *relas = NULL;
	size_t count;
	int r;

	if (header->sh_type != SHT_RELA || header->sh_link != reader->symbol_table)
		return refuse(reader->err, elf_headers_place(&reader->headers, section),
			      BOBBIN_REASON_ELF_RELOCATION);
	if (header->sh_size > reader->budget)
		return refuse(reader->err, elf_headers_place(&reader->headers, section),
			      BOBBIN_REASON_ELF_BROKEN);
	reader->budget -= header->sh_size;
	r = elf_headers_table(&reader->headers, reader->fd, section, ELF_T_RELA, sizeof(*relas),
			      reader->err, (void **)&relas, &count);
	if (r)
		return r;
	for (size_t i = 0; i < count && !r; i++)
		r = apply(reader, frame, &relas[i], header->sh_offset + i * sizeof(*relas));
	free(relas);
	return r;
}

int object_relocate(struct object_reader *reader)
{
	int r = 0;

	for (size_t i = 1; i < reader->headers.section_count && !r; i++) {
		const Elf64_Shdr *header = &reader->headers.sections[i];
		const struct object_place *place;

		if ((header->sh_type != SHT_RELA && header->sh_type != SHT_REL) ||
		    header->sh_info >= reader->headers.section_count)
			continue;
		place = &reader->places[header->sh_info];
		if (place->frame && header->sh_size)
			r = apply_all(reader, i, place);
	}
	return r;
}
