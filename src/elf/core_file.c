/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
#include "elf/core_file.h"

#include <errno.h>
#include <gelf.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/elf_walk.h"
#include "base/file_range.h"
#include "base/vector.h"
#include "core/refusal.h"
#include "elf/core_notes.h"

/* A core file that is being read. */
struct core_reader {
	struct core_file *core;
	Elf *elf;
	struct coverage *kept;
	struct bobbin_error *err;
	uint64_t size, notes_left;
};

static int add_memory(struct core_file *core, const struct core_memory *memory)
{
	return memory->size
		       ? vector_push(core->memory, core->memory_count, core->memory_room, *memory)
		       : 0;
}

/* The part of a segment from its byte @from on and before @to, with its bytes or without. */
static int add_part(struct core_file *core, const struct core_memory *whole, uint64_t from,
		    uint64_t to, bool dumped)
{
	const struct core_memory part = {
		.start = whole->start + from,
		.size = to - from,
		.dumped = dumped ? to - from : 0,
		.offset = whole->offset + from,
		.exec = whole->exec,
	};

	return add_memory(core, &part);
}

/* What was passed over splits a segment. */
static int add_kept(struct core_reader *reader, const struct core_memory *whole)
{
	const uint64_t end = whole->offset + whole->dumped;
	uint64_t at = 0;
	int r = 0;

	for (size_t i = 0; !r && i < reader->kept->count; i++) {
		const struct bobbin_range *kept = &reader->kept->ranges[i];
		uint64_t from = kept->start > whole->offset ? kept->start - whole->offset : 0;
		uint64_t to = (kept->end < end ? kept->end : end) - whole->offset;

		if (kept->end <= whole->offset || kept->start >= end)
			continue;
		r = add_part(reader->core, whole, at, from, false);
		if (!r)
			r = add_part(reader->core, whole, from, to, true);
		at = to;
	}
	return r ? r : add_part(reader->core, whole, at, whole->size, false);
}

static int read_memory(struct core_reader *reader, const GElf_Phdr *p)
{
	struct core_memory memory = {
		.start = p->p_vaddr,
		.size = p->p_memsz,
		.dumped = p->p_filesz < p->p_memsz ? p->p_filesz : p->p_memsz,
		.offset = p->p_offset,
		.exec = p->p_flags & PF_X,
	};
	uint64_t there = memory.offset < reader->size ? reader->size - memory.offset : 0;

	if (memory.size > UINT64_MAX - memory.start)
		return refuse(reader->err, p->p_offset, BOBBIN_REASON_ELF_BROKEN);
	if (there < memory.dumped) {
		reader->core->missing += memory.dumped - there;
		memory.dumped = there;
	}
	return reader->kept ? add_kept(reader, &memory) : add_memory(reader->core, &memory);
}

static int read_notes(struct core_reader *reader, const GElf_Phdr *p)
{
	const uint64_t size = p->p_filesz;
	uint8_t *notes;
	int r;

	if (p->p_offset > reader->size || size > reader->size - p->p_offset)
		return refuse(reader->err, reader->size, BOBBIN_REASON_TRUNCATED);
	if (size > reader->notes_left)
		return -EFBIG;
	reader->notes_left -= size;
	notes = malloc(size + 1);
	if (!notes)
		return -ENOMEM;
	r = file_range_read(reader->core->fd, p->p_offset, notes, size);
	if (!r)
		r = core_notes_read(reader->core, notes, size);
	free(notes);
	return r;
}

static int read_segments(struct core_reader *reader)
{
	GElf_Phdr p;
	int r = 0;

	for (size_t i = 0; !r && elf_next_segment(reader->elf, &i, &p);) {
		if (p.p_type == PT_LOAD)
			r = read_memory(reader, &p);
		else if (p.p_type == PT_NOTE)
			r = read_notes(reader, &p);
	}
	return r;
}

static int read_core(struct core_reader *reader)
{
	struct core_file *core = reader->core;
	GElf_Ehdr header;
	int r;

	if (elf_kind(reader->elf) != ELF_K_ELF || !gelf_getehdr(reader->elf, &header))
		return refuse(reader->err, 0, BOBBIN_REASON_NOT_ELF);
	if (header.e_ident[EI_CLASS] != ELFCLASS64)
		return refuse(reader->err, EI_CLASS, BOBBIN_REASON_ELF_CLASS);
	core->arch = bobbin_arch_of_elf(header.e_machine, header.e_ident[EI_DATA] == ELFDATA2MSB);
	if (!core->arch)
		return refuse(reader->err, offsetof(Elf64_Ehdr, e_machine),
			      BOBBIN_REASON_ELF_MACHINE);
	if (header.e_type != ET_CORE)
		return refuse(reader->err, offsetof(Elf64_Ehdr, e_type), BOBBIN_REASON_NOT_CORE);
	r = read_segments(reader);
	if (core->memory_count)
		qsort(core->memory, core->memory_count, sizeof(*core->memory), vector_by_start);
	core_file_sort_mappings(core);
	return r;
}

int core_file_init(int fd, struct coverage *kept, struct bobbin_error *err, struct core_file *ret)
{
	struct core_file core = {.fd = fd};
	struct core_reader reader = {
		.core = &core, .kept = kept, .err = err, .notes_left = CORE_NOTES_MAX};
	struct stat status;
	int r;

	if (err)
		*err = (struct bobbin_error){0};
	if (fstat(fd, &status))
		return -errno;
	if (S_ISDIR(status.st_mode))
		return -EISDIR;
	if (!elf_counts_are_sane(fd))
		return refuse(err, 0, BOBBIN_REASON_ELF_BROKEN);
	if (kept)
		coverage_settle(kept);
	reader.size = (uint64_t)status.st_size;
	name_pool_init(&core.paths);
	elf_version(EV_CURRENT);
	/* not by mmap: a file that shrinks meanwhile must not kill us */
	reader.elf = elf_begin(fd, ELF_C_READ, NULL);
	r = reader.elf ? read_core(&reader) : refuse(err, 0, BOBBIN_REASON_NOT_ELF);
	elf_end(reader.elf);
	if (r)
		core_file_fini(&core);
	else
		*ret = core;
	return r;
}

void core_file_fini(struct core_file *core)
{
	free(core->memory);
	free(core->mappings);
	free(core->threads);
	name_pool_fini(&core->paths);
	*core = (struct core_file){.fd = -1};
}

ssize_t core_file_read(const struct core_file *core, uint64_t addr, void *dst, size_t size)
{
	size_t done = 0;

	while (done < size) {
		uint64_t offset = 0, there = core_file_dumped(core, addr + done, &offset);
		size_t step = there < size - done ? (size_t)there : size - done;
		ssize_t n = step ? file_range_start(core->fd, offset, (char *)dst + done, step) : 0;

		if (n < 0)
			return n;
		done += (size_t)n;
		if (!n || (size_t)n < step)
			break;
	}
	return (ssize_t)done;
}
