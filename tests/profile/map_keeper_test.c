/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* How often perf maps are looked for: the clock and the maps are the test's. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <time.h>
#include <unistd.h>

#include <cmocka.h>

#include "base/clock.h"
#include "base/native_arch.h"
#include "profile/kept_names.h"
#include "symbol/perfmap.h"

#define MS 1000000ull
#define CODE 0x10000

/* Stubs, in place of those that read files. */
static struct {
	bool there;
	unsigned int looks, found;
} map;
static uint64_t now = NS_PER_SECOND;

int __wrap_clock_gettime(clockid_t clock, struct timespec *ret);
int __wrap_clock_gettime(clockid_t clock, struct timespec *ret)
{
	(void)clock;
	*ret = (struct timespec){(time_t)(now / NS_PER_SECOND), (long)(now % NS_PER_SECOND)};
	return 0;
}

int perfmap_open(const struct remote_process *process, const char *tmp, const char *path,
		 struct perfmap **ret)
{
	*ret = malloc(1);
	return *ret ? 0 : -1;
}

void perfmap_close(struct perfmap *m)
{
	free(m);
}

int64_t perfmap_changes(struct perfmap *m)
{
	map.looks++;
	return map.there;
}

bool perfmap_is_there(const struct perfmap *m)
{
	return map.there;
}

int perfmap_find(struct perfmap *m, uint64_t address, struct interval *ret, const char **name)
{
	map.found += map.there;
	return 0;
}

int jit_folder_create(const struct jit_folder *folder, const char *name, FILE **ret)
{
	fail();
	return -1;
}

int jit_folder_mark(const struct jit_folder *folder, const char *name, FILE *file, int pid,
		    uint64_t time, uint64_t address)
{
	fail();
	return -1;
}

void jit_folder_fail(struct jit_folder *folder, int error)
{
	fail();
}

struct fixture {
	struct bobbin_unwinder *unwinder;
	struct process_table *table;
	struct thread *thread;
	struct jit_folder folder;
	struct map_keeper *keeper;
};

/* A process with memory that a program may have made. */
static int set_up(void **state)
{
	struct fixture *f = calloc(1, sizeof(*f));
	const struct perf_event mapped = {
		.type = PERF_RECORD_MMAP2,
		.pid = (uint32_t)getpid(),
		.tid = (uint32_t)getpid(),
		.mmap = {.addr = CODE, .len = 0x1000, .prot = PROT_EXEC, .filename = "//anon"},
	};

	if (!f || bobbin_unwinder_open(NULL, &f->unwinder) ||
	    process_table_open(f->unwinder, native_arch(), true, &f->table) ||
	    process_table_event(f->table, &mapped) ||
	    process_table_thread(f->table, getpid(), getpid(), &f->thread) ||
	    map_keeper_open(&f->folder, &f->keeper))
		return -1;
	map.there = false;
	*state = f;
	return 0;
}

static int tear_down(void **state)
{
	struct fixture *f = *state;

	map_keeper_close(f->keeper);
	process_table_close(f->table);
	bobbin_unwinder_close(f->unwinder);
	free(f);
	return 0;
}

/* A hundred samples a second. */
static void sample(struct fixture *f, unsigned int seconds)
{
	struct bobbin_frame frame = {.pc = CODE + 8, .exact = true};
	const struct bobbin_trace trace = {.frames = &frame, .count = 1};

	map.looks = map.found = 0;
	for (unsigned int i = 0; i < 100 * seconds; i++) {
		now += 10 * MS;
		assert_int_equal(map_keeper_trace(f->keeper, f->thread->process, &trace, now), 0);
	}
}

static void a_process_without_a_map_is_looked_at_once_a_second(void **state)
{
	sample(*state, 10);
	assert_in_range(map.looks, 10, 15);
	sample(*state, 10);
	assert_in_range(map.looks, 9, 11);
}

static void a_map_that_is_there_is_looked_at_more_often(void **state)
{
	map.there = true;
	sample(*state, 10);
	assert_in_range(map.looks, 150, 200);
}

static void a_map_that_comes_late_is_found_within_a_second(void **state)
{
	sample(*state, 10);
	map.there = true;
	sample(*state, 1);
	assert_true(map.found > 0);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_setup_teardown(a_process_without_a_map_is_looked_at_once_a_second,
						set_up, tear_down),
		cmocka_unit_test_setup_teardown(a_map_that_is_there_is_looked_at_more_often, set_up,
						tear_down),
		cmocka_unit_test_setup_teardown(a_map_that_comes_late_is_found_within_a_second,
						set_up, tear_down),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
