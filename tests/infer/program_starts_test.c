/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* Where functions start, as a file says: this program's. */
#include <fcntl.h>
#include <link.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdint.h>
#include <stdlib.h>
#include <sys/auxv.h>
#include <unistd.h>

#include <cmocka.h>

#include "infer/program_code.h"
#include "infer/program_elf.h"
#include "infer/x86_decode.h"

int main(void);

static int setup(void **state)
{
	struct program *p = calloc(1, sizeof(*p));

	assert_non_null(p);
	p->machine = &machine_amd64;
	*state = p;
	return 0;
}

static int teardown(void **state)
{
	program_fini(*state);
	free(*state);
	return 0;
}

/* This program, as a file: where it begins, and what its loader calls. */
__attribute__((constructor)) static void called_by_the_loader(void)
{
	__asm__ volatile("");
}

extern const char __executable_start[];

static bool is_called(const struct program *p, uint64_t address)
{
	const struct program_start *start = program_start(p, address);

	return start && start->addr == address && start->flags & START_CALLED;
}

static void what_the_loader_calls_is_a_function(void **state)
{
	struct program *p = *state;
	const uint64_t base = (uintptr_t)__executable_start;
	int fd = open("/proc/self/exe", O_RDONLY | O_CLOEXEC);

	assert_int_equal(program_of_elf(fd, NULL, p), 0);
	close(fd);
	assert_int_equal(program_settle(p), 0);
	assert_true(is_called(p, (uintptr_t)called_by_the_loader - base));
	for (const ElfW(Dyn) *d = _DYNAMIC; d->d_tag != DT_NULL; d++)
		if (d->d_tag == DT_INIT || d->d_tag == DT_FINI)
			assert_true(is_called(p, d->d_un.d_ptr % (1ul << 32)));
}

static void main_is_found_by_what_the_entry_hands_to_the_library(void **state)
{
	struct program *p = *state;
	struct insn_decoder *decoder = x86_decoder_open();
	int fd = open("/proc/self/exe", O_RDONLY | O_CLOEXEC);

	assert_non_null(decoder);
	assert_int_equal(program_of_elf(fd, NULL, p), 0);
	close(fd);
	p->start_count = 0;
	assert_int_equal(program_add_start(p, getauxval(AT_ENTRY) - (uintptr_t)__executable_start,
					   START_ENTRY),
			 0);
	assert_int_equal(program_settle(p), 0);
	assert_int_equal(main_start_find(p, decoder), 0);
	assert_int_equal(program_settle(p), 0);
	x86_decoder_close(decoder);
	assert_true(is_called(p, (uintptr_t)main - (uintptr_t)__executable_start));
}

int main(void)
{
#define TEST(name) cmocka_unit_test_setup_teardown(name, setup, teardown)
	const struct CMUnitTest tests[] = {
		TEST(what_the_loader_calls_is_a_function),
		TEST(main_is_found_by_what_the_entry_hands_to_the_library),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
