/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
#include "small_object.h"

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
#include "convert/converter.h"

static const char names[] = "\0.text\0.text.cold\0.rela.eh_frame\0.symtab\0.strtab\0.shstrtab";

static Elf64_Shdr section(const char *name, uint32_t type, uint64_t flags, uint64_t offset,
			  uint64_t size)
{
	const char *found = memmem(names, sizeof(names), name, strlen(name) + 1);

	assert_non_null(found);
	return (Elf64_Shdr){
		.sh_name = (uint32_t)(found - names),
		.sh_type = type,
		.sh_flags = flags,
		.sh_offset = offset,
		.sh_size = size,
		.sh_addralign = 8,
	};
}

static void put(struct small_object *o, size_t offset, uint32_t value)
{
	bool big_endian = o->file.e_ident[EI_DATA] == ELFDATA2MSB;

	for (size_t i = 0; i < 4; i++)
		o->bytes[offset + i] = (uint8_t)(value >> 8 * (big_endian ? 3 - i : i));
}

static void put_frames(struct small_object *o, bool s390x)
{
	static const uint8_t x86_64_cie[] = {1, 'z',  'R',  0, 1, 0x78, 16,
					     1, 0x1b, 0x0c, 7, 8, 0x90, 1};
	static const uint8_t s390x_cie[] = {1, 'z',  'R',  0,  1,    0x78, 14,
					    1, 0x1b, 0x0c, 15, 0xa0, 1};
	/* one byte on, the CFA is further away */
	static const uint8_t rows[] = {0, 0x42, 0x0e, 0xc0, 1};
	size_t at = OBJECT_AT_FRAME;

	put(o, at, OBJECT_CIE_SIZE - 4);
	if (s390x)
		memcpy(o->bytes + at + 8, s390x_cie, sizeof(s390x_cie));
	else
		memcpy(o->bytes + at + 8, x86_64_cie, sizeof(x86_64_cie));
	for (unsigned int i = 0; i < 2; i++) {
		at = OBJECT_AT_FRAME + OBJECT_CIE_SIZE + i * OBJECT_FDE_SIZE;
		put(o, at, OBJECT_FDE_SIZE - 4);
		put(o, at + 4, (uint32_t)(at + 4 - OBJECT_AT_FRAME));
		put(o, at + 12, i ? OBJECT_COLD_SIZE : 16);
		memcpy(o->bytes + at + 16, rows, sizeof(rows));
	}
}

static void set_tables(struct small_object *o, bool s390x)
{
	const uint64_t type = s390x ? R_390_PC32 : R_X86_64_PC32;

	for (unsigned int i = 0; i < 2; i++) {
		o->symbols[i + 1] = (Elf64_Sym){
			.st_info = ELF64_ST_INFO(STB_LOCAL, STT_SECTION),
			.st_shndx = (uint16_t)(OBJECT_TEXT + i),
		};
		/* the first function does not start with its section */
		o->relas[i] = (Elf64_Rela){
			.r_offset = OBJECT_FIELD(i),
			.r_info = ELF64_R_INFO((uint64_t)i + 1, type),
			.r_addend = i ? 0 : 16,
		};
	}
	o->symbols[3] = (Elf64_Sym){
		.st_name = 1,
		.st_info = ELF64_ST_INFO(STB_GLOBAL, STT_FUNC),
		.st_shndx = OBJECT_COLD,
	};
}

struct small_object small_object(uint16_t machine)
{
	bool s390x = machine == EM_S390;
	struct small_object o = {
		.file =
			{
				.e_ident = {0x7f, 'E', 'L', 'F', ELFCLASS64,
					    s390x ? ELFDATA2MSB : ELFDATA2LSB, EV_CURRENT},
				.e_type = ET_REL,
				.e_machine = machine,
				.e_version = EV_CURRENT,
				.e_ehsize = sizeof(Elf64_Ehdr),
				.e_shentsize = sizeof(Elf64_Shdr),
				.e_shoff = OBJECT_AT_TABLE,
				.e_shnum = OBJECT_SECTIONS,
				.e_shstrndx = OBJECT_NAMES,
			},
	};
	Elf64_Shdr *s = o.sections;

	s[OBJECT_TEXT] = section(".text", SHT_PROGBITS, SHF_ALLOC | SHF_EXECINSTR, OBJECT_AT_TEXT,
				 OBJECT_TEXT_SIZE);
	s[OBJECT_COLD] = section(".text.cold", SHT_PROGBITS, SHF_ALLOC | SHF_EXECINSTR,
				 OBJECT_AT_COLD, OBJECT_COLD_SIZE);
	s[OBJECT_FRAME] = section(".eh_frame", SHT_PROGBITS, SHF_ALLOC, OBJECT_AT_FRAME,
				  OBJECT_AT_RELA - OBJECT_AT_FRAME);
	s[OBJECT_RELA] = section(".rela.eh_frame", SHT_RELA, SHF_INFO_LINK, OBJECT_AT_RELA,
				 sizeof(o.relas));
	s[OBJECT_RELA].sh_info = OBJECT_FRAME;
	s[OBJECT_RELA].sh_link = OBJECT_SYMBOLS;
	s[OBJECT_RELA].sh_entsize = sizeof(Elf64_Rela);
	s[OBJECT_SYMBOLS] = section(".symtab", SHT_SYMTAB, 0, OBJECT_AT_SYMBOLS, sizeof(o.symbols));
	s[OBJECT_SYMBOLS].sh_link = OBJECT_STRINGS;
	s[OBJECT_SYMBOLS].sh_info = 3;
	s[OBJECT_SYMBOLS].sh_entsize = sizeof(Elf64_Sym);
	s[OBJECT_STRINGS] = section(".strtab", SHT_STRTAB, 0, OBJECT_AT_STRINGS, 6);
	s[OBJECT_NAMES] = section(".shstrtab", SHT_STRTAB, 0, OBJECT_AT_NAMES, sizeof(names));
	memcpy(o.bytes + OBJECT_AT_STRINGS, "\0cold", 6);
	memcpy(o.bytes + OBJECT_AT_NAMES, names, sizeof(names));
	put_frames(&o, s390x);
	set_tables(&o, s390x);
	return o;
}

static void encode(struct small_object *o, uint64_t offset, Elf_Type type, const void *from,
		   size_t size)
{
	Elf_Data in = {.d_type = type, .d_version = EV_CURRENT, .d_size = size};
	Elf_Data out = in;

	in.d_buf = (void *)from;
	out.d_buf = o->bytes + offset;
	elf_version(EV_CURRENT);
	assert_non_null(elf64_xlatetof(&out, &in, o->file.e_ident[EI_DATA]));
}

void encode_object(struct small_object *o)
{
	encode(o, 0, ELF_T_EHDR, &o->file, sizeof(o->file));
	encode(o, OBJECT_AT_RELA, ELF_T_RELA, o->relas, sizeof(o->relas));
	encode(o, OBJECT_AT_SYMBOLS, ELF_T_SYM, o->symbols, sizeof(o->symbols));
	encode(o, OBJECT_AT_TABLE, ELF_T_SHDR, o->sections, sizeof(o->sections));
}

int memory_file(const void *bytes, size_t size)
{
	int fd = memfd_create("test", MFD_CLOEXEC);

	assert_true(fd >= 0);
	assert_int_equal(file_range_write(fd, 0, bytes, size), 0);
	return fd;
}

int file_of_object(struct small_object *o)
{
	encode_object(o);
	return memory_file(o->bytes, sizeof(o->bytes));
}

uint64_t file_size(int fd)
{
	struct stat status;

	assert_int_equal(fstat(fd, &status), 0);
	return (uint64_t)status.st_size;
}

/* The section of what was read. */
static void make_section(const struct object_code *code, unsigned int version, uint8_t **data,
			 uint64_t *size)
{
	const struct convert_options options = {.version = version, .floating = true};
	struct bobbin_cfi_view views[2];
	struct convert_stats stats;
	unsigned int count = 0;

	count += object_code_view(code, false, &views[count]);
	count += object_code_view(code, true, &views[count]);
	if (!count)
		views[0] = (struct bobbin_cfi_view){.arch = code->arch};
	assert_int_equal(convert_cfi(views, count, &options, &stats, data, size), 0);
}

/* Write the new file and read it back. */
static int write_object(int in, const struct object_code *code, uint8_t *data, uint64_t size,
			struct bobbin_error *err)
{
	struct start_relocations relocations;
	struct object_attachment attachment;
	int r = start_relocations_init(code, data, size, err, &relocations), out;

	if (r)
		return r;
	r = object_attachment_init(in, err, &attachment);
	if (!r) {
		out = memory_file("", 0);
		assert_int_equal(
			object_attachment_write(&attachment, data, size, &relocations, out), 0);
		assert_int_equal(start_relocations_check(&relocations, code, data, size, out), 0);
		object_attachment_fini(&attachment);
	}
	start_relocations_fini(&relocations);
	return r ? r : out;
}

int convert_object_file(int in, unsigned int version, struct bobbin_error *err)
{
	struct object_code code;
	uint8_t *data = NULL;
	uint64_t size;
	int r = object_code_init(in, err, &code);

	if (!r) {
		make_section(&code, version, &data, &size);
		r = write_object(in, &code, data, size, err);
		free(data);
		object_code_fini(&code);
	}
	close(in);
	return r;
}
