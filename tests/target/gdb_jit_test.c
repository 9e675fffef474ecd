/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* This process describes code to itself, as compilers do to debuggers. */
#include "base/native_arch.h"
#include "target/gdb_jit.h"
#include "unwind/space.h"

#include <elf.h>
#include <errno.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include "debugger_interface.h"
#include <cmocka.h>

#define TEXT 0x7f0000001000ull
#define TEXT_SIZE 0x1000

enum {
	SECTION_NULL,
	SECTION_TEXT,
	SECTION_SYMBOLS,
	SECTION_STRINGS,
	SECTIONS
};

#define SYMBOLS 4

struct image {
	Elf64_Ehdr head;
	Elf64_Shdr sections[SECTIONS];
	Elf64_Sym symbols[SYMBOLS];
	char strings[64];
};

/* A relocatable image of two functions and a variable. */
static struct image make_image(void)
{
	struct image image = {
		.head =
			{
				.e_ident = {ELFMAG0, ELFMAG1, ELFMAG2, ELFMAG3, ELFCLASS64,
					    ELFDATA2LSB, EV_CURRENT},
				.e_type = ET_REL,
				.e_machine = EM_X86_64,
				.e_version = EV_CURRENT,
				.e_shoff = offsetof(struct image, sections),
				.e_ehsize = sizeof(Elf64_Ehdr),
				.e_shentsize = sizeof(Elf64_Shdr),
				.e_shnum = SECTIONS,
			},
		.sections =
			{
				[SECTION_TEXT] = {.sh_type = SHT_NOBITS,
						  .sh_flags = SHF_ALLOC | SHF_EXECINSTR,
						  .sh_addr = TEXT,
						  .sh_size = TEXT_SIZE},
				[SECTION_SYMBOLS] = {.sh_type = SHT_SYMTAB,
						     .sh_offset = offsetof(struct image, symbols),
						     .sh_size = sizeof(image.symbols),
						     .sh_link = SECTION_STRINGS,
						     .sh_info = 1,
						     .sh_entsize = sizeof(Elf64_Sym)},
				[SECTION_STRINGS] = {.sh_type = SHT_STRTAB,
						     .sh_offset = offsetof(struct image, strings),
						     .sh_size = sizeof(image.strings)},
			},
		.symbols =
			{
				[1] = {1, ELF64_ST_INFO(STB_GLOBAL, STT_FUNC), 0, SECTION_TEXT,
				       0x10, 0x20},
				[2] = {5, ELF64_ST_INFO(STB_LOCAL, STT_FUNC), 0, SECTION_TEXT, 0x40,
				       8},
				[3] = {9, ELF64_ST_INFO(STB_GLOBAL, STT_OBJECT), 0, SECTION_TEXT,
				       0x80, 8},
			},
		.strings = "\0one\0two\0data",
	};

	return image;
}

struct told {
	size_t count;
	uint64_t starts[8], sizes[8];
	char names[8][16];
};

static int tell(void *ctx, const struct gdb_jit_function *function)
{
	struct told *told = ctx;

	assert_true(told->count < 8);
	told->starts[told->count] = function->start;
	told->sizes[told->count] = function->size;
	strncpy(told->names[told->count++], function->name, 15);
	return 0;
}

static int read_bytes(const void *bytes, size_t size, struct told *told)
{
	struct gdb_jit_entry entry = {(uintptr_t)bytes, size};

	*told = (struct told){0};
	return gdb_jit_functions(&(struct remote_process){NULL, getpid()}, &entry, tell, told);
}

static int read_image(const struct image *image, struct told *told)
{
	return read_bytes(image, sizeof(*image), told);
}

static void descriptor_of_a_process_is_found(void **state)
{
	uint64_t found[GDB_JIT_DESCRIPTORS];
	struct bobbin_unwinder *unwinder;
	struct bobbin_space *space;

	assert_int_equal(bobbin_unwinder_open(NULL, &unwinder), 0);
	assert_int_equal(bobbin_space_open(unwinder, native_arch(), &space), 0);
	assert_int_equal(gdb_jit_find(&space->maps, found), 0);
	assert_int_equal(bobbin_space_load(space, getpid()), 0);
	assert_int_equal(gdb_jit_find(&space->maps, found), 1);
	assert_int_equal(found[0], (uintptr_t)&__jit_debug_descriptor);
	bobbin_space_close(space);
	/* the file is known now */
	assert_int_equal(bobbin_space_open(unwinder, native_arch(), &space), 0);
	assert_int_equal(bobbin_space_load(space, getpid()), 0);
	found[0] = 0;
	assert_int_equal(gdb_jit_find(&space->maps, found), 1);
	assert_int_equal(found[0], (uintptr_t)&__jit_debug_descriptor);
	bobbin_space_close(space);
	bobbin_unwinder_close(unwinder);
}

/* Any piece of a mapped file leads to its descriptor; one that makes no sense does not. */
static void descriptor_is_found_by_any_piece_of_its_file(void **state)
{
	uint64_t found[GDB_JIT_DESCRIPTORS], here = (uintptr_t)&make_image;
	struct bobbin_unwinder *unwinder;
	struct bobbin_place_info place;
	struct bobbin_mapping piece;
	struct bobbin_space *space;

	assert_int_equal(bobbin_unwinder_open(NULL, &unwinder), 0);
	assert_int_equal(bobbin_space_open(unwinder, native_arch(), &space), 0);
	assert_int_equal(bobbin_space_load(space, getpid()), 0);
	assert_int_equal(bobbin_space_find(space, here, &place), 0);
	piece = place.mapping;
	piece.path = strdup(piece.path);
	piece.start = here & ~UINT64_C(0xfff);
	piece.end = piece.start + 0x1000;
	piece.offset = place.file_offset - (here - piece.start);
	bobbin_space_clear(space);

	/* in front of the code, and far after the file's end */
	place.mapping = piece;
	place.mapping.start = 0x1000;
	place.mapping.end = 0x2000;
	place.mapping.offset = UINT64_C(1) << 40;
	assert_int_equal(bobbin_space_map(space, &place.mapping), 0);
	assert_int_equal(gdb_jit_find(&space->maps, found), 0);
	assert_int_equal(bobbin_space_map(space, &piece), 0);
	for (unsigned int i = 0; i < 2; i++) {
		assert_int_equal(gdb_jit_find(&space->maps, found), 1);
		assert_int_equal(found[0], (uintptr_t)&__jit_debug_descriptor);
	}
	bobbin_space_close(space);
	bobbin_unwinder_close(unwinder);
	free((char *)piece.path);
}

static void listed_images_are_read(void **state)
{
	struct image image = make_image();
	struct jit_entry second = {.image = &image, .size = sizeof(image)};
	struct jit_entry first = {.next = &second, .image = &image, .size = 77};
	struct gdb_jit_entry *entries;
	uint64_t descriptor = (uintptr_t)&__jit_debug_descriptor;

	assert_int_equal(
		gdb_jit_list(&(struct remote_process){NULL, getpid()}, descriptor, &entries), 0);
	free(entries);
	__jit_debug_descriptor.first = &first;
	second.previous = &first;
	assert_int_equal(
		gdb_jit_list(&(struct remote_process){NULL, getpid()}, descriptor, &entries), 2);
	assert_int_equal(entries[0].size, 77);
	assert_int_equal(entries[1].address, (uintptr_t)&image);
	assert_int_equal(entries[1].size, sizeof(image));
	free(entries);
	__jit_debug_descriptor.version = 2;
	assert_int_equal(
		gdb_jit_list(&(struct remote_process){NULL, getpid()}, descriptor, &entries), 0);
	free(entries);
	__jit_debug_descriptor.version = 1;
	__jit_debug_descriptor.first = NULL;
}

static void hostile_lists_end(void **state)
{
	struct jit_entry first = {.size = 100}, second = {.next = &first, .size = 100};
	struct jit_entry huge = {.size = GDB_JIT_IMAGE_MAX + 1};
	struct gdb_jit_entry *entries = NULL;
	uint64_t descriptor = (uintptr_t)&__jit_debug_descriptor;

	first.next = &second;
	__jit_debug_descriptor.first = &first;
	assert_int_equal(
		gdb_jit_list(&(struct remote_process){NULL, getpid()}, descriptor, &entries),
		GDB_JIT_ENTRIES);
	free(entries);
	/* nor is the same image read without end */
	first.size = second.size = GDB_JIT_IMAGE_MAX;
	assert_int_equal(
		gdb_jit_list(&(struct remote_process){NULL, getpid()}, descriptor, &entries),
		GDB_JIT_LIST_MAX / GDB_JIT_IMAGE_MAX);
	free(entries);
	/* without images, too */
	first.size = second.size = 0;
	assert_int_equal(
		gdb_jit_list(&(struct remote_process){NULL, getpid()}, descriptor, &entries), 0);
	free(entries);
	first.size = 100;
	first.next = (void *)8;
	assert_int_equal(
		gdb_jit_list(&(struct remote_process){NULL, getpid()}, descriptor, &entries), 1);
	free(entries);
	first.next = &huge;
	assert_int_equal(
		gdb_jit_list(&(struct remote_process){NULL, getpid()}, descriptor, &entries), 1);
	free(entries);
	entries = NULL;
	assert_int_equal(gdb_jit_list(&(struct remote_process){NULL, getpid()}, 8, &entries),
			 -EFAULT);
	assert_null(entries);
	__jit_debug_descriptor.first = NULL;
}

static void functions_of_relocatable_images_lie_in_their_sections(void **state)
{
	struct image image = make_image();
	struct told told;

	assert_int_equal(read_image(&image, &told), 0);
	assert_int_equal(told.count, 2);
	assert_int_equal(told.starts[0], TEXT + 0x10);
	assert_int_equal(told.sizes[0], 0x20);
	assert_string_equal(told.names[0], "one");
	assert_int_equal(told.starts[1], TEXT + 0x40);
	assert_string_equal(told.names[1], "two");

	/* not loaded */
	image.sections[SECTION_TEXT].sh_addr = 0;
	assert_int_equal(read_image(&image, &told), 0);
	assert_int_equal(told.count, 0);
}

static void functions_of_linked_images_lie_where_they_say(void **state)
{
	struct image image = make_image();
	struct told told;

	for (int i = 1; i < SYMBOLS; i++)
		image.symbols[i].st_value += TEXT;
	for (int type = ET_REL; type <= ET_DYN; type++) {
		image.head.e_type = (uint16_t)type;
		assert_int_equal(read_image(&image, &told), 0);
		assert_int_equal(told.count, 2);
		assert_int_equal(told.starts[0], TEXT + 0x10);
		assert_int_equal(told.starts[1], TEXT + 0x40);
	}
}

static void symbols_without_sense_are_passed_over(void **state)
{
	struct image image = make_image();
	struct told told;

	image.symbols[1].st_size = UINT64_MAX;
	assert_int_equal(read_image(&image, &told), 0);
	assert_int_equal(told.count, 1);
	image = make_image();
	image.symbols[1].st_name = 1000;
	image.symbols[2].st_shndx = 77;
	assert_int_equal(read_image(&image, &told), 0);
	assert_int_equal(told.count, 0);
	image = make_image();
	image.strings[sizeof(image.strings) - 1] = 'x';
	assert_int_equal(read_image(&image, &told), 0);
	assert_int_equal(told.count, 0);
}

static int refuse_functions(void *ctx, const struct gdb_jit_function *function)
{
	return -E2BIG;
}

static void what_is_no_image_is_refused(void **state)
{
	struct image image = make_image();
	struct gdb_jit_entry entry = {(uintptr_t)&image, sizeof(image)};
	struct told told;

	assert_int_equal(gdb_jit_functions(&(struct remote_process){NULL, getpid()}, &entry,
					   refuse_functions, NULL),
			 -E2BIG);
	entry.size = 0;
	assert_int_equal(gdb_jit_functions(&(struct remote_process){NULL, getpid()}, &entry,
					   refuse_functions, NULL),
			 -EBADMSG);
	entry = (struct gdb_jit_entry){8, 100};
	assert_int_equal(gdb_jit_functions(&(struct remote_process){NULL, getpid()}, &entry,
					   refuse_functions, NULL),
			 -EFAULT);
	image.head.e_ident[EI_CLASS] = ELFCLASS32;
	assert_int_equal(read_image(&image, &told), -EBADMSG);
	image.head.e_ident[0] = 0;
	assert_int_equal(read_image(&image, &told), -EBADMSG);
}

/* Any changed bit, any cut: no crash, and names that end. */
static void damaged_images_do_no_harm(void **state)
{
	const struct image image = make_image();
	struct told told;

	for (size_t at = 0; at < sizeof(image); at++) {
		for (unsigned int bit = 0; bit < 8; bit++) {
			struct image damaged = image;

			((uint8_t *)&damaged)[at] ^= (uint8_t)(1 << bit);
			read_image(&damaged, &told);
		}
		read_bytes(&image, at, &told);
	}
}

static void jitdump_files_are_known_by_their_names(void **state)
{
	static const char *const good[] = {"/tmp/jit-1.dump", "jit-123.dump",
					   "/a b/jit-1.dump (deleted)"};
	static const char *const bad[] = {
		"/tmp/jit-.dump",    "/tmp/jit-1.dumps", "",
		"/jit-1.dump/other", "/tmp/jit-1x.dump", "/tmp/xjit-1.dump"};

	for (size_t i = 0; i < sizeof(good) / sizeof(*good); i++)
		assert_true(is_jitdump_path(good[i]));
	for (size_t i = 0; i < sizeof(bad) / sizeof(*bad); i++)
		assert_false(is_jitdump_path(bad[i]));
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(descriptor_of_a_process_is_found),
		cmocka_unit_test(descriptor_is_found_by_any_piece_of_its_file),
		cmocka_unit_test(listed_images_are_read),
		cmocka_unit_test(hostile_lists_end),
		cmocka_unit_test(functions_of_relocatable_images_lie_in_their_sections),
		cmocka_unit_test(functions_of_linked_images_lie_where_they_say),
		cmocka_unit_test(symbols_without_sense_are_passed_over),
		cmocka_unit_test(what_is_no_image_is_refused),
		cmocka_unit_test(damaged_images_do_no_harm),
		cmocka_unit_test(jitdump_files_are_known_by_their_names),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
