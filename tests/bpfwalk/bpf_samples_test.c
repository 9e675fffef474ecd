/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* Samples from the ring of the kernel's program: all of them, by time, and what is not known. */
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

struct fixture {
	struct bpf_samples samples;
	uint64_t consumer, epoch, written;
	uint8_t *memory;
	struct bpf_trace trace;
};

static int open_ring(void **state)
{
	struct fixture *f = calloc(1, sizeof(*f));

	f->memory = calloc(1, PAGE + 2 * (size_t)RING_SIZE);
	stack_intern_init(&f->samples.store);
	f->samples.epoch = &f->epoch;
	f->samples.wake = -1;
	f->samples.ring = (struct record_ring){
		.consumer = &f->consumer, .producer = f->memory, .size = RING_SIZE, .page = PAGE};
	*state = f;
	return 0;
}

static int close_ring(void **state)
{
	struct fixture *f = *state;

	stack_intern_fini(&f->samples.store);
	free(f->samples.list);
	free(f->memory);
	free(f);
	return 0;
}

/* As bpf_ringbuf_output() writes it: the size, a word that is not used, and the record. */
static void write_record(struct fixture *f, struct kernel_sample_head head, const uint64_t *words,
			 uint32_t count)
{
	uint8_t *at = f->memory + PAGE + f->written;
	uint32_t size = (uint32_t)sizeof(head) + 8 * count;

	memcpy(at, &size, sizeof(size));
	memcpy(at + 8, &head, sizeof(head));
	if (count)
		memcpy(at + 8 + sizeof(head), words, 8ull * count);
	f->written += 8 + size;
	assert_true(f->written <= RING_SIZE);
	memcpy(f->memory, &f->written, sizeof(f->written));
}

static void all_are_taken_by_time(void **state)
{
	struct fixture *f = *state;

	for (uint64_t i = 0; i < MANY; i++)
		write_record(f,
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
	assert_int_equal(f->consumer, f->written);
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
	write_record(f, known, words, 2);
	write_record(f, user, words, 2);
	write_record(f, chain, words, 3);
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

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_setup_teardown(all_are_taken_by_time, open_ring, close_ring),
		cmocka_unit_test_setup_teardown(a_part_that_is_not_known_is_counted, open_ring,
						close_ring),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
