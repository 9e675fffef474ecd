/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* Sections of images, which are this process's own. */
#include "base/native_arch.h"
#include "target/jit_image.h"

#include <elf.h>
#include <errno.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include <cmocka.h>

#define TEXT UINT64_C(0x7f0000001000)
#define LOADED UINT64_C(0x7f0000100000)

enum {
	SECTION_NULL,
	SECTION_TEXT,
	SECTION_MORE_TEXT,
	SECTION_FRAMES,
	SECTION_SFRAME,
	SECTION_NAMES,
	SECTIONS
};

struct image {
	Elf64_Ehdr head;
	Elf64_Shdr sections[SECTIONS];
	uint8_t frames[32], sframe[16];
	char names[40];
};

static struct image make_image(void)
{
	struct image image = {
		.head =
			{
				.e_ident = {ELFMAG0, ELFMAG1, ELFMAG2, ELFMAG3, ELFCLASS64,
					    native_arch()->big_endian ? ELFDATA2MSB : ELFDATA2LSB,
					    EV_CURRENT},
				.e_type = ET_REL,
				.e_machine = native_arch()->elf_machine,
				.e_shoff = offsetof(struct image, sections),
				.e_shentsize = sizeof(Elf64_Shdr),
				.e_shnum = SECTIONS,
				.e_shstrndx = SECTION_NAMES,
			},
		.sections =
			{
				[SECTION_TEXT] = {.sh_name = 1,
						  .sh_type = SHT_NOBITS,
						  .sh_flags = SHF_ALLOC | SHF_EXECINSTR,
						  .sh_addr = TEXT + 0x1000,
						  .sh_size = 0x100},
				[SECTION_MORE_TEXT] = {.sh_name = 1,
						       .sh_type = SHT_PROGBITS,
						       .sh_flags = SHF_ALLOC | SHF_EXECINSTR,
						       .sh_addr = TEXT,
						       .sh_size = 0x200},
				[SECTION_FRAMES] = {.sh_name = 7,
						    .sh_type = SHT_PROGBITS,
						    .sh_flags = SHF_ALLOC,
						    .sh_addr = LOADED,
						    .sh_offset = offsetof(struct image, frames),
						    .sh_size = sizeof(image.frames)},
				[SECTION_SFRAME] = {.sh_name = 17,
						    .sh_type = SHT_PROGBITS,
						    .sh_flags = SHF_ALLOC,
						    .sh_offset = offsetof(struct image, sframe),
						    .sh_size = sizeof(image.sframe)},
				[SECTION_NAMES] = {.sh_name = 1,
						   .sh_type = SHT_STRTAB,
						   .sh_offset = offsetof(struct image, names),
						   .sh_size = sizeof(image.names)},
			},
		.names = "\0.text\0.eh_frame\0.sframe",
	};

	return image;
}

static int read_bytes(const void *bytes, size_t size, struct jit_image *ret)
{
	const struct gdb_jit_entry entry = {(uintptr_t)bytes, size};

	return jit_image_read(&(struct remote_process){NULL, getpid()}, &entry, native_arch(), ret);
}

static int read_image(const struct image *image, struct jit_image *ret)
{
	return read_bytes(image, sizeof(*image), ret);
}

static void code_and_tables_are_where_headers_say(void **state)
{
	const struct image image = make_image();
	struct jit_image read;

	assert_int_equal(read_image(&image, &read), 0);
	assert_int_equal(read.text_count, 2);
	assert_int_equal(read.texts[0].start, TEXT);
	assert_int_equal(read.texts[0].end, TEXT + 0x200);
	assert_int_equal(read.texts[1].start, TEXT + 0x1000);
	assert_int_equal(read.eh_frame.size, sizeof(image.frames));
	assert_int_equal(read.eh_frame.loaded, LOADED);
	assert_int_equal(read.eh_frame.kept, (uintptr_t)image.frames);
	assert_int_equal(read.sframe.size, sizeof(image.sframe));
	assert_int_equal(read.sframe.loaded, 0);
	assert_int_equal(read.sframe.kept, (uintptr_t)image.sframe);
	jit_image_fini(&read);
}

static void sframe_section_is_known_by_its_type(void **state)
{
	struct image image = make_image();
	struct jit_image read;

	image.head.e_shstrndx = 0;
	image.sections[SECTION_SFRAME].sh_type = 0x6ffffff4;
	assert_int_equal(read_image(&image, &read), 0);
	assert_int_equal(read.text_count, 2);
	assert_int_equal(read.sframe.size, sizeof(image.sframe));
	assert_int_equal(read.eh_frame.size, 0);
	jit_image_fini(&read);
}

static void sections_without_sense_are_left_out(void **state)
{
	struct image image = make_image();
	struct jit_image read;

	image.sections[SECTION_TEXT].sh_addr = 0;
	image.sections[SECTION_MORE_TEXT].sh_addr = UINT64_MAX - 0x10;
	image.sections[SECTION_FRAMES].sh_size = GDB_JIT_IMAGE_MAX + 1;
	image.sections[SECTION_SFRAME].sh_addr = UINT64_MAX - 2;
	assert_int_equal(read_image(&image, &read), 0);
	assert_int_equal(read.text_count, 0);
	assert_int_equal(read.eh_frame.size, 0);
	assert_int_equal(read.sframe.size, 0);
	jit_image_fini(&read);

	image = make_image();
	image.sections[SECTION_TEXT].sh_size = JIT_IMAGE_TEXT_MAX + 1;
	image.sections[SECTION_FRAMES].sh_offset = sizeof(image) - 1;
	image.sections[SECTION_SFRAME].sh_offset = UINT64_MAX - 1;
	assert_int_equal(read_image(&image, &read), 0);
	assert_int_equal(read.text_count, 1);
	/* not in the image, but loaded */
	assert_int_equal(read.eh_frame.kept, 0);
	assert_int_equal(read.eh_frame.loaded, LOADED);
	assert_int_equal(read.sframe.kept, 0);
	jit_image_fini(&read);
}

static void names_without_an_end_do_no_harm(void **state)
{
	struct image image = make_image();
	struct jit_image read;

	memcpy(image.names + sizeof(image.names) - 9, ".eh_frame", 9);
	image.sections[SECTION_FRAMES].sh_name = sizeof(image.names) - 9;
	image.sections[SECTION_SFRAME].sh_name = UINT32_MAX;
	assert_int_equal(read_image(&image, &read), 0);
	assert_int_equal(read.eh_frame.size, sizeof(image.frames));
	assert_int_equal(read.sframe.size, 0);
	jit_image_fini(&read);
}

static void what_is_no_image_of_this_machine_is_refused(void **state)
{
	struct image image = make_image();
	struct gdb_jit_entry entry = {UINT64_MAX - 100, 200};
	struct jit_image read;

	assert_int_equal(jit_image_read(&(struct remote_process){NULL, getpid()}, &entry,
					native_arch(), &read),
			 -EBADMSG);
	entry = (struct gdb_jit_entry){8, 200};
	assert_int_equal(jit_image_read(&(struct remote_process){NULL, getpid()}, &entry,
					native_arch(), &read),
			 -EFAULT);
	image.head.e_machine++;
	assert_int_equal(read_image(&image, &read), -EBADMSG);
	image = make_image();
	image.head.e_ident[EI_CLASS] = ELFCLASS32;
	assert_int_equal(read_image(&image, &read), -EBADMSG);
	image = make_image();
	image.head.e_ident[EI_DATA] ^= 3;
	assert_int_equal(read_image(&image, &read), -EBADMSG);
	image = make_image();
	image.head.e_shnum = UINT16_MAX;
	assert_int_equal(read_image(&image, &read), -EBADMSG);
	image.head.e_shnum = 0;
	assert_int_equal(read_image(&image, &read), -EBADMSG);
	image = make_image();
	image.head.e_shoff = UINT64_MAX - 8;
	assert_int_equal(read_image(&image, &read), -EBADMSG);
	image.head.e_shentsize = 1;
	assert_int_equal(read_image(&image, &read), -EBADMSG);
}

static void any_change_of_a_header_is_seen(void **state)
{
	struct image image = make_image();
	const struct gdb_jit_entry entry = {(uintptr_t)&image, sizeof(image)};
	struct jit_image read;

	assert_int_equal(read_image(&image, &read), 0);
	assert_true(jit_image_is_same(&(struct remote_process){NULL, getpid()}, &entry,
				      native_arch(), &read));
	for (size_t at = 0; at < offsetof(struct image, frames); at++) {
		((uint8_t *)&image)[at] ^= 0x10;
		assert_false(jit_image_is_same(&(struct remote_process){NULL, getpid()}, &entry,
					       native_arch(), &read));
		((uint8_t *)&image)[at] ^= 0x10;
	}
	assert_true(jit_image_is_same(&(struct remote_process){NULL, getpid()}, &entry,
				      native_arch(), &read));
	jit_image_fini(&read);
}

static void check_bounds(const struct jit_part *part, uint64_t image, uint64_t size)
{
	if (!part->size)
		return;
	assert_true(part->size <= GDB_JIT_IMAGE_MAX);
	assert_true(!part->kept || (part->kept >= image && part->size <= size &&
				    part->kept - image <= size - part->size));
	assert_true(part->loaded <= UINT64_MAX - part->size);
}

/* Any changed bit, any cut, at the end of readable memory. */
static void damaged_images_do_no_harm(void **state)
{
	const struct image image = make_image();
	const size_t page = (size_t)sysconf(_SC_PAGESIZE);
	uint8_t *memory = mmap(NULL, 2 * page, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS,
			       -1, 0);
	struct jit_image read;

	assert_ptr_not_equal(memory, MAP_FAILED);
	munmap(memory + page, page);
	for (size_t cut = 0; cut < sizeof(image); cut++) {
		uint8_t *copy = memory + page - (sizeof(image) - cut);

		memcpy(copy, &image, sizeof(image) - cut);
		if (!read_bytes(copy, sizeof(image) - cut, &read))
			jit_image_fini(&read);
	}
	for (size_t at = 0; at < 8 * sizeof(image); at++) {
		struct image damaged = image;

		((uint8_t *)&damaged)[at / 8] ^= (uint8_t)(1 << at % 8);
		if (read_image(&damaged, &read))
			continue;
		for (size_t i = 0; i < read.text_count; i++) {
			assert_true(read.texts[i].start < read.texts[i].end);
			assert_true(!i || read.texts[i].start >= read.texts[i - 1].start);
		}
		check_bounds(&read.eh_frame, (uintptr_t)&damaged, sizeof(damaged));
		check_bounds(&read.sframe, (uintptr_t)&damaged, sizeof(damaged));
		jit_image_fini(&read);
	}
	munmap(memory, page);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(code_and_tables_are_where_headers_say),
		cmocka_unit_test(sframe_section_is_known_by_its_type),
		cmocka_unit_test(sections_without_sense_are_left_out),
		cmocka_unit_test(names_without_an_end_do_no_harm),
		cmocka_unit_test(what_is_no_image_of_this_machine_is_refused),
		cmocka_unit_test(any_change_of_a_header_is_seen),
		cmocka_unit_test(damaged_images_do_no_harm),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
