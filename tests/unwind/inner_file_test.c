/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
#include <elf.h>
#include <errno.h>
#include <fcntl.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include <cmocka.h>

#include "core/deps.h"
#include "elf/elf_image.h"
#include "unwind/inner_file.h"

#define PAGE 4096
#define BASE (3 * PAGE)
#define TEXT_AT PAGE
#define TEXT_SIZE 100
#define SECTIONS_AT (2 * PAGE)
#define FILE_SIZE (SECTIONS_AT + 2 * sizeof(Elf64_Shdr))

/* The headers of a library that has a segment of code. */
static void put_file(int fd, off_t base)
{
	const Elf64_Ehdr header = {
		.e_ident = {ELFMAG0, ELFMAG1, ELFMAG2, ELFMAG3, ELFCLASS64,
			    BOBBIN_HOST_BIG_ENDIAN ? ELFDATA2MSB : ELFDATA2LSB, EV_CURRENT},
		.e_type = ET_DYN,
		.e_machine = BOBBIN_HOST_BIG_ENDIAN ? EM_S390 : EM_X86_64,
		.e_version = EV_CURRENT,
		.e_phoff = sizeof(header),
		.e_shoff = SECTIONS_AT,
		.e_ehsize = sizeof(header),
		.e_phentsize = sizeof(Elf64_Phdr),
		.e_phnum = 1,
		.e_shentsize = sizeof(Elf64_Shdr),
		.e_shnum = 2,
	};
	const Elf64_Phdr segment = {
		.p_type = PT_LOAD,
		.p_flags = PF_R | PF_X,
		/* not at the beginning of its page */
		.p_offset = TEXT_AT + 64,
		.p_vaddr = TEXT_AT + 64,
		.p_filesz = TEXT_SIZE,
		.p_memsz = TEXT_SIZE,
	};

	assert_int_equal(pwrite(fd, &header, sizeof(header), base), sizeof(header));
	assert_int_equal(pwrite(fd, &segment, sizeof(segment), base + (off_t)sizeof(header)),
			 sizeof(segment));
	assert_int_equal(ftruncate(fd, base + (off_t)FILE_SIZE), 0);
}

static int archive(void)
{
	int fd = memfd_create("archive", MFD_CLOEXEC);

	assert_true(fd >= 0);
	put_file(fd, BASE);
	put_file(fd, 4 * BASE);
	return fd;
}

static void assert_found(int fd, uint64_t offset, uint64_t at)
{
	uint64_t base = 0;
	int inner = inner_file_open(fd, offset, UINT64_MAX, &base);
	struct elf_image image;

	assert_true(inner >= 0);
	assert_int_equal(base, at);
	assert_int_equal(lseek(inner, 0, SEEK_END), FILE_SIZE);
	assert_int_equal(elf_image_init(inner, NULL, &image), 0);
	assert_int_equal(image.segment_count, 1);
	elf_image_fini(&image);
	close(inner);
}

static int found_not(int fd, uint64_t offset, uint64_t room)
{
	uint64_t base;
	int inner = inner_file_open(fd, offset, room, &base);

	if (inner < 0)
		return inner;
	close(inner);
	return 0;
}

static void the_file_is_found_whose_code_it_is(void **state)
{
	int fd = archive();

	assert_found(fd, BASE + TEXT_AT, BASE);
	assert_found(fd, 4 * BASE + TEXT_AT, 4 * BASE);
	close(fd);
}

static void code_of_no_file_is_none(void **state)
{
	int fd = archive();

	assert_int_equal(found_not(fd, BASE, UINT64_MAX), -ENOENT);
	assert_int_equal(found_not(fd, BASE + SECTIONS_AT, UINT64_MAX), -ENOENT);
	assert_int_equal(found_not(fd, 100 * BASE, UINT64_MAX), -ENOENT);
	assert_int_equal(found_not(fd, UINT64_MAX, UINT64_MAX), -ENOENT);
	close(fd);
}

/* That is the file itself. */
static void a_file_at_the_beginning_is_none(void **state)
{
	int fd = memfd_create("file", MFD_CLOEXEC);

	put_file(fd, 0);
	assert_int_equal(found_not(fd, TEXT_AT, UINT64_MAX), -ENOENT);
	close(fd);
}

static void a_file_that_is_too_large_is_refused(void **state)
{
	int fd = archive();

	assert_int_equal(found_not(fd, BASE + TEXT_AT, FILE_SIZE - 1), -ENOBUFS);
	assert_int_equal(found_not(fd, BASE + TEXT_AT, FILE_SIZE), 0);
	close(fd);
}

static void damaged_headers_do_no_harm(void **state)
{
	for (off_t i = 0; i < (off_t)(sizeof(Elf64_Ehdr) + sizeof(Elf64_Phdr)); i++)
		for (unsigned int bit = 0; bit < 8; bit++) {
			int fd = archive(), r;
			uint8_t byte;

			assert_int_equal(pread(fd, &byte, 1, BASE + i), 1);
			byte ^= (uint8_t)(1u << bit);
			assert_int_equal(pwrite(fd, &byte, 1, BASE + i), 1);
			r = found_not(fd, BASE + TEXT_AT, 1 << 20);
			assert_true(!r || r == -ENOENT || r == -ENOBUFS);
			close(fd);
		}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(the_file_is_found_whose_code_it_is),
		cmocka_unit_test(code_of_no_file_is_none),
		cmocka_unit_test(a_file_at_the_beginning_is_none),
		cmocka_unit_test(a_file_that_is_too_large_is_refused),
		cmocka_unit_test(damaged_headers_do_no_harm),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
