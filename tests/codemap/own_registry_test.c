/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* The process's own map: made when it is needed, and a child's is the child's. */
#include "code_samples.h"

#include <bobbin/frames.h>
#include <errno.h>
#include <fcntl.h>
#include <linux/filter.h>
#include <linux/seccomp.h>
#include <sched.h>
#include <signal.h>
#include <stdio.h>
#include <sys/prctl.h>
#include <sys/wait.h>

#include "../bare_clone.h"
#include "codemap/linux_calls.h"
#include "codemap/own_registry.h"
#include "codemap/registry.h"

static const struct code *code_at(uint64_t addr)
{
	return own_registry() ? code_map_find(registry_map(own_registry()), addr, NULL) : NULL;
}

static void nothing_is_there_before_the_first_registration(void **state)
{
	(void)state;
	assert_null(own_registry());
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

static void the_prctl_pair_serves_the_own_registry(void **state)
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
	const struct bobbin_code_page *page = registry_page(own_registry());

	return page && page->pid == (uint32_t)pid;
}

/* It has the earlier registrations, and changes only its own copy. */
static int live_as_child(struct family *f)
{
	struct sframe_setup inherited = setup_of(&f->inherited), own;
	struct sframe_setup key = {.sframe_start = inherited.sframe_start};

	/* only the child has this text, so its own mappings must be read */
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

static void a_child_that_the_c_library_does_not_know_of_has_one_too(void **state)
{
	(void)state;
	check_family(bare_clone);
}

static void keep(void *section)
{
}

/* Its parent was in a section for readers, which never ends in the child. */
static void such_a_child_takes_frames_back(void **state)
{
	struct sample s = sample_open(1);
	const struct code_text_range text = {(uintptr_t)s.text, text_end(&s)};
	struct reader_epochs *readers;
	unsigned int token;
	pid_t pid;

	(void)state;
	/* as frames are, by where they begin */
	assert_int_equal(registry_add_section(own_registry(), (uintptr_t)s.section, s.section,
					      s.section_size, &text, 1, keep),
			 0);
	readers = code_map_readers(registry_map(own_registry()));
	fflush(stdout);
	token = read_enter(readers);
	pid = bare_clone();
	if (!pid) {
		alarm(10);
		_exit(bobbin_frames_unregister(s.section) ? 1 : 0);
	}
	read_leave(readers, token);
	wait_for_child(pid);
	assert_int_equal(bobbin_frames_unregister(s.section), 0);
	sample_close(&s);
}

/* A program that closes all descriptors closes ours, too, and may use its number again. */
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

/* As in sandboxes: an unknown system call kills the process. */
static int forbid_unknown_calls(void)
{
	const uint32_t first_unknown = KERNEL_SFRAME_REGISTER;
	struct sock_filter filter[] = {
		BPF_STMT(BPF_LD | BPF_W | BPF_ABS, offsetof(struct seccomp_data, nr)),
		BPF_JUMP(BPF_JMP | BPF_JGE | BPF_K, first_unknown, 0, 1),
		BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_KILL_PROCESS),
		BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ALLOW),
	};
	struct sock_fprog program = {sizeof(filter) / sizeof(*filter), filter};

	return prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) ||
	       prctl(PR_SET_SECCOMP, SECCOMP_MODE_FILTER, &program);
}

/* There is a map already, but nothing in it concerns the kernel. */
static int register_in_a_sandbox(void)
{
	struct sample s = sample_open(2);
	struct sframe_setup setup = setup_of(&s), key = {.sframe_start = setup.sframe_start};
	struct code_elf_info named = {.text_start = (uintptr_t)s.text,
				      .text_end = (uintptr_t)s.text + s.page};
	struct registry *registry;

	NEED(registry_open(linux_calls_native(), &registry) == 0);
	NEED(code_calls_codectl(registry, CODE_REGISTER_ELF, &named, sizeof(named), 0, NULL) == 0);
	NEED(code_calls_codectl(registry, CODE_UNREGISTER, &named, sizeof(named), 0, NULL) == 0);
	NEED(forbid_unknown_calls() == 0);
	NEED(code_calls_register(registry, &setup, sizeof(setup), NULL) == 0);
	NEED(code_calls_unregister(registry, &key, sizeof(key)) == 0);
	return 0;
}

static void a_sandbox_that_comes_later_is_not_provoked(void **state)
{
	pid_t pid;

	(void)state;
	fflush(stdout);
	pid = fork();
	if (!pid)
		_exit(register_in_a_sandbox() & 0xff);
	wait_for_child(pid);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(nothing_is_there_before_the_first_registration),
		cmocka_unit_test(the_c_librarys_way_sets_errno),
		cmocka_unit_test(the_prctl_pair_serves_the_own_registry),
		cmocka_unit_test(a_forked_child_has_a_map_of_its_own),
		cmocka_unit_test(a_child_that_the_c_library_does_not_know_of_has_one_too),
		cmocka_unit_test(such_a_child_takes_frames_back),
		cmocka_unit_test(a_closed_descriptor_is_opened_again),
		cmocka_unit_test(a_sandbox_that_comes_later_is_not_provoked),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
