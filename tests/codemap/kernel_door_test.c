/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* Kernels with the calls, without them, and with other calls at their numbers. */
#include "code_samples.h"

#include <errno.h>

#include "codemap/code_calls.h"
#include "codemap/kernel_door.h"

#define MAX_SECTIONS 8

/* A kernel's map: what was registered, and how often it was asked. */
static struct sframe_setup sections[MAX_SECTIONS];
static size_t section_count, calls;
static bool wants_nothing;

static void boot(void)
{
	section_count = calls = 0;
	wants_nothing = false;
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

/* As proposed. */
static long new_kernel(long number, const void *arg, size_t size)
{
	struct sframe_setup setup = {0};

	calls++;
	if (size != SFRAME_SETUP_SIZE_VER0)
		return -EINVAL;
	if ((uintptr_t)arg > INTPTR_MAX)
		return -EFAULT;
	memcpy(&setup, arg, size);
	return number == KERNEL_SFRAME_REGISTER     ? add(&setup)
	       : number == KERNEL_SFRAME_UNREGISTER ? take(&setup)
						    : -ENOSYS;
}

static long old_kernel(long number, const void *arg, size_t size)
{
	calls++;
	return -ENOSYS;
}

static long cautious_sandbox(long number, const void *arg, size_t size)
{
	calls++;
	return -EPERM;
}

/* Something with a descriptor. */
static long other_call(long number, const void *arg, size_t size)
{
	calls++;
	return -EBADF;
}

/* Something with a structure, whose arguments could be anything. */
static long similar_call(long number, const void *arg, size_t size)
{
	calls++;
	if ((uintptr_t)arg > INTPTR_MAX)
		return -EFAULT;
	return *(const uint64_t *)arg ? 0 : -EINVAL;
}

static long yes_call(long number, const void *arg, size_t size)
{
	calls++;
	return 0;
}

static void the_proposed_calls_are_found_once(void **state)
{
	struct kernel_door door = {.call = new_kernel};
	size_t asked;

	(void)state;
	boot();
	assert_true(kernel_door_open(&door));
	assert_int_equal(section_count, 0);
	asked = calls;
	assert_true(asked > 0);
	assert_true(kernel_door_open(&door));
	assert_int_equal(calls, asked);
}

static void other_calls_at_the_numbers_are_not_taken_for_them(void **state)
{
	const kernel_call others[] = {old_kernel,   cautious_sandbox, other_call,
				      similar_call, yes_call,         NULL};
	const struct sframe_setup setup = {1, 2, 3, 4, 0};

	(void)state;
	for (size_t i = 0; i < sizeof(others) / sizeof(*others); i++) {
		struct kernel_door door = {.call = others[i]};

		boot();
		assert_false(kernel_door_open(&door));
		calls = 0;
		assert_int_equal(kernel_door_register(&door, &setup), -ENOSYS);
		assert_int_equal(kernel_door_unregister(&door, 1), -ENOSYS);
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
	struct kernel_door door = {.call = kernel_door_native()};
	struct sample s = sample_open(1);
	struct sframe_setup setup = setup_of(&s);

	(void)state;
	if (kernel_door_open(&door)) {
		assert_int_equal(kernel_door_register(&door, &setup), 0);
		assert_int_equal(kernel_door_unregister(&door, setup.sframe_start), 0);
	} else {
		assert_int_equal(kernel_door_register(&door, &setup), -ENOSYS);
	}
	sample_close(&s);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(the_proposed_calls_are_found_once),
		cmocka_unit_test(other_calls_at_the_numbers_are_not_taken_for_them),
		cmocka_unit_test(a_registration_goes_to_a_kernel_that_has_the_calls),
		cmocka_unit_test(what_a_kernel_does_not_want_stays_in_the_process),
		cmocka_unit_test(the_running_kernel_can_be_asked),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
