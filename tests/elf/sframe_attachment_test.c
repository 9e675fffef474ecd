/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * A small ELF file gets its section.  libelf reads the result.
 */
#include <gelf.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <cmocka.h>

#include "base/file_range.h"
#include "elf/elf_image.h"
#include "small_elf.h"

/* The properties of a written file. */
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

/* Loaders reach the program headers through memory. */
static bool table_is_loaded(const struct outcome *o)
{
	uint64_t start = o->file.e_phoff, end = start + o->segment_count * sizeof(Elf64_Phdr);

	for (size_t i = 0; i < o->segment_count; i++) {
		const GElf_Phdr *p = &o->segments[i];

		if (p->p_type == PT_LOAD && p->p_offset <= start &&
		    end <= p->p_offset + p->p_filesz)
			return true;
	}
	return false;
}

/* The last loaded segment, the section's segment and its header agree. */
static struct outcome well_attached(int fd, const struct sframe_attachment *plan, size_t size,
				    uint8_t fill)
{
	struct outcome o = look(fd);
	const GElf_Phdr *last = segment_of(&o, PT_LOAD), *sframe = segment_of(&o, PT_SFRAME);
	uint8_t byte;

	assert_true(table_is_loaded(&o));
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

	assert_int_equal(o.segment_count, SMALL_PHDRS + 2);
	assert_int_equal(o.section_count, SMALL_SHDRS + 1);
	assert_int_equal(table->p_offset, o.file.e_phoff);
	assert_int_equal(table->p_vaddr, SMALL_BASE + o.file.e_phoff);
	assert_int_equal(table->p_filesz, (SMALL_PHDRS + 2) * sizeof(Elf64_Phdr));
	assert_int_equal(last->p_offset, o.file.e_phoff);
	assert_true(last->p_vaddr >= s.segments[2].p_vaddr + s.segments[2].p_memsz + 4096);
	same_bytes(fd, &s, sizeof(Elf64_Ehdr), SMALL_SIZE);
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
	assert_int_equal(segment_of(&o, PT_PHDR)->p_filesz, (SMALL_PHDRS + 2) * sizeof(Elf64_Phdr));
	same_bytes(fd, &s, SMALL_TEXT, SMALL_SIZE);
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
	s.bytes[SMALL_TEXT - 1] = 1;
	assert_false(stays(&s));
	s = roomy;
	s.sections[1].sh_offset -= 8;
	assert_false(stays(&s));
	s = roomy;
	s.sections[1].sh_type = SHT_NOTE;
	s.segments[0].p_type = PT_NOTE;
	s.segments[0].p_offset = SMALL_TEXT - 4;
	assert_false(stays(&s));
	s = roomy;
	s.file.e_shnum = s.file.e_shstrndx = 0;
	s.file.e_shoff = 0;
	assert_false(stays(&s));
	/* loaded, but not as far as the table would reach */
	s = roomy;
	s.segments[1].p_filesz = SMALL_TEXT - 8;
	assert_false(stays(&s));
}

static void an_unused_program_header_is_room(void **state)
{
	struct small s = small_file(EM_X86_64, ELFDATA2LSB);

	make_room(&s);
	/* the bytes after them are in use, but only one entry is missing */
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
		assert_true(size_of(fd) <= SMALL_SIZE + 300 + 3 * kinds[i].page + SMALL_SIZE);
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
		assert_int_equal(well_attached(fd, &again, 2000, 8).segment_count, SMALL_PHDRS + 2);
		assert_int_equal(size_of(fd), size + 1000);
		fd = attach(fd, 1000, 7, &again);
		well_attached(fd, &again, 1000, 7);
		assert_int_equal(size_of(fd), size);
		same_bytes(fd, &s, SMALL_TEXT, SMALL_SIZE);
		close(fd);
	}
}

static void data_after_the_file_stay(void **state)
{
	struct small s = small_file(EM_X86_64, ELFDATA2LSB);
	struct sframe_attachment plan;
	uint64_t size;
	int fd;

	s.size += 5000;
	memset(s.bytes + SMALL_SIZE, 0xee, 5000);
	fd = attach(file_of_small(&s), 1000, 7, &plan);
	well_attached(fd, &plan, 1000, 7);
	same_bytes(fd, &s, SMALL_TEXT, s.size);
	/* even if they came after the first time */
	size = size_of(fd);
	assert_int_equal(file_range_write(fd, size, "signature", 9), 0);
	fd = attach(fd, 1000, 8, &plan);
	well_attached(fd, &plan, 1000, 8);
	assert_true(plan.offset >= size + 9);
	same_bytes(fd, &s, SMALL_TEXT, s.size);
	close(fd);
}

static void a_linker_s_section_is_replaced(void **state)
{
	struct small s = small_file(EM_X86_64, ELFDATA2LSB);
	struct sframe_attachment plan;
	struct outcome o;
	int fd;

	/* .data becomes what ld before 2.46 calls .sframe */
	memcpy(s.bytes + SMALL_NAMES, "\0.text\0.sframe\0", 15);
	s.sections[3].sh_name = s.sections[4].sh_name = 0;
	s.segments[0].p_type = PT_SFRAME;
	s.segments[0].p_offset = SMALL_DATA;
	fd = attach(file_of_small(&s), 1000, 7, &plan);
	o = well_attached(fd, &plan, 1000, 7);
	assert_int_equal(o.section_count, SMALL_SHDRS);
	assert_int_equal(o.segment_count, SMALL_PHDRS + 1);
	same_bytes(fd, &s, SMALL_TEXT, SMALL_SIZE - SMALL_SHDRS * sizeof(Elf64_Shdr));
	close(fd);
}

/* How many segments are loaded when the last one is @s's, which has a section, too. */
static size_t loads_after(struct small *s)
{
	struct sframe_attachment plan;
	struct outcome o;
	size_t loads = 0;
	int fd;

	s->segments[0].p_type = PT_SFRAME;
	s->segments[0].p_offset = SMALL_DATA + 0x80;
	s->segments[0].p_vaddr = s->segments[2].p_vaddr + 0x80;
	s->segments[0].p_filesz = s->segments[0].p_memsz = 0x80;
	fd = attach(file_of_small(s), 1000, 7, &plan);
	o = well_attached(fd, &plan, 1000, 7);
	for (size_t i = 0; i < o.segment_count; i++)
		loads += o.segments[i].p_type == PT_LOAD;
	close(fd);
	return loads;
}

static void only_a_segment_without_anything_else_is_replaced(void **state)
{
	struct small ours = small_file(EM_X86_64, ELFDATA2LSB), s;

	ours.segments[2].p_flags = PF_R;
	ours.segments[2].p_memsz = ours.segments[2].p_filesz;
	ours.sections[2].sh_type = SHT_NULL;
	s = ours;
	assert_int_equal(loads_after(&s), 2);
	s = ours;
	s.sections[2].sh_type = SHT_PROGBITS;
	assert_int_equal(loads_after(&s), 3);
	s = ours;
	s.segments[2].p_memsz += 8;
	assert_int_equal(loads_after(&s), 3);
	s = ours;
	s.segments[2].p_flags |= PF_W;
	assert_int_equal(loads_after(&s), 3);
	/* without section headers, what is in front of the section may be anything */
	s = ours;
	s.file.e_shnum = s.file.e_shstrndx = 0;
	s.file.e_shoff = 0;
	assert_int_equal(loads_after(&s), 3);
}

static void what_another_segment_loads_is_not_cut_off(void **state)
{
	struct small ours = small_file(EM_X86_64, ELFDATA2LSB);

	ours.segments[0] = ours.segments[2];
	ours.segments[0].p_type = PT_SFRAME;
	ours.segments[2].p_flags = PF_R;
	ours.segments[2].p_memsz = ours.segments[2].p_filesz;
	ours.file.e_shnum = ours.file.e_shstrndx = 0;
	ours.file.e_shoff = 0;
	ours.size = SMALL_DATA + ours.segments[2].p_filesz;
	for (uint64_t overlap = 0; overlap < 2; overlap++) {
		struct sframe_attachment plan;
		struct small s = ours;
		int fd;

		s.segments[1].p_filesz += overlap;
		s.segments[1].p_memsz += overlap;
		fd = file_of_small(&s);
		assert_int_equal(sframe_attachment_init(fd, NULL, &plan), 0);
		assert_int_equal(plan.kept, overlap ? s.size : SMALL_DATA);
		sframe_attachment_fini(&plan);
		close(fd);
	}
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
	assert_true(plan.addr > SMALL_BASE + (1ull << 33));
	assert_true(size_of(fd) < 16384);
	close(fd);
}

static void a_file_larger_than_its_memory_keeps_the_distance(void **state)
{
	struct small s = small_file(EM_X86_64, ELFDATA2LSB);
	struct sframe_attachment plan;
	int fd;

	s.size = SMALL_SIZE + SMALL_SPARE;
	fd = attach(file_of_small(&s), 1000, 7, &plan);
	well_attached(fd, &plan, 1000, 7);
	assert_int_equal(plan.addr - plan.offset, SMALL_BASE);
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
		assert_int_equal(
			ftruncate(in, (off_t)(SMALL_TABLE + counts[i] * sizeof(Elf64_Shdr))), 0);
		out = attach(in, 10, 7, &plan);
		assert_int_equal(well_attached(out, &plan, 10, 7).section_count, counts[i] + 1);
		close(out);
	}
}

/* Each may be the whole file, and there may be very many. */
static void notes_are_read_up_to_a_limit(void **state)
{
	static const uint8_t note[] = {4, 0, 0,   0,   4,   0, 0, 0, 3, 0,
				       0, 0, 'G', 'N', 'U', 0, 1, 2, 3, 4};
	static const uint64_t sizes[] = {sizeof(note), 1 << 20, (1 << 20) + 1};

	for (size_t i = 0; i < sizeof(sizes) / sizeof(sizes[0]); i++) {
		struct small s = small_file(EM_X86_64, ELFDATA2LSB);
		struct elf_image image;
		int fd;

		s.segments[2] = (Elf64_Phdr){
			.p_type = PT_NOTE, .p_offset = SMALL_DATA, .p_filesz = sizes[i]};
		memcpy(s.bytes + SMALL_DATA, note, sizeof(note));
		fd = file_of_small(&s);
		assert_int_equal(ftruncate(fd, 2 << 20), 0);
		assert_int_equal(elf_image_init(fd, NULL, &image), 0);
		assert_int_equal(image.build_id_len, sizes[i] > 1 << 20 ? 0 : 4);
		elf_image_fini(&image);
		close(fd);
	}
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
		cmocka_unit_test(data_after_the_file_stay),
		cmocka_unit_test(a_linker_s_section_is_replaced),
		cmocka_unit_test(only_a_segment_without_anything_else_is_replaced),
		cmocka_unit_test(what_another_segment_loads_is_not_cut_off),
		cmocka_unit_test(a_file_without_section_headers_gets_the_segment),
		cmocka_unit_test(a_large_bss_costs_no_file),
		cmocka_unit_test(a_file_larger_than_its_memory_keeps_the_distance),
		cmocka_unit_test(more_sections_than_the_elf_header_can_count),
		cmocka_unit_test(notes_are_read_up_to_a_limit),
	};

	return cmocka_run_group_tests_name("sframe attachment", tests, NULL, NULL);
}
