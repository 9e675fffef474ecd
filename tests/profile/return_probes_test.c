/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * Return addresses that the kernel has replaced are put back into copies of stacks, or left alone.
 */
#include <errno.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "base/native_arch.h"
#include "profile/probe_event.h"
#include "profile/stack_sample.h"
#include "unwind/space.h"

/* The kernel's page, a stack, and places that functions are called from. */
#define PAGE 0x7fffffffe000u
#define STACK 0x7000
#define WORDS 16
#define PLACE(i) (0x401000u + (i))

/* asm/perf_regs.h */
#define SP 7
#define IP 8

/* Nothing is opened here. */
int sampler_add(struct sampler *sampler, const struct sampler_options *options,
		const struct perf_event_attr *attr, struct sampler_events *ret)
{
	return -ENOSYS;
}

const struct sampler_source *sampler_source(const struct sampler *sampler, size_t i)
{
	return NULL;
}

void sampler_attr_tell_nothing(struct perf_event_attr *attr)
{
}

void sampler_events_close(struct sampler_events *events)
{
}

bool sampler_events_have(const struct sampler_events *events, uint64_t id)
{
	return false;
}

struct bench {
	struct bobbin_space space;
	struct process process;
	struct thread thread;
	struct return_probes probes;
	uint64_t stack[WORDS], regs[64];
};

static int set_up(void **state)
{
	struct bench *b = calloc(1, sizeof(*b));

	b->space.maps.probes = PAGE;
	b->process.space = &b->space;
	b->thread.process = &b->process;
	b->probes.copy = malloc(65536);
	*state = b;
	return 0;
}

static int tear_down(void **state)
{
	struct bench *b = *state;

	free(b->thread.calls);
	free(b->probes.copy);
	free(b);
	return 0;
}

static struct perf_event sample_at(struct bench *b, unsigned int word, uint64_t pc)
{
	struct perf_event event = {.type = PERF_RECORD_SAMPLE};
	struct perf_sample *sample = &event.sample;

	sample->regs_abi = PERF_SAMPLE_REGS_ABI_64;
	sample->regs_mask = sample_regs_mask(native_arch());
	sample->regs = b->regs;
	/* these are the first ones of the mask */
	b->regs[SP] = STACK + 8 * word;
	b->regs[IP] = pc;
	sample->stack = (const uint8_t *)&b->stack[word];
	sample->stack_size = sample->dyn_size = 8 * (WORDS - word);
	return event;
}

/* A call: its return address at a word of the stack, which the kernel replaces then. */
static void call(struct bench *b, unsigned int word, uint64_t from)
{
	struct perf_event event;

	b->stack[word] = from;
	event = sample_at(b, word, 0x402000);
	assert_int_equal(return_probes_enter(&b->thread, &event), 0);
	b->stack[word] = PAGE;
}

static uint64_t restored(struct bench *b, unsigned int from, unsigned int word)
{
	struct perf_event event = sample_at(b, from, 0x403000);
	uint64_t value;

	return_probes_restore(&b->probes, &b->thread, &event.sample);
	memcpy(&value, event.sample.stack + 8 * (word - from), 8);
	return value;
}

static void return_addresses_are_put_back(void **state)
{
	struct bench *b = *state;

	call(b, 12, PLACE(1));
	call(b, 8, PLACE(2));
	call(b, 4, PLACE(3));
	assert_int_equal(restored(b, 2, 12), PLACE(1));
	assert_int_equal(restored(b, 2, 8), PLACE(2));
	assert_int_equal(restored(b, 2, 4), PLACE(3));
	/* in the copy alone */
	assert_int_equal(b->stack[8], PAGE);
	/* the stack may begin above a call that has returned */
	assert_int_equal(restored(b, 6, 8), PLACE(2));
}

static void other_words_are_left_alone(void **state)
{
	struct bench *b = *state;

	call(b, 12, PLACE(1));
	b->stack[12] = 77;
	b->stack[10] = PAGE;
	assert_int_equal(restored(b, 2, 12), 77);
	assert_int_equal(restored(b, 2, 10), PAGE);
}

static void later_call_takes_the_place_of_what_has_returned(void **state)
{
	struct bench *b = *state;

	call(b, 4, PLACE(1));
	call(b, 4, PLACE(2));
	assert_int_equal(restored(b, 2, 4), PLACE(2));
	/* that one is deeper than this */
	call(b, 12, PLACE(3));
	assert_int_equal(restored(b, 2, 4), PAGE);
	assert_int_equal(restored(b, 2, 12), PLACE(3));
}

static void function_that_is_jumped_to_returns_for_its_caller(void **state)
{
	struct bench *b = *state;

	call(b, 8, PLACE(1));
	call(b, 8, PAGE);
	assert_int_equal(restored(b, 2, 8), PLACE(1));
}

static void deeper_calls_than_the_kernel_replaces_are_not_kept(void **state)
{
	struct bench *b = *state;

	/* each deeper than the one before */
	for (unsigned int i = 0; i < 100; i++) {
		struct perf_event event = sample_at(b, 8, 0x402000);

		b->stack[8] = PLACE(i);
		b->regs[SP] = STACK + 8 * (200 - i);
		assert_int_equal(return_probes_enter(&b->thread, &event), 0);
	}
	call(b, 4, PLACE(3));
	assert_int_equal(restored(b, 2, 4), PAGE);
}

static void child_has_the_calls_of_its_parent(void **state)
{
	struct bench *b = *state;
	struct thread child = {.process = &b->process};
	struct perf_event event;
	uint64_t value;

	call(b, 8, PLACE(1));
	assert_int_equal(return_probes_fork(&b->thread, &child), 0);
	call(b, 8, PLACE(2));
	event = sample_at(b, 2, 0x403000);
	return_probes_restore(&b->probes, &child, &event.sample);
	memcpy(&value, event.sample.stack + 8 * 6, 8);
	assert_int_equal(value, PLACE(1));
	free(child.calls);
}

static void assert_back(struct bench *b, unsigned int offset, unsigned int word)
{
	struct perf_event event = sample_at(b, word, PAGE + offset);
	uint64_t value;

	return_probes_restore(&b->probes, &b->thread, &event.sample);
	assert_true(perf_sample_reg(&event.sample, IP, &value));
	assert_int_equal(value, PLACE(1));
	assert_true(perf_sample_reg(&event.sample, SP, &value));
	assert_int_equal(value, STACK + 8 * 9);
	assert_int_equal(event.sample.dyn_size, 8 * (WORDS - 9));
	memcpy(&value, event.sample.stack, 8);
	assert_int_equal(value, 99);
}

static void thread_in_the_page_is_taken_to_the_caller(void **state)
{
	struct bench *b = *state;
	struct perf_event event;
	uint64_t value;

	call(b, 8, PLACE(1));
	b->stack[9] = 99;
	assert_back(b, 0, 9);
	assert_back(b, 1, 8);
	assert_back(b, 2, 7);
	assert_back(b, 4, 6);
	assert_back(b, 13, 6);
	assert_back(b, 15, 7);
	assert_back(b, 16, 8);
	/* nobody was called there */
	event = sample_at(b, 5, PAGE + 4);
	return_probes_restore(&b->probes, &b->thread, &event.sample);
	assert_true(perf_sample_reg(&event.sample, IP, &value));
	assert_int_equal(value, PAGE + 4);
	/* less than that is copied */
	event = sample_at(b, 6, PAGE + 4);
	event.sample.dyn_size = 8;
	return_probes_restore(&b->probes, &b->thread, &event.sample);
	assert_int_equal(event.sample.dyn_size, 0);
}

static void sample_that_lacks_something_is_left_alone(void **state)
{
	struct bench *b = *state;
	struct perf_event event;

	event = sample_at(b, 8, 0x402000);
	event.sample.dyn_size = 4;
	assert_int_equal(return_probes_enter(&b->thread, &event), 0);
	assert_null(b->thread.calls);
	event = sample_at(b, 8, 0x402000);
	event.sample.regs = NULL;
	assert_int_equal(return_probes_enter(&b->thread, &event), 0);
	assert_null(b->thread.calls);
	call(b, 8, PLACE(1));
	event = sample_at(b, 2, 0x403000);
	event.sample.dyn_size = 8 * 6 + 7;
	return_probes_restore(&b->probes, &b->thread, &event.sample);
	assert_ptr_equal(event.sample.stack, &b->stack[2]);
	b->space.maps.probes = 0;
	assert_int_equal(restored(b, 2, 8), PAGE);
}

#define TEST(name) cmocka_unit_test_setup_teardown(name, set_up, tear_down)

int main(void)
{
	const struct CMUnitTest tests[] = {
		TEST(return_addresses_are_put_back),
		TEST(other_words_are_left_alone),
		TEST(later_call_takes_the_place_of_what_has_returned),
		TEST(function_that_is_jumped_to_returns_for_its_caller),
		TEST(deeper_calls_than_the_kernel_replaces_are_not_kept),
		TEST(child_has_the_calls_of_its_parent),
		TEST(thread_in_the_page_is_taken_to_the_caller),
		TEST(sample_that_lacks_something_is_left_alone),
	};

	/* elsewhere the return address is in a register first */
	if (native_arch() != bobbin_arch_amd64())
		return 77;
	return cmocka_run_group_tests(tests, NULL, NULL);
}
