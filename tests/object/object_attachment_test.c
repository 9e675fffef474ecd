/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * Relocatable files get a section with relocated starts, and are unchanged otherwise.
 */
#include <bobbin/sframe.h>
#include <errno.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <cmocka.h>

#include "base/file_range.h"
#include "convert/fde_list.h"
#include "elf/sframe_file.h"
#include "small_object.h"

static const uint16_t machines[] = {EM_X86_64, EM_S390};

static void refused(struct small_object *o, int error, enum bobbin_reason reason, uint64_t offset)
{
	struct bobbin_error err;

	assert_int_equal(convert_object_file(file_of_object(o), 3, &err), error);
	assert_string_equal(bobbin_reason_name(err.reason), bobbin_reason_name(reason));
	assert_int_equal(err.offset, offset);
}

static uint64_t header_of(size_t section)
{
	return OBJECT_AT_TABLE + section * sizeof(Elf64_Shdr);
}

static uint64_t rela_at(size_t i)
{
	return OBJECT_AT_RELA + i * sizeof(Elf64_Rela);
}

/* How many functions the file's section has, all where they are in the object. */
static size_t functions(int fd, bool twisted)
{
	struct sframe_file file;
	size_t count;

	assert_int_equal(sframe_file_init(fd, NULL, &file), 0);
	assert_int_equal(file.section_count, 1);
	count = file.sections[0].target_count;
	for (size_t i = 0; i < count; i++) {
		const struct sframe_target *target = &file.sections[0].targets[i];
		bool first = target->section_index == OBJECT_TEXT;

		assert_true(first || target->section_index == OBJECT_COLD);
		assert_int_equal(target->start, first && !twisted ? 16 : 0);
		assert_true(target->exec);
	}
	sframe_file_fini(&file);
	return count;
}

static size_t converted(struct small_object *o, unsigned int version)
{
	struct bobbin_error err = {0};
	int fd = convert_object_file(file_of_object(o), version, &err);
	size_t count;

	assert_string_equal(bobbin_reason_name(err.reason), "NONE");
	assert_true(fd >= 0);
	count = functions(fd, false);
	close(fd);
	return count;
}

static void each_function_is_relocated_against_its_section(void **state)
{
	for (size_t i = 0; i < 2; i++) {
		struct small_object o = small_object(machines[i]);

		assert_int_equal(converted(&o, 3), 2);
		assert_int_equal(converted(&o, 2), 2);
	}
}

static void all_that_was_there_stays_as_it_was(void **state)
{
	struct small_object o = small_object(EM_S390);
	struct bobbin_error err;
	int fd = convert_object_file(file_of_object(&o), 3, &err);
	struct elf_headers headers;
	uint8_t bytes[OBJECT_AT_NAMES];

	assert_int_equal(file_range_read(fd, 0, bytes, sizeof(bytes)), 0);
	assert_memory_equal(bytes + sizeof(Elf64_Ehdr), o.bytes + sizeof(Elf64_Ehdr),
			    sizeof(bytes) - sizeof(Elf64_Ehdr));
	assert_int_equal(elf_headers_init(fd, true, NULL, &headers), 0);
	assert_int_equal(headers.section_count, OBJECT_SECTIONS + 2);
	assert_memory_equal(headers.sections, o.sections, OBJECT_NAMES * sizeof(Elf64_Shdr));
	assert_string_equal(elf_headers_name(&headers, OBJECT_SECTIONS), ".sframe");
	assert_string_equal(elf_headers_name(&headers, OBJECT_SECTIONS + 1), ".rela.sframe");
	assert_int_equal(headers.sections[OBJECT_SECTIONS].sh_type, 0x6ffffff4);
	assert_int_equal(headers.sections[OBJECT_SECTIONS].sh_flags, SHF_ALLOC);
	assert_int_equal(headers.sections[OBJECT_SECTIONS + 1].sh_info, OBJECT_SECTIONS);
	assert_int_equal(headers.sections[OBJECT_SECTIONS + 1].sh_link, OBJECT_SYMBOLS);
	assert_int_equal(headers.sections[OBJECT_SECTIONS + 1].sh_flags, SHF_INFO_LINK);
	elf_headers_fini(&headers);
	close(fd);
}

static void a_second_conversion_changes_nothing(void **state)
{
	struct small_object o = small_object(EM_X86_64);
	struct bobbin_error err;
	int once = convert_object_file(file_of_object(&o), 3, &err), twice;
	size_t size = file_size(once);
	uint8_t *a = malloc(size), *b = malloc(size);

	assert_true(a && b);
	assert_int_equal(file_range_read(once, 0, a, size), 0);
	twice = convert_object_file(once, 3, &err);
	assert_int_equal(file_size(twice), size);
	assert_int_equal(file_range_read(twice, 0, b, size), 0);
	assert_memory_equal(a, b, size);
	free(a);
	free(b);
	close(twice);
}

static uint64_t dead_entries(const struct object_code *code)
{
	struct bobbin_cfi_view view;
	struct fde_list list;
	uint64_t dead;

	assert_true(object_code_view(code, false, &view));
	assert_int_equal(fde_list_init(&view, 1, &list), 0);
	dead = list.dead;
	fde_list_fini(&list);
	return dead;
}

/* As ld -r leaves those of a section that it dropped. */
static void functions_without_relocation_are_left_out(void **state)
{
	struct small_object o = small_object(EM_X86_64);
	struct object_code code;
	int fd;

	o.relas[0].r_info = ELF64_R_INFO(0, R_X86_64_NONE);
	assert_int_equal(converted(&o, 3), 1);
	fd = file_of_object(&o);
	assert_int_equal(object_code_init(fd, NULL, &code), 0);
	assert_int_equal(dead_entries(&code), 1);
	object_code_fini(&code);
	close(fd);
}

static void functions_outside_of_their_section_are_left_out(void **state)
{
	struct small_object sound = small_object(EM_X86_64), o = sound;

	o.relas[0].r_addend = 17;
	assert_int_equal(converted(&o, 3), 1);
	o.relas[0].r_addend = -1;
	assert_int_equal(converted(&o, 3), 1);
	o.relas[0].r_addend = INT64_MIN;
	assert_int_equal(converted(&o, 3), 1);
	o = sound;
	o.sections[OBJECT_COLD].sh_size = OBJECT_COLD_SIZE - 1;
	assert_int_equal(converted(&o, 3), 1);
	o = sound;
	o.sections[OBJECT_COLD].sh_flags = SHF_ALLOC;
	assert_int_equal(converted(&o, 3), 1);
	o = sound;
	o.symbols[2].st_shndx = SHN_UNDEF;
	assert_int_equal(converted(&o, 3), 1);
	o.symbols[2].st_shndx = SHN_ABS;
	assert_int_equal(converted(&o, 3), 1);
}

/* One whose start reads like a CIE, for another that leaves its section. */
static void what_was_left_out_is_no_cie_of_others(void **state)
{
	static const uint8_t frames[] = {
		20,   0,    0, 0, 24,   0,    0,  0,    16, 32, 0,    0, 0,  0, 0, 0, 64,   0,
		0,    0,    0, 0, 0,    0,    20, 0,    0,  0,  48,   0, 0,  0, 1, 0, 1,    0x78,
		16,   0x0c, 7, 8, 0x90, 1,    0,  0,    0,  0,  0,    0, 20, 0, 0, 0, 0xff, 0xff,
		0xff, 0xff, 1, 0, 1,    0x78, 16, 0x0c, 7,  8,  0x90, 1, 0,  0, 0, 0, 0,    0,
	};
	struct small_object o = small_object(EM_X86_64);

	o.sections[OBJECT_FRAME].sh_name = o.sections[OBJECT_RELA].sh_name;
	o.sections[OBJECT_FRAME].sh_flags = 0;
	strcpy((char *)o.bytes + OBJECT_AT_NAMES + o.sections[OBJECT_FRAME].sh_name,
	       ".debug_frame");
	memcpy(o.bytes + OBJECT_AT_FRAME, frames, sizeof(frames));
	o.relas[0].r_info = o.relas[1].r_info = ELF64_R_INFO(0, R_X86_64_NONE);
	assert_int_equal(converted(&o, 3), 0);
}

/* After linking, a global one may refer to another file's code. */
static void only_local_symbols_stand_for_a_section(void **state)
{
	struct small_object sound = small_object(EM_X86_64), o = sound;
	struct bobbin_error err;
	int fd;

	o.relas[1].r_info = ELF64_R_INFO(3ull, R_X86_64_PC32);
	assert_int_equal(converted(&o, 3), 2);
	o.symbols[2].st_shndx = OBJECT_FRAME;
	refused(&o, -ENOTSUP, BOBBIN_REASON_ELF_SYMBOL, header_of(OBJECT_COLD));
	/* a local one serves, wherever it is */
	o = sound;
	o.symbols[1].st_info = ELF64_ST_INFO(STB_LOCAL, STT_FUNC);
	o.symbols[1].st_value = 16;
	o.relas[0].r_addend = -16;
	fd = convert_object_file(file_of_object(&o), 3, &err);
	assert_int_equal(functions(fd, true), 2);
	close(fd);
}

static void foreign_relocations_are_refused(void **state)
{
	struct small_object sound = small_object(EM_X86_64), o = sound;

	o.relas[1].r_info = ELF64_R_INFO(2ull, R_X86_64_GOTPCREL);
	refused(&o, -EBADMSG, BOBBIN_REASON_ELF_RELOCATION, rela_at(1));
	o = sound;
	o.relas[1].r_offset = o.sections[OBJECT_FRAME].sh_size - 3;
	refused(&o, -EBADMSG, BOBBIN_REASON_ELF_RELOCATION, rela_at(1));
	o.relas[1].r_offset = UINT64_MAX;
	refused(&o, -EBADMSG, BOBBIN_REASON_ELF_RELOCATION, rela_at(1));
	o = sound;
	o.relas[0].r_info = ELF64_R_INFO((uint64_t)OBJECT_SYMBOL_COUNT, R_X86_64_PC32);
	refused(&o, -EBADMSG, BOBBIN_REASON_ELF_RELOCATION, rela_at(0));
	o = sound;
	o.sections[OBJECT_RELA].sh_type = SHT_REL;
	refused(&o, -EBADMSG, BOBBIN_REASON_ELF_RELOCATION, header_of(OBJECT_RELA));
	o = sound;
	o.sections[OBJECT_RELA].sh_link = OBJECT_STRINGS;
	refused(&o, -EBADMSG, BOBBIN_REASON_ELF_RELOCATION, header_of(OBJECT_RELA));
}

static void contradictions_are_refused(void **state)
{
	struct small_object sound = small_object(EM_X86_64), o = sound;

	o.file.e_phnum = 1;
	refused(&o, -EBADMSG, BOBBIN_REASON_ELF_BROKEN, offsetof(Elf64_Ehdr, e_phnum));
	o = sound;
	o.file.e_type = ET_DYN;
	refused(&o, -ENOTSUP, BOBBIN_REASON_ELF_TYPE, offsetof(Elf64_Ehdr, e_type));
	o = sound;
	o.sections[OBJECT_COLD].sh_type = SHT_SYMTAB;
	o.sections[OBJECT_COLD].sh_link = OBJECT_STRINGS;
	refused(&o, -EBADMSG, BOBBIN_REASON_ELF_BROKEN, header_of(OBJECT_SYMBOLS));
	o = sound;
	o.sections[OBJECT_TEXT].sh_type = o.sections[OBJECT_COLD].sh_type = 0x6ffffff4;
	o.sections[OBJECT_TEXT].sh_flags = o.sections[OBJECT_COLD].sh_flags = SHF_ALLOC;
	refused(&o, -EBADMSG, BOBBIN_REASON_ELF_BROKEN, header_of(OBJECT_COLD));
	o = sound;
	o.sections[OBJECT_COLD].sh_type = 0x6ffffff4;
	o.sections[OBJECT_COLD].sh_flags = SHF_ALLOC | SHF_GROUP;
	refused(&o, -EBADMSG, BOBBIN_REASON_ELF_BROKEN, header_of(OBJECT_COLD));
	o = sound;
	o.sections[OBJECT_COLD].sh_size = OBJECT_SIZE;
	refused(&o, -EBADMSG, BOBBIN_REASON_TRUNCATED, header_of(OBJECT_COLD));
}

static void rename_cold(struct small_object *o, const char *name)
{
	assert_true(strlen(name) <= strlen(".text.cold"));
	strcpy((char *)o->bytes + OBJECT_AT_NAMES + o->sections[OBJECT_COLD].sh_name, name);
}

/* Linkers would merge them with ours. */
static void a_section_whose_name_begins_like_ours_is_replaced(void **state)
{
	struct small_object o = small_object(EM_X86_64);

	rename_cold(&o, ".sframe.x");
	o.sections[OBJECT_COLD].sh_flags = 0;
	assert_int_equal(converted(&o, 3), 1);
	/* two are too many */
	o.sections[OBJECT_TEXT] = o.sections[OBJECT_COLD];
	refused(&o, -EBADMSG, BOBBIN_REASON_ELF_BROKEN, header_of(OBJECT_COLD));
}

/* Functions of the replaced section would be lost. */
static void code_in_a_section_named_like_ours_is_refused(void **state)
{
	struct small_object o = small_object(EM_X86_64);

	rename_cold(&o, ".sframe");
	refused(&o, -EBADMSG, BOBBIN_REASON_ELF_BROKEN, header_of(OBJECT_COLD));
}

static void only_plain_contents_are_code_and_frames(void **state)
{
	struct small_object sound = small_object(EM_X86_64), o = sound;

	o.sections[OBJECT_COLD].sh_type = SHT_STRTAB;
	assert_int_equal(converted(&o, 3), 1);
	o = sound;
	o.sections[OBJECT_FRAME].sh_type = 0x6ffffff4;
	assert_int_equal(converted(&o, 3), 0);
	/* as clang has it */
	o.sections[OBJECT_FRAME].sh_type = SHT_X86_64_UNWIND;
	assert_int_equal(converted(&o, 3), 2);
	o = small_object(EM_S390);
	o.sections[OBJECT_FRAME].sh_type = SHT_X86_64_UNWIND;
	assert_int_equal(converted(&o, 3), 0);
}

static void symbols_without_names_are_refused(void **state)
{
	struct small_object o = small_object(EM_X86_64);

	o.sections[OBJECT_SYMBOLS].sh_link = OBJECT_SECTIONS;
	refused(&o, -EBADMSG, BOBBIN_REASON_ELF_BROKEN, header_of(OBJECT_SYMBOLS));
	o.sections[OBJECT_SYMBOLS].sh_link = OBJECT_STRINGS;
	o.sections[OBJECT_STRINGS].sh_type = SHT_NULL;
	refused(&o, -EBADMSG, BOBBIN_REASON_ELF_BROKEN, header_of(OBJECT_SYMBOLS));
}

static void relocations_of_sections_that_are_not_there_are_refused(void **state)
{
	struct small_object o = small_object(EM_X86_64);

	for (uint32_t i = 0; i < 3; i++) {
		o.sections[OBJECT_RELA].sh_info = OBJECT_SECTIONS + i;
		refused(&o, -EBADMSG, BOBBIN_REASON_ELF_BROKEN, header_of(OBJECT_RELA));
	}
}

/* Its counts and offsets change. */
static void contents_within_the_file_header_are_refused(void **state)
{
	struct small_object o = small_object(EM_X86_64);

	o.sections[OBJECT_COLD].sh_offset = sizeof(Elf64_Ehdr) - 1;
	refused(&o, -EBADMSG, BOBBIN_REASON_ELF_BROKEN, header_of(OBJECT_COLD));
}

/* Four bytes must reach from one end to the other. */
static void more_code_than_can_be_reached_is_refused(void **state)
{
	struct small_object o = small_object(EM_X86_64);
	struct bobbin_error err = {0};
	struct object_code code;
	int fd;

	o.sections[OBJECT_COLD].sh_size = OBJECT_CODE_MAX;
	fd = file_of_object(&o);
	assert_int_equal(ftruncate(fd, 2 * (off_t)OBJECT_CODE_MAX), 0);
	assert_int_equal(object_code_init(fd, &err, &code), -EFBIG);
	close(fd);
}

static void a_file_that_shrinks_meanwhile_is_an_error(void **state)
{
	struct small_object o = small_object(EM_X86_64);
	const struct start_relocations none = {0};
	int in = file_of_object(&o), out = memory_file("", 0);
	struct object_attachment plan;

	assert_int_equal(object_attachment_init(in, NULL, &plan), 0);
	assert_int_equal(ftruncate(in, OBJECT_AT_SYMBOLS), 0);
	assert_int_equal(object_attachment_write(&plan, "x", 1, &none, out), -EIO);
	object_attachment_fini(&plan);
	close(in);
	close(out);
}

static void relocatable_files_are_known_by_their_header(void **state)
{
	struct small_object o = small_object(EM_S390);
	int fd = file_of_object(&o);

	assert_true(object_code_is_in(fd));
	close(fd);
	o = small_object(EM_X86_64);
	fd = file_of_object(&o);
	assert_true(object_code_is_in(fd));
	close(fd);
	o.file.e_type = ET_EXEC;
	fd = file_of_object(&o);
	assert_false(object_code_is_in(fd));
	assert_int_equal(ftruncate(fd, 17), 0);
	assert_false(object_code_is_in(fd));
	close(fd);
	assert_false(object_code_is_in(-1));
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(each_function_is_relocated_against_its_section),
		cmocka_unit_test(all_that_was_there_stays_as_it_was),
		cmocka_unit_test(a_second_conversion_changes_nothing),
		cmocka_unit_test(functions_without_relocation_are_left_out),
		cmocka_unit_test(functions_outside_of_their_section_are_left_out),
		cmocka_unit_test(what_was_left_out_is_no_cie_of_others),
		cmocka_unit_test(only_local_symbols_stand_for_a_section),
		cmocka_unit_test(foreign_relocations_are_refused),
		cmocka_unit_test(contradictions_are_refused),
		cmocka_unit_test(a_section_whose_name_begins_like_ours_is_replaced),
		cmocka_unit_test(code_in_a_section_named_like_ours_is_refused),
		cmocka_unit_test(only_plain_contents_are_code_and_frames),
		cmocka_unit_test(symbols_without_names_are_refused),
		cmocka_unit_test(relocations_of_sections_that_are_not_there_are_refused),
		cmocka_unit_test(contents_within_the_file_header_are_refused),
		cmocka_unit_test(more_code_than_can_be_reached_is_refused),
		cmocka_unit_test(a_file_that_shrinks_meanwhile_is_an_error),
		cmocka_unit_test(relocatable_files_are_known_by_their_header),
	};

	return cmocka_run_group_tests_name("object attachment", tests, NULL, NULL);
}
