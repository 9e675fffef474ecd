/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* Each argument error of docs/registration.md, with its errno; nothing stays registered. */
#include "code_samples.h"

#include <errno.h>
#include <limits.h>

#include "argument_errors.h"
#include "codemap/code_checks.h"
#include "codemap/registry.h"
#include "codemap/struct_copy.h"

_Static_assert(CODE_MAX_RANGES == CHECK_MAX_RANGES, "the manual's number");

/* A registry, and what its calls take. */
struct world {
	struct registry *registry;
	struct arguments a;
};

static struct world open_world(void)
{
	struct world w = {.a = arguments_open()};

	assert_int_equal(registry_open(NULL, &w.registry), 0);
	return w;
}

static void close_world(struct world *w)
{
	registry_close(w->registry);
	arguments_close(&w->a);
}

static int register_elf(struct world *w, struct bobbin_code_result *ret)
{
	return code_calls_codectl(w->registry, CODE_REGISTER_ELF, &w->a.elf, sizeof(w->a.elf), 0,
				  ret);
}

static int register_jit(struct world *w, struct bobbin_code_result *ret)
{
	return code_calls_codectl(w->registry, CODE_REGISTER_JIT, &w->a.jit, sizeof(w->a.jit), 0,
				  ret);
}

static int register_setup(struct world *w, struct bobbin_code_result *ret)
{
	return code_calls_register(w->registry, &w->a.setup, sizeof(w->a.setup), ret);
}

static int (*const calls[])(struct world *w, struct bobbin_code_result *ret) = {
	[REGISTER_ELF] = register_elf,
	[REGISTER_JIT] = register_jit,
	[REGISTER_SETUP] = register_setup,
};

static void every_wrong_argument_has_its_errno(void **state)
{
	(void)state;
	for (size_t i = 0; i < sizeof(argument_errors) / sizeof(*argument_errors); i++) {
		const struct argument_error *error = &argument_errors[i];
		struct world w = open_world();
		struct bobbin_code_result result = {.place = BOBBIN_CODE_IN_KERNEL};
		int r;

		error->change(&w.a);
		r = calls[error->call](&w, &result);
		if (r != error->error || result.error.reason != error->reason)
			print_error("%s: %d, %s\n", error->what, r,
				    bobbin_reason_name(result.error.reason));
		assert_int_equal(r, error->error);
		assert_int_equal(result.error.reason, error->reason);
		assert_int_equal(result.place, BOBBIN_CODE_IN_KERNEL);
		assert_int_equal(code_count(registry_map(w.registry)), 0);
		close_world(&w);
	}
}

static void the_unchanged_arguments_are_accepted(void **state)
{
	struct world w = open_world();

	(void)state;
	w.a.elf.build_id = (uintptr_t)w.a.build_id;
	w.a.elf.build_id_len = 20;
	w.a.elf.pathname = (uintptr_t) "/a";
	w.a.elf.debug_link_pathname = (uintptr_t) "b";
	w.a.elf.debug_link_crc = 7;
	w.a.unterminated[PATH_MAX - 1] = 0;
	w.a.elf.pathname = (uintptr_t)w.a.unterminated;
	assert_int_equal(register_elf(&w, NULL), 0);
	assert_int_equal(
		code_calls_codectl(w.registry, CODE_UNREGISTER, &w.a.elf, sizeof(w.a.elf), 0, NULL),
		0);
	assert_int_equal(register_jit(&w, NULL), 0);
	assert_int_equal(
		code_calls_codectl(w.registry, CODE_UNREGISTER, &w.a.jit, sizeof(w.a.jit), 0, NULL),
		0);
	assert_int_equal(register_setup(&w, NULL), 0);
	close_world(&w);
}

static void unknown_options_and_flags_are_refused(void **state)
{
	struct world w = open_world();
	struct registry *r = w.registry;

	(void)state;
	assert_int_equal(code_calls_codectl(r, 3, &w.a.elf, sizeof(w.a.elf), 0, NULL), -EINVAL);
	assert_int_equal(code_calls_codectl(r, -1u, &w.a.elf, sizeof(w.a.elf), 0, NULL), -EINVAL);
	for (unsigned int bit = 0; bit < 32; bit++)
		for (unsigned int option = 0; option < 4; option++)
			assert_int_equal(code_calls_codectl(r, option, &w.a.elf, sizeof(w.a.elf),
							    1u << bit, NULL),
					 -EINVAL);
	assert_int_equal(code_calls_prctl(r, 0, 0, 0, 0, 0), -EINVAL);
	close_world(&w);
}

static void what_is_registered_cannot_be_registered_again(void **state)
{
	struct world w = open_world();
	struct sample other = sample_open(1);
	struct sframe_setup setup = setup_of(&other);

	(void)state;
	assert_int_equal(register_setup(&w, NULL), 0);
	assert_int_equal(register_setup(&w, NULL), -EEXIST);
	assert_int_equal(register_elf(&w, NULL), -EEXIST);
	assert_int_equal(register_jit(&w, NULL), -EEXIST);
	/* the same section for other text */
	memset(w.a.s.section, 0, SAMPLE_ROOM);
	setup.sframe_start = w.a.setup.sframe_start;
	assert_int_equal(code_calls_register(w.registry, &setup, sizeof(setup), NULL), -EEXIST);
	assert_int_equal(code_count(registry_map(w.registry)), 1);
	sample_close(&other);
	close_world(&w);
}

static int unregister_setup(struct world *w, uint64_t start, uint64_t size, uint64_t text,
			    uint64_t text_size, uint64_t flags)
{
	const struct sframe_setup setup = {start, size, text, text_size, flags};

	return code_calls_unregister(w->registry, &setup, sizeof(setup));
}

static void unregistering_takes_the_start_of_the_section_and_nothing_else(void **state)
{
	struct world w = open_world();
	uint64_t start = w.a.setup.sframe_start;

	(void)state;
	assert_int_equal(unregister_setup(&w, start, 0, 0, 0, 0), -ENOENT);
	assert_int_equal(register_elf(&w, NULL), 0);
	assert_int_equal(unregister_setup(&w, 0, 0, 0, 0, 0), -EINVAL);
	assert_int_equal(unregister_setup(&w, start, 1, 0, 0, 0), -EINVAL);
	assert_int_equal(unregister_setup(&w, start, 0, 1, 0, 0), -EINVAL);
	assert_int_equal(unregister_setup(&w, start, 0, 0, 1, 0), -EINVAL);
	assert_int_equal(unregister_setup(&w, start, 0, 0, 0, 1), -EINVAL);
	assert_int_equal(unregister_setup(&w, start + 1, 0, 0, 0, 0), -ENOENT);
	assert_int_equal(unregister_setup(&w, start, 0, 0, 0, 0), 0);
	close_world(&w);
}

static void codectl_unregisters_what_is_told_as_it_was(void **state)
{
	struct world w = open_world();
	struct code_elf_info other = w.a.elf;

	(void)state;
	assert_int_equal(register_setup(&w, NULL), 0);
	other.text_end--;
	assert_int_equal(
		code_calls_codectl(w.registry, CODE_UNREGISTER, &other, sizeof(other), 0, NULL),
		-ENOENT);
	assert_int_equal(
		code_calls_codectl(w.registry, CODE_UNREGISTER, &w.a.jit, sizeof(w.a.jit), 0, NULL),
		-ENOENT);
	memset(&other, 0, sizeof(other));
	assert_int_equal(
		code_calls_codectl(w.registry, CODE_UNREGISTER, &other, sizeof(other), 0, NULL),
		-EINVAL);
	assert_int_equal(code_calls_codectl(w.registry, CODE_UNREGISTER, NULL, 24, 0, NULL),
			 -EFAULT);
	/* registered by one call, unregistered by the other */
	assert_int_equal(code_calls_codectl(w.registry, CODE_UNREGISTER, &w.a.elf,
					    offsetof(struct code_elf_info, pathname), 0, NULL),
			 0);
	close_world(&w);
}

static void the_prctl_pair_leads_to_the_same_place(void **state)
{
	struct world w = open_world();
	unsigned long start = w.a.elf.sframe_start, end = w.a.elf.sframe_end;
	unsigned long text = w.a.elf.text_start, after = w.a.elf.text_end;
	struct registry *r = w.registry;

	(void)state;
	assert_int_equal(code_calls_prctl(r, BOBBIN_PR_ADD_SFRAME, start, start, text, after),
			 -EINVAL);
	assert_int_equal(code_calls_prctl(r, BOBBIN_PR_ADD_SFRAME, start, start - 1, text, after),
			 -EINVAL);
	assert_int_equal(code_calls_prctl(r, BOBBIN_PR_ADD_SFRAME, start, end, text, text),
			 -EINVAL);
	assert_int_equal(code_calls_prctl(r, BOBBIN_PR_ADD_SFRAME, start, end, text, after), 0);
	assert_int_equal(register_setup(&w, NULL), -EEXIST);
	assert_int_equal(code_calls_prctl(r, BOBBIN_PR_REMOVE_SFRAME, start, 1, 0, 0), -EINVAL);
	assert_int_equal(code_calls_prctl(r, BOBBIN_PR_REMOVE_SFRAME, start, 0, 1, 0), -EINVAL);
	assert_int_equal(code_calls_prctl(r, BOBBIN_PR_REMOVE_SFRAME, start, 0, 0, 1), -EINVAL);
	assert_int_equal(code_calls_prctl(r, BOBBIN_PR_REMOVE_SFRAME, 0, 0, 0, 0), -EINVAL);
	assert_int_equal(code_calls_prctl(r, BOBBIN_PR_REMOVE_SFRAME, start, 0, 0, 0), 0);
	assert_int_equal(code_calls_prctl(r, BOBBIN_PR_REMOVE_SFRAME, start, 0, 0, 0), -ENOENT);
	close_world(&w);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(every_wrong_argument_has_its_errno),
		cmocka_unit_test(the_unchanged_arguments_are_accepted),
		cmocka_unit_test(unknown_options_and_flags_are_refused),
		cmocka_unit_test(what_is_registered_cannot_be_registered_again),
		cmocka_unit_test(unregistering_takes_the_start_of_the_section_and_nothing_else),
		cmocka_unit_test(codectl_unregisters_what_is_told_as_it_was),
		cmocka_unit_test(the_prctl_pair_leads_to_the_same_place),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
