/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
#include "cli/code_listing.h"

#include <errno.h>
#include <inttypes.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/file_range.h"
#include "base/regular_file.h"
#include "base/vector.h"
#include "elf/elf_headers.h"
#include "elf/elf_image.h"
#include "unwind/module.h"

/* Where the end of a function is not known, so much is shown behind its last sample. */
#define TAIL 32
/* Digits of an address, and a NUL. */
#define HEX_SIZE 17

static int open_space(struct code_listing *l, struct bobbin_unwinder *unwinder)
{
	int r = bobbin_space_open(unwinder, l->function->arch, &l->space);

	return r ? r : bobbin_space_map(l->space, &l->function->mapping);
}

/* Debug files have the headers of code, and other bytes in its place. */
static bool has_code(int fd, uint64_t vaddr)
{
	struct elf_headers headers;
	bool has = true;

	/* without sections it is what segments say */
	if (elf_headers_init(fd, false, NULL, &headers))
		return true;
	for (size_t i = 0; i < headers.section_count; i++) {
		const Elf64_Shdr *s = &headers.sections[i];

		if (s->sh_flags & SHF_EXECINSTR && vaddr - s->sh_addr < s->sh_size)
			has = s->sh_type != SHT_NOBITS;
	}
	elf_headers_fini(&headers);
	return has;
}

static uint64_t extent_of(const struct code_function *function, const struct code_point *points)
{
	uint64_t last = function->count ? points[function->count - 1].offset : 0;
	uint64_t size = function->size;

	if (!size)
		size = last < CODE_LISTING_MOST ? last + TAIL : CODE_LISTING_MOST;
	return size < CODE_LISTING_MOST ? size : CODE_LISTING_MOST;
}

/* Within the mapping: what is behind it in the file was not the process's. */
static uint64_t mapped_part(const struct code_function *function, uint64_t size)
{
	const struct bobbin_mapping *m = &function->mapping;

	if (function->pc < m->start || function->pc >= m->end)
		return 0;
	return size < m->end - function->pc ? size : m->end - function->pc;
}

static bool is_that_file(int fd, const struct mapped_file *file)
{
	uint8_t id[ELF_BUILD_ID_MAX], length = 0;

	return !file->build_id_len ||
	       (!elf_build_id(fd, id, &length) && length == file->build_id_len &&
		!memcmp(id, file->build_id, length));
}

/* The user says where the files are; without a build ID that is taken for granted. */
static int open_below(const char *folder, const struct mapped_file *file)
{
	char path[PATH_MAX];
	int length = snprintf(path, sizeof(path), "%s/%s", folder, file->path);
	int fd = length < (int)sizeof(path) ? regular_file_open(path, 0, NULL) : -ENAMETOOLONG;

	if (fd < 0 || is_that_file(fd, file))
		return fd;
	close(fd);
	return -ESTALE;
}

static const char *refusal_of(int error)
{
	if (error == -ESTALE)
		return "its file is, or may be, another one by now: the build ID or the date differs";
	if (error == -ENOENT)
		return "its file is not there any more";
	return strerror(-error);
}

/* NULL, or why there are no bytes. */
static const char *read_bytes(struct code_listing *l, struct bobbin_unwinder *unwinder,
			      const char *symfs, const struct code_point *points)
{
	const struct code_function *f = l->function;
	uint64_t offset = f->pc - f->mapping.start + f->mapping.offset;
	uint64_t size = mapped_part(f, extent_of(f, points));
	int fd = symfs ? open_below(symfs, f->file) : unwinder_file_open(unwinder, f->file);
	ssize_t n = -EIO;

	if (fd < 0)
		return refusal_of(fd);
	l->bytes = size && has_code(fd, f->start) ? malloc(size) : NULL;
	if (l->bytes)
		n = file_range_start(fd, offset, l->bytes, size);
	close(fd);
	if (n <= 0)
		return "the file that is there has no code";
	l->size = (uint64_t)n;
	return NULL;
}

static const char *missing_kind(const struct code_function *function)
{
	if (function->kind == FRAME_KERNEL)
		return "the kernel's code is not in a file";
	if (function->kind == FRAME_JIT)
		return "code that was made at run time is not in a file";
	if (!strcmp(function->dso, "[vdso]") || !strcmp(function->dso, "[vsyscall]"))
		return "the kernel's code in processes is not in a file";
	return function->file ? NULL : "the code is not in a file";
}

/* NULL, or why there are none. */
static const char *open_bytes(struct code_listing *l, struct bobbin_unwinder *unwinder,
			      const char *symfs, const struct code_point *points)
{
	const struct machine *machine = NULL;
	const char *missing = missing_kind(l->function);

	if (missing)
		return missing;
	machine = machine_read_here(l->function->arch);
	l->decoder = machine ? insn_decoder_open(machine) : NULL;
	return l->decoder ? read_bytes(l, unwinder, symfs, points)
			  : "this build cannot read the instructions of its machine";
}

static int add_insn(struct code_listing *l, uint64_t offset, uint64_t weight, uint8_t length)
{
	return vector_push(l->insns, l->count, l->room,
			   (struct listed_insn){offset, weight, length});
}

/* One instruction after the other, each with the points in it. */
static int list_insns(struct code_listing *l, const struct code_point *points)
{
	const struct code_point *at = points, *end = points + l->function->count;
	struct insn insn;
	int r = 0;

	for (uint64_t offset = 0; offset < l->size && !r; offset += insn.len) {
		uint64_t weight = 0;

		insn_decode(l->decoder, l->bytes + offset, l->size - offset,
			    l->function->start + offset, &insn);
		if (!insn.len)
			insn.len = 1;
		for (; at < end && at->offset - offset < insn.len; at++)
			weight += at->weight;
		r = add_insn(l, offset, weight, insn.len);
	}
	for (; at < end && !r; at++)
		r = add_insn(l, at->offset, at->weight, 0);
	return r;
}

int code_listing_init(struct code_listing *listing, struct bobbin_unwinder *unwinder,
		      const char *symfs, const struct code_function *function,
		      const struct code_point *points)
{
	int r;

	*listing = (struct code_listing){.function = function};
	r = function->file ? open_space(listing, unwinder) : 0;
	if (r)
		return r;
	listing->missing = open_bytes(listing, unwinder, symfs, points);
	return list_insns(listing, points);
}

void code_listing_fini(struct code_listing *listing)
{
	insn_decoder_close(listing->decoder);
	bobbin_space_close(listing->space);
	free(listing->bytes);
	free(listing->insns);
}

size_t code_listing_names(const struct code_listing *listing, struct naming *naming,
			  uint64_t offset, struct named_frame named[NAMING_MAX_INLINES])
{
	const struct naming_moment moment = {.time = UINT64_MAX};
	const struct bobbin_frame frame = {.pc = listing->function->pc + offset, .exact = true};

	return listing->space ? naming_frame(naming, listing->space, &moment, &frame, named) : 0;
}

/* Disassemblers print addresses with all digits. */
static void write_target(char text[INSN_TEXT_MAX], uint64_t address)
{
	char *operand = strrchr(text, ' ');

	if (operand && text + INSN_TEXT_MAX - operand > HEX_SIZE + 1)
		snprintf(operand + 1, HEX_SIZE, "%" PRIx64, address);
}

uint64_t code_listing_text(const struct code_listing *listing, const struct listed_insn *insn,
			   char text[INSN_TEXT_MAX])
{
	const struct code_function *function = listing->function;
	uint64_t addr = function->start + insn->offset, target;
	struct insn decoded;
	const uint8_t *code;

	*text = '\0';
	/* no bytes were found */
	if (!insn->length)
		return 0;
	code = listing->bytes + insn->offset;
	listing->decoder->machine->text(listing->decoder, code, insn->length, addr, text);
	insn_decode(listing->decoder, code, insn->length, addr, &decoded);
	if (decoded.op != OP_CALL && decoded.op != OP_JUMP && decoded.op != OP_BRANCH)
		return 0;
	write_target(text, (uint64_t)decoded.value);
	target = (uint64_t)decoded.value - function->start;
	return target < listing->size ? 0 : target;
}
