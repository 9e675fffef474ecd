/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * A file becomes an SFrame section by one public call.
 */
#include <bobbin/convert.h>
#include <bobbin/sframe.h>
#include <dlfcn.h>
#include <errno.h>
#include <fcntl.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <cmocka.h>

#include "small_elf.h"

#define SECTION 0x70000000ull

static int open_self(void)
{
	int fd = open("/proc/self/exe", O_RDONLY | O_CLOEXEC);

	assert_true(fd >= 0);
	return fd;
}

/* The address of a function in the file's own space: the program may be anywhere. */
static uint64_t address_of(int (*function)(void))
{
	Dl_info info;
	void *addr;

	memcpy(&addr, &function, sizeof(addr));
	assert_true(dladdr(addr, &info));
	return (uint64_t)((char *)addr - (char *)info.dli_fbase);
}

/* The conversion fails so; nothing is made. */
static void assert_refused(int fd, int error, enum bobbin_reason reason, uint64_t offset)
{
	struct bobbin_conversion made = {.rows = 77};
	struct bobbin_error err = {.offset = 99, .reason = BOBBIN_REASON_DEPTH};

	assert_int_equal(bobbin_convert(fd, 0, &err, &made), error);
	assert_int_equal(err.reason, reason);
	assert_int_equal(err.offset, offset);
	assert_int_equal(made.rows, 77);
	assert_null(made.data);
	assert_int_equal(bobbin_convert(fd, 0, NULL, &made), error);
}

static void a_program_becomes_a_section_with_its_rules(void **state)
{
	struct bobbin_conversion made;
	struct bobbin_sframe_view view;
	struct bobbin_row row;
	int fd = open_self();

	assert_int_equal(bobbin_convert(fd, SECTION, NULL, &made), 0);
	assert_int_equal(lseek(fd, 0, SEEK_CUR), 0);
	assert_int_equal(bobbin_sframe_view(made.data, made.size, SECTION, NULL, &view), 0);
	assert_int_equal(view.version, 3);
	assert_int_equal(view.num_fdes, made.functions);
	assert_true(made.rows >= made.functions && made.functions > 0);
	assert_int_equal(bobbin_sframe_lookup(&view, address_of(open_self), NULL, &row), 0);
	assert_int_equal(row.rule.cfa.how, BOBBIN_HOW_AT_REG);
	free(made.data);
	close(fd);
}

static void a_file_without_call_frame_information_is_told_apart(void **state)
{
	struct small s = small_file(EM_X86_64, ELFDATA2LSB);
	int fd = file_of_small(&s);

	assert_refused(fd, -ENODATA, BOBBIN_REASON_NONE, 0);
	close(fd);
}

static void a_relocatable_file_is_refused(void **state)
{
	struct small s = small_file(EM_X86_64, ELFDATA2LSB);
	int fd;

	s.file.e_type = ET_REL;
	fd = file_of_small(&s);
	assert_refused(fd, -EBADMSG, BOBBIN_REASON_ELF_TYPE, offsetof(Elf64_Ehdr, e_type));
	close(fd);
}

static void what_is_no_elf_file_is_refused(void **state)
{
	int fd = file_of("hello", 5), pipes[2], folder = open("/", O_RDONLY | O_CLOEXEC);

	assert_int_equal(pipe(pipes), 0);
	assert_refused(fd, -EBADMSG, BOBBIN_REASON_NOT_ELF, 0);
	assert_refused(pipes[0], -EINVAL, BOBBIN_REASON_NONE, 0);
	assert_refused(folder, -EISDIR, BOBBIN_REASON_NONE, 0);
	assert_refused(-1, -EBADF, BOBBIN_REASON_NONE, 0);
	close(pipes[0]);
	close(pipes[1]);
	close(folder);
	close(fd);
}

/* Whatever is missing is said, or is not needed. */
static void assert_cut(const uint8_t *bytes, size_t size)
{
	struct bobbin_conversion made = {0};
	struct bobbin_error err = {0};
	int fd = file_of(bytes, size);
	int r = bobbin_convert(fd, 0, &err, &made);

	close(fd);
	free(made.data);
	assert_true(!r || r == -EBADMSG || r == -ENODATA);
	assert_true(r != -EBADMSG || err.reason > BOBBIN_REASON_NONE);
	assert_true(err.offset <= size);
}

static void a_file_that_was_cut_off_crashes_nothing(void **state)
{
	static uint8_t bytes[1 << 20];
	int fd = open("/bin/true", O_RDONLY | O_CLOEXEC);
	ssize_t size = read(fd, bytes, sizeof(bytes));

	assert_true(size > 64);
	close(fd);
	for (ssize_t i = 0; i < size; i += i < 1024 ? 8 : 509)
		assert_cut(bytes, (size_t)i);
}

/* Sections that begin after the end of the file: what is wrong is said of a place in it. */
static void a_section_outside_of_the_file_is_told_of_in_the_file(void **state)
{
	static _Alignas(Elf64_Ehdr) uint8_t bytes[1 << 20];
	int fd = open("/bin/true", O_RDONLY | O_CLOEXEC);
	ssize_t size = read(fd, bytes, sizeof(bytes));
	Elf64_Ehdr *file = (Elf64_Ehdr *)bytes;
	Elf64_Shdr *sections = (Elf64_Shdr *)(bytes + file->e_shoff);

	close(fd);
	assert_true(size > 64 && file->e_shoff + file->e_shnum * sizeof(*sections) <= (size_t)size);
	for (size_t i = 1; i < file->e_shnum; i++) {
		const Elf64_Shdr whole = sections[i];

		sections[i].sh_offset = 0xff00000000000000ull + whole.sh_offset;
		assert_cut(bytes, (size_t)size);
		sections[i].sh_flags |= SHF_COMPRESSED;
		assert_cut(bytes, (size_t)size);
		sections[i] = whole;
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(a_program_becomes_a_section_with_its_rules),
		cmocka_unit_test(a_section_outside_of_the_file_is_told_of_in_the_file),
		cmocka_unit_test(a_file_without_call_frame_information_is_told_apart),
		cmocka_unit_test(a_relocatable_file_is_refused),
		cmocka_unit_test(what_is_no_elf_file_is_refused),
		cmocka_unit_test(a_file_that_was_cut_off_crashes_nothing),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
