/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* What processes write into an area comes out by time, and nothing that they write does harm. */
#include <errno.h>
#include <fcntl.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cmocka.h>

#include "base/clock.h"
#include "base/sample_area.h"
#include "profile/area_reader.h"

struct fixture {
	struct area_reader *reader;
	struct sample_area *area; /* as a process has it */
};

static int open_area(struct fixture *f, uint64_t block_bytes)
{
	int fd;

	if (area_reader_open(1000, block_bytes, 4096, &f->reader))
		return -1;
	fd = open(area_reader_path(f->reader), O_RDWR);
	if (fd < 0)
		return -1;
	f->area = mmap(NULL, sizeof(*f->area), PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);
	close(fd);
	return f->area == MAP_FAILED ? -1 : 0;
}

static int set_up(void **state)
{
	struct fixture *f = calloc(1, sizeof(*f));

	*state = f;
	return f ? open_area(f, 0) : -1;
}

static int tear_down(void **state)
{
	struct fixture *f = *state;

	munmap(f->area, sizeof(*f->area));
	area_reader_close(f->reader);
	free(f);
	return 0;
}

static struct sample_slot *put(struct fixture *f, uint32_t at, uint32_t kind, uint64_t time)
{
	struct sample_slot *slot = &f->area->slots[at];

	*slot = (struct sample_slot){.kind = kind, .pid = 7, .tid = 8, .time = time, .weight = 5};
	atomic_store(&f->area->states[at], 7 << SAMPLE_SLOT_OWNER_SHIFT | SAMPLE_SLOT_FULL);
	return slot;
}

static void nothing_more(struct fixture *f)
{
	struct perf_event event;

	assert_int_equal(area_reader_next(f->reader, &event), 0);
	for (size_t i = 0; i < SAMPLE_SLOTS; i++)
		assert_int_equal(f->area->states[i], SAMPLE_SLOT_FREE);
}

static void samples_come_by_time(void **state)
{
	struct fixture *f = *state;
	struct perf_event event;

	put(f, 3, SAMPLE_SLOT_STACK, 30);
	put(f, 9, SAMPLE_SLOT_STACK, 10);
	put(f, 1, SAMPLE_SLOT_STACK, 20);
	area_reader_sweep(f->reader, 20);
	for (uint64_t time = 10; time <= 20; time += 10) {
		assert_int_equal(area_reader_next(f->reader, &event), 1);
		assert_int_equal(event.type, PERF_RECORD_SAMPLE);
		assert_int_equal(event.time, time);
		assert_int_equal(event.tid, 8);
		assert_int_equal(event.sample.period, 5);
	}
	assert_int_equal(area_reader_next(f->reader, &event), 0);
	assert_int_equal(area_reader_fill(f->reader), 100 / SAMPLE_SLOTS);
	area_reader_sweep(f->reader, UINT64_MAX);
	assert_int_equal(area_reader_next(f->reader, &event), 1);
	nothing_more(f);
}

static void a_stack_is_that_of_the_slot(void **state)
{
	struct fixture *f = *state;
	struct sample_slot *slot = put(f, 0, SAMPLE_SLOT_STACK, 1);
	struct perf_event event;

	slot->size = 21;
	memset(slot->data, 0x5a, sizeof(slot->data));
	area_reader_sweep(f->reader, 1);
	assert_int_equal(area_reader_next(f->reader, &event), 1);
	/* whole words */
	assert_int_equal(event.sample.dyn_size, 16);
	assert_int_equal(event.sample.stack[15], 0x5a);
	nothing_more(f);
}

static void stacks_that_were_left_follow_it(void **state)
{
	struct fixture *f = *state;
	struct sample_slot *slot = put(f, 0, SAMPLE_SLOT_STACK, 1);
	struct perf_event event;

	slot->size = 16;
	slot->left[0].sp = 0x1000;
	slot->left[0].size = 8;
	slot->left[1].sp = 0x2000;
	slot->left[1].size = SAMPLE_SLOT_DATA - 24;
	slot->left_pc = 0x401000;
	slot->data[16] = 0xa5;
	slot->data[SAMPLE_SLOT_DATA - 1] = 0x5a;
	area_reader_sweep(f->reader, 1);
	assert_int_equal(area_reader_next(f->reader, &event), 1);
	assert_int_equal(event.sample.dyn_size, 16);
	assert_int_equal(event.sample.left[0].addr, 0x1000);
	assert_int_equal(event.sample.left[0].size, 8);
	assert_int_equal(event.sample.left[0].data[0], 0xa5);
	assert_int_equal(event.sample.left[1].addr, 0x2000);
	assert_int_equal(event.sample.left[1].size, SAMPLE_SLOT_DATA - 24);
	assert_int_equal(event.sample.left[1].data[SAMPLE_SLOT_DATA - 25], 0x5a);
	assert_int_equal(event.sample.left_pc, 0x401000);
	nothing_more(f);
}

/* Sizes that are too large, alone, together, and in a sum that overflows. */
static void stacks_larger_than_the_slot_are_skipped(void **state)
{
	static const uint64_t sizes[][3] = {
		{0, SAMPLE_SLOT_DATA + 1, 0},
		{0, 0, UINT64_MAX},
		{SAMPLE_SLOT_DATA, 8, 0},
		{8, SAMPLE_SLOT_DATA - 8, 8},
		{8, UINT64_MAX - 7, 0},
		{SAMPLE_SLOT_DATA, SAMPLE_SLOT_DATA, UINT64_MAX - 2 * SAMPLE_SLOT_DATA + 1},
	};
	const size_t count = sizeof(sizes) / sizeof(*sizes);
	struct fixture *f = *state;
	struct perf_event event;

	for (uint32_t i = 0; i < count; i++) {
		struct sample_slot *slot = put(f, i, SAMPLE_SLOT_STACK, i + 1);

		slot->size = sizes[i][0];
		slot->left[0].size = sizes[i][1];
		slot->left[1].size = sizes[i][2];
	}
	area_reader_sweep(f->reader, count);
	for (size_t i = 0; i < count; i++)
		assert_int_equal(area_reader_next(f->reader, &event), -EBADMSG);
	nothing_more(f);
}

/* Its weight is its size by the probability with which it was sampled. */
static void a_block_has_the_weight_of_its_chance(void **state)
{
	struct fixture *f = *state;
	struct perf_event event;

	/* of CPU time alone */
	put(f, 0, SAMPLE_SLOT_BLOCK, 1);
	area_reader_sweep(f->reader, 1);
	assert_int_equal(area_reader_next(f->reader, &event), -EBADMSG);
	munmap(f->area, sizeof(*f->area));
	area_reader_close(f->reader);
	assert_int_equal(open_area(f, 1000), 0);

	put(f, 0, SAMPLE_SLOT_BLOCK, 1)->weight = 1;
	put(f, 1, SAMPLE_SLOT_BLOCK, 2)->weight = 1000;
	put(f, 2, SAMPLE_SLOT_BLOCK, 3)->weight = 1000000;
	put(f, 3, SAMPLE_SLOT_FREE_BLOCK, 4)->address = 0x1230;
	area_reader_sweep(f->reader, 9);
	assert_int_equal(area_reader_next(f->reader, &event), 1);
	assert_int_equal(event.sample.period, 1001);
	assert_int_equal(area_reader_next(f->reader, &event), 1);
	/* 1000 / (1 - 1/e) */
	assert_int_equal(event.sample.period, 1582);
	assert_int_equal(area_reader_next(f->reader, &event), 1);
	assert_int_equal(event.sample.period, 1000000);
	assert_int_equal(area_reader_next(f->reader, &event), 1);
	assert_int_equal(event.type, AREA_RECORD_FREE);
	assert_int_equal(event.sample.block, 0x1230);
	nothing_more(f);
}

static void a_start_has_a_name_and_mappings(void **state)
{
	struct fixture *f = *state;
	struct sample_slot *slot = put(f, 0, SAMPLE_SLOT_START, 1);
	struct perf_event event;

	memcpy(slot->comm, "a name of sixteen", sizeof(slot->comm));
	slot->size = sizeof(slot->data);
	memset(slot->data, 'x', sizeof(slot->data));
	area_reader_sweep(f->reader, 1);
	assert_int_equal(area_reader_next(f->reader, &event), 1);
	assert_int_equal(event.type, PERF_RECORD_COMM);
	assert_true(event.comm.exec);
	assert_string_equal(event.comm.comm, "a name of sixtee");
	assert_int_equal(area_reader_next(f->reader, &event), 1);
	assert_int_equal(event.type, AREA_RECORD_MAPS);
	assert_int_equal(strlen(area_reader_text(f->reader)), sizeof(slot->data));
	assert_int_equal(area_reader_processes(f->reader), 1);
	nothing_more(f);
}

static void what_makes_no_sense_is_skipped(void **state)
{
	struct fixture *f = *state;
	struct perf_event event;

	put(f, 0, 77, 1);
	put(f, 1, SAMPLE_SLOT_STACK, 2)->size = SAMPLE_SLOT_DATA + 1;
	put(f, 2, SAMPLE_SLOT_START, 3)->size = UINT64_MAX;
	area_reader_sweep(f->reader, 9);
	for (int i = 0; i < 3; i++)
		assert_int_equal(area_reader_next(f->reader, &event), -EBADMSG);
	nothing_more(f);
}

static void time_does_not_go_back_nor_ahead(void **state)
{
	struct fixture *f = *state;
	struct perf_event event;

	put(f, 0, SAMPLE_SLOT_FORK, 50);
	area_reader_sweep(f->reader, 60);
	assert_int_equal(area_reader_next(f->reader, &event), 1);
	put(f, 0, SAMPLE_SLOT_FORK, 40);
	put(f, 1, SAMPLE_SLOT_FORK, clock_now() + NS_PER_SECOND * 1000);
	area_reader_sweep(f->reader, UINT64_MAX);
	for (int i = 0; i < 2; i++) {
		assert_int_equal(area_reader_next(f->reader, &event), 1);
		assert_int_equal(event.time, 50);
	}
	nothing_more(f);
}

static void losses_are_told_once(void **state)
{
	struct fixture *f = *state;
	struct perf_event event;

	put(f, 0, SAMPLE_SLOT_STACK, 1);
	f->area->lost = 3;
	area_reader_sweep(f->reader, 1);
	assert_int_equal(area_reader_next(f->reader, &event), 1);
	assert_int_equal(event.type, PERF_RECORD_SAMPLE);
	assert_int_equal(area_reader_next(f->reader, &event), 1);
	assert_int_equal(event.type, PERF_RECORD_LOST);
	assert_int_equal(event.lost, 3);
	nothing_more(f);
}

static void slots_of_the_dead_are_freed_and_those_of_the_living_are_not(void **state)
{
	struct fixture *f = *state;
	pid_t child = fork();

	if (!child)
		_exit(0);
	waitpid(child, NULL, 0);
	atomic_store(&f->area->states[4],
		     (uint32_t)child << SAMPLE_SLOT_OWNER_SHIFT | SAMPLE_SLOT_CLAIMED);
	atomic_store(&f->area->states[5],
		     (uint32_t)getpid() << SAMPLE_SLOT_OWNER_SHIFT | SAMPLE_SLOT_CLAIMED);
	area_reader_reclaim(f->reader);
	assert_int_equal(f->area->states[4], SAMPLE_SLOT_FREE);
	assert_int_not_equal(f->area->states[5], SAMPLE_SLOT_FREE);
	assert_int_equal(f->area->lost, 1);
}

static void who_goes_on_is_told_that_nobody_reads(void **state)
{
	struct fixture *f = *state;

	assert_int_equal(f->area->running, 1);
	area_reader_enable(f->reader, false);
	assert_int_equal(f->area->running, 0);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_setup_teardown(samples_come_by_time, set_up, tear_down),
		cmocka_unit_test_setup_teardown(a_stack_is_that_of_the_slot, set_up, tear_down),
		cmocka_unit_test_setup_teardown(stacks_that_were_left_follow_it, set_up, tear_down),
		cmocka_unit_test_setup_teardown(stacks_larger_than_the_slot_are_skipped, set_up,
						tear_down),
		cmocka_unit_test_setup_teardown(a_block_has_the_weight_of_its_chance, set_up,
						tear_down),
		cmocka_unit_test_setup_teardown(a_start_has_a_name_and_mappings, set_up, tear_down),
		cmocka_unit_test_setup_teardown(what_makes_no_sense_is_skipped, set_up, tear_down),
		cmocka_unit_test_setup_teardown(time_does_not_go_back_nor_ahead, set_up, tear_down),
		cmocka_unit_test_setup_teardown(losses_are_told_once, set_up, tear_down),
		cmocka_unit_test_setup_teardown(
			slots_of_the_dead_are_freed_and_those_of_the_living_are_not, set_up,
			tear_down),
		cmocka_unit_test_setup_teardown(who_goes_on_is_told_that_nobody_reads, set_up,
						tear_down),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
