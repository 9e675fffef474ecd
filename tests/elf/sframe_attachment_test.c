/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * A small ELF file gets its section; a damaged one is refused or gets it.
 *
 * The file: headers, room, .text at TEXT, .data and a .bss, names, section headers.
 * What was written is looked at with libelf.
 */
#include <errno.h>
#include <gelf.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cmocka.h>

#include "elf/file_range.h"
#include "elf/sframe_attachment.h"

#define PT_SFRAME 0x6474e554
#define SHT_SFRAME 0x6ffffff4

#define BASE 0x400000
#define PHDRS 3
#define SHDRS 5
#define ROOM (2 * sizeof(Elf64_Phdr))
#define TEXT 0x300
#define DATA 0x400
#define NAMES 0x500
#define TABLE 0x540
#define SIZE (TABLE + SHDRS * sizeof(Elf64_Shdr))
#define SPARE 65536

static const char names[] = "\0.text\0.data\0.bss\0.shstrtab";

struct small {
	Elf64_Ehdr file;
	Elf64_Phdr segments[PHDRS];
	Elf64_Shdr sections[SHDRS];
	size_t size;
	uint8_t bytes[SIZE + SPARE];
};

static Elf64_Phdr load(uint64_t offset, uint64_t size, uint64_t memsz, uint32_t flags)
{
	return (Elf64_Phdr){
		.p_type = PT_LOAD,
		.p_flags = flags,
		.p_offset = offset,
		.p_vaddr = BASE + offset,
		.p_paddr = BASE + offset,
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
		.sh_addr = type == SHT_STRTAB ? 0 : BASE + offset,
		.sh_offset = offset,
		.sh_size = size,
		.sh_addralign = 1,
	};
}

/* No room behind the program headers: .text follows at once. */
static struct small small_file(uint16_t machine, unsigned char data)
{
	struct small s = {.size = SIZE};

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
	s.file.e_phoff = TEXT - PHDRS * sizeof(Elf64_Phdr);
	s.file.e_phnum = PHDRS;
	s.file.e_shoff = TABLE;
	s.file.e_shnum = SHDRS;
	s.file.e_shstrndx = 4;
	s.segments[0] = (Elf64_Phdr){
		.p_type = PT_PHDR,
		.p_flags = PF_R,
		.p_offset = s.file.e_phoff,
		.p_vaddr = BASE + s.file.e_phoff,
		.p_filesz = PHDRS * sizeof(Elf64_Phdr),
		.p_memsz = PHDRS * sizeof(Elf64_Phdr),
		.p_align = 8,
	};
	s.segments[1] = load(0, DATA, DATA, PF_R | PF_X);
	s.segments[2] = load(DATA, 0x100, 0x900, PF_R | PF_W);
	s.segments[2].p_vaddr += 0x1000;
	s.sections[1] = section(1, SHT_PROGBITS, TEXT, DATA - TEXT);
	s.sections[2] = section(7, SHT_PROGBITS, DATA, 0x100);
	s.sections[3] = section(13, SHT_NOBITS, NAMES, 0x800);
	s.sections[4] = section(18, SHT_STRTAB, NAMES, sizeof(names));
	memset(s.bytes + TEXT, 0x5a, NAMES - TEXT);
	memcpy(s.bytes + NAMES, names, sizeof(names));
	return s;
}

static void make_room(struct small *s)
{
	s->file.e_phoff -= ROOM;
	s->segments[0].p_offset -= ROOM;
	s->segments[0].p_vaddr -= ROOM;
}

/* The headers go to where the ELF header says, as far as the file reaches. */
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

static void encode_headers(struct small *s)
{
	encode(s, 0, ELF_T_EHDR, &s->file, sizeof(s->file));
	if (s->file.e_phoff)
		encode(s, s->file.e_phoff, ELF_T_PHDR, s->segments, sizeof(s->segments));
	if (s->file.e_shoff)
		encode(s, s->file.e_shoff, ELF_T_SHDR, s->sections, sizeof(s->sections));
}

static int file_of(const void *bytes, size_t size)
{
	int fd = memfd_create("test", MFD_CLOEXEC);

	assert_true(fd >= 0);
	assert_int_equal(file_range_write(fd, 0, bytes, size), 0);
	return fd;
}

static uint64_t size_of(int fd)
{
	struct stat status;

	assert_int_equal(fstat(fd, &status), 0);
	return (uint64_t)status.st_size;
}

static int file_of_small(struct small *s)
{
	encode_headers(s);
	return file_of(s->bytes, s->size);
}

/* A new file with @size bytes of @fill as its section; closes @in. */
static int attach(int in, size_t size, uint8_t fill, struct sframe_attachment *plan)
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

/* What a test wants to know of a written file. */
struct outcome {
	GElf_Ehdr file;
	GElf_Phdr segments[16];
	size_t segment_count, section_count, sframe_sections;
	GElf_Shdr sframe;
	char sframe_name[16];
};

static void look_at_sections(Elf *elf, struct outcome *o)
{
	Elf_Scn *scn = NULL;
	size_t strings;

	assert_int_equal(elf_getshdrstrndx(elf, &strings), 0);
	while ((scn = elf_nextscn(elf, scn))) {
		GElf_Shdr header;
		const char *name;

		assert_non_null(gelf_getshdr(scn, &header));
		if (header.sh_type != SHT_SFRAME)
			continue;
		o->sframe = header;
		o->sframe_sections++;
		name = elf_strptr(elf, strings, header.sh_name);
		assert_non_null(name);
		strncpy(o->sframe_name, name, sizeof(o->sframe_name) - 1);
	}
}

static struct outcome look(int fd)
{
	struct outcome o = {0};
	Elf *elf;

	elf_version(EV_CURRENT);
	elf = elf_begin(fd, ELF_C_READ, NULL);
	assert_non_null(gelf_getehdr(elf, &o.file));
	assert_int_equal(elf_getphdrnum(elf, &o.segment_count), 0);
	assert_true(o.segment_count <= 16);
	for (size_t i = 0; i < o.segment_count; i++)
		assert_non_null(gelf_getphdr(elf, (int)i, &o.segments[i]));
	assert_int_equal(elf_getshdrnum(elf, &o.section_count), 0);
	if (o.section_count)
		look_at_sections(elf, &o);
	elf_end(elf);
	return o;
}

static const GElf_Phdr *segment_of(const struct outcome *o, uint32_t type)
{
	const GElf_Phdr *found = NULL;

	for (size_t i = 0; i < o->segment_count; i++) {
		if (o->segments[i].p_type != type)
			continue;
		assert_true(type == PT_LOAD || !found);
		found = &o->segments[i];
	}
	assert_non_null(found);
	return found;
}

/* The last loaded segment, the section's segment and its header tell the same story. */
static struct outcome well_attached(int fd, const struct sframe_attachment *plan, size_t size,
				    uint8_t fill)
{
	struct outcome o = look(fd);
	const GElf_Phdr *last = segment_of(&o, PT_LOAD), *sframe = segment_of(&o, PT_SFRAME);
	uint8_t byte;

	assert_int_equal(sframe->p_vaddr, plan->addr);
	assert_int_equal(sframe->p_offset, plan->offset);
	assert_int_equal(sframe->p_filesz, size);
	assert_int_equal(sframe->p_memsz, size);
	assert_int_equal(sframe->p_vaddr % 8, 0);
	assert_int_equal(last->p_flags, PF_R);
	assert_int_equal(last->p_filesz, last->p_memsz);
	assert_int_equal((last->p_vaddr - last->p_offset) % last->p_align, 0);
	assert_int_equal(last->p_vaddr - last->p_offset, sframe->p_vaddr - sframe->p_offset);
	assert_true(sframe->p_vaddr >= last->p_vaddr);
	assert_int_equal(sframe->p_vaddr + size, last->p_vaddr + last->p_memsz);
	for (uint64_t i = 0; i < size; i++) {
		assert_int_equal(file_range_read(fd, plan->offset + i, &byte, 1), 0);
		assert_int_equal(byte, fill);
	}
	if (o.section_count) {
		assert_int_equal(o.sframe_sections, 1);
		assert_string_equal(o.sframe_name, ".sframe");
		assert_int_equal(o.sframe.sh_addr, plan->addr);
		assert_int_equal(o.sframe.sh_offset, plan->offset);
		assert_int_equal(o.sframe.sh_size, size);
		assert_int_equal(o.sframe.sh_flags, SHF_ALLOC);
	}
	return o;
}

static void same_bytes(int fd, const struct small *s, uint64_t start, uint64_t end)
{
	uint8_t *bytes = malloc(end - start);

	assert_non_null(bytes);
	assert_int_equal(file_range_read(fd, start, bytes, end - start), 0);
	assert_memory_equal(bytes, s->bytes + start, end - start);
	free(bytes);
}

static void the_program_headers_move_where_there_is_no_room(void **state)
{
	struct small s = small_file(EM_X86_64, ELFDATA2LSB);
	struct sframe_attachment plan;
	int fd = attach(file_of_small(&s), 1000, 7, &plan);
	struct outcome o = well_attached(fd, &plan, 1000, 7);
	const GElf_Phdr *table = segment_of(&o, PT_PHDR), *last = segment_of(&o, PT_LOAD);

	assert_int_equal(o.segment_count, PHDRS + 2);
	assert_int_equal(o.section_count, SHDRS + 1);
	assert_int_equal(table->p_offset, o.file.e_phoff);
	assert_int_equal(table->p_vaddr, BASE + o.file.e_phoff);
	assert_int_equal(table->p_filesz, (PHDRS + 2) * sizeof(Elf64_Phdr));
	assert_int_equal(last->p_offset, o.file.e_phoff);
	assert_true(last->p_vaddr >= s.segments[2].p_vaddr + s.segments[2].p_memsz + 4096);
	same_bytes(fd, &s, sizeof(Elf64_Ehdr), SIZE);
	close(fd);
}

static void the_program_headers_stay_where_there_is_room(void **state)
{
	struct small s = small_file(EM_X86_64, ELFDATA2LSB);
	struct sframe_attachment plan;
	struct outcome o;
	int fd;

	make_room(&s);
	fd = attach(file_of_small(&s), 1000, 7, &plan);
	o = well_attached(fd, &plan, 1000, 7);
	assert_int_equal(o.file.e_phoff, s.file.e_phoff);
	assert_int_equal(segment_of(&o, PT_PHDR)->p_vaddr, s.segments[0].p_vaddr);
	assert_int_equal(segment_of(&o, PT_PHDR)->p_filesz, (PHDRS + 2) * sizeof(Elf64_Phdr));
	same_bytes(fd, &s, TEXT, SIZE);
	close(fd);
}

static bool stays(struct small *s)
{
	struct sframe_attachment plan;
	int fd = file_of_small(s);
	bool moved;

	assert_int_equal(sframe_attachment_init(fd, NULL, &plan), 0);
	moved = plan.moved;
	sframe_attachment_fini(&plan);
	close(fd);
	return !moved;
}

static void room_that_may_be_in_use_is_no_room(void **state)
{
	struct small roomy = small_file(EM_X86_64, ELFDATA2LSB), s;

	make_room(&roomy);
	assert_true(stays(&roomy));
	s = roomy;
	s.bytes[TEXT - 1] = 1;
	assert_false(stays(&s));
	s = roomy;
	s.sections[1].sh_offset -= 8;
	assert_false(stays(&s));
	s = roomy;
	s.sections[1].sh_type = SHT_NOTE;
	s.segments[0].p_type = PT_NOTE;
	s.segments[0].p_offset = TEXT - 4;
	assert_false(stays(&s));
	s = roomy;
	s.file.e_shnum = s.file.e_shstrndx = 0;
	s.file.e_shoff = 0;
	assert_false(stays(&s));
	/* loaded, but not as far as the table would reach */
	s = roomy;
	s.segments[1].p_filesz = TEXT - 8;
	assert_false(stays(&s));
}

static void an_unused_program_header_is_room(void **state)
{
	struct small s = small_file(EM_X86_64, ELFDATA2LSB);

	make_room(&s);
	/* the bytes behind are in use, but only one entry is missing */
	s.file.e_phoff += sizeof(Elf64_Phdr);
	s.segments[0].p_type = PT_NULL;
	assert_true(stays(&s));
}

static void every_architecture_and_byte_order_is_written(void **state)
{
	static const struct {
		uint16_t machine;
		unsigned char data;
		uint64_t page;
	} kinds[] = {
		{EM_X86_64, ELFDATA2LSB, 4096},
		{EM_AARCH64, ELFDATA2LSB, 65536},
		{EM_AARCH64, ELFDATA2MSB, 65536},
		{EM_S390, ELFDATA2MSB, 4096},
	};

	for (size_t i = 0; i < sizeof(kinds) / sizeof(kinds[0]); i++) {
		struct small s = small_file(kinds[i].machine, kinds[i].data);
		struct sframe_attachment plan;
		int fd = attach(file_of_small(&s), 300, 9, &plan);
		struct outcome o = well_attached(fd, &plan, 300, 9);

		assert_int_equal(segment_of(&o, PT_LOAD)->p_align, kinds[i].page);
		assert_int_equal(plan.arch->elf_machine, kinds[i].machine);
		assert_true(size_of(fd) <= SIZE + 300 + 3 * kinds[i].page + SIZE);
		close(fd);
	}
}

static void attaching_again_replaces_the_section(void **state)
{
	for (int room = 0; room < 2; room++) {
		struct small s = small_file(EM_X86_64, ELFDATA2LSB);
		struct sframe_attachment plan, again;
		uint64_t size;
		int fd;

		if (room)
			make_room(&s);
		fd = attach(file_of_small(&s), 1000, 7, &plan);
		size = size_of(fd);
		fd = attach(fd, 2000, 8, &again);
		assert_int_equal(again.addr, plan.addr);
		assert_int_equal(again.offset, plan.offset);
		assert_int_equal(well_attached(fd, &again, 2000, 8).segment_count, PHDRS + 2);
		assert_int_equal(size_of(fd), size + 1000);
		fd = attach(fd, 1000, 7, &again);
		well_attached(fd, &again, 1000, 7);
		assert_int_equal(size_of(fd), size);
		same_bytes(fd, &s, TEXT, SIZE);
		close(fd);
	}
}

static void data_behind_the_file_stay(void **state)
{
	struct small s = small_file(EM_X86_64, ELFDATA2LSB);
	struct sframe_attachment plan;
	uint64_t size;
	int fd;

	s.size += 5000;
	memset(s.bytes + SIZE, 0xee, 5000);
	fd = attach(file_of_small(&s), 1000, 7, &plan);
	well_attached(fd, &plan, 1000, 7);
	same_bytes(fd, &s, TEXT, s.size);
	/* even if they came after the first time */
	size = size_of(fd);
	assert_int_equal(file_range_write(fd, size, "signature", 9), 0);
	fd = attach(fd, 1000, 8, &plan);
	well_attached(fd, &plan, 1000, 8);
	assert_true(plan.offset >= size + 9);
	same_bytes(fd, &s, TEXT, s.size);
	close(fd);
}

static void a_linker_s_section_is_replaced(void **state)
{
	struct small s = small_file(EM_X86_64, ELFDATA2LSB);
	struct sframe_attachment plan;
	struct outcome o;
	int fd;

	/* .data becomes what ld before 2.46 calls .sframe */
	memcpy(s.bytes + NAMES, "\0.text\0.sframe\0", 15);
	s.sections[3].sh_name = s.sections[4].sh_name = 0;
	s.segments[0].p_type = PT_SFRAME;
	s.segments[0].p_offset = DATA;
	fd = attach(file_of_small(&s), 1000, 7, &plan);
	o = well_attached(fd, &plan, 1000, 7);
	assert_int_equal(o.section_count, SHDRS);
	assert_int_equal(o.segment_count, PHDRS + 1);
	same_bytes(fd, &s, TEXT, SIZE - SHDRS * sizeof(Elf64_Shdr));
	close(fd);
}

static void a_file_without_section_headers_gets_the_segment(void **state)
{
	struct small s = small_file(EM_S390, ELFDATA2MSB);
	struct sframe_attachment plan;
	struct outcome o;
	uint64_t size;
	int fd;

	s.file.e_shnum = s.file.e_shstrndx = 0;
	s.file.e_shoff = 0;
	fd = attach(file_of_small(&s), 1000, 7, &plan);
	o = well_attached(fd, &plan, 1000, 7);
	assert_int_equal(o.section_count, 0);
	size = size_of(fd);
	assert_int_equal(size, plan.offset + 1000);
	fd = attach(fd, 1000, 8, &plan);
	well_attached(fd, &plan, 1000, 8);
	assert_int_equal(size_of(fd), size);
	close(fd);
}

static void a_large_bss_costs_no_file(void **state)
{
	struct small s = small_file(EM_X86_64, ELFDATA2LSB);
	struct sframe_attachment plan;
	int fd;

	s.segments[2].p_memsz = 1ull << 33;
	s.sections[3].sh_size = s.segments[2].p_memsz - 0x100;
	fd = attach(file_of_small(&s), 1000, 7, &plan);
	well_attached(fd, &plan, 1000, 7);
	assert_true(plan.addr > BASE + (1ull << 33));
	assert_true(size_of(fd) < 16384);
	close(fd);
}

static void a_file_larger_than_its_memory_keeps_the_distance(void **state)
{
	struct small s = small_file(EM_X86_64, ELFDATA2LSB);
	struct sframe_attachment plan;
	int fd;

	s.size = SIZE + SPARE;
	fd = attach(file_of_small(&s), 1000, 7, &plan);
	well_attached(fd, &plan, 1000, 7);
	assert_int_equal(plan.addr - plan.offset, BASE);
	close(fd);
}

static void more_sections_than_the_elf_header_can_count(void **state)
{
	static const size_t counts[] = {SHN_LORESERVE - 1, SHN_LORESERVE, 70000};

	for (size_t i = 0; i < sizeof(counts) / sizeof(counts[0]); i++) {
		struct small s = small_file(EM_X86_64, ELFDATA2LSB);
		bool many = counts[i] >= SHN_LORESERVE;
		struct sframe_attachment plan;
		int in, out;

		s.file.e_shnum = many ? 0 : (uint16_t)counts[i];
		s.sections[0].sh_size = many ? counts[i] : 0;
		in = file_of_small(&s);
		assert_int_equal(ftruncate(in, (off_t)(TABLE + counts[i] * sizeof(Elf64_Shdr))), 0);
		out = attach(in, 10, 7, &plan);
		assert_int_equal(well_attached(out, &plan, 10, 7).section_count, counts[i] + 1);
		close(out);
	}
}

static void refused(struct small *s, int error, enum bobbin_reason reason, uint64_t offset)
{
	struct sframe_attachment plan;
	struct bobbin_error err;
	int fd = file_of_small(s);

	assert_int_equal(sframe_attachment_init(fd, &err, &plan), error);
	assert_string_equal(bobbin_reason_name(err.reason), bobbin_reason_name(reason));
	assert_int_equal(err.offset, offset);
	close(fd);
}

static void what_cannot_be_run_is_refused(void **state)
{
	struct small sound = small_file(EM_X86_64, ELFDATA2LSB), s = sound;

	s.file.e_type = ET_REL;
	refused(&s, -ENOTSUP, BOBBIN_ELF_TYPE, offsetof(Elf64_Ehdr, e_type));
	s.file.e_type = ET_CORE;
	refused(&s, -ENOTSUP, BOBBIN_ELF_TYPE, offsetof(Elf64_Ehdr, e_type));
	s = sound;
	s.file.e_phnum = 0;
	refused(&s, -ENOTSUP, BOBBIN_ELF_UNLOADED, offsetof(Elf64_Ehdr, e_phnum));
	s = sound;
	s.segments[1].p_type = s.segments[2].p_type = PT_NOTE;
	refused(&s, -ENOTSUP, BOBBIN_ELF_UNLOADED, offsetof(Elf64_Ehdr, e_phnum));
	s = sound;
	s.file.e_phnum = PN_XNUM;
	refused(&s, -ENOTSUP, BOBBIN_ELF_FULL, offsetof(Elf64_Ehdr, e_phnum));
	s = sound;
	s.segments[2].p_memsz = 1ull << 62;
	refused(&s, -ENOTSUP, BOBBIN_ELF_FULL, s.file.e_phoff);
	s = sound;
	s.file.e_ident[0] = 0;
	refused(&s, -EBADMSG, BOBBIN_NOT_ELF, 0);
	s = sound;
	s.file.e_ident[EI_CLASS] = ELFCLASS32;
	refused(&s, -EBADMSG, BOBBIN_ELF_CLASS, EI_CLASS);
	s = sound;
	s.file.e_machine = EM_RISCV;
	refused(&s, -EBADMSG, BOBBIN_ELF_MACHINE, offsetof(Elf64_Ehdr, e_machine));
}

static void contradictions_are_refused(void **state)
{
	struct small sound = small_file(EM_X86_64, ELFDATA2LSB), s = sound;
	uint64_t second = s.file.e_phoff + sizeof(Elf64_Phdr);

	s.segments[1].p_filesz = SIZE + 1;
	refused(&s, -EBADMSG, BOBBIN_TRUNCATED, second);
	s = sound;
	s.segments[1].p_offset = UINT64_MAX;
	refused(&s, -EBADMSG, BOBBIN_TRUNCATED, second);
	s = sound;
	s.segments[1].p_memsz = 1;
	refused(&s, -EBADMSG, BOBBIN_ELF_BROKEN, second);
	s = sound;
	s.segments[2].p_vaddr = BASE;
	refused(&s, -EBADMSG, BOBBIN_ELF_BROKEN, second + sizeof(Elf64_Phdr));
	s = sound;
	s.segments[0].p_offset = 64;
	refused(&s, -EBADMSG, BOBBIN_ELF_BROKEN, s.file.e_phoff);
	s = sound;
	s.sections[2].sh_size = SIZE;
	refused(&s, -EBADMSG, BOBBIN_TRUNCATED, TABLE + 2 * sizeof(Elf64_Shdr));
	s = sound;
	s.sections[1].sh_type = s.sections[2].sh_type = SHT_SFRAME;
	refused(&s, -EBADMSG, BOBBIN_ELF_BROKEN, TABLE + 2 * sizeof(Elf64_Shdr));
	s = sound;
	s.file.e_shstrndx = SHDRS;
	refused(&s, -EBADMSG, BOBBIN_ELF_BROKEN, offsetof(Elf64_Ehdr, e_shstrndx));
}

static void only_regular_files_are_read(void **state)
{
	struct sframe_attachment plan;
	int ends[2];

	assert_int_equal(pipe(ends), 0);
	assert_int_equal(sframe_attachment_init(ends[0], NULL, &plan), -EINVAL);
	assert_int_equal(sframe_attachment_init(-1, NULL, &plan), -EBADF);
	close(ends[0]);
	close(ends[1]);
}

static void a_file_that_shrinks_meanwhile_is_an_error(void **state)
{
	struct small s = small_file(EM_X86_64, ELFDATA2LSB);
	int in = file_of_small(&s), out = file_of("", 0);
	struct sframe_attachment plan;

	assert_int_equal(sframe_attachment_init(in, NULL, &plan), 0);
	assert_int_equal(sframe_attachment_write(&plan, "", 0, out), -EINVAL);
	assert_int_equal(ftruncate(in, SIZE - 1), 0);
	assert_int_equal(sframe_attachment_write(&plan, "x", 1, out), -EIO);
	sframe_attachment_fini(&plan);
	close(in);
	close(out);
}

/* Damage that is not refused makes a sound file of bounded size, and does so again. */
static bool survives(const uint8_t *bytes, size_t size)
{
	struct sframe_attachment plan;
	uint64_t bound = size + 100 + 2 * 65536 + 2 * size + (1 << 20), once;
	struct bobbin_error err = {0};
	int in = file_of(bytes, size), out;

	if (sframe_attachment_init(in, &err, &plan)) {
		assert_int_not_equal(err.reason, BOBBIN_NONE);
		close(in);
		return false;
	}
	sframe_attachment_fini(&plan);
	out = attach(in, 100, 7, &plan);
	once = size_of(out);
	assert_true(once <= bound);
	if (sframe_attachment_init(out, &err, &plan))
		fail_msg("what was written is refused: %s at %llu", bobbin_reason_name(err.reason),
			 (unsigned long long)err.offset);
	sframe_attachment_fini(&plan);
	out = attach(out, 100, 7, &plan);
	assert_true(size_of(out) <= bound + 2 * 65536 + size);
	close(out);
	return true;
}

static void damage_every_byte(struct small *s, unsigned int *refusals, unsigned int *survivals)
{
	static const uint8_t flips[] = {0x01, 0x80, 0xff, 0x10};

	encode_headers(s);
	for (size_t i = 0; i < s->size; i++) {
		/* not headers */
		if (i >= TEXT && i < NAMES)
			continue;
		for (size_t k = 0; k < sizeof(flips); k++) {
			s->bytes[i] ^= flips[k];
			*(survives(s->bytes, s->size) ? survivals : refusals) += 1;
			s->bytes[i] ^= flips[k];
		}
	}
}

static void damage_is_refused_or_survived(void **state)
{
	unsigned int refusals = 0, survivals = 0;

	for (int room = 0; room < 2; room++) {
		struct small s = small_file(EM_X86_64, ELFDATA2LSB);

		if (room)
			make_room(&s);
		damage_every_byte(&s, &refusals, &survivals);
		s = small_file(EM_S390, ELFDATA2MSB);
		damage_every_byte(&s, &refusals, &survivals);
	}
	print_message("%u refused, %u survived\n", refusals, survivals);
	assert_true(refusals > 1000 && survivals > 1000);
}

/* The same for a file that has an attachment, whose parts are looked for. */
static void a_damaged_attachment_is_refused_or_survived(void **state)
{
	struct small s = small_file(EM_X86_64, ELFDATA2LSB);
	unsigned int refusals = 0, survivals = 0;
	struct sframe_attachment plan;
	int fd = attach(file_of_small(&s), 200, 7, &plan);
	size_t size = size_of(fd);
	uint8_t *bytes = malloc(size);

	assert_non_null(bytes);
	assert_int_equal(file_range_read(fd, 0, bytes, size), 0);
	for (size_t i = 0; i < size; i++) {
		if (i == sizeof(Elf64_Ehdr))
			i = plan.segment_offset;
		bytes[i] ^= 0x81;
		*(survives(bytes, size) ? &survivals : &refusals) += 1;
		bytes[i] ^= 0x81;
	}
	print_message("%u refused, %u survived\n", refusals, survivals);
	assert_true(refusals > 100 && survivals > 100);
	free(bytes);
	close(fd);
}

static void a_cut_file_is_refused_or_survived(void **state)
{
	struct small s = small_file(EM_X86_64, ELFDATA2LSB);

	encode_headers(&s);
	for (size_t size = 0; size < SIZE; size++)
		assert_false(survives(s.bytes, size));
	assert_true(survives(s.bytes, SIZE));
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(the_program_headers_move_where_there_is_no_room),
		cmocka_unit_test(the_program_headers_stay_where_there_is_room),
		cmocka_unit_test(room_that_may_be_in_use_is_no_room),
		cmocka_unit_test(an_unused_program_header_is_room),
		cmocka_unit_test(every_architecture_and_byte_order_is_written),
		cmocka_unit_test(attaching_again_replaces_the_section),
		cmocka_unit_test(data_behind_the_file_stay),
		cmocka_unit_test(a_linker_s_section_is_replaced),
		cmocka_unit_test(a_file_without_section_headers_gets_the_segment),
		cmocka_unit_test(a_large_bss_costs_no_file),
		cmocka_unit_test(a_file_larger_than_its_memory_keeps_the_distance),
		cmocka_unit_test(more_sections_than_the_elf_header_can_count),
		cmocka_unit_test(what_cannot_be_run_is_refused),
		cmocka_unit_test(contradictions_are_refused),
		cmocka_unit_test(only_regular_files_are_read),
		cmocka_unit_test(a_file_that_shrinks_meanwhile_is_an_error),
		cmocka_unit_test(damage_is_refused_or_survived),
		cmocka_unit_test(a_damaged_attachment_is_refused_or_survived),
		cmocka_unit_test(a_cut_file_is_refused_or_survived),
	};

	return cmocka_run_group_tests_name("sframe attachment", tests, NULL, NULL);
}
