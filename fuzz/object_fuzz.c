/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * Any bytes as a relocatable ELF file, which gets an SFrame section.
 *
 * The last byte of e_ident, which ELF gives no meaning: bit 0 version 2, bit 1 with
 * sharing.
 *
 * Contract: a refusal has a reason, an offset inside the file, and changes nothing.
 * Otherwise each address has the rule of the call-frame information or none, and
 * functions do not leave their section.  The new file is one that libelf reads, is
 * bounded by what there was, has the same code, and its relocations lead back to
 * the section that was made, and to the same rules if functions are placed where the
 * code was.  To convert it again changes nothing.
 *
 * The same bytes as a linked file: bobbin_convert() refuses them with a reason and an offset inside
 * the file, or makes a section that can be read.
 */
#include <bobbin/convert.h>
#include <bobbin/sframe.h>
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include "../tests/promise.h"
#include "base/file_range.h"
#include "convert/comparison.h"
#include "convert/converter.h"
#include "core/bytes.h"
#include "elf/sframe_file.h"
#include "object/object_attachment.h"
#include "object/object_code.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

#ifndef SHT_GNU_SFRAME
#define SHT_GNU_SFRAME 0x6ffffff4 /* binutils include/elf/common.h */
#endif

#define VERSION_2 0x01
#define SHARE 0x02

/* Of a row, of a function and its relocation, more than any takes. */
#define BYTES_PER_CFI 128
/* Headers, names and alignment of what is added. */
#define ADDED (2 * sizeof(Elf64_Shdr) + 64)

/**
 * struct made - a section and what it was made from
 * @fd, @size: the object file
 * @code: in it
 * @views, @count: call-frame information of @code
 * @options: how
 * @stats, @section, @section_size: what was made
 */
struct made {
	int fd;
	uint64_t size;
	struct object_code code;
	struct bobbin_cfi_view views[2];
	unsigned int count;
	struct convert_options options;
	struct convert_stats stats;
	uint8_t *section;
	uint64_t section_size;
};

static uint64_t size_of(int fd)
{
	struct stat status;

	promise(!fstat(fd, &status));
	return (uint64_t)status.st_size;
}

static int new_file(void)
{
	int fd = memfd_create("object", MFD_CLOEXEC);

	promise(fd >= 0);
	return fd;
}

static void check_refusal(int r, const struct bobbin_error *err, uint64_t size)
{
	promise(r == -EBADMSG || r == -ENOTSUP || r == -EFBIG);
	promise(r == -EFBIG || err->reason > BOBBIN_REASON_NONE);
	promise(err->reason < BOBBIN_REASON_COUNT && err->offset <= size);
}

static void check_layout(const struct object_code *code)
{
	uint64_t end = code->eh_frame.size + code->debug_frame.size;
	size_t section = 0;

	for (size_t i = 0; i < code->text_count; i++) {
		const struct object_text *text = &code->texts[i];

		promise(text->start > end && text->start < text->end);
		promise(text->section > section && text->name);
		promise(object_code_text(code, text->start) == text);
		promise(object_code_text(code, text->end - 1) == text);
		promise(!object_code_text(code, text->end));
		end = text->end;
		section = text->section;
	}
	promise(end <= OBJECT_CODE_MAX);
}

static void check_functions(const struct made *made, const struct bobbin_sframe_view *view)
{
	struct bobbin_sframe_fde fde;

	for (uint32_t i = 0; i < view->num_fdes; i++) {
		const struct object_text *text;

		promise(!bobbin_sframe_fde(view, i, NULL, &fde));
		text = object_code_text(&made->code, fde.start);
		promise(text && fde.size <= text->end - fde.start);
	}
}

static void check_rules(const struct made *made, const struct bobbin_sframe_view *view)
{
	struct comparison c = {
		.cfi = made->views,
		.cfi_count = made->count,
		.sframe = view,
		.sframe_count = 1,
	};

	promise(!comparison_run(&c));
	promise(!c.ranges[COMPARISON_DIFFERENT]);
	promise(!c.ranges[COMPARISON_EXTRA]);
	promise(!c.ranges[COMPARISON_UNREADABLE]);
	promise(c.bytes[COMPARISON_MISSING] <= made->stats.lost_text);
}

static void make_section(struct made *made)
{
	struct bobbin_sframe_view view;
	uint64_t *bounds = calloc(made->code.text_count + 1, sizeof(*bounds));

	promise(bounds);
	for (size_t i = 0; i < made->code.text_count; i++)
		bounds[i] = made->code.texts[i].start;
	made->options.bounds = bounds;
	made->options.bound_count = made->code.text_count;
	promise(!convert_cfi(made->views, made->count, &made->options, &made->stats, &made->section,
			     &made->section_size));
	free(bounds);
	promise(!bobbin_sframe_view(made->section, made->section_size, 0, NULL, &view));
	promise(view.version == made->options.version);
	check_functions(made, &view);
	check_rules(made, &view);
}

/* Make a section of the file of @fd; false: it is refused. */
static bool made_init(int fd, uint8_t selector, struct made *ret)
{
	const struct object_code untouched = {.text_count = 1};
	struct bobbin_error err = {0};
	struct made made = {.fd = fd, .size = size_of(fd), .code = untouched};
	int r = object_code_init(fd, &err, &made.code);

	if (r) {
		check_refusal(r, &err, made.size);
		promise(!memcmp(&made.code, &untouched, sizeof(untouched)));
		return false;
	}
	check_layout(&made.code);
	made.options = (struct convert_options){
		.version = selector & VERSION_2 ? 2 : 3,
		.share = selector & SHARE,
		.floating = true,
	};
	for (int i = 0; i < 2; i++)
		made.count += object_code_view(&made.code, i, &made.views[made.count]);
	if (made.count)
		make_section(&made);
	else
		object_code_fini(&made.code);
	*ret = made;
	return made.count;
}

static void made_fini(struct made *made)
{
	object_code_fini(&made->code);
	free(made->section);
}

static bool same_frame(const struct byte_buffer *a, const struct byte_buffer *b)
{
	return a->size == b->size && (!a->size || !memcmp(a->data, b->data, a->size));
}

/* Written anew are section headers and their names; what is read stays. */
static void check_same(const struct object_code *a, const struct object_code *b)
{
	promise(a->arch == b->arch);
	promise(same_frame(&a->eh_frame, &b->eh_frame));
	promise(same_frame(&a->debug_frame, &b->debug_frame));
	promise(a->text_count == b->text_count);
	for (size_t i = 0; i < a->text_count; i++) {
		const struct object_text *x = &a->texts[i], *y = &b->texts[i];

		promise(x->start == y->start && x->end == y->end && x->section == y->section);
		promise(x->symbol == y->symbol && x->value == y->value);
		promise(!strcmp(x->name, y->name));
	}
}

static const struct object_text *text_of(const struct object_code *code, size_t section)
{
	for (size_t i = 0; i < code->text_count; i++)
		if (code->texts[i].section == section)
			return &code->texts[i];
	return NULL;
}

/* What a linker makes that gives texts the addresses of @made; up to V2, it counts anew. */
static void link_starts(const struct made *made, struct sframe_section *section)
{
	uint8_t width = made->options.version < 3 ? 4 : 8;
	bool pcrel = section->data[3] & BOBBIN_SFRAME_PCREL;

	for (size_t i = 0; i < section->target_count; i++) {
		const struct sframe_target *target = &section->targets[i];
		const struct object_text *text = text_of(&made->code, target->section_index);

		promise(text && target->field <= section->size - width);
		bytes_store(section->data + target->field,
			    text->start + target->start - (pcrel ? target->field : 0), width,
			    made->code.arch->big_endian);
	}
}

static void check_linked(const struct made *made, int fd)
{
	struct sframe_file file;
	struct bobbin_sframe_view view;
	struct sframe_section *section;

	promise(!sframe_file_init(fd, NULL, &file));
	promise(file.section_count == 1);
	section = &file.sections[0];
	promise(section->relocated && section->size == made->section_size);
	promise(!bobbin_sframe_view(section->data, section->size, 0, NULL, &view));
	promise(!view.sorted && view.num_fdes == section->target_count);
	view.flags |= BOBBIN_SFRAME_PCREL;
	start_placement_by(&made->code, section, &view);
	check_rules(made, &view);
	link_starts(made, section);
	section->data[3] |= BOBBIN_SFRAME_SORTED;
	promise(!memcmp(section->data, made->section, section->size));
	sframe_file_fini(&file);
}

static Elf *elf_of(int fd)
{
	Elf *elf = elf_begin(fd, ELF_C_READ, NULL);

	promise(elf && elf_kind(elf) == ELF_K_ELF && elf64_getehdr(elf));
	return elf;
}

static bool is_sframe(Elf_Scn *scn, const char *name)
{
	return elf64_getshdr(scn)->sh_type == SHT_GNU_SFRAME && !strcmp(name, ".sframe");
}

static bool relocates_sframe(Elf *elf, Elf_Scn *scn, const char *name)
{
	const Elf64_Shdr *header = elf64_getshdr(scn);
	Elf_Scn *target = header->sh_type == SHT_RELA ? elf_getscn(elf, header->sh_info) : NULL;

	return target && elf64_getshdr(target)->sh_type == SHT_GNU_SFRAME &&
	       !strcmp(name, ".rela.sframe");
}

/* What libelf cannot read in the original, it need not read in the new file. */
static void check_kept(Elf_Scn *before, Elf_Scn *after)
{
	Elf_Data *a = elf_rawdata(before, NULL), *b = elf_rawdata(after, NULL);

	promise(!memcmp(elf64_getshdr(before), elf64_getshdr(after), sizeof(Elf64_Shdr)));
	if (!a)
		return;
	promise(b && a->d_size == b->d_size);
	promise(!a->d_buf == !b->d_buf);
	promise(!a->d_buf || !memcmp(a->d_buf, b->d_buf, a->d_size));
}

/* Ours are there, once; others are as they were. */
static void check_sections(const struct made *made, int fd)
{
	Elf *original = elf_of(made->fd), *elf = elf_of(fd);
	unsigned int ours = 0;
	Elf_Scn *scn = NULL;
	size_t names;

	promise(!elf_getshdrstrndx(elf, &names));
	while ((scn = elf_nextscn(elf, scn)) != NULL) {
		const Elf64_Shdr *header = elf64_getshdr(scn);
		const char *name = elf_strptr(elf, names, header->sh_name);

		if (header->sh_type == SHT_NULL)
			continue;
		promise(name);
		if (is_sframe(scn, name) || relocates_sframe(elf, scn, name)) {
			promise(elf_getdata(scn, NULL) && elf_rawdata(scn, NULL));
			ours++;
		} else if (elf_ndxscn(scn) != names) {
			check_kept(elf_getscn(original, elf_ndxscn(scn)), scn);
		}
	}
	promise(ours == 2);
	elf_end(elf);
	elf_end(original);
}

/* Write the new file; -1: it is refused. */
static int write_file(const struct made *made, struct object_attachment *attachment)
{
	struct start_relocations relocations;
	struct bobbin_error err = {0};
	uint8_t *section = malloc(made->section_size);
	int out = -1, r;

	promise(section);
	memcpy(section, made->section, made->section_size);
	r = start_relocations_init(&made->code, section, made->section_size, &err, &relocations);
	if (r) {
		promise(r == -ENOTSUP);
		check_refusal(r, &err, made->size);
		promise(!memcmp(section, made->section, made->section_size));
	} else {
		out = new_file();
		promise(!object_attachment_write(attachment, section, made->section_size,
						 &relocations, out));
		promise(!start_relocations_check(&relocations, &made->code, section,
						 made->section_size, out));
		start_relocations_fini(&relocations);
	}
	free(section);
	return out;
}

/* The new file of what was made, -1: it is refused. */
static int attach(const struct made *made)
{
	struct object_attachment attachment;
	struct bobbin_error err = {0};
	int r = object_attachment_init(made->fd, &err, &attachment), out;

	if (r) {
		check_refusal(r, &err, made->size);
		return -1;
	}
	out = write_file(made, &attachment);
	object_attachment_fini(&attachment);
	return out;
}

static void check_again(const struct made *made, int fd, uint8_t selector)
{
	struct made again;
	int out;

	promise(made_init(fd, selector, &again));
	check_same(&made->code, &again.code);
	promise(again.section_size == made->section_size);
	promise(!memcmp(again.section, made->section, made->section_size));
	out = attach(&again);
	promise(out >= 0 && size_of(out) <= size_of(fd));
	check_linked(&again, out);
	close(out);
	made_fini(&again);
}

static void check_file(const struct made *made, int fd, uint8_t selector)
{
	uint64_t frames = made->code.eh_frame.size + made->code.debug_frame.size;

	/* names and section headers may overlap, and fall apart */
	promise(size_of(fd) <= 3 * made->size + ADDED + BYTES_PER_CFI * frames);
	check_sections(made, fd);
	check_linked(made, fd);
	check_again(made, fd, selector);
}

static void check_conversion(int fd, uint64_t size)
{
	struct bobbin_conversion made = {0};
	struct bobbin_error err = {0};
	struct bobbin_sframe_view view;
	int r = bobbin_convert(fd, 0, &err, &made);

	if (r) {
		promise(!made.data && !made.size);
		promise(r == -EBADMSG || r == -ENODATA || r == -ERANGE);
		promise(r != -EBADMSG || err.reason > BOBBIN_REASON_NONE);
		promise(err.reason < BOBBIN_REASON_COUNT && err.offset <= size);
		return;
	}
	promise(!bobbin_sframe_view(made.data, made.size, 0, NULL, &view));
	promise(view.num_fdes == made.functions);
	free(made.data);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	uint8_t selector = size < EI_NIDENT ? 0 : data[EI_NIDENT - 1];
	struct made made;
	int fd = new_file(), out;

	promise(!file_range_write(fd, 0, data, size));
	check_conversion(fd, size);
	if (made_init(fd, selector, &made)) {
		out = attach(&made);
		if (out >= 0)
			check_file(&made, out, selector);
		close(out);
		made_fini(&made);
	}
	close(fd);
	return 0;
}
