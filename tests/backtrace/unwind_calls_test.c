/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * unwind_calls_test PLUGIN OTHER - the calls of libbobbin-backtrace against libgcc's and glibc's.
 *
 * The program is linked with the library, so that the bare names are ours.
 */
#include <dlfcn.h>
#include <execinfo.h>
#include <inttypes.h>
#include <link.h>
#include <pthread.h>
#include <setjmp.h>
#include <signal.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <ucontext.h>
#include <unistd.h>
#include <unwind.h>

#include <cmocka.h>

#include "own_chain.h"

#define MAX 4096
#define DEEP 3000

int unw_backtrace(void **buffer, int size);
int unw_backtrace2(void **buffer, int size, void *context, int flags);

static const char *paths[2];

/* What a callback is told of each frame. */
struct told {
	struct {
		uint64_t ip, cfa, function, fp;
		int before;
	} frames[MAX];
	unsigned int count, last; /* frames until the callback ends the walk; 0: never */
	_Unwind_Reason_Code result;
};

/* libgcc's, though ours stand before them. */
static struct {
	_Unwind_Reason_Code (*backtrace)(_Unwind_Trace_Fn, void *);
	void *(*enclosing)(void *);
	int (*addresses)(void **, int);
} other;

static _Unwind_Reason_Code tell(struct _Unwind_Context *context, void *arg)
{
	struct told *told = arg;

	if (told->count == MAX)
		return _URC_END_OF_STACK;
	told->frames[told->count].ip = _Unwind_GetIPInfo(context,
							 &told->frames[told->count].before);
	if (_Unwind_GetIP(context) != told->frames[told->count].ip)
		return _URC_END_OF_STACK;
	told->frames[told->count].function = _Unwind_GetRegionStart(context);
	told->frames[told->count].cfa = _Unwind_GetCFA(context);
	told->count++;
	return told->count == told->last ? _URC_NORMAL_STOP : _URC_NO_REASON;
}

static struct told ours, theirs;
static void *addresses[2][MAX];
static int counts[2];

static void walk_both(unsigned int last)
{
	ours = (struct told){.last = last};
	theirs = (struct told){.last = last};
	ours.result = _Unwind_Backtrace(tell, &ours);
	theirs.result = other.backtrace(tell, &theirs);
	counts[0] = backtrace(addresses[0], last ? (int)last : MAX);
	counts[1] = other.addresses(addresses[1], last ? (int)last : MAX);
}

LINK void leaf(void)
{
	walk_both(0);
	STAY();
}

LINK void leaf_that_stops(void)
{
	walk_both(3);
	STAY();
}

static void print_told(const char *who, const struct told *told)
{
	for (unsigned int i = 0; i < told->count && i < 20; i++) {
		Dl_info info = {0};

		dladdr((const void *)(told->frames[i].ip - 1), &info);
		printf("# %s %" PRIx64 " %s, CFA %" PRIx64 "\n", who, told->frames[i].ip,
		       info.dli_sname ? info.dli_sname : "?", told->frames[i].cfa);
	}
}

/* Of the first frame the calls have other return addresses; all above it is the same. */
static void assert_same(void)
{
	if (ours.count != theirs.count) {
		print_told("ours", &ours);
		print_told("theirs", &theirs);
	}
	assert_int_equal(ours.count, theirs.count);
	assert_int_equal(ours.result, theirs.result);
	for (unsigned int i = 1; i < ours.count; i++) {
		assert_int_equal(ours.frames[i].ip, theirs.frames[i].ip);
		assert_int_equal(ours.frames[i].before, theirs.frames[i].before);
		/* of nobody's frame libgcc has what it had of the last */
		if (!ours.frames[i].ip)
			continue;
		assert_int_equal(ours.frames[i].cfa, theirs.frames[i].cfa);
		assert_int_equal(ours.frames[i].function, theirs.frames[i].function);
	}
	assert_int_equal(counts[0], counts[1]);
	for (int i = 1; i < counts[0]; i++)
		assert_ptr_equal(addresses[0][i], addresses[1][i]);
}

LINK void outer(void (*f)(void))
{
	volatile char room[3000];

	room[0] = 1;
	f();
	STAY();
	room[1] = room[0];
}

static void a_chain_is_that_of_libgcc(void **state)
{
	outer(leaf);
	assert_true(ours.count > 4);
	assert_int_equal(ours.frames[ours.count - 1].ip, 0);
	assert_int_equal(ours.frames[0].function, (uint64_t)walk_both);
	assert_int_equal(ours.frames[1].function, (uint64_t)leaf);
	assert_int_equal(ours.frames[2].function, (uint64_t)outer);
	assert_same();
}

static void a_callback_can_end_the_walk(void **state)
{
	outer(leaf_that_stops);
	assert_int_equal(ours.count, 3);
	assert_int_equal(ours.result, _URC_FATAL_PHASE1_ERROR);
	assert_int_equal(counts[0], 3);
	assert_same();
}

LINK unsigned int recurse(unsigned int depth)
{
	unsigned int r = 0;

	if (depth)
		r = recurse(depth - 1);
	else
		leaf();
	STAY();
	return r + 1;
}

static void a_deep_chain_is_not_cut(void **state)
{
	assert_int_equal(recurse(DEEP), DEEP + 1);
	assert_true(ours.count > DEEP);
	assert_same();
}

static volatile sig_atomic_t handled;

static void on_signal(int number)
{
	leaf();
	handled = 1;
}

LINK void raise_signal(void)
{
	raise(SIGUSR1);
	STAY();
}

static void a_chain_leads_through_a_signal(void **state)
{
	unsigned int interrupted = 0;

	signal(SIGUSR1, on_signal);
	outer(raise_signal);
	assert_int_equal(handled, 1);
	for (unsigned int i = 0; i < ours.count; i++)
		interrupted += ours.frames[i].before != 0;
	assert_true(interrupted >= 1);
	assert_same();
}

static void *run_thread(void *arg)
{
	outer(leaf);
	return NULL;
}

static void a_thread_has_a_chain(void **state)
{
	pthread_t thread;

	assert_int_equal(pthread_create(&thread, NULL, run_thread, NULL), 0);
	pthread_join(thread, NULL);
	assert_same();
}

struct plugin {
	void *handle;
	void (*inner)(void (*f)(void));
	void (*outer)(void (*f)(void));
};

static void plugin_open(unsigned int number, struct plugin *ret)
{
	ret->handle = dlopen(paths[number], RTLD_NOW | RTLD_LOCAL);
	if (!ret->handle)
		fail_msg("%s", dlerror());
	*(void **)&ret->inner = dlsym(ret->handle, "plugin_inner");
	*(void **)&ret->outer = dlsym(ret->handle, "plugin_outer");
	assert_non_null(ret->inner);
	assert_non_null(ret->outer);
}

/* The two have the same layout and other frames, and mostly the same place. */
static void libraries_come_and_go(void **state)
{
	void *places[2] = {NULL, NULL};
	unsigned int same = 0;

	for (unsigned int i = 0; i < 40; i++) {
		struct plugin p;

		plugin_open(i % 2, &p);
		for (unsigned int k = 0; k < 3; k++) {
			p.outer(leaf);
			assert_int_equal(ours.frames[2].function, (uint64_t)p.inner);
			assert_int_equal(ours.frames[3].function, (uint64_t)p.outer);
			assert_same();
		}
		places[i % 2] = (void *)p.inner;
		same += places[0] == places[1];
		assert_int_equal(dlclose(p.handle), 0);
	}
	assert_true(same > 0);
}

static void a_function_is_found_by_its_addresses(void **state)
{
	const uint8_t *in_libc = (const uint8_t *)dlsym(RTLD_DEFAULT, "qsort");

	for (unsigned int i = 1; i < 5; i++) {
		assert_ptr_equal(_Unwind_FindEnclosingFunction((void *)((uint64_t)leaf + i)), leaf);
		assert_ptr_equal(_Unwind_FindEnclosingFunction((void *)(in_libc + i)),
				 other.enclosing((void *)(in_libc + i)));
	}
	assert_null(_Unwind_FindEnclosingFunction(addresses));
}

LINK void leaf_of_libunwind(void)
{
	counts[0] = backtrace(addresses[0], MAX);
	counts[1] = unw_backtrace(addresses[1], MAX);
	STAY();
}

static void assert_same_addresses(int from)
{
	assert_int_equal(counts[0], counts[1]);
	for (int i = from; i < counts[0]; i++)
		assert_ptr_equal(addresses[0][i], addresses[1][i]);
}

static void libunwinds_call_gives_the_same(void **state)
{
	outer(leaf_of_libunwind);
	assert_true(counts[0] > 3);
	assert_same_addresses(1);
}

static void on_context(int number, siginfo_t *info, void *context)
{
	struct bobbin_cgo_traceback c = {.signal_context = (uintptr_t)context,
					 .buffer = (uintptr_t *)addresses[0],
					 .max = MAX};

	counts[1] = unw_backtrace2(addresses[1], MAX, context, 1);
	bobbin_cgo_traceback(&c);
	for (counts[0] = 0; addresses[0][counts[0]]; counts[0]++)
		;
	handled = 2;
}

static void a_context_is_walked_from_its_pc(void **state)
{
	const struct sigaction action = {.sa_sigaction = on_context, .sa_flags = SA_SIGINFO};

	sigaction(SIGUSR1, &action, NULL);
	outer(raise_signal);
	assert_int_equal(handled, 2);
	/* Go's ends where no table of C says where the caller is: _start has none */
	assert_true(counts[0] == counts[1] - 1 || counts[0] == counts[1]);
	assert_true(counts[0] > 4);
	counts[1] = counts[0];
	assert_same_addresses(0);
}

LINK void leaf_of_abseil(void)
{
	int sizes[4] = {1, 1, 1, 1}, dropped = -1;

	counts[0] = backtrace(addresses[0], MAX);
	counts[1] = bobbin_stack_unwinder(addresses[1], sizes, 4, 1, NULL, &dropped);
	assert_int_equal(counts[1], 4);
	assert_int_equal(dropped, counts[0] - 5);
	assert_int_equal(sizes[0] | sizes[1] | sizes[2] | sizes[3], 0);
	for (int i = 0; i < 4; i++)
		assert_ptr_equal(addresses[1][i], addresses[0][i + 1]);
	STAY();
}

static void abseils_hook_skips_and_counts(void **state)
{
	outer(leaf_of_abseil);
}

static void nothing_is_stored_without_room(void **state)
{
	addresses[0][0] = state;
	assert_int_equal(backtrace(addresses[0], 0), 0);
	assert_int_equal(backtrace(addresses[0], -1), 0);
	assert_int_equal(unw_backtrace(addresses[0], 0), 0);
	assert_int_equal(bobbin_stack_unwinder(addresses[0], NULL, 0, 0, NULL, NULL), 0);
	assert_ptr_equal(addresses[0][0], state);
}

static void a_forked_child_walks(void **state)
{
	int status;
	pid_t child = fork();

	if (!child) {
		outer(leaf);
		_exit(ours.count != theirs.count || ours.count < 4);
	}
	assert_int_equal(waitpid(child, &status, 0), child);
	assert_int_equal(status, 0);
}

static ucontext_t fiber, here;

static void run_fiber(void)
{
	outer(leaf);
	swapcontext(&fiber, &here);
}

static void a_fiber_has_a_chain_that_ends(void **state)
{
	static char stack[256 * 1024];

	getcontext(&fiber);
	fiber.uc_stack.ss_sp = stack;
	fiber.uc_stack.ss_size = sizeof(stack);
	fiber.uc_link = &here;
	makecontext(&fiber, run_fiber, 0);
	swapcontext(&here, &fiber);
	assert_true(ours.count >= 4);
	assert_int_equal(ours.frames[3].function, (uint64_t)run_fiber);
	assert_true(counts[0] >= 4);
}

static int prepare(void **state)
{
	void *libgcc = dlopen("libgcc_s.so.1", RTLD_NOW);
	void *libc = dlopen("libc.so.6", RTLD_NOW);

	*(void **)&other.backtrace = dlsym(libgcc, "_Unwind_Backtrace");
	*(void **)&other.enclosing = dlsym(libgcc, "_Unwind_FindEnclosingFunction");
	*(void **)&other.addresses = dlsym(libc, "backtrace");
	return !other.backtrace || !other.enclosing || !other.addresses ||
	       (void *)other.backtrace == (void *)_Unwind_Backtrace ||
	       (void *)other.addresses == (void *)backtrace;
}

LINK int main(int argc, char **argv)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(a_chain_is_that_of_libgcc),
		cmocka_unit_test(a_callback_can_end_the_walk),
		cmocka_unit_test(a_deep_chain_is_not_cut),
		cmocka_unit_test(a_chain_leads_through_a_signal),
		cmocka_unit_test(a_thread_has_a_chain),
		cmocka_unit_test(libraries_come_and_go),
		cmocka_unit_test(a_function_is_found_by_its_addresses),
		cmocka_unit_test(libunwinds_call_gives_the_same),
		cmocka_unit_test(a_context_is_walked_from_its_pc),
		cmocka_unit_test(abseils_hook_skips_and_counts),
		cmocka_unit_test(nothing_is_stored_without_room),
		cmocka_unit_test(a_forked_child_walks),
		cmocka_unit_test(a_fiber_has_a_chain_that_ends),
	};

	if (argc != 3)
		return 2;
	paths[0] = argv[1];
	paths[1] = argv[2];
	return cmocka_run_group_tests(tests, prepare, NULL);
}
