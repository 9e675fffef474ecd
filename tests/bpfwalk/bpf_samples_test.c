/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* Samples from the rings of the kernel's program: all of them, by time, what is not known or late. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "bpfwalk/bpf_samples.h"

/* More than twice what may wait. */
#define MANY 300000
#define RING_SIZE (16u << 20)
#define PAGE 4096

/* The memory of a ring. */
struct test_ring {
	uint64_t consumer, written;
	uint8_t *memory;
};

struct fixture {
	struct bpf_samples samples;
	uint64_t epoch;
	struct test_ring ring, late;
	struct bpf_trace trace;
};

static struct record_ring make_ring(struct test_ring *r)
{
	r->memory = calloc(1, PAGE + 2 * (size_t)RING_SIZE);
	assert_non_null(r->memory);
	return (struct record_ring){
		.consumer = &r->consumer, .producer = r->memory, .size = RING_SIZE, .page = PAGE};
}

static int open_rings(void **state)
{
	struct fixture *f = calloc(1, sizeof(*f));

	stack_intern_init(&f->samples.store);
	f->samples.epoch = &f->epoch;
	f->samples.wake = -1;
	f->samples.ring = make_ring(&f->ring);
	f->samples.late_ring = make_ring(&f->late);
	*state = f;
	return 0;
}

static int close_rings(void **state)
{
	struct fixture *f = *state;

	stack_intern_fini(&f->samples.store);
	free(f->samples.list);
	free(f->ring.memory);
	free(f->late.memory);
	free(f);
	return 0;
}

/* As bpf_ringbuf_output() writes it: the size, a word that is not used, and the record. */
static void write_record(struct test_ring *r, struct kernel_sample_head head, const uint64_t *words,
			 uint32_t count)
{
	uint8_t *at = r->memory + PAGE + r->written;
	uint32_t size = (uint32_t)sizeof(head) + 8 * count;

	memcpy(at, &size, sizeof(size));
	memcpy(at + 8, &head, sizeof(head));
	if (count)
		memcpy(at + 8 + sizeof(head), words, 8ull * count);
	r->written += 8 + size;
	assert_true(r->written <= RING_SIZE);
	memcpy(r->memory, &r->written, sizeof(r->written));
}

static void all_are_taken_by_time(void **state)
{
	struct fixture *f = *state;

	for (uint64_t i = 0; i < MANY; i++)
		write_record(&f->ring,
			     (struct kernel_sample_head){
				     .time = 10 + (i ^ 1), .outer = 7, .flags = KERNEL_FROM_ROOT},
			     NULL, 0);
	assert_int_equal(bpf_samples_collect(&f->samples), 0);
	for (uint64_t i = 0; i < MANY; i++) {
		assert_int_equal(bpf_samples_time(&f->samples), 10 + i);
		bpf_samples_next(&f->samples, &f->trace);
		assert_int_equal(f->trace.head.time, 10 + i);
	}
	assert_int_equal(bpf_samples_time(&f->samples), UINT64_MAX);
	assert_int_equal(f->samples.records, MANY);
	assert_int_equal(f->ring.consumer, f->ring.written);
}

static void a_part_that_is_not_known_is_counted(void **state)
{
	struct fixture *f = *state;
	const uint64_t words[] = {0x1000, 0xffffffff81000000, 12345};
	const struct kernel_sample_head known = {
		.time = 1,
		.outer = 7,
		.count = 1,
		.chain = 1,
		.flags = KERNEL_FROM_ROOT | KERNEL_HAS_CHAIN | KERNEL_CHAIN_FROM_ROOT,
	};
	struct kernel_sample_head user = known, chain = known;

	user.time = 2;
	user.flags = KERNEL_HAS_CHAIN | KERNEL_CHAIN_FROM_ROOT;
	chain.time = 3;
	chain.flags = KERNEL_FROM_ROOT | KERNEL_HAS_CHAIN;
	write_record(&f->ring, known, words, 2);
	write_record(&f->ring, user, words, 2);
	write_record(&f->ring, chain, words, 3);
	assert_int_equal(bpf_samples_collect(&f->samples), 0);
	assert_int_equal(f->samples.broken, 0);
	assert_int_equal(f->samples.unknown, 2);
	bpf_samples_next(&f->samples, &f->trace);
	assert_int_equal(f->trace.count, 1);
	assert_int_equal(f->trace.chain_count, 2);
	bpf_samples_next(&f->samples, &f->trace);
	assert_int_equal(f->trace.count, 0);
	assert_int_equal(f->trace.chain_count, 2);
	bpf_samples_next(&f->samples, &f->trace);
	assert_int_equal(f->trace.count, 1);
	assert_int_equal(f->trace.chain_count, 0);
}

static void a_stack_that_was_walked_late_takes_the_place_of_a_part(void **state)
{
	struct fixture *f = *state;
	const uint64_t part[] = {0x1000, 77}, whole[] = {0x1000, 0x2000, 77};
	const struct kernel_sample_head first = {
		.time = 1, .outer = 7, .count = 1, .flags = KERNEL_FROM_ROOT | KERNEL_HAS_COOKIE};
	struct kernel_sample_head late = first, second = first;

	late.outer = 8;
	late.count = 2;
	second.time = 2;
	write_record(&f->ring, first, part, 2);
	assert_int_equal(bpf_samples_collect(&f->samples), 0);
	bpf_samples_next(&f->samples, &f->trace);
	assert_int_equal(f->trace.cookie, 77);
	assert_int_equal(f->trace.count, 1);
	write_record(&f->late, late, whole, 3);
	write_record(&f->ring, second, part, 2);
	assert_int_equal(bpf_samples_collect(&f->samples), 0);
	bpf_samples_next(&f->samples, &f->trace);
	assert_int_equal(f->trace.cookie, 0);
	assert_int_equal(f->trace.list, 8);
	assert_int_equal(f->trace.count, 2);
	assert_int_equal(f->samples.late_count, 1);
}

static void frames_that_are_left_out_are_counted(void **state)
{
	struct fixture *f = *state;
	const uint64_t part[] = {0x1000, 77, 500}, whole[] = {0x1000, 0x2000, 77, 600};
	const struct kernel_sample_head first = {.time = 1,
						 .outer = 7,
						 .count = 1,
						 .flags = KERNEL_FROM_ROOT | KERNEL_HAS_COOKIE |
							  KERNEL_HAS_GAP};
	struct kernel_sample_head late = first, plain = first;

	late.count = 2;
	plain.time = 3;
	plain.flags = KERNEL_FROM_ROOT;
	write_record(&f->ring, first, part, 3);
	assert_int_equal(bpf_samples_collect(&f->samples), 0);
	bpf_samples_next(&f->samples, &f->trace);
	assert_int_equal(f->trace.left_out, 500);
	write_record(&f->late, late, whole, 4);
	write_record(&f->ring, first, part, 3);
	write_record(&f->ring, plain, part, 1);
	assert_int_equal(bpf_samples_collect(&f->samples), 0);
	bpf_samples_next(&f->samples, &f->trace);
	assert_int_equal(f->trace.cookie, 0);
	assert_int_equal(f->trace.left_out, 600);
	bpf_samples_next(&f->samples, &f->trace);
	assert_int_equal(f->trace.left_out, 0);
}

static void more_frames_than_are_walked_are_not_left_out(void **state)
{
	struct fixture *f = *state;
	const uint64_t words[] = {0x1000, KERNEL_DEEP_FRAMES};
	const struct kernel_sample_head head = {
		.time = 1, .outer = 7, .count = 1, .flags = KERNEL_FROM_ROOT | KERNEL_HAS_GAP};

	write_record(&f->ring, head, words, 2);
	write_record(&f->ring, head, words, 1);
	assert_int_equal(bpf_samples_collect(&f->samples), 0);
	assert_int_equal(f->samples.broken, 2);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_setup_teardown(all_are_taken_by_time, open_rings, close_rings),
		cmocka_unit_test_setup_teardown(a_part_that_is_not_known_is_counted, open_rings,
						close_rings),
		cmocka_unit_test_setup_teardown(
			a_stack_that_was_walked_late_takes_the_place_of_a_part, open_rings,
			close_rings),
		cmocka_unit_test_setup_teardown(frames_that_are_left_out_are_counted, open_rings,
						close_rings),
		cmocka_unit_test_setup_teardown(more_frames_than_are_walked_are_not_left_out,
						open_rings, close_rings),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
