/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
#include "unwind/mapped_tables.h"

#include <bobbin/sframe.h>
#include <errno.h>

#include "base/native_arch.h"
#include "cfi/cfi_header.h"
#include "cfi/cfi_step.h"
#include "core/eh_return.h"
#include "core/entry_code.h"
#include "core/refusal.h"
#include "elf/elf_notes.h"
#include "elf/gnu_sframe.h"

/* An ELF header and the program headers after it fit into the first page. */
#define FIRST_PAGE 4096u

static const ElfW(Phdr) * header_of(const struct program_headers *h, uint32_t type)
{
	for (size_t i = 0; i < h->count; i++)
		if (h->headers[i].p_type == type)
			return &h->headers[i];
	return NULL;
}

static uint64_t address_of(const struct program_headers *h, const ElfW(Phdr) * p)
{
	return h->bias + p->p_vaddr;
}

/* The segment in memory of which @p is a part, as far as the file has it; empty: there is none. */
static struct bobbin_range segment_of(const struct program_headers *h, const ElfW(Phdr) * p)
{
	for (size_t i = 0; i < h->count; i++) {
		const ElfW(Phdr) *load = &h->headers[i];

		if (load->p_type == PT_LOAD && load->p_flags & PF_R &&
		    p->p_vaddr >= load->p_vaddr && p->p_vaddr - load->p_vaddr < load->p_filesz &&
		    p->p_filesz <= load->p_filesz - (p->p_vaddr - load->p_vaddr))
			return (struct bobbin_range){address_of(h, load),
						     address_of(h, load) + load->p_filesz};
	}
	return (struct bobbin_range){0, 0};
}

/* What of a function's code can be read with care: the rest is 0. */
struct function_code {
	uint64_t start, end;
};

static bool read_function(void *ctx, uint64_t addr, void *dst, size_t size)
{
	const struct function_code *code = ctx;
	uint8_t *to = dst;

	for (size_t i = 0; i < size; i++, addr++)
		to[i] = addr >= code->start && addr < code->end
				? *(const volatile uint8_t *)(uintptr_t)addr
				: 0;
	return true;
}

/* libgcc's _Unwind_Resume() and its like, see core/eh_return.h. */
static bool is_eh_return(const struct bobbin_cfi_rows *rows, uint64_t pc)
{
	const struct bobbin_cfi_fde *fde = &rows->fde;
	struct function_code code = {fde->start, fde->end};
	const struct code_reader reader = {read_function, &code};

	return eh_return_possible(rows->view->frame + fde->insn, fde->insn_end - fde->insn) &&
	       known_code_eh_return(rows->view->arch, &reader, pc);
}

static int cfi_lookup(void *table, const struct bobbin_arch *arch, uint64_t pc,
		      struct bobbin_error *err, struct table_answer *ret)
{
	struct bobbin_cfi_rows rows;
	int r = bobbin_cfi_lookup(table, pc, &rows, err, &ret->row);

	(void)arch;
	if (!r && is_eh_return(&rows, pc))
		ret->row.rule = bobbin_rule_none(BOBBIN_REASON_EH_RETURN);
	return r;
}

static enum bobbin_reason cfi_step_on(void *table, uint64_t pc, const struct bobbin_mem *mem,
				      struct table_step *step)
{
	struct bobbin_cfi_view view = *(const struct bobbin_cfi_view *)table;
	struct bobbin_cfi_rows rows;
	struct bobbin_error error;
	struct bobbin_row row;
	int r;

	view.arch = step->arch;
	r = bobbin_cfi_lookup(&view, pc, &rows, &error, &row);
	if (r)
		return r == -EBADMSG ? error.reason : BOBBIN_REASON_NO_TABLE;
	return cfi_step(&rows, pc, mem, step);
}

/* Of a struct bobbin_cfi_view. */
static const struct table_ops mapped_cfi_ops = {
	.kind = TABLE_CALL_FRAMES,
	.sources = {BOBBIN_SOURCE_EH_FRAME},
	.whole = true,
	.lookup = cfi_lookup,
	.step = cfi_step_on,
};

static int sframe_lookup(void *table, const struct bobbin_arch *arch, uint64_t pc,
			 struct bobbin_error *err, struct table_answer *ret)
{
	const struct mapped_tables *t = table;
	struct bobbin_sframe_view view;
	uint64_t pos = 0;
	int r;

	for (;;) {
		r = bobbin_sframe_next(t->sframe, t->sframe_size, (uint64_t)(uintptr_t)t->sframe,
				       &pos, err, &view);
		if (r <= 0)
			return r ? r : -ENOENT;
		if (view.arch != arch)
			return refuse(err, 0, BOBBIN_REASON_SFRAME_ABI);
		r = bobbin_sframe_lookup(&view, pc, err, &ret->row);
		if (r != -ENOENT)
			return r;
	}
}

/* Of a struct mapped_tables. */
static const struct table_ops mapped_sframe_ops = {
	.kind = TABLE_SFRAME,
	.sources = {BOBBIN_SOURCE_SFRAME},
	.drops = true,
	.lookup = sframe_lookup,
};

static void find_cfi(struct mapped_tables *t)
{
	const ElfW(Phdr) *p = header_of(&t->headers, PT_GNU_EH_FRAME);
	struct bobbin_range segment;

	t->cfi = (struct bobbin_cfi_view){.arch = native_arch()};
	if (!p)
		return;
	segment = segment_of(&t->headers, p);
	if (segment.start == segment.end)
		return;
	t->cfi.hdr_addr = address_of(&t->headers, p);
	t->cfi.hdr = (const uint8_t *)(uintptr_t)t->cfi.hdr_addr;
	t->cfi.hdr_size = p->p_filesz;
	if (!cfi_view_of_header(&t->cfi, &segment))
		table_set_add(&t->set, &mapped_cfi_ops, &t->cfi);
}

static void find_sframe(struct mapped_tables *t)
{
	const ElfW(Phdr) *p = header_of(&t->headers, PT_GNU_SFRAME);
	struct bobbin_range segment;

	t->sframe = NULL;
	t->sframe_size = 0;
	if (!p)
		return;
	segment = segment_of(&t->headers, p);
	if (segment.start == segment.end)
		return;
	t->sframe = (const uint8_t *)(uintptr_t)address_of(&t->headers, p);
	t->sframe_size = p->p_filesz;
	table_set_add(&t->set, &mapped_sframe_ops, t);
}

static void find_extent(struct mapped_tables *t)
{
	t->start = UINT64_MAX;
	t->end = 0;
	for (size_t i = 0; i < t->headers.count; i++) {
		const ElfW(Phdr) *p = &t->headers.headers[i];
		uint64_t start = address_of(&t->headers, p);

		if (p->p_type != PT_LOAD)
			continue;
		if (start < t->start)
			t->start = start;
		if (start + p->p_memsz > t->end)
			t->end = start + p->p_memsz;
	}
}

void mapped_tables_init(const struct program_headers *headers, struct mapped_tables *ret)
{
	ret->headers = *headers;
	table_set_init(native_arch(), &ret->set);
	find_extent(ret);
	find_cfi(ret);
	ret->sframe = NULL;
	ret->sframe_size = 0;
	if (!ret->cfi.frame)
		find_sframe(ret);
}

bool mapped_headers(const void *start, struct program_headers *ret)
{
	const ElfW(Ehdr) *header = start;
	const ElfW(Phdr) * p;

	if (!start || header->e_ident[EI_MAG0] != ELFMAG0 || header->e_ident[EI_MAG1] != 'E' ||
	    header->e_ident[EI_MAG2] != 'L' || header->e_ident[EI_MAG3] != 'F' ||
	    header->e_phentsize != sizeof(*p) || header->e_phoff % sizeof(uint64_t) ||
	    header->e_phoff > FIRST_PAGE ||
	    header->e_phnum > (FIRST_PAGE - header->e_phoff) / sizeof(*p))
		return false;
	*ret = (struct program_headers){
		.headers = (const void *)((const uint8_t *)start + header->e_phoff),
		.count = header->e_phnum};
	for (p = ret->headers; p < ret->headers + ret->count; p++)
		if (p->p_type == PT_LOAD && !p->p_offset) {
			ret->bias = (uint64_t)(uintptr_t)start - p->p_vaddr;
			return true;
		}
	return false;
}

void mapped_tables_enter(struct mapped_tables *tables, uint64_t entry)
{
	struct function_code rest = {entry, tables->end};
	uint8_t code[ENTRY_CODE_READ];

	for (size_t i = 0; i < tables->headers.count; i++) {
		const ElfW(Phdr) *p = &tables->headers.headers[i];
		uint64_t start = address_of(&tables->headers, p);

		if (p->p_type == PT_LOAD && p->p_flags & PF_R && entry - start < p->p_filesz)
			rest.end = start + p->p_filesz;
	}
	read_function(&rest, entry, code, sizeof(code));
	tables->set.entry = entry;
	tables->set.entry_size = entry_code_size(native_arch(), code);
}

bool mapped_segment(const struct program_headers *headers, uint64_t addr, struct bobbin_range *ret)
{
	for (size_t i = 0; i < headers->count; i++) {
		const ElfW(Phdr) *p = &headers->headers[i];
		uint64_t start = address_of(headers, p);

		if (p->p_type == PT_LOAD && p->p_flags & PF_X && addr - start < p->p_memsz) {
			*ret = (struct bobbin_range){start, start + p->p_memsz};
			return true;
		}
	}
	return false;
}

const uint8_t *mapped_build_id(const struct program_headers *headers, uint8_t *size)
{
	for (size_t i = 0; i < headers->count; i++) {
		const ElfW(Phdr) *p = &headers->headers[i];
		const struct bobbin_range segment = segment_of(headers, p);
		const uint8_t *notes = (const uint8_t *)(uintptr_t)address_of(headers, p);
		uint64_t offset;

		if (p->p_type == PT_NOTE && segment.start != segment.end &&
		    elf_find_build_id(notes, p->p_filesz, BOBBIN_HOST_BIG_ENDIAN, &offset, size))
			return notes + offset;
	}
	return NULL;
}
