/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* The process that reads files: what it may do, and what its end costs. */
#include "program.h"

#include "symbol/name_process.h"

#include <dlfcn.h>
#include <errno.h>
#include <inttypes.h>
#include <libelf.h>
#include <setjmp.h>
#include <signal.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cmocka.h>

/* A file whose size ends like this crashes libelf. */
#define CRASH_SIZE 777777
#define CRASH_SIZE_TEXT "777777"

/* How often libelf was called for it, by all processes. */
static unsigned int *crashes;

/* In place of libelf's, for all that this program links. */
Elf *elf_begin(int fd, Elf_Cmd command, Elf *from)
{
	static Elf *(*begin)(int, Elf_Cmd, Elf *);
	struct stat st;

	if (!begin)
		*(void **)&begin = dlsym(RTLD_NEXT, "elf_begin");
	if (fd >= 0 && !fstat(fd, &st) && st.st_size == CRASH_SIZE) {
		++*crashes;
		abort();
	}
	return begin(fd, command, from);
}

struct losses {
	unsigned int count;
	char path[64], reason[64];
};

static void on_loss(void *ctx, const char *path, const char *reason)
{
	struct losses *losses = ctx;

	losses->count++;
	snprintf(losses->path, sizeof(losses->path), "%s", path);
	snprintf(losses->reason, sizeof(losses->reason), "%s", reason);
}

static struct symbolizer *open_with(struct losses *losses)
{
	const struct symbolizer_options options = {
		.demangle = true, .on_loss = on_loss, .on_damage_ctx = losses};

	*losses = (struct losses){0};
	return open_symbolizer(&options);
}

static void build(void)
{
	write_text("two.c", "int first(void) { return 1; }\nint second(void) { return 2; }\n"
			    "int main(void) { return first() + second(); }\n");
	run("gcc -O0 two.c -o two && cp two crashing && truncate -s " CRASH_SIZE_TEXT " crashing");
}

/* That runs; 0: there is none. */
static pid_t worker(void)
{
	char line[32];

	output_of(line, sizeof(line),
		  "for p in $(cat /proc/%d/task/*/children); do "
		  "grep -q -x bobbin-names /proc/$p/comm && "
		  "grep -q '^State:.[^Z]' /proc/$p/status && echo $p; done",
		  (int)getpid());
	return (pid_t)strtol(line, NULL, 10);
}

/* The worker; it does not run any more. */
static pid_t kill_worker(void)
{
	pid_t pid = worker();
	siginfo_t info;

	assert_true(pid > 0);
	assert_int_equal(kill(pid, SIGKILL), 0);
	assert_int_equal(waitid(P_PID, (id_t)pid, &info, WEXITED | WNOWAIT), 0);
	return pid;
}

static void killed_between_questions_it_costs_nothing(void **state)
{
	struct losses losses;
	struct symbolizer *s = open_with(&losses);
	pid_t before, after;

	build();
	assert_name_at(s, "two", offset_of("two", "first", 0), "first");
	before = kill_worker();
	assert_name_at(s, "two", offset_of("two", "second", 0), "second");
	after = worker();
	assert_true(after > 0 && after != before);
	assert_int_equal(losses.count, 0);
	symbolizer_close(s);
	assert_int_equal(worker(), 0);
}

/* A function has been named. */
static struct symbolizer *open_at_first(struct losses *losses, uint64_t *at)
{
	struct symbolizer *s = open_with(losses);

	build();
	*at = offset_of("two", "first", 0);
	assert_name_at(s, "two", *at, "first");
	return s;
}

static void a_function_is_asked_for_once(void **state)
{
	struct losses losses;
	uint64_t at;
	struct symbolizer *s = open_at_first(&losses, &at);

	kill_worker();
	for (uint64_t more = 1; more < 10; more++)
		assert_name_at(s, "two", at + more, "first");
	assert_int_equal(worker(), 0);
	symbolizer_close(s);
}

static void a_file_that_crashes_a_library_costs_its_own_names(void **state)
{
	struct losses losses;
	uint64_t at;
	struct symbolizer *s = open_at_first(&losses, &at);

	*crashes = 0;
	for (int i = 0; i < 5; i++) {
		assert_name_at(s, "crashing", at + (uint64_t)i, NULL);
		assert_name_at(s, "two", offset_of("two", "second", (uint64_t)i), "second");
	}
	/* it is read no further */
	assert_int_equal(*crashes, 3);
	assert_int_equal(losses.count, 1);
	assert_string_equal(losses.path, "crashing");
	assert_string_equal(losses.reason, "ended by signal 6");
	symbolizer_close(s);
}

static void expected_functions_are_known_without_a_question(void **state)
{
	struct losses losses;
	struct symbolizer *s = open_with(&losses);
	struct offset_range ranges[2];
	unsigned int id;

	build();
	ranges[0].first = offset_of("two", "first", 0);
	ranges[1].first = offset_of("two", "second", 0);
	for (int i = 0; i < 2; i++)
		ranges[i].end = ranges[i].first + 1;
	assert_int_equal(symbolizer_file(s, &(struct symbol_file){.path = "two"}, &id), 0);
	symbolizer_expect(s, id, ranges, 2);
	kill_worker();
	assert_name_at(s, "two", ranges[0].first + 3, "first");
	assert_name_at(s, "two", ranges[1].first + 3, "second");
	assert_int_equal(worker(), 0);
	symbolizer_close(s);
}

static void assert_status(pid_t pid, const char *line)
{
	char found[128];

	output_of(found, sizeof(found), "tr -s '\\t ' ' ' </proc/%d/status | grep -x '%s'",
		  (int)pid, line);
	assert_string_equal(found, line);
}

static void it_has_no_rights(void **state)
{
	struct losses losses;
	struct symbolizer *s = open_with(&losses);
	pid_t pid;

	build();
	assert_name_at(s, "two", offset_of("two", "first", 0), "first");
	pid = worker();
	assert_status(pid, "NoNewPrivs: 1");
	/* emulators have none */
	if (prctl(PR_GET_SECCOMP) >= 0)
		assert_status(pid, "Seccomp: 2");
	assert_status(pid, "CapPrm: 0000000000000000");
	assert_status(pid, "CapEff: 0000000000000000");
	if (!geteuid()) {
		assert_status(pid, "Uid: 65534 65534 65534 65534");
		assert_status(pid, "Gid: 65534 65534 65534 65534");
		assert_status(pid, "Groups: ");
	}
	symbolizer_close(s);
}

static void assert_granted(const struct file_grant *grant, const char *path, bool is)
{
	char plain[PATH_MAX];

	print_message("%s\n", path);
	assert_int_equal(file_grant_covers(grant, path, plain), is);
}

static void it_gets_what_belongs_to_its_file_only(void **state)
{
	const struct file_grant grant = {.path = "/usr/bin/x",
					 .open_path = "/proc/self/fd/7",
					 .debug_path = "/usr/lib/debug:/opt/debug/"};
	const struct file_grant inside = {.path = "/usr/bin/x", .symfs = "/srv/root"};
	const struct file_grant climbing = {.path = "/../../etc/passwd", .symfs = "/srv/root"};

	assert_granted(&grant, "/usr/bin/x", true);
	assert_granted(&grant, "/proc/self/fd/7", true);
	assert_granted(&grant, "/usr/bin/x.debug", true);
	assert_granted(&grant, "/usr/bin/.debug/x.debug", true);
	assert_granted(&grant, "/usr/lib/debug/.build-id/ab/cd.debug", true);
	assert_granted(&grant, "/opt/debug//usr/bin/x.debug", true);
	assert_granted(&grant, "/usr/lib/debug/a/../b", true);
	assert_granted(&grant, "/etc/passwd", false);
	assert_granted(&grant, "/proc/self/fd/8", false);
	assert_granted(&grant, "/usr/bin/../../etc/passwd", false);
	assert_granted(&grant, "/usr/lib/debug/../../../etc/passwd", false);
	assert_granted(&grant, "/usr/bin/deeper/x", false);
	assert_granted(&grant, "/usr/libexec", false);
	assert_granted(&grant, "passwd", false);
	assert_granted(&inside, "/srv/root//usr/bin/x", true);
	assert_granted(&inside, "/usr/bin/x", false);
	assert_granted(&climbing, "/srv/root//../../etc/passwd", false);
}

/* What beside a file in /proc would be: all that is open here. */
static void files_of_other_roots_are_granted_there(void **state)
{
	static const struct file_roots roots = {{OWN_ROOT, "/proc/1/fd/9", "/proc/1/fd/10"}};
	const struct file_grant grant = {.path = "/srv/box/usr/bin/x",
					 .debug_path = "/usr/lib/debug",
					 .roots = &roots,
					 .inside = "/usr/bin/x"};

	(void)state;
	assert_granted(&grant, "/proc/1/fd/9/usr/bin/.debug/x.debug", true);
	assert_granted(&grant, "/proc/1/fd/9/usr/lib/debug/.build-id/12/34.debug", true);
	assert_granted(&grant, "/usr/lib/debug/.build-id/12/34.debug", true);
	assert_granted(&grant, "/proc/1/fd/10/usr/bin/x.debug", true);
	assert_granted(&grant, "/usr/bin/x.debug", false);
	assert_granted(&grant, "/proc/1/fd/9/etc/passwd", false);
	assert_granted(&grant, "/proc/1/fd/10/etc/passwd", false);
	assert_granted(&grant, "/proc/1/fd/9/usr/bin/../../etc/passwd", false);
	assert_granted(&grant, "/proc/1/fd/9/../8/usr/bin/x", false);
	assert_granted(&grant, "/proc/1/fd/90/usr/bin/x", false);
	assert_granted(&grant, "/srv/box/etc/passwd", false);
}

static void nothing_is_beside_a_file_of_a_process(void **state)
{
	const struct file_grant grant = {.path = "/proc/self/fd/7"};

	assert_granted(&grant, "/proc/self/fd/8", false);
}

static struct names names;
static struct symbol read_symbols[NAME_FRAMES];

static int read_reply(const struct name_reply *reply, size_t size)
{
	return name_reply_symbols(reply, size, &names, read_symbols, 4);
}

static const struct symbol told[2] = {{.name = "inner", .mangled = "inner", .inlined = true},
				      {.name = "outer", .mangled = "_outer", .start = 5}};

static void an_answer_is_read_as_it_was_written(void **state)
{
	struct name_reply *reply = calloc(1, sizeof(*reply));
	size_t size = name_reply_fill(reply, told, 2);

	assert_int_equal(read_reply(reply, size), 2);
	assert_string_equal(read_symbols[0].name, "inner");
	assert_true(read_symbols[0].inlined);
	assert_string_equal(read_symbols[1].mangled, "_outer");
	assert_int_equal(read_symbols[1].start, 5);
	free(reply);
}

/* Each of them in bytes that end where the answer does, so that one beyond is noticed. */
static void forged_answers_are_refused(void **state)
{
	struct name_reply *whole = calloc(1, sizeof(*whole)), *reply;
	size_t size = name_reply_fill(whole, told, 2);

	for (size_t cut = 0; cut < size; cut++) {
		reply = malloc(cut + 1);
		memcpy(reply, whole, cut);
		assert_int_equal(read_reply(reply, cut), -EBADMSG);
		free(reply);
	}
	for (int count = -200; count < 400; count++) {
		whole->count = count;
		if (count < 0 && count != -ENOMEM)
			assert_int_equal(read_reply(whole, size), -EBADMSG);
		if (count > 4)
			assert_int_equal(read_reply(whole, size), -EBADMSG);
	}
	whole->count = 2;
	for (uint32_t place = 0; place < 1u << 16; place++) {
		whole->symbols[1].name = place << 16 | 0xffff;
		assert_int_equal(read_reply(whole, size), -EBADMSG);
	}
	whole->wish = NAME_OPEN;
	whole->symbols[1].name = 1;
	assert_int_equal(read_reply(whole, size), -EBADMSG);
	free(whole);
}

static void names_that_do_not_fit_are_cut(void **state)
{
	static struct symbol many[NAME_FRAMES];
	struct name_reply *reply = calloc(1, sizeof(*reply));
	char *longest = malloc(20000);
	size_t size;

	memset(longest, 'x', 19999);
	longest[19999] = 0;
	for (int i = 0; i < NAME_FRAMES; i++)
		many[i] = (struct symbol){.name = longest, .mangled = longest + 1};
	size = name_reply_fill(reply, many, NAME_FRAMES);
	assert_true(size <= sizeof(*reply));
	assert_int_equal(name_reply_symbols(reply, size, &names, many, NAME_FRAMES), NAME_FRAMES);
	assert_true(strlen(many[NAME_FRAMES - 1].name) > 40);
	free(longest);
	free(reply);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(files_of_other_roots_are_granted_there),
		cmocka_unit_test(killed_between_questions_it_costs_nothing),
		cmocka_unit_test(a_function_is_asked_for_once),
		cmocka_unit_test(a_file_that_crashes_a_library_costs_its_own_names),
		cmocka_unit_test(expected_functions_are_known_without_a_question),
		cmocka_unit_test(it_has_no_rights),
		cmocka_unit_test(it_gets_what_belongs_to_its_file_only),
		cmocka_unit_test(nothing_is_beside_a_file_of_a_process),
		cmocka_unit_test(an_answer_is_read_as_it_was_written),
		cmocka_unit_test(forged_answers_are_refused),
		cmocka_unit_test(names_that_do_not_fit_are_cut),
	};
	int failed;

	crashes = mmap(NULL, sizeof(*crashes), PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS,
		       -1, 0);
	name_pool_init(&names.pool);
	failed = cmocka_run_group_tests(tests, program_setup, program_teardown);
	name_pool_fini(&names.pool);
	return failed;
}
