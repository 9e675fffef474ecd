// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/* registration_test.c - what sframe_register(2), codectl(2) and prctl(2) take and refuse. */
#define _GNU_SOURCE
#include <errno.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/wait.h>

#include "kselftest_harness.h"
#include "sframe_section.h"

FIXTURE(registration)
{
	struct section section;
	struct sframe_setup setup, key;
	char *text;
	long page;
};

/* One function of 16 bytes, with its CFA 16 bytes above SP. */
FIXTURE_SETUP(registration)
{
	const struct section_row row = {.words = 2, .word = {16, -16}};

	if (!SECTION_ABI)
		SKIP(return, "no ABI of SFrame for this architecture");
	self->page = sysconf(_SC_PAGESIZE);
	self->text = mmap(NULL, self->page, PROT_READ | PROT_EXEC, MAP_PRIVATE | MAP_ANONYMOUS, -1,
			  0);
	ASSERT_NE(MAP_FAILED, self->text);
	section_init(&self->section, self->text, 16, &row, 1);
	self->setup = (struct sframe_setup){
		.sframe_start = address(&self->section),
		.sframe_size = section_size(&self->section),
		.text_start = address(self->text),
		.text_size = self->page,
	};
	self->key.sframe_start = self->setup.sframe_start;
	if (sframe_register(NULL, 0) && errno == ENOSYS)
		SKIP(return, "this kernel has no sframe_register(2)");
}

FIXTURE_TEARDOWN(registration)
{
	if (SECTION_ABI)
		munmap(self->text, self->page);
}

#define EXPECT_ERROR(number, call) \
	do { \
		errno = 0; \
		EXPECT_EQ(-1, call); \
		EXPECT_EQ(number, errno); \
	} while (0)

TEST_F(registration, a_section_is_registered_once_and_removed_once)
{
	EXPECT_EQ(0, sframe_register(&self->setup, sizeof(self->setup)));
	EXPECT_ERROR(EEXIST, sframe_register(&self->setup, sizeof(self->setup)));
	EXPECT_EQ(0, sframe_unregister(&self->key, sizeof(self->key)));
	EXPECT_ERROR(ENOENT, sframe_unregister(&self->key, sizeof(self->key)));
}

TEST_F(registration, the_structure_may_be_shorter_or_longer)
{
	struct {
		struct sframe_setup setup;
		__u64 more;
	} longer = {.setup = self->setup, .more = 1};

	EXPECT_EQ(0, sframe_register(&self->setup, SFRAME_SETUP_SIZE_VER0));
	EXPECT_EQ(0, sframe_unregister(&self->key, SFRAME_SETUP_SIZE_VER0));
	EXPECT_ERROR(E2BIG, sframe_register((void *)&longer, sizeof(longer)));
	longer.more = 0;
	EXPECT_EQ(0, sframe_register((void *)&longer, sizeof(longer)));
	EXPECT_EQ(0, sframe_unregister(&self->key, sizeof(self->key)));
	EXPECT_ERROR(EINVAL, sframe_register(&self->setup, 0));
	EXPECT_ERROR(E2BIG, sframe_register(&self->setup, 4097));
}

TEST_F(registration, what_cannot_be_is_refused)
{
	struct sframe_setup wrong = self->setup;

	EXPECT_ERROR(EFAULT, sframe_register(NULL, sizeof(wrong)));
	wrong.flags = 1;
	EXPECT_ERROR(EINVAL, sframe_register(&wrong, sizeof(wrong)));
	wrong = self->setup;
	wrong.text_size = 0;
	EXPECT_ERROR(EINVAL, sframe_register(&wrong, sizeof(wrong)));
	wrong.text_size = -1;
	EXPECT_ERROR(EINVAL, sframe_register(&wrong, sizeof(wrong)));
	wrong = self->setup;
	wrong.sframe_start = 8;
	EXPECT_ERROR(EFAULT, sframe_register(&wrong, sizeof(wrong)));
	EXPECT_ERROR(EINVAL, sframe_unregister(&self->setup, sizeof(self->setup)));
}

TEST_F(registration, text_must_be_executable)
{
	ASSERT_EQ(0, mprotect(self->text, self->page, PROT_READ));
	EXPECT_ERROR(EINVAL, sframe_register(&self->setup, sizeof(self->setup)));
}

TEST_F(registration, bytes_that_are_no_section_are_refused)
{
	self->section.magic = 0x1234;
	EXPECT_ERROR(EBADMSG, sframe_register(&self->setup, sizeof(self->setup)));
	self->section.magic = 0xdee2;
	self->section.version = 9;
	EXPECT_ERROR(EBADMSG, sframe_register(&self->setup, sizeof(self->setup)));
}

TEST_F(registration, a_section_of_zeros_covers_nothing_yet)
{
	memset(&self->section, 0, sizeof(self->section));
	EXPECT_EQ(0, sframe_register(&self->setup, sizeof(self->setup)));
	EXPECT_EQ(0, sframe_unregister(&self->key, sizeof(self->key)));
}

TEST_F(registration, munmap_of_the_text_removes_it)
{
	ASSERT_EQ(0, sframe_register(&self->setup, sizeof(self->setup)));
	ASSERT_EQ(0, munmap(self->text, self->page));
	EXPECT_ERROR(ENOENT, sframe_unregister(&self->key, sizeof(self->key)));
}

TEST_F(registration, a_child_has_its_own)
{
	int status;
	pid_t child;

	ASSERT_EQ(0, sframe_register(&self->setup, sizeof(self->setup)));
	child = fork();
	ASSERT_LE(0, child);
	if (!child)
		_exit(sframe_unregister(&self->key, sizeof(self->key)) ? errno : 0);
	ASSERT_EQ(child, waitpid(child, &status, 0));
	EXPECT_EQ(0, status);
	EXPECT_EQ(0, sframe_unregister(&self->key, sizeof(self->key)));
}

TEST_F(registration, prctl_does_the_same)
{
	unsigned long start = self->setup.sframe_start, text = self->setup.text_start;

	EXPECT_EQ(0, prctl(PR_ADD_SFRAME, start, start + self->setup.sframe_size, text,
			   text + self->page));
	EXPECT_ERROR(EEXIST, sframe_register(&self->setup, sizeof(self->setup)));
	EXPECT_ERROR(EINVAL, prctl(PR_REMOVE_SFRAME, start, 1, 0, 0));
	EXPECT_EQ(0, prctl(PR_REMOVE_SFRAME, start, 0, 0, 0));
	EXPECT_ERROR(ENOENT, prctl(PR_REMOVE_SFRAME, start, 0, 0, 0));
}

TEST_F(registration, codectl_takes_images_and_tables_of_compilers)
{
	struct code_jit_unwind_table table = {};
	struct code_elf_info elf = {
		.text_start = self->setup.text_start,
		.text_end = self->setup.text_start + self->page,
		.sframe_start = self->setup.sframe_start,
		.sframe_end = self->setup.sframe_start + self->setup.sframe_size,
	};
	struct code_jit_info jit = {
		.text_start = elf.text_start,
		.text_end = elf.text_end,
		.unwind_head = address(&table),
	};

	EXPECT_ERROR(EINVAL, codectl(99, &elf, sizeof(elf), 0));
	EXPECT_ERROR(EINVAL, codectl(CODE_REGISTER_ELF, &elf, sizeof(elf), 1));
	EXPECT_EQ(0, codectl(CODE_REGISTER_ELF, &elf, CODE_ELF_INFO_SIZE_VER0, 0));
	EXPECT_ERROR(EEXIST, codectl(CODE_REGISTER_JIT, &jit, sizeof(jit), 0));
	EXPECT_EQ(0, codectl(CODE_UNREGISTER, &elf, sizeof(elf), 0));
	EXPECT_ERROR(ENOENT, codectl(CODE_UNREGISTER, &elf, sizeof(elf), 0));
	EXPECT_EQ(0, codectl(CODE_REGISTER_JIT, &jit, sizeof(jit), 0));
	EXPECT_EQ(0, codectl(CODE_UNREGISTER, &jit, sizeof(jit), 0));
}

TEST_HARNESS_MAIN
