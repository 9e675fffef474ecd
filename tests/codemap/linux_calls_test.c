/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* Kernels with the calls, without them, and with other calls at their numbers. */
#include "code_samples.h"

#include <errno.h>

#include "codemap/linux_calls.h"
#include "codemap/registry.h"

#define MAX_SECTIONS 8

/* A kernel's map: what was registered, and how often it was asked. */
static struct sframe_setup sections[MAX_SECTIONS];
static size_t section_count, calls;
static bool wants_nothing, has_codectl = true;
/* What codectl(2) registered: by its table, and how many ranges of text it has. */
static struct {
	uint64_t table;
	uint32_t ranges;
} tables[MAX_SECTIONS];
static size_t table_count;

static void boot(void)
{
	section_count = table_count = calls = 0;
	wants_nothing = false;
	has_codectl = true;
}

static int find(uint64_t start, size_t *ret)
{
	for (size_t i = 0; i < section_count; i++)
		if (sections[i].sframe_start == start) {
			*ret = i;
			return 0;
		}
	return -ENOENT;
}

static long add(const struct sframe_setup *setup)
{
	if (!setup->sframe_size || !setup->text_size || wants_nothing)
		return -EINVAL;
	for (size_t i = 0; i < section_count; i++)
		if (setup->text_start < sections[i].text_start + sections[i].text_size &&
		    sections[i].text_start < setup->text_start + setup->text_size)
			return -EEXIST;
	assert_true(section_count < MAX_SECTIONS);
	sections[section_count++] = *setup;
	return 0;
}

static long take(const struct sframe_setup *setup)
{
	bool found = false;
	size_t i;

	if (setup->sframe_size || setup->text_start || setup->text_size)
		return -EINVAL;
	while (!find(setup->sframe_start, &i)) {
		sections[i] = sections[--section_count];
		found = true;
	}
	return found ? 0 : -EINVAL;
}

static long add_table(uint64_t table, uint32_t ranges)
{
	for (size_t i = 0; i < table_count; i++)
		if (tables[i].table == table)
			return -EEXIST;
	assert_true(table_count < MAX_SECTIONS);
	tables[table_count].table = table;
	tables[table_count++].ranges = ranges;
	return 0;
}

static long take_table(uint64_t table)
{
	for (size_t i = 0; i < table_count; i++)
		if (tables[i].table == table) {
			tables[i] = tables[--table_count];
			return 0;
		}
	return -ENOENT;
}

static long call_codectl(unsigned int option, const void *arg, size_t size)
{
	bool is_elf = size == sizeof(struct code_elf_info);
	struct code_jit_info jit = {0};
	struct code_elf_info elf = {0};

	if (option > CODE_UNREGISTER || wants_nothing)
		return -EINVAL;
	if ((uintptr_t)arg > INTPTR_MAX)
		return -EFAULT;
	assert_true(is_elf || size == sizeof(jit));
	memcpy(is_elf ? (void *)&elf : (void *)&jit, arg, size);
	if (!elf.sframe_start && !jit.unwind_head)
		return -EINVAL;
	if (option == CODE_UNREGISTER)
		return take_table(is_elf ? elf.sframe_start : jit.unwind_head);
	return is_elf ? add_table(elf.sframe_start, 1 + elf.text_range_count)
		      : add_table(jit.unwind_head, 1);
}

/* As proposed. */
static long new_kernel(long number, unsigned int option, const void *arg, size_t size)
{
	struct sframe_setup setup = {0};

	calls++;
	if (number == KERNEL_CODECTL)
		return has_codectl ? call_codectl(option, arg, size) : -ENOSYS;
	if (size != SFRAME_SETUP_SIZE_VER0)
		return -EINVAL;
	if ((uintptr_t)arg > INTPTR_MAX)
		return -EFAULT;
	memcpy(&setup, arg, size);
	return number == KERNEL_SFRAME_REGISTER     ? add(&setup)
	       : number == KERNEL_SFRAME_UNREGISTER ? take(&setup)
						    : -ENOSYS;
}

static long old_kernel(long number, unsigned int option, const void *arg, size_t size)
{
	calls++;
	return -ENOSYS;
}

static long cautious_sandbox(long number, unsigned int option, const void *arg, size_t size)
{
	calls++;
	return -EPERM;
}

/* Something with a descriptor. */
static long other_call(long number, unsigned int option, const void *arg, size_t size)
{
	calls++;
	return -EBADF;
}

/* Something with a structure, whose arguments could be anything. */
static long similar_call(long number, unsigned int option, const void *arg, size_t size)
{
	calls++;
	if ((uintptr_t)arg > INTPTR_MAX)
		return -EFAULT;
	return *(const uint64_t *)arg ? 0 : -EINVAL;
}

static long yes_call(long number, unsigned int option, const void *arg, size_t size)
{
	calls++;
	return 0;
}

static void the_proposed_calls_are_found_once(void **state)
{
	struct linux_calls kernel = {.call = new_kernel};
	size_t asked;

	(void)state;
	boot();
	assert_true(linux_calls_exist(&kernel));
	assert_int_equal(section_count, 0);
	asked = calls;
	assert_true(asked > 0);
	assert_true(linux_calls_exist(&kernel));
	assert_int_equal(calls, asked);
}

static void other_calls_at_the_numbers_are_not_taken_for_them(void **state)
{
	const kernel_call others[] = {old_kernel,   cautious_sandbox, other_call,
				      similar_call, yes_call,         NULL};
	const struct sframe_setup setup = {1, 2, 3, 4, 0};

	(void)state;
	for (size_t i = 0; i < sizeof(others) / sizeof(*others); i++) {
		struct linux_calls kernel = {.call = others[i]};

		boot();
		assert_false(linux_calls_exist(&kernel));
		calls = 0;
		assert_int_equal(linux_calls_register(&kernel, &setup), -ENOSYS);
		assert_int_equal(linux_calls_unregister(&kernel, 1), -ENOSYS);
		assert_int_equal(linux_calls_codectl(&kernel, CODE_REGISTER_JIT, &setup, 24),
				 -ENOSYS);
		assert_int_equal(calls, 0);
	}
}

static void a_registration_goes_to_a_kernel_that_has_the_calls(void **state)
{
	struct registry *registry;
	struct sample s = sample_open(2);
	struct code_elf_info info = elf_of(&s);
	struct bobbin_code_result result = {0};

	(void)state;
	boot();
	assert_int_equal(registry_open(new_kernel, &registry), 0);
	assert_int_equal(
		code_calls_codectl(registry, CODE_REGISTER_ELF, &info, sizeof(info), 0, &result),
		0);
	assert_int_equal(result.place, BOBBIN_CODE_IN_KERNEL);
	assert_int_equal(section_count, 1);
	assert_int_equal(sections[0].sframe_start, info.sframe_start);
	assert_int_equal(sections[0].sframe_size, s.section_size);
	assert_int_equal(sections[0].text_start, info.text_start);
	assert_int_equal(sections[0].text_size, info.text_end - info.text_start);
	/* and in the process */
	assert_non_null(code_map_find(registry_map(registry), info.text_start, NULL));
	assert_int_equal(
		code_calls_codectl(registry, CODE_UNREGISTER, &info, sizeof(info), 0, NULL), 0);
	assert_int_equal(section_count, 0);
	assert_int_equal(
		code_calls_codectl(registry, CODE_REGISTER_ELF, &info, sizeof(info), 0, NULL), 0);
	assert_int_equal(section_count, 1);
	registry_close(registry);
	assert_int_equal(section_count, 0);
	sample_close(&s);
}

/* A table that grows, and a section for two pieces of text, which sframe_register() has not. */
static void what_only_codectl_can_say_goes_there(void **state)
{
	static const struct code_jit_unwind_table table;
	struct registry *registry;
	struct sample s = sample_open(2);
	const uint64_t middle = (uintptr_t)s.text + (text_end(&s) - (uintptr_t)s.text) / 2;
	const struct code_text_range rest = {middle, text_end(&s)};
	struct code_elf_info two = elf_of(&s);
	struct code_jit_info jit = {(uintptr_t)s.text, text_end(&s), (uintptr_t)&table};
	struct bobbin_code_result result;

	(void)state;
	two.text_end = middle;
	two.text_ranges = (uintptr_t)&rest;
	two.text_range_count = 1;
	for (int with = 0; with < 2; with++) {
		boot();
		has_codectl = with;
		assert_int_equal(registry_open(new_kernel, &registry), 0);
		assert_int_equal(code_calls_codectl(registry, CODE_REGISTER_ELF, &two, sizeof(two),
						    0, &result),
				 0);
		assert_int_equal(result.place,
				 with ? BOBBIN_CODE_IN_KERNEL : BOBBIN_CODE_IN_PROCESS);
		assert_int_equal(table_count, with);
		assert_true(!with || tables[0].ranges == 2);
		assert_int_equal(
			code_calls_codectl(registry, CODE_UNREGISTER, &two, sizeof(two), 0, NULL),
			0);
		assert_int_equal(table_count, 0);
		assert_int_equal(code_calls_codectl(registry, CODE_REGISTER_JIT, &jit, sizeof(jit),
						    0, &result),
				 0);
		assert_int_equal(result.place,
				 with ? BOBBIN_CODE_IN_KERNEL : BOBBIN_CODE_IN_PROCESS);
		assert_true(!with || tables[0].table == jit.unwind_head);
		registry_close(registry);
		assert_int_equal(table_count, 0);
		assert_int_equal(section_count, 0);
	}
	sample_close(&s);
}

static void what_a_kernel_does_not_want_stays_in_the_process(void **state)
{
	struct registry *registry;
	struct sample s = sample_open(2);
	struct sframe_setup setup = setup_of(&s);
	struct bobbin_code_result result = {.place = BOBBIN_CODE_IN_KERNEL};
	struct code_elf_info named = {.text_start = (uintptr_t)s.text, .text_end = text_end(&s)};

	(void)state;
	boot();
	assert_int_equal(registry_open(new_kernel, &registry), 0);
	/* no table: nothing for the kernel */
	assert_int_equal(
		code_calls_codectl(registry, CODE_REGISTER_ELF, &named, sizeof(named), 0, &result),
		0);
	assert_int_equal(result.place, BOBBIN_CODE_IN_PROCESS);
	assert_int_equal(
		code_calls_codectl(registry, CODE_UNREGISTER, &named, sizeof(named), 0, NULL), 0);
	assert_int_equal(code_calls_register(registry, &setup, sizeof(setup), &result), 0);
	assert_int_equal(result.place, BOBBIN_CODE_IN_KERNEL);
	assert_int_equal(
		code_calls_unregister(registry,
				      &(struct sframe_setup){.sframe_start = setup.sframe_start},
				      sizeof(setup)),
		0);
	wants_nothing = true;
	assert_int_equal(code_calls_register(registry, &setup, sizeof(setup), &result), 0);
	assert_int_equal(result.place, BOBBIN_CODE_IN_PROCESS);
	assert_int_equal(section_count, 0);
	registry_close(registry);
	sample_close(&s);
}

/* No kernel has the calls yet.  If one gets them, they must behave like this file's. */
static void the_running_kernel_can_be_asked(void **state)
{
	struct linux_calls kernel = {.call = linux_calls_native()};
	struct sample s = sample_open(1);
	struct sframe_setup setup = setup_of(&s);
	struct code_elf_info info = elf_of(&s);

	(void)state;
	print_message("the running kernel has %s calls\n",
		      linux_calls_exist(&kernel) ? "the" : "no such");
	if (linux_calls_exist(&kernel)) {
		assert_int_equal(linux_calls_register(&kernel, &setup), 0);
		assert_int_equal(linux_calls_unregister(&kernel, setup.sframe_start), 0);
		assert_int_equal(
			linux_calls_codectl(&kernel, CODE_REGISTER_ELF, &info, sizeof(info)), 0);
		assert_int_equal(linux_calls_codectl(&kernel, CODE_UNREGISTER, &info, sizeof(info)),
				 0);
	} else {
		assert_int_equal(linux_calls_register(&kernel, &setup), -ENOSYS);
	}
	sample_close(&s);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(the_proposed_calls_are_found_once),
		cmocka_unit_test(other_calls_at_the_numbers_are_not_taken_for_them),
		cmocka_unit_test(a_registration_goes_to_a_kernel_that_has_the_calls),
		cmocka_unit_test(what_only_codectl_can_say_goes_there),
		cmocka_unit_test(what_a_kernel_does_not_want_stays_in_the_process),
		cmocka_unit_test(the_running_kernel_can_be_asked),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
