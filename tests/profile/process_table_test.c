/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * Which processes have changed since the last look: each is told once, and none after its end.  What a
 * process has of its parent.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>

#include <cmocka.h>

#include "base/native_arch.h"
#include "profile/cgroup_table.h"
#include "profile/process_table.h"

struct fixture {
	struct bobbin_unwinder *unwinder;
	struct process_table *table;
	int seen[8]; /* how often, by number of the process */
	unsigned int ended;
};

static void end(void *ctx, struct process *process)
{
	struct fixture *f = ctx;

	f->ended++;
}

static int set_up(void **state)
{
	struct fixture *f = calloc(1, sizeof(*f));

	if (!f || bobbin_unwinder_open(NULL, &f->unwinder) ||
	    process_table_open(f->unwinder, native_arch(), true, &f->table))
		return -1;
	*state = f;
	return 0;
}

static int tear_down(void **state)
{
	struct fixture *f = *state;

	process_table_close(f->table);
	bobbin_unwinder_close(f->unwinder);
	free(f);
	return 0;
}

static void take(struct fixture *f, uint32_t type, int pid, int parent)
{
	struct perf_event event = {.type = type, .pid = (uint32_t)pid, .tid = (uint32_t)pid};

	if (type == PERF_RECORD_MMAP2) {
		event.mmap.addr = 0x10000;
		event.mmap.len = 0x1000;
		event.mmap.prot = PROT_EXEC;
		event.mmap.filename = "//anon";
	} else {
		event.task.ppid = event.task.ptid = (uint32_t)parent;
	}
	assert_int_equal(process_table_event(f->table, &event), 0);
}

static void see(void *ctx, struct process *process)
{
	struct fixture *f = ctx;

	f->seen[process->pid]++;
}

static void expect_changed(struct fixture *f, int first, int second)
{
	memset(f->seen, 0, sizeof(f->seen));
	process_table_visit_changed(f->table, see, f);
	for (int pid = 0; pid < 8; pid++)
		assert_int_equal(f->seen[pid], pid && (pid == first || pid == second));
}

static void changes_are_told_once(void **state)
{
	struct fixture *f = *state;
	struct thread *thread;

	process_table_watch(f->table, end, f);
	take(f, PERF_RECORD_MMAP2, 1, 0);
	take(f, PERF_RECORD_MMAP2, 1, 0);
	take(f, PERF_RECORD_FORK, 2, 1);
	expect_changed(f, 1, 2);
	expect_changed(f, 0, 0);
	assert_int_equal(process_table_thread(f->table, 2, 2, &thread), 0);
	process_table_note(f->table, thread->process);
	expect_changed(f, 2, 0);
}

static void what_has_ended_is_not_told(void **state)
{
	struct fixture *f = *state;

	process_table_watch(f->table, end, f);
	take(f, PERF_RECORD_FORK, 3, 1);
	take(f, PERF_RECORD_FORK, 4, 1);
	take(f, PERF_RECORD_EXIT, 3, 1);
	expect_changed(f, 4, 0);
	/* its number is another's now */
	take(f, PERF_RECORD_FORK, 4, 1);
	take(f, PERF_RECORD_EXIT, 4, 1);
	take(f, PERF_RECORD_FORK, 4, 1);
	expect_changed(f, 4, 0);
	assert_int_equal(f->ended, 3);
}

static void nothing_is_noted_for_nobody(void **state)
{
	struct fixture *f = *state;

	take(f, PERF_RECORD_MMAP2, 1, 0);
	expect_changed(f, 0, 0);
}

static struct process *process_of(struct fixture *f, int pid)
{
	struct thread *thread;

	assert_int_equal(process_table_thread(f->table, pid, pid, &thread), 0);
	return thread->process;
}

static void take_comm(struct fixture *f, int pid, int tid, const char *comm)
{
	const struct perf_event event = {.type = PERF_RECORD_COMM,
					 .pid = (uint32_t)pid,
					 .tid = (uint32_t)tid,
					 .comm = {.comm = comm}};

	assert_int_equal(process_table_event(f->table, &event), 0);
}

static void a_process_is_called_as_its_first_thread(void **state)
{
	struct fixture *f = *state;

	take_comm(f, 1, 1, "first");
	take_comm(f, 1, 2, "second");
	assert_string_equal(process_of(f, 1)->comm, "first");
	take(f, PERF_RECORD_FORK, 3, 1);
	assert_string_equal(process_of(f, 3)->comm, "first");
	take_comm(f, 3, 3, "child");
	assert_string_equal(process_of(f, 1)->comm, "first");
	assert_string_equal(process_of(f, 3)->comm, "child");
}

static void a_child_is_where_its_parent_is_until_it_is_asked(void **state)
{
	static const struct cgroup cgroup = {.id = 7};
	struct fixture *f = *state;
	struct perf_event exec = {.type = PERF_RECORD_COMM,
				  .pid = 2,
				  .tid = 2,
				  .comm = {.comm = "new", .exec = true}};

	process_of(f, 1)->cgroup = (struct process_cgroup){.last = &cgroup, .asked = 100};
	take(f, PERF_RECORD_FORK, 2, 1);
	assert_ptr_equal(process_of(f, 2)->cgroup.last, &cgroup);
	assert_int_equal(process_of(f, 2)->cgroup.parent, 1);
	assert_int_equal(process_of(f, 2)->cgroup.asked, 0);
	process_of(f, 2)->cgroup.asked = 100;
	/* what runs programs moves before */
	assert_int_equal(process_table_event(f->table, &exec), 0);
	assert_int_equal(process_of(f, 2)->cgroup.asked, 0);
	assert_ptr_equal(process_of(f, 2)->cgroup.last, &cgroup);
	/* its number is another's now */
	take(f, PERF_RECORD_EXIT, 2, 1);
	assert_null(process_of(f, 2)->cgroup.last);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_setup_teardown(changes_are_told_once, set_up, tear_down),
		cmocka_unit_test_setup_teardown(what_has_ended_is_not_told, set_up, tear_down),
		cmocka_unit_test_setup_teardown(a_child_is_where_its_parent_is_until_it_is_asked,
						set_up, tear_down),
		cmocka_unit_test_setup_teardown(a_process_is_called_as_its_first_thread, set_up,
						tear_down),
		cmocka_unit_test_setup_teardown(nothing_is_noted_for_nobody, set_up, tear_down),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
