/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
#include <setjmp.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "profile/trace_payload.h"

struct chain {
	struct bobbin_frame frames[TRACE_CHAIN_MAX];
	struct bobbin_trace trace;
	struct trace_gaps gaps;
};

#define LEFT_OUT 1000
#define OUTER 2000

/* A letter is a frame, a dot stands for those that were left out. */
static void chain_init(struct chain *c, const char *letters)
{
	*c = (struct chain){.trace = {.frames = c->frames, .reason = BOBBIN_REASON_OUTERMOST}};
	for (; letters[c->trace.count]; c->trace.count++) {
		bool mark = letters[c->trace.count] == '.';

		c->frames[c->trace.count] = (struct bobbin_frame){
			.pc = mark ? LEFT_OUT : (uint64_t)letters[c->trace.count],
			.source = mark ? BOBBIN_SOURCE_LEFT_OUT : BOBBIN_SOURCE_EH_FRAME,
			.exact = !c->trace.count,
		};
	}
}

/* Below them are more frames than perf reads, none like another. */
static void deep_chain_init(struct chain *c, const char *letters)
{
	chain_init(c, letters);
	for (uint32_t i = 0; i < TRACE_WHOLE_MAX; i++)
		c->frames[c->trace.count++] = (struct bobbin_frame){
			.pc = OUTER + i,
			.source = BOBBIN_SOURCE_EH_FRAME,
		};
}

static void assert_chain(const struct chain *c, const char *letters)
{
	assert_int_equal(c->trace.count, strlen(letters) + TRACE_WHOLE_MAX);
	for (size_t i = 0; i < strlen(letters); i++)
		assert_int_equal(c->frames[i].pc, letters[i] == '.' ? 0 : (uint64_t)letters[i]);
}

static void assert_gap(const struct trace_gap *gap, uint32_t at, uint32_t period, uint32_t count)
{
	assert_int_equal(gap->at, at);
	assert_int_equal(gap->period, period);
	assert_int_equal(gap->count, count);
}

static void what_recurs_is_taken_out(void **state)
{
	char letters[TRACE_WHOLE_MAX + 2];
	struct chain c;

	(void)state;
	deep_chain_init(&c, "lfffffffffm");
	trace_gaps_take(&c.trace, &c.gaps);
	assert_chain(&c, "lffm");
	assert_int_equal(c.gaps.count, 1);
	assert_gap(&c.gaps.gaps[0], 3, 1, 7);

	deep_chain_init(&c, "labcabcabcabcam");
	trace_gaps_take(&c.trace, &c.gaps);
	assert_chain(&c, "labcabcam");
	assert_gap(&c.gaps.gaps[0], 7, 3, 6);

	/* up to the end of a trace that was cut off */
	memset(letters, 'f', TRACE_WHOLE_MAX + 1);
	letters[TRACE_WHOLE_MAX + 1] = '\0';
	chain_init(&c, letters);
	trace_gaps_take(&c.trace, &c.gaps);
	assert_int_equal(c.trace.count, 3);
	assert_gap(&c.gaps.gaps[0], 3, 1, TRACE_WHOLE_MAX - 2);
}

static void a_short_recursion_stays(void **state)
{
	struct chain c;

	(void)state;
	deep_chain_init(&c, "lfffffm");
	trace_gaps_take(&c.trace, &c.gaps);
	assert_chain(&c, "lfffffm");
	assert_int_equal(c.gaps.count, 0);
	/* the leaf's address is exact */
	deep_chain_init(&c, "fffffff");
	trace_gaps_take(&c.trace, &c.gaps);
	assert_chain(&c, "fff");
	assert_gap(&c.gaps.gaps[0], 3, 1, 4);
}

static void what_perf_reads_stays(void **state)
{
	char letters[TRACE_WHOLE_MAX + 1];
	struct chain c;

	(void)state;
	memset(letters, 'f', TRACE_WHOLE_MAX);
	letters[TRACE_WHOLE_MAX] = '\0';
	chain_init(&c, letters);
	trace_gaps_take(&c.trace, &c.gaps);
	assert_int_equal(c.trace.count, TRACE_WHOLE_MAX);
	assert_int_equal(c.gaps.count, 0);
}

static void a_mark_stands_where_frames_were_left_out(void **state)
{
	struct chain c;

	(void)state;
	deep_chain_init(&c, "lfffffffff.ggggggggm");
	trace_gaps_take(&c.trace, &c.gaps);
	assert_chain(&c, "lff.ggm");
	assert_int_equal(c.gaps.count, 3);
	assert_gap(&c.gaps.gaps[0], 3, 1, 7);
	assert_gap(&c.gaps.gaps[1], 3, 0, LEFT_OUT);
	assert_gap(&c.gaps.gaps[2], 6, 1, 6);
}

static void there_is_a_limit_of_gaps(void **state)
{
	char letters[TRACE_CHAIN_MAX + 1];
	struct chain c;

	(void)state;
	for (size_t i = 0; i < TRACE_CHAIN_MAX; i++)
		letters[i] = (char)('a' + i / 50);
	letters[TRACE_CHAIN_MAX - 11] = '.';
	letters[TRACE_CHAIN_MAX] = '\0';
	chain_init(&c, letters);
	trace_gaps_take(&c.trace, &c.gaps);
	assert_true(c.gaps.count <= TRACE_GAPS_MAX);
	assert_gap(&c.gaps.gaps[c.gaps.count - 1], c.trace.count - 11, 0, LEFT_OUT);
}

static void a_payload_says_what_was_written(void **state)
{
	uint8_t bytes[TRACE_PAYLOAD_MAX + 8] = {0};
	struct bobbin_frame frames[TRACE_CHAIN_MAX] = {0};
	struct trace_payload payload;
	struct chain c;
	size_t size;

	(void)state;
	deep_chain_init(&c, "lffffffffffffm");
	trace_gaps_take(&c.trace, &c.gaps);
	size = trace_payload_write(&c.trace, &c.gaps, bytes);
	assert_true(trace_payload_read(bytes, size + 7, frames, 4, &payload));
	assert_int_equal(payload.reason, BOBBIN_REASON_OUTERMOST);
	assert_int_equal(payload.gaps.count, 1);
	assert_gap(&payload.gaps.gaps[0], 3, 1, 10);
	assert_true(frames[0].exact && !frames[1].exact);
	/* without gaps, as 0.1 wrote it: padding follows */
	chain_init(&c, "lm");
	trace_gaps_take(&c.trace, &c.gaps);
	memset(bytes, 0, sizeof(bytes));
	assert_int_equal(trace_payload_write(&c.trace, &c.gaps, bytes), 6);
	for (size_t padding = 0; padding < 8; padding++) {
		assert_true(trace_payload_read(bytes, 6 + padding, frames, 2, &payload));
		assert_int_equal(payload.gaps.count, 0);
	}
}

/* The reader's memory was used by earlier samples. */
static void frames_that_a_payload_lacks_have_no_source(void **state)
{
	struct bobbin_frame frames[3];
	uint8_t bytes[TRACE_PAYLOAD_MAX];
	struct trace_payload payload;
	struct chain c;

	(void)state;
	memset(frames, 0xff, sizeof(frames));
	chain_init(&c, "lm");
	trace_gaps_take(&c.trace, &c.gaps);
	assert_true(trace_payload_read(bytes, trace_payload_write(&c.trace, &c.gaps, bytes), frames,
				       3, &payload));
	assert_int_equal(frames[2].source, BOBBIN_SOURCE_NONE);
	assert_false(frames[2].exact);
}

/* For any bytes, a gap repeats existing frames. */
static void gaps_that_make_no_sense_are_ignored(void **state)
{
	struct bobbin_frame frames[8];
	struct trace_payload payload;

	(void)state;
	srand(1);
	for (unsigned int round = 0; round < 200000; round++) {
		size_t size = (size_t)rand() % 64, count = (size_t)rand() % 8;
		uint8_t *bytes = malloc(size ? size : 1);
		uint32_t before = 0;

		assert_non_null(bytes);
		for (size_t i = 0; i < size; i++)
			bytes[i] = rand() % 2 ? 0 : (uint8_t)(rand() % 6);
		if (size > 4) {
			bytes[0] = 1;
			bytes[2] = (uint8_t)count;
			bytes[3] = 0;
		}
		payload.gaps.count = 0;
		if (trace_payload_read(bytes, size, frames, count, &payload))
			assert_true(payload.gaps.count <= TRACE_GAPS_MAX);
		for (uint32_t i = 0; i < payload.gaps.count; i++) {
			const struct trace_gap *gap = &payload.gaps.gaps[i];

			assert_true(gap->at >= before && gap->at <= count && gap->count);
			assert_true(gap->period ? gap->period <= gap->at : gap->at < count);
			before = gap->at;
		}
		free(bytes);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(what_recurs_is_taken_out),
		cmocka_unit_test(a_short_recursion_stays),
		cmocka_unit_test(what_perf_reads_stays),
		cmocka_unit_test(a_mark_stands_where_frames_were_left_out),
		cmocka_unit_test(there_is_a_limit_of_gaps),
		cmocka_unit_test(a_payload_says_what_was_written),
		cmocka_unit_test(frames_that_a_payload_lacks_have_no_source),
		cmocka_unit_test(gaps_that_make_no_sense_are_ignored),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
