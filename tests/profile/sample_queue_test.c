/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include <errno.h>
#include <pthread.h>
#include <stdio.h>

#include "profile/sample_queue.h"

/* More than a queue holds at once. */
#define ROUNDS 2000
#define FRAMES 40
#define NAME_SIZE 16

/* What the other thread has got so far. */
struct taken {
	uint64_t samples, records, rounds;
	uint64_t most; /* fail after so many samples; 0: never */
	char name[NAME_SIZE];
};

static int take_sample(void *ctx, const struct stack_sample *sample)
{
	struct taken *taken = ctx;

	assert_int_equal(sample->time, taken->samples);
	assert_string_equal(sample->event, taken->samples % 2 ? "odd" : "even");
	assert_int_equal(sample->count, taken->samples % FRAMES);
	for (size_t i = 0; i < sample->count; i++)
		assert_int_equal(sample->frames[i].pc, taken->samples + i);
	assert_null(sample->process);
	return ++taken->samples == taken->most ? -ENOMEM : 0;
}

static int take_record(void *ctx, const struct perf_event *event)
{
	struct taken *taken = ctx;
	char name[NAME_SIZE];

	/* each comes before the sample of its round */
	assert_int_equal(taken->records, taken->samples);
	snprintf(name, sizeof(name), "%d", (int)taken->records);
	assert_int_equal(event->type, taken->records % 3 ? PERF_RECORD_COMM : PERF_RECORD_MMAP2);
	assert_string_equal(taken->records % 3 ? event->comm.comm : event->mmap.filename, name);
	taken->records++;
	return 0;
}

static int take_round(void *ctx)
{
	struct taken *taken = ctx;

	taken->rounds++;
	return 0;
}

static const struct sample_sink sink = {
	.sample = take_sample,
	.record = take_record,
	.round = take_round,
};

static int give_one(struct sample_queue *queue, uint64_t number)
{
	struct bobbin_frame frames[FRAMES] = {0};
	struct perf_event event = {.type = PERF_RECORD_MMAP2};
	char name[NAME_SIZE];
	struct stack_sample sample = {
		.event_number = number % 2,
		.time = number,
		.frames = frames,
		.count = number % FRAMES,
	};
	int error;

	snprintf(name, sizeof(name), "%d", (int)number);
	event.mmap.filename = name;
	if (number % 3) {
		event.type = PERF_RECORD_COMM;
		event.comm.comm = name;
	}
	for (size_t i = 0; i < FRAMES; i++)
		frames[i].pc = number + i;
	error = sample_queue_sink.record(queue, &event);
	error = error ? error : sample_queue_sink.sample(queue, &sample);
	return error ? error : sample_queue_sink.round(queue);
}

/* Its first error, or NULL. */
static void *give(void *ctx)
{
	char odd[] = "odd", even[] = "even";
	const struct sample_event events[] = {{.name = even}, {.name = odd}};
	const struct sample_source source = {.events = events, .event_count = 2};
	int error = sample_queue_sink.begin(ctx, &source);

	/* the source's memory is gone when its samples are taken */
	memset(odd, 0, sizeof(odd));
	memset(even, 0, sizeof(even));
	for (uint64_t i = 0; i < ROUNDS && !error; i++)
		error = give_one(ctx, i);
	if (!error)
		error = sample_queue_sink.end(ctx, 0);
	return (void *)(intptr_t)error;
}

static int64_t exchange(struct taken *taken, int expected)
{
	struct sample_queue *queue;
	pthread_t giver;
	void *error;

	assert_int_equal(sample_queue_open(&queue), 0);
	assert_int_equal(pthread_create(&giver, NULL, give, queue), 0);
	assert_int_equal(sample_queue_run(queue, &sink, taken), expected);
	assert_int_equal(pthread_join(giver, &error), 0);
	sample_queue_close(queue);
	return (intptr_t)error;
}

static void all_is_handed_on_in_order(void **state)
{
	struct taken taken = {0};

	(void)state;
	assert_int_equal(exchange(&taken, 0), 0);
	assert_int_equal(taken.samples, ROUNDS);
	assert_int_equal(taken.records, ROUNDS);
	assert_true(taken.rounds > 1);
}

/* It waits for room, which there will not be. */
static void who_gives_is_told_that_nobody_takes(void **state)
{
	struct taken taken = {.most = 3};

	(void)state;
	assert_int_equal(exchange(&taken, -ENOMEM), -EPIPE);
	assert_int_equal(taken.samples, 3);
}

static void a_queue_tells_that_it_fills_up(void **state)
{
	struct bobbin_frame frames[FRAMES] = {0};
	const struct stack_sample sample = {.frames = frames, .count = FRAMES};
	size_t size = sizeof(sample) + sizeof(frames), given = 0;
	struct sample_queue *queue;

	(void)state;
	assert_int_equal(sample_queue_open(&queue), 0);
	while (!sample_queue_fills_up(queue)) {
		assert_int_equal(sample_queue_sink.sample(queue, &sample), 0);
		given += size;
	}
	assert_in_range(given, SAMPLE_QUEUE_BYTES / 2 - SAMPLE_QUEUE_BYTES / 8,
			SAMPLE_QUEUE_BYTES / 2 + size);
	sample_queue_close(queue);
}

static void a_source_that_never_began_can_end(void **state)
{
	struct sample_queue *queue;
	struct taken taken = {0};

	(void)state;
	assert_int_equal(sample_queue_open(&queue), 0);
	sample_queue_end(queue);
	assert_int_equal(sample_queue_run(queue, &sink, &taken), 0);
	assert_int_equal(taken.rounds, 0);
	sample_queue_close(queue);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(all_is_handed_on_in_order),
		cmocka_unit_test(who_gives_is_told_that_nobody_takes),
		cmocka_unit_test(a_queue_tells_that_it_fills_up),
		cmocka_unit_test(a_source_that_never_began_can_end),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
