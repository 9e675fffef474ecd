/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
#include "object/object_code.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "base/file_range.h"
#include "core/bisect.h"
#include "core/bytes.h"
#include "core/refusal.h"
#include "elf/elf_headers.h"
#include "elf/packed_section.h"
#include "elf/relocation_kind.h"

void start_placement(const struct sframe_section *section, const struct bobbin_sframe_view *view,
		     uint64_t (*place)(const void *ctx, const struct sframe_target *target),
		     const void *ctx)
{
	uint64_t table = (uint64_t)(view->data - section->data) + view->fde_off;

	for (uint32_t i = 0; i < view->num_fdes; i++) {
		uint64_t field = table + (uint64_t)i * view->fde_size;
		const struct sframe_target *target = sframe_section_target(section, field);

		if (target)
			bytes_store(section->data + field,
				    place(ctx, target) - section->addr - field,
				    view->version < 3 ? 4 : 8, view->arch->big_endian);
	}
}

static uint64_t start_in(const void *code, const struct sframe_target *target)
{
	const struct object_text *text = target->section
						 ? object_code_section(code, target->section_index)
						 : NULL;

	if (!text || target->start > text->end - text->start)
		return OBJECT_CODE_MAX;
	return text->start + target->start;
}

void start_placement_by(const struct object_code *code, const struct sframe_section *section,
			struct bobbin_sframe_view *view)
{
	start_placement(section, view, start_in, code);
	/* the order is left to the linker */
	view->sorted = false;
}

#define TEXT_ALIGNMENT 16
/* Between frames and texts, so that no field without relocation points to code. */
#define GAP 4096
#define FRAME_MAX (OBJECT_CODE_MAX / 4)

/**
 * struct object_place - where a section of the file went
 * @start: address of its first byte
 * @size: bytes that it has there
 * @frame: it is a part of these bytes, at the same offset, or NULL
 * @text: its entry + 1, or 0
 */
struct object_place {
	uint64_t start, size;
	struct byte_buffer *frame;
	size_t text;
};

/**
 * struct object_reader - a file that is being read
 * @fd: the file
 * @headers: of it
 * @places: of its sections; owned.  No size: nowhere
 * @symbols, @symbol_count: of its symbol table; owned
 * @long_indices, @long_count: sections of those whose index is SHN_XINDEX; owned
 * @symbol_table: the section that has them, 0: there is none
 * @budget: bytes of relocations that may still be read: those of a sound file
 *	do not overlap
 * @err: where and why on failure, or NULL
 * @code: what was found
 */
struct object_reader {
	int fd;
	struct elf_headers headers;
	struct object_place *places;
	Elf64_Sym *symbols;
	Elf32_Word *long_indices;
	size_t symbol_count, long_count, symbol_table;
	uint64_t budget;
	struct bobbin_error *err;
	struct object_code *code;
};

bool object_code_is_in(int fd)
{
	unsigned char head[offsetof(Elf64_Ehdr, e_machine)];
	bool big_endian;

	if (file_range_read(fd, 0, head, sizeof(head)) || memcmp(head, ELFMAG, SELFMAG))
		return false;
	big_endian = head[EI_DATA] == ELFDATA2MSB;
	return head[EI_NIDENT + !big_endian] == 0 && head[EI_NIDENT + big_endian] == ET_REL;
}

static int refuse_section(const struct object_reader *reader, size_t section)
{
	return refuse(reader->err, elf_headers_place(&reader->headers, section),
		      BOBBIN_REASON_ELF_BROKEN);
}

static bool has_names(const struct elf_headers *headers, size_t symbols)
{
	size_t names = headers->sections[symbols].sh_link;

	return names < headers->section_count && headers->sections[names].sh_type == SHT_STRTAB;
}

static int find_symbols(struct object_reader *reader)
{
	for (size_t i = 1; i < reader->headers.section_count; i++) {
		if (reader->headers.sections[i].sh_type != SHT_SYMTAB)
			continue;
		if (reader->symbol_table || !has_names(&reader->headers, i))
			return refuse_section(reader, i);
		reader->symbol_table = i;
	}
	return 0;
}

static int read_symbols(struct object_reader *reader)
{
	const struct elf_headers *headers = &reader->headers;
	int r = find_symbols(reader);

	if (r || !reader->symbol_table)
		return r;
	r = elf_headers_table(headers, reader->fd, reader->symbol_table, ELF_T_SYM,
			      sizeof(*reader->symbols), reader->err, (void **)&reader->symbols,
			      &reader->symbol_count);
	for (size_t i = 1; i < headers->section_count && !r && !reader->long_indices; i++)
		if (headers->sections[i].sh_type == SHT_SYMTAB_SHNDX &&
		    headers->sections[i].sh_link == reader->symbol_table)
			r = elf_headers_table(headers, reader->fd, i, ELF_T_WORD,
					      sizeof(*reader->long_indices), reader->err,
					      (void **)&reader->long_indices, &reader->long_count);
	return r;
}

/* The place of the section that a symbol is defined in, or NULL. */
static const struct object_place *place_of(const struct object_reader *reader, size_t symbol)
{
	size_t section = reader->symbols[symbol].st_shndx;

	if (section == SHN_XINDEX)
		section = symbol < reader->long_count ? reader->long_indices[symbol] : SHN_UNDEF;
	else if (section >= SHN_LORESERVE)
		return NULL;
	if (section >= reader->headers.section_count || !reader->places[section].size)
		return NULL;
	return &reader->places[section];
}

/* Contents that mean nothing to ELF, as those of code and frames do. */
static bool is_contents(const Elf64_Shdr *header, uint16_t machine)
{
	return header->sh_size && (header->sh_type == SHT_PROGBITS ||
				   (header->sh_type == SHT_X86_64_UNWIND && machine == EM_X86_64));
}

/* The bytes that a section joins, or NULL. */
static struct byte_buffer *frame_of(const struct object_reader *reader, size_t section)
{
	const Elf64_Shdr *header = &reader->headers.sections[section];
	const char *name = elf_headers_name(&reader->headers, section);
	bool loaded = header->sh_flags & SHF_ALLOC;

	if (!is_contents(header, reader->headers.file.e_machine))
		return NULL;
	if (loaded && !strcmp(name, ".eh_frame"))
		return &reader->code->eh_frame;
	if (!loaded && (!strcmp(name, ".debug_frame") || !strcmp(name, ".zdebug_frame")))
		return &reader->code->debug_frame;
	return NULL;
}

/* Room for more bytes at the end of a frame. */
static int room(struct byte_buffer *frame, uint64_t size, uint8_t **ret)
{
	if (size > FRAME_MAX - frame->size)
		return -EFBIG;
	*ret = byte_buffer_room(frame, size);
	return *ret ? 0 : -ENOMEM;
}

/* Append what a compressed section holds. */
static int unpack(const struct object_reader *reader, size_t section, struct byte_buffer *frame,
		  uint64_t *size)
{
	Elf *elf = elf_begin(reader->fd, ELF_C_READ, NULL);
	Elf_Scn *scn = elf_getscn(elf, section);
	uint8_t *bytes = NULL, *to;
	int r = scn ? packed_section_read(scn, FRAME_MAX, reader->err, &bytes, size)
		    : refuse_section(reader, section);

	if (!r)
		r = room(frame, *size, &to);
	if (!r && bytes)
		memcpy(to, bytes, *size);
	free(bytes);
	elf_end(elf);
	return r;
}

static int take_frame(struct object_reader *reader, size_t section, struct byte_buffer *frame)
{
	const Elf64_Shdr *header = &reader->headers.sections[section];
	uint64_t size = header->sh_size;
	uint8_t *to;
	int r;

	if (packed_section_is(header, elf_headers_name(&reader->headers, section))) {
		r = unpack(reader, section, frame, &size);
	} else {
		r = room(frame, size, &to);
		if (!r)
			r = file_range_read(reader->fd, header->sh_offset, to, size);
	}
	if (r)
		return r;
	reader->places[section] =
		(struct object_place){.start = frame->size, .size = size, .frame = frame};
	frame->size += size;
	return 0;
}

static int take_frames(struct object_reader *reader)
{
	/* sections that overlap could be many times as large as the file */
	uint64_t left = reader->headers.file_size;
	int r = 0;

	for (size_t i = 1; i < reader->headers.section_count && !r; i++) {
		struct byte_buffer *frame = frame_of(reader, i);
		uint64_t size = reader->headers.sections[i].sh_size;

		if (!frame)
			continue;
		if (size > left)
			return refuse_section(reader, i);
		left -= size;
		r = take_frame(reader, i, frame);
	}
	return r;
}

/* Separate debug files say where code is, and have none of its bytes. */
static bool is_text(const Elf64_Shdr *header)
{
	return header->sh_flags & SHF_ALLOC && header->sh_flags & SHF_EXECINSTR &&
	       (header->sh_type == SHT_PROGBITS || header->sh_type == SHT_NOBITS) &&
	       header->sh_size;
}

static int place_texts(struct object_reader *reader)
{
	struct object_code *code = reader->code;
	const struct elf_headers *headers = &reader->headers;
	uint64_t frames = code->eh_frame.size + code->debug_frame.size;
	uint64_t addr = elf_round_up(frames + GAP, GAP);

	code->texts = calloc(headers->section_count, sizeof(*code->texts));
	code->ranges = calloc(headers->section_count, sizeof(*code->ranges));
	if (!code->texts || !code->ranges)
		return -ENOMEM;
	for (size_t i = 1; i < headers->section_count; i++) {
		uint64_t size = headers->sections[i].sh_size;

		if (!is_text(&headers->sections[i]) || reader->places[i].frame)
			continue;
		/* that of bytes which are not in the file may be any number */
		if (size > OBJECT_CODE_MAX || addr + size + 2 * TEXT_ALIGNMENT > OBJECT_CODE_MAX)
			return -EFBIG;
		code->ranges[code->text_count] = (struct bobbin_range){addr, addr + size};
		code->texts[code->text_count] =
			(struct object_text){.start = addr,
					     .end = addr + size,
					     .section = i,
					     .place = elf_headers_place(headers, i),
					     .name = elf_headers_name(headers, i)};
		reader->places[i] = (struct object_place){
			.start = addr, .size = size, .text = ++code->text_count};
		addr = elf_round_up(addr + size + 1, TEXT_ALIGNMENT);
	}
	return 0;
}

/* Other definitions may take the place of those that are not local. */
static bool stays(const Elf64_Sym *symbol)
{
	unsigned char type = ELF64_ST_TYPE(symbol->st_info);

	return ELF64_ST_BIND(symbol->st_info) == STB_LOCAL &&
	       (type == STT_NOTYPE || type == STT_OBJECT || type == STT_FUNC ||
		type == STT_SECTION);
}

/* Find a symbol for each text, best the section's own. */
static void choose_symbols(const struct object_reader *reader)
{
	for (size_t i = 1; i < reader->symbol_count && i <= UINT32_MAX; i++) {
		const Elf64_Sym *symbol = &reader->symbols[i];
		const struct object_place *place = place_of(reader, i);
		struct object_text *text;

		if (!place || !place->text || !stays(symbol))
			continue;
		text = &reader->code->texts[place->text - 1];
		if (text->symbol && ELF64_ST_TYPE(symbol->st_info) != STT_SECTION)
			continue;
		text->symbol = (uint32_t)i;
		text->value = symbol->st_value;
	}
}

/* Where a relocation points; what lies outside of its section is nowhere. */
static uint64_t target_of(const struct object_reader *reader, const Elf64_Rela *rela)
{
	size_t symbol = ELF64_R_SYM(rela->r_info);
	const struct object_place *place = place_of(reader, symbol);
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

static int relocate(struct object_reader *reader)
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

static int read_all(struct object_reader *reader)
{
	int r;

	reader->code->arch = reader->headers.arch;
	reader->budget = reader->headers.file_size;
	reader->places = calloc(reader->headers.section_count + 1, sizeof(*reader->places));
	if (!reader->places)
		return -ENOMEM;
	r = read_symbols(reader);
	if (!r)
		r = take_frames(reader);
	if (!r)
		r = place_texts(reader);
	if (!r)
		r = relocate(reader);
	if (r)
		return r;
	choose_symbols(reader);
	return 0;
}

int object_code_init(int fd, struct bobbin_error *err, struct object_code *ret)
{
	struct object_code code = {0};
	struct object_reader reader = {.fd = fd, .err = err, .code = &code};
	int r = elf_headers_init(fd, true, err, &reader.headers);

	if (r)
		return r;
	r = read_all(&reader);
	code.names = reader.headers.names;
	reader.headers.names = NULL;
	elf_headers_fini(&reader.headers);
	free(reader.places);
	free(reader.symbols);
	free(reader.long_indices);
	if (r)
		object_code_fini(&code);
	else
		*ret = code;
	return r;
}

void object_code_fini(struct object_code *code)
{
	byte_buffer_fini(&code->eh_frame);
	byte_buffer_fini(&code->debug_frame);
	free(code->texts);
	free(code->ranges);
	free(code->names);
	*code = (struct object_code){0};
}

bool object_code_view(const struct object_code *code, bool debug_frame, struct bobbin_cfi_view *ret)
{
	const struct byte_buffer *frame = debug_frame ? &code->debug_frame : &code->eh_frame;

	if (!frame->data)
		return false;
	*ret = (struct bobbin_cfi_view){
		.arch = code->arch,
		.frame = frame->data,
		.frame_size = frame->size,
		.debug_frame = debug_frame,
		.code = code->ranges,
		.code_count = code->text_count,
	};
	return true;
}

const struct object_text *object_code_text(const struct object_code *code, uint64_t addr)
{
	size_t at = bisect(i, 0, code->text_count, code->texts[i].end > addr);

	return at < code->text_count && code->texts[at].start <= addr ? &code->texts[at] : NULL;
}

const struct object_text *object_code_section(const struct object_code *code, size_t section)
{
	size_t at = bisect(i, 0, code->text_count, code->texts[i].section >= section);

	return at < code->text_count && code->texts[at].section == section ? &code->texts[at]
									   : NULL;
}
