/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * The functions of images: of this program, and of one that is made here, and damaged.
 */
#include <dlfcn.h>
#include <elf.h>
#include <fcntl.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <cmocka.h>

#include "core/deps.h"
#include "crash/symbol_search.h"

#define TEXT 0x1000
#define TEXT_SIZE 0x100
#define BARE 0x3000

/* Sections: none, text, code without sizes, symbols, their names. */
struct image {
	Elf64_Ehdr header;
	Elf64_Phdr segments[2];
	Elf64_Shdr sections[5];
	Elf64_Sym symbols[16];
	char names[128];
};

static struct image image;
static size_t symbols, used;

static void add(const char *name, uint64_t value, uint64_t size, unsigned int binding,
		unsigned int type)
{
	strcpy(image.names + used, name);
	image.symbols[symbols++] = (Elf64_Sym){
		.st_name = (Elf64_Word)used,
		.st_info = (unsigned char)ELF64_ST_INFO(binding, type),
		.st_shndx = 1,
		.st_value = value,
		.st_size = size,
	};
	used += strlen(name) + 1;
}

static void fill_header(void)
{
	const unsigned char identity[EI_NIDENT] = {
		ELFMAG0, ELFMAG1,    ELFMAG2,
		ELFMAG3, ELFCLASS64, BOBBIN_HOST_BIG_ENDIAN ? ELFDATA2MSB : ELFDATA2LSB};

	memcpy(image.header.e_ident, identity, EI_NIDENT);
	image.header.e_phoff = offsetof(struct image, segments);
	image.header.e_phentsize = sizeof(Elf64_Phdr);
	image.header.e_phnum = 2;
	image.header.e_shoff = offsetof(struct image, sections);
	image.header.e_shentsize = sizeof(Elf64_Shdr);
	image.header.e_shnum = 5;
	image.segments[0] = (Elf64_Phdr){.p_type = PT_LOAD, .p_flags = PF_R, .p_filesz = 0x900};
	image.segments[1] = (Elf64_Phdr){.p_type = PT_LOAD,
					 .p_flags = PF_R | PF_X,
					 .p_offset = 0x400,
					 .p_vaddr = TEXT,
					 .p_filesz = 0x5000};
}

static void fill_sections(void)
{
	image.sections[1] = (Elf64_Shdr){.sh_type = SHT_PROGBITS,
					 .sh_flags = SHF_EXECINSTR,
					 .sh_addr = TEXT,
					 .sh_size = TEXT_SIZE};
	image.sections[2] = (Elf64_Shdr){.sh_type = SHT_PROGBITS,
					 .sh_flags = SHF_EXECINSTR,
					 .sh_addr = BARE,
					 .sh_size = 0x2000};
	image.sections[3] = (Elf64_Shdr){.sh_type = SHT_SYMTAB,
					 .sh_link = 4,
					 .sh_offset = offsetof(struct image, symbols),
					 .sh_size = symbols * sizeof(Elf64_Sym),
					 .sh_entsize = sizeof(Elf64_Sym)};
	image.sections[4] = (Elf64_Shdr){.sh_type = SHT_STRTAB,
					 .sh_offset = offsetof(struct image, names),
					 .sh_size = sizeof(image.names)};
}

static void make_image(void)
{
	memset(&image, 0, sizeof(image));
	symbols = used = 1;
	add("outer", TEXT + 0x10, 0x60, STB_GLOBAL, STT_FUNC);
	add("inner", TEXT + 0x20, 0x10, STB_LOCAL, STT_FUNC);
	add("_weak", TEXT + 0x80, 0x10, STB_WEAK, STT_FUNC);
	add("__GI_b", TEXT + 0x90, 0x10, STB_GLOBAL, STT_FUNC);
	add("__b", TEXT + 0x90, 0x10, STB_GLOBAL, STT_FUNC);
	add("b@@V1", TEXT + 0x90, 0x10, STB_GLOBAL, STT_FUNC);
	add("label", TEXT + 0x22, 0, STB_LOCAL, STT_NOTYPE);
	add("object", TEXT + 0xa0, 0x10, STB_GLOBAL, STT_OBJECT);
	add("bare", BARE + 0x10, 0, STB_GLOBAL, STT_NOTYPE);
	add("sized", BARE + 0x800, 0x10, STB_GLOBAL, STT_FUNC);
	add("last", BARE + 0x900, 0, STB_GLOBAL, STT_FUNC);
	fill_header();
	fill_sections();
}

static const struct image_source in_memory = {-1, (const uint8_t *)&image, sizeof(image)};

/* The name at an address, with its offset after it; "": none. */
static const char *name_at(uint64_t address)
{
	static char name[SYMBOL_NAME_SIZE];
	struct symbol_query query = {.address = address};
	uint64_t offset = 0;

	symbol_search(&in_memory, &query, 1);
	if (!symbol_query_name(&in_memory, &query, &offset, name))
		return "";
	assert_true(offset <= address && strlen(name) < sizeof(name) - 8);
	name[strlen(name) + 1] = 0;
	name[strlen(name)] = (char)('0' + offset % 16);
	return name;
}

static void the_innermost_function_with_a_size_counts(void **state)
{
	make_image();
	assert_string_equal(name_at(TEXT + 0x10), "outer0");
	assert_string_equal(name_at(TEXT + 0x1f), "outer?");
	assert_string_equal(name_at(TEXT + 0x2f), "inner?");
	assert_string_equal(name_at(TEXT + 0x32), "outer2");
	assert_string_equal(name_at(TEXT + 0x6f), "outer?");
	assert_string_equal(name_at(TEXT + 0x70), "");
	assert_string_equal(name_at(TEXT), "");
}

static void the_name_that_people_know_counts(void **state)
{
	make_image();
	assert_string_equal(name_at(TEXT + 0x85), "_weak5");
	assert_string_equal(name_at(TEXT + 0x91), "b1");
	assert_string_equal(name_at(TEXT + 0xa1), "");
}

static void a_symbol_without_size_reaches_to_the_next(void **state)
{
	make_image();
	assert_string_equal(name_at(BARE + 0xf), "");
	assert_string_equal(name_at(BARE + 0x10), "bare0");
	assert_string_equal(name_at(BARE + 0x7ff), "bare?");
	assert_string_equal(name_at(BARE + 0x801), "sized1");
	assert_string_equal(name_at(BARE + 0x811), "");
	assert_string_equal(name_at(BARE + 0x901), "last1");
	/* not that far */
	assert_string_equal(name_at(BARE + 0x1901), "");
	assert_string_equal(name_at(BARE + 0x2001), "");
}

static void addresses_are_those_of_code_segments(void **state)
{
	uint64_t address = 0;

	make_image();
	assert_true(image_code_address(&in_memory, 0x410, &address));
	assert_int_equal(address, TEXT + 0x10);
	assert_false(image_code_address(&in_memory, 0x3ff, &address));
	assert_false(image_code_address(&in_memory, 0x5400, &address));
}

static void all_queries_are_answered_at_once(void **state)
{
	struct symbol_query queries[TEXT_SIZE + 0x2000];
	const size_t count = sizeof(queries) / sizeof(queries[0]);
	char name[SYMBOL_NAME_SIZE];
	uint64_t offset;

	make_image();
	for (size_t i = 0; i < count; i++)
		queries[i].address = i < TEXT_SIZE ? TEXT + i : BARE + i - TEXT_SIZE;
	symbol_search(&in_memory, queries, count);
	for (size_t i = 0; i < count; i += 7) {
		const char *alone = name_at(queries[i].address);

		if (!symbol_query_name(&in_memory, &queries[i], &offset, name))
			assert_string_equal(alone, "");
		else
			assert_memory_equal(alone, name, strlen(name));
	}
}

/* Whatever the bytes are: no read outside of the image, which sanitizers see, and no endless search. */
static void damaged_images_do_no_harm(void **state)
{
	const uint8_t values[] = {0, 1, 0x7f, 0x80, 0xff};
	uint64_t address;

	for (int i = 0; i < 20000; i++) {
		make_image();
		for (int n = 1 + rand() % 3; n; n--)
			((uint8_t *)&image)[(size_t)rand() % sizeof(image)] =
				values[(size_t)rand() % sizeof(values)];
		name_at(TEXT + (uint64_t)rand() % TEXT_SIZE);
		image_code_address(&in_memory, (uint64_t)rand(), &address);
	}
}

static void no_image_is_too_short(void **state)
{
	struct symbol_query query = {.address = TEXT + 0x10};
	char name[SYMBOL_NAME_SIZE];
	uint64_t offset, address;

	make_image();
	for (uint64_t size = 0; size < sizeof(image); size++) {
		const struct image_source part = {-1, (const uint8_t *)&image, size};

		image_code_address(&part, 0x410, &address);
		symbol_search(&part, &query, 1);
		if (symbol_query_name(&part, &query, &offset, name))
			assert_memory_equal("outer", name, strlen(name));
	}
}

static void functions_of_this_program_have_their_names(void **state)
{
	const void *functions[] = {(void *)make_image, (void *)name_at,
				   (void *)damaged_images_do_no_harm};
	const char *names[] = {"make_image", "name_at", "damaged_images_do_no_harm"};
	struct image_source file = {.fd = open("/proc/self/exe", O_RDONLY)};
	char name[SYMBOL_NAME_SIZE];
	Dl_info info;

	assert_true(file.fd >= 0);
	for (int i = 0; i < 3; i++) {
		struct symbol_query query;
		uint64_t offset;

		assert_true(dladdr(functions[i], &info));
		query.address =
			(uint64_t)((const char *)functions[i] - (const char *)info.dli_fbase);
		symbol_search(&file, &query, 1);
		assert_true(symbol_query_name(&file, &query, &offset, name));
		assert_string_equal(name, names[i]);
		assert_int_equal(offset, 0);
	}
	close(file.fd);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(the_innermost_function_with_a_size_counts),
		cmocka_unit_test(the_name_that_people_know_counts),
		cmocka_unit_test(a_symbol_without_size_reaches_to_the_next),
		cmocka_unit_test(addresses_are_those_of_code_segments),
		cmocka_unit_test(all_queries_are_answered_at_once),
		cmocka_unit_test(damaged_images_do_no_harm),
		cmocka_unit_test(no_image_is_too_short),
		cmocka_unit_test(functions_of_this_program_have_their_names),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
