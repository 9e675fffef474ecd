/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
#include "cli/stack_view.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <string.h>

#include <cmocka.h>

static struct call_frame frames[] = {{.name = "main"}, {.name = "lex"}};
static const struct stack_sample sample = {.pid = 4711, .tid = 4713};

/* The frames of a stack of @count, as "main;lex". */
static const char *view(struct stack_view *view, size_t count, enum wall_side side)
{
	static char text[256];
	const struct named_stack stack = {.frames = frames, .count = count};
	const struct call_frame *seen;
	ssize_t n = stack_view_make(view, &sample, &stack, side, &seen);

	*text = '\0';
	for (ssize_t i = 0; i < n; i++) {
		strcat(text, i ? ";" : "");
		strcat(text, seen[i].name);
	}
	return text;
}

static void a_stack_is_shown_as_it_is(void **state)
{
	struct stack_view plain = {0};

	assert_string_equal(view(&plain, 2, WALL_NONE), "main;lex");
	assert_string_equal(view(&plain, 0, WALL_NONE), "");
	assert_null(plain.frames);
	stack_view_fini(&plain);
}

static void processes_and_threads_go_before_it(void **state)
{
	struct stack_view both = {.by_process = true, .by_thread = true};
	struct stack_view thread = {.by_thread = true};

	assert_string_equal(view(&both, 2, WALL_NONE), "[process 4711];[thread 4713];main;lex");
	assert_string_equal(view(&both, 0, WALL_NONE), "[process 4711];[thread 4713]");
	assert_string_equal(view(&thread, 1, WALL_NONE), "[thread 4713];main");
	stack_view_fini(&both);
	stack_view_fini(&thread);
}

static void what_a_thread_did_with_the_time_is_at_an_end(void **state)
{
	struct stack_view last = {.by_thread = true},
			  first = {.by_thread = true, .sides_first = true};

	assert_string_equal(view(&last, 2, WALL_ON_CPU), "[thread 4713];main;lex;[on CPU]");
	assert_int_equal(last.frames[3].kind, FRAME_ON_CPU);
	assert_string_equal(view(&last, 2, WALL_OFF_CPU), "[thread 4713];main;lex;[off CPU]");
	assert_int_equal(last.frames[3].kind, FRAME_OFF_CPU);
	assert_string_equal(view(&first, 2, WALL_PREEMPTED), "[thread 4713];[preempted];main;lex");
	stack_view_fini(&last);
	stack_view_fini(&first);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(a_stack_is_shown_as_it_is),
		cmocka_unit_test(processes_and_threads_go_before_it),
		cmocka_unit_test(what_a_thread_did_with_the_time_is_at_an_end),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
