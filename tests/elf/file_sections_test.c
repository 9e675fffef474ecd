/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * From an ELF file to rules, through public functions alone.
 */
#include <bobbin/elf.h>
#include <errno.h>
#include <gelf.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <unistd.h>

#include <cmocka.h>

#include "../sframe/sframe_bytes.h"
#include "small_elf.h"

#define TEXT (SMALL_BASE + SMALL_TEXT)
#define SECTION (SMALL_BASE + SMALL_DATA)

/* One function of 16 bytes; its CFA is the stack pointer and 8. */
static struct built make_section(uint64_t addr)
{
	return build(&(struct section_spec){
		.version = 3,
		.flags = SORTED | PCREL,
		.abi = AMD64,
		.fixed_ra = -8,
		.addr = addr,
		.num_funcs = 1,
		.funcs = {{.start = TEXT, .size = 16, .num_fres = 1, ROWS(0, 3, 8)}}});
}

/* The small file whose .data is an SFrame section. */
static int make_file(void)
{
	struct small s = small_file(EM_X86_64, ELFDATA2LSB);
	struct built section = make_section(SECTION);

	memcpy(s.bytes + SMALL_DATA, section.data, section.size);
	s.sections[1].sh_flags |= SHF_EXECINSTR;
	s.sections[2].sh_type = SHT_SFRAME;
	s.sections[2].sh_size = section.size;
	free(section.data);
	return file_of_small(&s);
}

static struct bobbin_elf *open_and_close(int fd)
{
	struct bobbin_elf *elf;

	assert_int_equal(bobbin_elf_open(fd, NULL, &elf), 0);
	close(fd);
	return elf;
}

static void assert_rule_at(const struct bobbin_elf *elf, uint64_t pc)
{
	struct bobbin_sframe_view view;
	struct bobbin_row row;
	uint64_t pos = 0;

	assert_int_equal(bobbin_elf_next(elf, 0, &pos, NULL, &view), 1);
	assert_int_equal(bobbin_sframe_lookup(&view, pc, NULL, &row), 0);
	assert_int_equal(row.start, TEXT);
	assert_int_equal(row.rule.cfa.off, 8);
	assert_int_equal(bobbin_elf_next(elf, 0, &pos, NULL, &view), 0);
}

static void file_leads_to_its_section_its_code_and_rules(void **state)
{
	struct bobbin_elf *elf = open_and_close(make_file());
	struct bobbin_elf_section section;
	const struct bobbin_range *code;

	(void)state;
	assert_ptr_equal(bobbin_elf_arch(elf), bobbin_arch_amd64());
	assert_int_equal(bobbin_elf_code(elf, &code), 1);
	assert_int_equal(code->start, TEXT);
	assert_int_equal(code->end, SMALL_BASE + SMALL_DATA);
	assert_int_equal(bobbin_elf_count(elf), 1);
	assert_int_equal(bobbin_elf_section(elf, 0, &section), 0);
	assert_string_equal(section.name, ".data");
	assert_int_equal(section.addr, SECTION);
	assert_int_equal(section.offset, SMALL_DATA);
	assert_int_equal(section.data[0], 0xe2);
	assert_false(section.relocatable || section.from_image || section.image);
	assert_rule_at(elf, TEXT + 15);
	bobbin_elf_close(elf);
	bobbin_elf_close(NULL);
}

static void bytes_without_a_file_are_a_section_at_address_zero(void **state)
{
	struct built bytes = make_section(0);
	struct bobbin_elf *elf = open_and_close(file_of(bytes.data, bytes.size));
	const struct bobbin_range *code;

	(void)state;
	assert_null(bobbin_elf_arch(elf));
	assert_int_equal(bobbin_elf_code(elf, &code), 0);
	assert_int_equal(bobbin_elf_count(elf), 1);
	assert_rule_at(elf, TEXT);
	bobbin_elf_close(elf);
	free(bytes.data);
}

static void section_that_does_not_exist_is_not_found(void **state)
{
	struct small s = small_file(EM_X86_64, ELFDATA2LSB);
	struct bobbin_elf *elf = open_and_close(file_of_small(&s));
	struct bobbin_elf_section section = {.size = 1};
	struct bobbin_sframe_view view = {.size = 2};
	uint64_t pos = 0;

	(void)state;
	assert_int_equal(bobbin_elf_count(elf), 0);
	assert_int_equal(bobbin_elf_section(elf, 0, &section), -ENOENT);
	assert_int_equal(bobbin_elf_next(elf, 0, &pos, NULL, &view), -ENOENT);
	assert_int_equal(section.size, 1);
	assert_int_equal(view.size, 2);
	bobbin_elf_close(elf);
}

static void refusal_has_an_offset_and_a_reason(void **state)
{
	struct small s = small_file(0xabcd, ELFDATA2LSB);
	struct bobbin_elf *elf = NULL;
	struct bobbin_error err;
	int fd = file_of_small(&s);

	(void)state;
	assert_int_equal(bobbin_elf_open(fd, &err, &elf), -EBADMSG);
	assert_int_equal(err.reason, BOBBIN_REASON_ELF_MACHINE);
	assert_int_equal(err.offset, offsetof(Elf64_Ehdr, e_machine));
	close(fd);
	assert_int_equal(bobbin_elf_open(-1, &err, &elf), -EBADF);
	assert_int_equal(err.reason, BOBBIN_REASON_NONE);
	assert_null(elf);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(file_leads_to_its_section_its_code_and_rules),
		cmocka_unit_test(bytes_without_a_file_are_a_section_at_address_zero),
		cmocka_unit_test(section_that_does_not_exist_is_not_found),
		cmocka_unit_test(refusal_has_an_offset_and_a_reason),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
