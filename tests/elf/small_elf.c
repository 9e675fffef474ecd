/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
#include "small_elf.h"

#include <libelf.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cmocka.h>

#include "base/file_range.h"

static const char names[] = "\0.text\0.data\0.bss\0.shstrtab";

static Elf64_Phdr load(uint64_t offset, uint64_t size, uint64_t memsz, uint32_t flags)
{
	return (Elf64_Phdr){
		.p_type = PT_LOAD,
		.p_flags = flags,
		.p_offset = offset,
		.p_vaddr = SMALL_BASE + offset,
		.p_paddr = SMALL_BASE + offset,
		.p_filesz = size,
		.p_memsz = memsz,
		.p_align = 4096,
	};
}

static Elf64_Shdr section(uint32_t name, uint32_t type, uint64_t offset, uint64_t size)
{
	return (Elf64_Shdr){
		.sh_name = name,
		.sh_type = type,
		.sh_flags = type == SHT_STRTAB ? 0 : SHF_ALLOC,
		.sh_addr = type == SHT_STRTAB ? 0 : SMALL_BASE + offset,
		.sh_offset = offset,
		.sh_size = size,
		.sh_addralign = 1,
	};
}

struct small small_file(uint16_t machine, unsigned char data)
{
	struct small s = {.size = SMALL_SIZE};

	memcpy(s.file.e_ident, ELFMAG, SELFMAG);
	s.file.e_ident[EI_CLASS] = ELFCLASS64;
	s.file.e_ident[EI_DATA] = data;
	s.file.e_ident[EI_VERSION] = EV_CURRENT;
	s.file.e_type = ET_EXEC;
	s.file.e_machine = machine;
	s.file.e_version = EV_CURRENT;
	s.file.e_ehsize = sizeof(Elf64_Ehdr);
	s.file.e_phentsize = sizeof(Elf64_Phdr);
	s.file.e_shentsize = sizeof(Elf64_Shdr);
	s.file.e_phoff = SMALL_TEXT - SMALL_PHDRS * sizeof(Elf64_Phdr);
	s.file.e_phnum = SMALL_PHDRS;
	s.file.e_shoff = SMALL_TABLE;
	s.file.e_shnum = SMALL_SHDRS;
	s.file.e_shstrndx = 4;
	s.segments[0] = (Elf64_Phdr){
		.p_type = PT_PHDR,
		.p_flags = PF_R,
		.p_offset = s.file.e_phoff,
		.p_vaddr = SMALL_BASE + s.file.e_phoff,
		.p_filesz = SMALL_PHDRS * sizeof(Elf64_Phdr),
		.p_memsz = SMALL_PHDRS * sizeof(Elf64_Phdr),
		.p_align = 8,
	};
	s.segments[1] = load(0, SMALL_DATA, SMALL_DATA, PF_R | PF_X);
	s.segments[2] = load(SMALL_DATA, 0x100, 0x900, PF_R | PF_W);
	s.segments[2].p_vaddr += 0x1000;
	s.sections[1] = section(1, SHT_PROGBITS, SMALL_TEXT, SMALL_DATA - SMALL_TEXT);
	s.sections[2] = section(7, SHT_PROGBITS, SMALL_DATA, 0x100);
	s.sections[3] = section(13, SHT_NOBITS, SMALL_NAMES, 0x800);
	s.sections[4] = section(18, SHT_STRTAB, SMALL_NAMES, sizeof(names));
	memset(s.bytes + SMALL_TEXT, 0x5a, SMALL_NAMES - SMALL_TEXT);
	memcpy(s.bytes + SMALL_NAMES, names, sizeof(names));
	return s;
}

void make_room(struct small *s)
{
	s->file.e_phoff -= SMALL_ROOM;
	s->segments[0].p_offset -= SMALL_ROOM;
	s->segments[0].p_vaddr -= SMALL_ROOM;
}

static void encode(struct small *s, uint64_t offset, Elf_Type type, const void *from, size_t size)
{
	Elf_Data in = {.d_type = type, .d_version = EV_CURRENT, .d_size = size};
	Elf_Data out = in;

	if (offset + size > sizeof(s->bytes))
		return;
	in.d_buf = (void *)from;
	out.d_buf = s->bytes + offset;
	elf_version(EV_CURRENT);
	assert_non_null(elf64_xlatetof(&out, &in, s->file.e_ident[EI_DATA]));
}

void encode_headers(struct small *s)
{
	encode(s, 0, ELF_T_EHDR, &s->file, sizeof(s->file));
	if (s->file.e_phoff)
		encode(s, s->file.e_phoff, ELF_T_PHDR, s->segments, sizeof(s->segments));
	if (s->file.e_shoff)
		encode(s, s->file.e_shoff, ELF_T_SHDR, s->sections, sizeof(s->sections));
}

int file_of(const void *bytes, size_t size)
{
	int fd = memfd_create("test", MFD_CLOEXEC);

	assert_true(fd >= 0);
	assert_int_equal(file_range_write(fd, 0, bytes, size), 0);
	return fd;
}

uint64_t size_of(int fd)
{
	struct stat status;

	assert_int_equal(fstat(fd, &status), 0);
	return (uint64_t)status.st_size;
}

int file_of_small(struct small *s)
{
	encode_headers(s);
	return file_of(s->bytes, s->size);
}

int attach(int in, size_t size, uint8_t fill, struct sframe_attachment *plan)
{
	struct bobbin_error err;
	uint8_t *bytes = malloc(size);
	int out = file_of("", 0);

	assert_non_null(bytes);
	memset(bytes, fill, size);
	assert_int_equal(sframe_attachment_init(in, &err, plan), 0);
	assert_int_equal(sframe_attachment_write(plan, bytes, size, out), 0);
	sframe_attachment_fini(&(struct sframe_attachment){.headers = plan->headers});
	free(bytes);
	close(in);
	return out;
}
