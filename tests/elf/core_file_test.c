/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* Core files of each machine: what they tell, as files and through pipes, and what is refused. */
#include <elf.h>
#include <endian.h>
#include <errno.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include <cmocka.h>

#include "elf/core_image.h"
#include "elf/core_loader.h"
#include "elf/core_stream.h"
#include "small_core.h"

struct machine {
	uint16_t elf;
	bool big_endian;
	/* as the kernel counts the words of registers, that of DWARF register 0, SP, PC */
	unsigned int first, sp, pc;
	unsigned int dwarf_sp;
};

static const struct machine machines[] = {
	{EM_X86_64, false, 10, 19, 16, 7},
	{EM_AARCH64, false, 0, 31, 32, 31},
	{EM_AARCH64, true, 0, 31, 32, 31},
	{EM_S390, true, 2, 17, 1, 15},
};

#define MACHINES (sizeof(machines) / sizeof(*machines))

static uint8_t bytes[SMALL_CORE_MAX];
static size_t size;

/* A file with the first @length bytes. */
static int file_of(size_t length)
{
	int fd = memfd_create("core", MFD_CLOEXEC);

	assert_true(fd >= 0);
	assert_int_equal(write(fd, bytes, length), (ssize_t)length);
	assert_int_equal(lseek(fd, 0, SEEK_SET), 0);
	return fd;
}

static struct core_file opened(const struct machine *m, int *fd)
{
	struct bobbin_error error;
	struct core_file core;

	size = small_core_make(m->elf, m->big_endian, bytes);
	*fd = file_of(size);
	assert_int_equal(core_file_init(*fd, NULL, &error, &core), 0);
	return core;
}

static void closed(struct core_file *core, int fd)
{
	core_file_fini(core);
	close(fd);
}

static void threads_have_the_registers_of_their_machine(void **state)
{
	for (size_t i = 0; i < MACHINES; i++) {
		const struct machine *m = &machines[i];
		int fd;
		struct core_file core = opened(m, &fd);
		const struct core_thread *thread = core.threads;

		assert_int_equal(core.thread_count, 2);
		assert_int_equal(thread->tid, SMALL_CORE_TID);
		assert_int_equal(core.threads[1].tid, SMALL_CORE_TID + 1);
		assert_int_equal(thread->gpr[0], SMALL_CORE_WORD + m->first);
		assert_int_equal(thread->gpr[m->dwarf_sp], SMALL_CORE_WORD + m->sp);
		assert_int_equal(core.arch->sp, m->dwarf_sp);
		assert_int_equal(thread->pc, SMALL_CORE_WORD + m->pc);
		assert_int_equal(core.threads[1].pc, m->pc);
		closed(&core, fd);
	}
}

static void floats_of_s390x_are_of_the_thread_before_them(void **state)
{
	int fd;
	struct core_file core = opened(&machines[3], &fd);

	assert_int_equal(core.threads[0].known, 0xffffffff);
	/* f0, f2 and f1 */
	assert_int_equal(core.threads[0].gpr[16], SMALL_CORE_FLOAT);
	assert_int_equal(core.threads[0].gpr[17], SMALL_CORE_FLOAT + 2);
	assert_int_equal(core.threads[0].gpr[20], SMALL_CORE_FLOAT + 1);
	assert_int_equal(core.threads[1].known, 0xffff);
	closed(&core, fd);
}

static void the_program_and_the_signal_are_told(void **state)
{
	for (size_t i = 0; i < MACHINES; i++) {
		int fd;
		struct core_file core = opened(&machines[i], &fd);

		assert_int_equal(core.pid, SMALL_CORE_TID);
		assert_string_equal(core.name, "program");
		assert_string_equal(core.arguments, "./program --now");
		assert_int_equal(core.signal.number, 11);
		assert_int_equal(core.signal.code, 1);
		assert_int_equal(core.signal.address, 0x1234);
		assert_int_equal(core.auxv.entry, SMALL_CORE_CODE + 0x100);
		assert_int_equal(core.mapping_count, 1);
		assert_string_equal(core.mappings[0].path, SMALL_CORE_PATH);
		assert_int_equal(core.mappings[0].end, SMALL_CORE_CODE + 2 * SMALL_CORE_PAGE);
		closed(&core, fd);
	}
}

static void memory_is_read_as_far_as_it_is_there(void **state)
{
	int fd;
	struct core_file core = opened(&machines[0], &fd);
	uint64_t word[2], offset = 1;

	assert_int_equal(core_file_read(&core, SMALL_CORE_STACK + 8, word, 8), 8);
	assert_int_equal(le64toh(word[0]), SMALL_CORE_STACK + 8);
	assert_int_equal(core_file_read(&core, SMALL_CORE_STACK + SMALL_CORE_PAGE - 8, word, 16),
			 8);
	assert_int_equal(core_file_read(&core, SMALL_CORE_STACK - 1, word, 1), 0);
	/* the page that the kernel leaves to the file */
	assert_non_null(core_file_memory(&core, SMALL_CORE_CODE + SMALL_CORE_PAGE));
	assert_int_equal(core_file_dumped(&core, SMALL_CORE_CODE + SMALL_CORE_PAGE, &offset), 0);
	assert_int_equal(offset, 1);
	closed(&core, fd);
}

static void a_core_that_was_cut_off_tells_what_is_missing(void **state)
{
	struct bobbin_error error;
	struct core_file core;
	uint64_t word;
	int fd;

	size = small_core_make(EM_X86_64, false, bytes);
	fd = file_of(size - 100);
	assert_int_equal(core_file_init(fd, NULL, &error, &core), 0);
	assert_int_equal(core.missing, 100);
	assert_int_equal(core_file_read(&core, SMALL_CORE_STACK, &word, 8), 8);
	assert_int_equal(core_file_read(&core, SMALL_CORE_STACK + SMALL_CORE_PAGE - 8, &word, 8),
			 0);
	closed(&core, fd);
}

static void expect_refused(size_t length, enum bobbin_reason reason, uint64_t offset)
{
	struct bobbin_error error = {0}, told = {0};
	struct coverage kept = {0};
	struct core_file core;
	int fd = file_of(length), copy;

	assert_int_equal(core_file_init(fd, NULL, &error, &core), -EBADMSG);
	assert_int_equal(error.reason, reason);
	assert_int_equal(error.offset, offset);
	/* from a pipe, too; a machine is looked at later */
	if (reason != BOBBIN_REASON_ELF_MACHINE) {
		assert_int_equal(core_stream_read(fd, false, &told, &copy, &kept), -EBADMSG);
		assert_int_equal(told.reason, reason);
		coverage_fini(&kept);
	}
	close(fd);
}

static void what_is_no_core_is_refused_with_a_reason(void **state)
{
	small_core_make(EM_X86_64, false, bytes);
	expect_refused(0, BOBBIN_REASON_NOT_ELF, 0);
	expect_refused(10, BOBBIN_REASON_NOT_ELF, 0);
	/* in the middle of the notes */
	expect_refused(400, BOBBIN_REASON_TRUNCATED, 400);
	bytes[EI_CLASS] = ELFCLASS32;
	expect_refused(4096, BOBBIN_REASON_ELF_CLASS, EI_CLASS);
	small_core_make(EM_X86_64, false, bytes);
	bytes[offsetof(Elf64_Ehdr, e_type)] = ET_DYN;
	expect_refused(8192, BOBBIN_REASON_NOT_CORE, offsetof(Elf64_Ehdr, e_type));
	small_core_make(EM_RISCV, false, bytes);
	expect_refused(8192, BOBBIN_REASON_ELF_MACHINE, offsetof(Elf64_Ehdr, e_machine));
}

static void a_pipe_has_the_same_contents(void **state)
{
	for (size_t i = 0; i < 2 * MACHINES; i++) {
		const bool notes_only = i >= MACHINES;
		struct coverage kept = {0};
		struct bobbin_error error;
		struct core_file core;
		int fd, copy;
		struct core_file whole = opened(&machines[i % MACHINES], &fd);
		uint8_t a[64], b[64];

		assert_int_equal(core_stream_read(fd, notes_only, &error, &copy, &kept), 0);
		assert_int_equal(core_file_init(copy, &kept, &error, &core), 0);
		assert_int_equal(core.missing, 0);
		assert_int_equal(core.thread_count, whole.thread_count);
		assert_memory_equal(core.threads, whole.threads,
				    whole.thread_count * sizeof(*whole.threads));
		assert_int_equal(core_file_read(&whole, SMALL_CORE_STACK + 16, a, sizeof(a)), 64);
		assert_int_equal(core_file_read(&core, SMALL_CORE_STACK + 16, b, sizeof(b)),
				 notes_only ? 0 : 64);
		if (notes_only)
			assert_true(lseek(fd, 0, SEEK_CUR) < (off_t)size - 3 * SMALL_CORE_PAGE + 1);
		else
			assert_memory_equal(a, b, sizeof(a));
		coverage_fini(&kept);
		closed(&core, copy);
		closed(&whole, fd);
	}
}

static void an_image_has_its_build_id_and_what_was_dumped(void **state)
{
	for (size_t i = 0; i < MACHINES; i++) {
		struct elf_image again;
		struct core_image image;
		uint8_t *copy;
		size_t length;
		int fd;
		struct core_file core = opened(&machines[i], &fd);

		assert_int_equal(core_image_init(&core, SMALL_CORE_CODE, &image), 0);
		assert_int_equal(image.bias, 0);
		assert_int_equal(image.elf.build_id_len, 20);
		assert_int_equal(image.elf.build_id[19], 0xab);
		assert_int_equal(core_image_bytes(&core, &image, 100, &copy, &length), -ENOBUFS);
		assert_int_equal(core_image_bytes(&core, &image, 65536, &copy, &length), 0);
		assert_int_equal(length, 2 * SMALL_CORE_PAGE);
		assert_int_equal(copy[SMALL_CORE_PAGE], 0);
		assert_int_equal(elf_image_init_memory(copy, length, NULL, &again), 0);
		assert_int_equal(again.build_id_len, 20);
		elf_image_fini(&again);
		free(copy);
		core_image_fini(&image);
		assert_int_equal(core_image_init(&core, SMALL_CORE_STACK, &image), -ENOENT);
		assert_int_equal(core_image_init(&core, SMALL_CORE_STACK + 0x10000, &image),
				 -ENODATA);
		closed(&core, fd);
	}
}

static void without_a_list_the_program_is_found_by_its_headers(void **state)
{
	for (size_t i = 0; i < MACHINES; i++) {
		int fd;
		struct core_file core = opened(&machines[i], &fd);

		core.mapping_count = 0;
		assert_int_equal(core_loader_map(&core, NULL, "name"), 0);
		assert_int_equal(core.mapping_count, 1);
		assert_int_equal(core.mappings[0].start, SMALL_CORE_CODE);
		assert_int_equal(core.mappings[0].end, SMALL_CORE_CODE + 2 * SMALL_CORE_PAGE);
		assert_string_equal(core.mappings[0].path, "name");
		closed(&core, fd);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(threads_have_the_registers_of_their_machine),
		cmocka_unit_test(floats_of_s390x_are_of_the_thread_before_them),
		cmocka_unit_test(the_program_and_the_signal_are_told),
		cmocka_unit_test(memory_is_read_as_far_as_it_is_there),
		cmocka_unit_test(a_core_that_was_cut_off_tells_what_is_missing),
		cmocka_unit_test(what_is_no_core_is_refused_with_a_reason),
		cmocka_unit_test(a_pipe_has_the_same_contents),
		cmocka_unit_test(an_image_has_its_build_id_and_what_was_dumped),
		cmocka_unit_test(without_a_list_the_program_is_found_by_its_headers),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
