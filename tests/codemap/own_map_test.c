/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* The process's own map: made when it is needed, and a child's is the child's. */
#include "code_samples.h"

#include <errno.h>
#include <fcntl.h>
#include <sched.h>
#include <signal.h>
#include <stdio.h>
#include <sys/syscall.h>
#include <sys/wait.h>

#include "codemap/own_map.h"

static const struct code *code_at(uint64_t addr)
{
	return own_map() ? code_map_find(registrar_map(own_map()), addr, NULL) : NULL;
}

static void nothing_is_there_before_the_first_registration(void **state)
{
	(void)state;
	assert_null(own_map());
}

static void the_c_librarys_way_sets_errno(void **state)
{
	struct sample s = sample_open(1);
	struct sframe_setup setup = setup_of(&s), key = {.sframe_start = setup.sframe_start};
	struct code_elf_info info = elf_of(&s);

	(void)state;
	errno = 77;
	assert_int_equal(sframe_register(&setup, sizeof(setup)), 0);
	assert_int_equal(errno, 77);
	assert_non_null(code_at(setup.text_start));
	assert_int_equal(sframe_register(&setup, sizeof(setup)), -1);
	assert_int_equal(errno, EEXIST);
	assert_int_equal(sframe_unregister(&key, sizeof(key)), 0);
	assert_int_equal(sframe_unregister(&key, sizeof(key)), -1);
	assert_int_equal(errno, ENOENT);
	assert_int_equal(codectl(CODE_REGISTER_ELF, &info, sizeof(info), 0), 0);
	assert_int_equal(codectl(CODE_REGISTER_ELF, &info, sizeof(info), 1), -1);
	assert_int_equal(errno, EINVAL);
	assert_int_equal(codectl(CODE_UNREGISTER, &info, sizeof(info), 0), 0);
	assert_null(code_at(info.text_start));
	sample_close(&s);
}

static void the_prctl_pair_serves_the_own_map(void **state)
{
	struct sample s = sample_open(1);
	struct code_elf_info info = elf_of(&s);

	(void)state;
	assert_int_equal(bobbin_prctl(BOBBIN_PR_ADD_SFRAME, info.sframe_start, info.sframe_end,
				      info.text_start, info.text_end),
			 0);
	assert_non_null(code_at(info.text_start));
	assert_int_equal(bobbin_prctl(BOBBIN_PR_REMOVE_SFRAME, info.sframe_start, 0, 0, 0), 0);
	assert_null(code_at(info.text_start));
	sample_close(&s);
}

/* In a child, where cmocka's asserts do not reach the parent: the line that failed. */
#define NEED(condition) \
	do { \
		if (!(condition)) \
			return __LINE__; \
	} while (0)

struct family {
	struct sample inherited, own;
};

static bool page_is_of(pid_t pid)
{
	const struct bobbin_code_page *page = registrar_page(own_map());

	return page && page->pid == (uint32_t)pid;
}

/* Has what was registered before, and changes it for itself alone. */
static int live_as_child(struct family *f)
{
	struct sframe_setup inherited = setup_of(&f->inherited), own;
	struct sframe_setup key = {.sframe_start = inherited.sframe_start};

	/* the text that only the child has tells whose mappings are asked */
	f->own = sample_open(2);
	own = setup_of(&f->own);
	NEED(code_at(inherited.text_start));
	NEED(bobbin_sframe_register(&own, sizeof(own), NULL) == 0);
	NEED(page_is_of(getpid()));
	NEED(code_at(own.text_start));
	NEED(bobbin_sframe_unregister(&key, sizeof(key)) == 0);
	NEED(!code_at(inherited.text_start));
	munmap(f->own.text, f->own.page);
	key.sframe_start = own.sframe_start;
	NEED(bobbin_sframe_unregister(&key, sizeof(key)) == 0);
	NEED(bobbin_sframe_register(&own, sizeof(own), NULL) == -EINVAL);
	return 0;
}

static void wait_for_child(pid_t pid)
{
	int status;

	assert_true(pid > 0);
	assert_int_equal(waitpid(pid, &status, 0), pid);
	assert_true(WIFEXITED(status));
	if (WEXITSTATUS(status))
		print_error("a child failed at a line like ...%d\n", WEXITSTATUS(status));
	assert_int_equal(WEXITSTATUS(status), 0);
}

static void check_family(pid_t (*make)(void))
{
	struct family f = {.inherited = sample_open(3)};
	struct sframe_setup setup = setup_of(&f.inherited);
	pid_t pid;

	assert_int_equal(bobbin_sframe_register(&setup, sizeof(setup), NULL), 0);
	fflush(stdout);
	pid = make();
	if (!pid)
		_exit(live_as_child(&f) & 0xff);
	wait_for_child(pid);
	/* the parent's is as it was */
	assert_non_null(code_at(setup.text_start));
	assert_true(page_is_of(getpid()));
	setup = (struct sframe_setup){.sframe_start = setup.sframe_start};
	assert_int_equal(bobbin_sframe_unregister(&setup, sizeof(setup)), 0);
	sample_close(&f.inherited);
}

static void a_forked_child_has_a_map_of_its_own(void **state)
{
	(void)state;
	check_family(fork);
}

static pid_t clone_without_the_library(void)
{
#ifdef __s390x__
	return (pid_t)syscall(SYS_clone, 0, SIGCHLD, 0, 0, 0);
#else
	return (pid_t)syscall(SYS_clone, SIGCHLD, 0, 0, 0, 0);
#endif
}

static void a_child_that_the_c_library_does_not_know_of_has_one_too(void **state)
{
	(void)state;
	check_family(clone_without_the_library);
}

/* Whoever closes all descriptors closes ours, and gives its number to something else. */
static void a_closed_descriptor_is_opened_again(void **state)
{
	struct sample s = sample_open(1);
	struct sframe_setup setup = setup_of(&s), key = {.sframe_start = setup.sframe_start};
	pid_t pid;

	(void)state;
	assert_int_equal(bobbin_sframe_register(&setup, sizeof(setup), NULL), 0);
	fflush(stdout);
	pid = fork();
	if (!pid) {
		for (int fd = 3; fd < 64; fd++)
			close(fd);
		while (open("/proc/1/maps", O_RDONLY | O_CLOEXEC) >= 0 &&
		       open("/dev/null", O_RDONLY | O_CLOEXEC) < 60)
			;
		if (bobbin_sframe_unregister(&key, sizeof(key)) ||
		    bobbin_sframe_register(&setup, sizeof(setup), NULL))
			_exit(1);
		mprotect(s.text, s.page, PROT_READ);
		bobbin_sframe_unregister(&key, sizeof(key));
		_exit(bobbin_sframe_register(&setup, sizeof(setup), NULL) == -EINVAL ? 0 : 2);
	}
	wait_for_child(pid);
	assert_int_equal(bobbin_sframe_unregister(&key, sizeof(key)), 0);
	sample_close(&s);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(nothing_is_there_before_the_first_registration),
		cmocka_unit_test(the_c_librarys_way_sets_errno),
		cmocka_unit_test(the_prctl_pair_serves_the_own_map),
		cmocka_unit_test(a_forked_child_has_a_map_of_its_own),
		cmocka_unit_test(a_child_that_the_c_library_does_not_know_of_has_one_too),
		cmocka_unit_test(a_closed_descriptor_is_opened_again),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
