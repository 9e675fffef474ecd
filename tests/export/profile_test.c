/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
#include "export/profile.h"

#include <errno.h>
#include <string.h>

#include "export/profile_format.h"
#include "export/profile_frames.h"
#include "stacks.h"

#define THREADS 3
#define SAMPLES 1000

static struct profile *open_profile(bool timed)
{
	const struct profile_event clock = {.name = "cpu-clock", .unit = "nanoseconds"};
	struct profile *p;
	uint32_t id;

	assert_int_equal(profile_open(timed, &p), 0);
	assert_int_equal(profile_event(p, &clock, &id), 0);
	assert_int_equal(id, 0);
	return p;
}

static uint32_t thread_of(struct profile *p, int tid, const char *comm)
{
	const struct profile_thread thread = {.pid = 1, .tid = tid, .comm = comm};
	uint32_t id;

	assert_int_equal(profile_thread(p, &thread, &id), 0);
	return id;
}

static uint32_t mapping_of(struct profile *p, const char *path, uint64_t start)
{
	const struct profile_mapping mapping = {.path = path, .start = start, .end = start + 1};
	uint32_t id;

	assert_int_equal(profile_mapping(p, &mapping, &id), 0);
	return id;
}

static uint32_t function_of(struct profile *p, const char *name, const char *dso)
{
	const struct profile_function function = {.name = name, .dso = dso};
	uint32_t id;

	assert_int_equal(profile_function(p, &function, &id), 0);
	return id;
}

static uint32_t location_of(struct profile *p, uint64_t address, uint32_t function, uint32_t line)
{
	const struct profile_line lines[] = {{function, line}};
	uint32_t id;

	assert_int_equal(profile_location(p, address, PROFILE_NONE, lines, 1, &id), 0);
	return id;
}

static uint32_t stack_of(struct profile *p, uint32_t caller, uint32_t location)
{
	uint32_t id;

	assert_int_equal(profile_stack(p, caller, location, &id), 0);
	return id;
}

static void frames_are_outermost_first_and_inlined_ones_apart(void **state)
{
	struct profile *p = open_profile(false);
	const struct profile_line lines[] = {{function_of(p, "inlined", "lib.so"), 3},
					     {function_of(p, PROFILE_UNKNOWN, "lib.so"), 0}};
	const uint32_t outer = stack_of(p, PROFILE_ROOT,
					location_of(p, 16, function_of(p, "main", "a.out"), 7));
	struct profile_frames frames = {0};
	uint32_t location;

	assert_int_equal(profile_location(p, 32, PROFILE_NONE, lines, 2, &location), 0);
	assert_int_equal(profile_frames_of(p, stack_of(p, outer, location), &frames), 0);
	assert_int_equal(frames.count, 3);
	assert_string_equal(frames.frames[0].name, "main");
	assert_string_equal(frames.frames[0].dso, "a.out");
	assert_null(frames.frames[1].name);
	assert_string_equal(frames.frames[2].name, "inlined");
	assert_string_equal(frames.frames[2].dso, "lib.so");
	assert_int_equal(profile_frames_of(p, PROFILE_ROOT, &frames), 0);
	assert_int_equal(frames.count, 0);
	profile_frames_fini(&frames);
	profile_close(p);
}

static void frames_have_places_if_they_are_asked_for(void **state)
{
	struct profile *p = open_profile(false);
	const struct profile_function function = {
		.name = "main", .dso = "a.out", .src_file = "src/main.c"};
	struct profile_frames plain = {0}, placed = {.lines = true};
	uint32_t id, stack;

	assert_int_equal(profile_function(p, &function, &id), 0);
	stack = stack_of(p, PROFILE_ROOT, location_of(p, 16, id, 7));
	stack = stack_of(p, stack, location_of(p, 32, function_of(p, "f", "a.out"), 0));
	assert_int_equal(profile_frames_of(p, stack, &plain), 0);
	assert_null(plain.frames[0].place);
	assert_int_equal(profile_frames_of(p, stack, &placed), 0);
	assert_string_equal(placed.frames[0].place, "main.c:7");
	assert_null(placed.frames[1].place);
	profile_frames_fini(&plain);
	profile_frames_fini(&placed);
	profile_close(p);
}

static void samples_of_several_cpus_may_be_told_apart(void **state)
{
	for (int by_cpu = 0; by_cpu < 2; by_cpu++) {
		struct profile *p = open_profile(false);
		struct profile_sample sample = {.thread = thread_of(p, 1, "a"), .weight = 1};

		p->by_cpu = by_cpu;
		for (sample.cpu = 1; sample.cpu <= 2; sample.cpu++)
			assert_int_equal(profile_add(p, &sample), 0);
		assert_int_equal(p->total_count, 1 + by_cpu);
		assert_int_equal(p->totals[by_cpu].cpu, 2 * by_cpu);
		profile_close(p);
	}
}

static void each_thing_is_there_once(void **state)
{
	struct profile *p = open_profile(false);
	char name[] = "main";
	const uint32_t function = function_of(p, "main", "a.out");
	const uint32_t location = location_of(p, 16, function, 7);
	const uint32_t stack = stack_of(p, PROFILE_ROOT, location);
	const uint32_t inner = stack_of(p, stack, location);

	assert_int_equal(thread_of(p, 2, "one"), thread_of(p, 2, "one"));
	assert_int_not_equal(thread_of(p, 2, "one"), thread_of(p, 3, "one"));
	assert_int_not_equal(thread_of(p, 2, "one"), thread_of(p, 2, "two"));
	assert_int_equal(mapping_of(p, "a.out", 0), mapping_of(p, "a.out", 0));
	assert_int_not_equal(mapping_of(p, "a.out", 0), mapping_of(p, "a.out", 4096));
	assert_int_equal(function_of(p, name, "a.out"), function);
	assert_int_not_equal(function_of(p, "main", "b.out"), function);
	assert_int_equal(location_of(p, 16, function, 7), location);
	assert_int_not_equal(location_of(p, 16, function, 8), location);
	assert_int_not_equal(location_of(p, 17, function, 7), location);
	assert_int_equal(stack_of(p, PROFILE_ROOT, location), stack);
	assert_int_not_equal(inner, stack);
	assert_int_equal(p->stacks[inner].depth, 2);
	/* copies were kept, not what was given */
	name[0] = '?';
	assert_string_equal(p->functions[function].name, "main");
	profile_close(p);
}

static void a_thread_is_another_one_in_another_cgroup(void **state)
{
	struct profile *p = open_profile(false);
	uint32_t ids[4];

	for (size_t i = 0; i < 4; i++) {
		static const char *const cgroups[] = {"/a", "/b", NULL, "/a"};
		const struct profile_thread thread = {
			.pid = 1, .tid = 2, .comm = "x", .cgroup = cgroups[i], .process = "p"};

		assert_int_equal(profile_thread(p, &thread, &ids[i]), 0);
	}
	assert_int_equal(p->thread_count, 3);
	assert_int_equal(ids[3], ids[0]);
	assert_string_equal(p->threads[ids[1]].cgroup, "/b");
	assert_string_equal(p->threads[ids[2]].cgroup, "");
	assert_string_equal(p->threads[ids[0]].process, "p");
	profile_close(p);
}

static void texts_may_be_missing(void **state)
{
	struct profile *p = open_profile(false);
	const uint32_t thread = thread_of(p, 2, NULL), function = function_of(p, "f", NULL);

	assert_string_equal(p->threads[thread].comm, "");
	assert_string_equal(p->functions[function].dso, "");
	profile_close(p);
}

static void inlined_functions_stay_with_their_location(void **state)
{
	struct profile *p = open_profile(false);
	const struct profile_line lines[] = {{0, 3}, {1, 9}};
	uint32_t first, second;

	function_of(p, "inlined", "a.out");
	function_of(p, "main", "a.out");
	assert_int_equal(profile_location(p, 16, PROFILE_NONE, lines, 2, &first), 0);
	assert_int_equal(profile_location(p, 16, PROFILE_NONE, lines, 1, &second), 0);
	assert_int_not_equal(first, second);
	assert_int_equal(p->locations[first].line_count, 2);
	assert_memory_equal(p->lines + p->locations[first].lines, lines, sizeof(lines));
	profile_close(p);
}

static void samples_that_differ_in_time_are_one_total(void **state)
{
	struct profile *p = open_profile(false);
	struct profile_sample sample = {.thread = thread_of(p, 2, "one"), .weight = 10, .time = 5};

	assert_int_equal(profile_add(p, &sample), 0);
	sample.time = 3;
	sample.cpu = 1;
	assert_int_equal(profile_add(p, &sample), 0);
	sample.time = 9;
	sample.traced = true;
	assert_int_equal(profile_add(p, &sample), 0);
	assert_int_equal(p->total_count, 2);
	assert_int_equal(p->totals[0].samples, 2);
	assert_int_equal(p->totals[0].weight, 20);
	assert_int_equal(p->events[0].samples, 3);
	assert_int_equal(p->events[0].weight, 30);
	assert_int_equal(p->first, 3);
	assert_int_equal(p->last, 9);
	assert_int_equal(p->threads[0].first, 3);
	assert_int_equal(p->threads[0].last, 9);
	assert_int_equal(p->threads[0].samples, 3);
	profile_close(p);
}

static void weights_do_not_run_over(void **state)
{
	struct profile *p = open_profile(true);
	struct profile_sample sample = {.thread = thread_of(p, 2, "one"), .weight = UINT64_MAX};

	assert_int_equal(profile_add(p, &sample), 0);
	sample.weight = 1;
	assert_int_equal(profile_add(p, &sample), -EOVERFLOW);
	assert_int_equal(p->events[0].samples, 1);
	profile_close(p);
}

static uint64_t count_samples(const struct profile *p, uint32_t thread, uint64_t expected)
{
	struct profile_samples samples = {.profile = p, .thread = thread};
	const struct profile_sample *sample;
	uint64_t count = 0;

	for (; profile_samples_next(&samples, &sample) == 1; count++) {
		assert_int_equal(sample->thread, thread);
		assert_int_equal(sample->time, expected + THREADS * count);
	}
	return count;
}

static void samples_are_read_by_thread_and_in_order(void **state)
{
	struct profile *p = open_profile(true);
	uint64_t all = 0;

	for (uint32_t i = 0; i < THREADS; i++)
		thread_of(p, (int)i, "one");
	for (uint32_t i = 0; i < SAMPLES; i++) {
		const struct profile_sample sample = {.time = i, .thread = i % THREADS};

		assert_int_equal(profile_add(p, &sample), 0);
	}
	for (uint32_t i = 0; i < THREADS; i++)
		all += count_samples(p, i, i);
	assert_int_equal(all, SAMPLES);
	/* a thread without a sample */
	assert_int_equal(count_samples(p, thread_of(p, 99, "late"), 0), 0);
	profile_close(p);
}

static void samples_are_not_kept_unasked(void **state)
{
	struct profile *p = open_profile(false);
	const struct profile_sample sample = {.thread = thread_of(p, 2, "one")};

	assert_int_equal(profile_add(p, &sample), 0);
	assert_int_equal(count_samples(p, 0, 0), 0);
	profile_close(p);
}

static void sources_are_cut_where_the_text_is_full(void **state)
{
	char text[64], small[9];

	assert_string_equal(profile_sources(0, text, sizeof(text)), "");
	assert_non_null(strstr(profile_sources(~0u, text, sizeof(text)), ", "));
	assert_true(strlen(profile_sources(~0u, small, sizeof(small))) < sizeof(small));
}

static void formats_are_known_by_files_names(void **state)
{
	assert_string_equal(profile_format_of_file("a.pb.gz")->name, "pprof");
	assert_string_equal(profile_format_of_file("/x/a.callgrind.gz")->name, "callgrind");
	assert_string_equal(profile_format_of_file("/x/callgrind.out.5")->name, "callgrind");
	assert_string_equal(profile_format_of_file("a.profile.json.gz")->name, "firefox");
	assert_string_equal(profile_format_of_file("a.firefox.json")->name, "firefox");
	assert_null(profile_format_of_file("profile.json"));
	assert_string_equal(profile_format_of_file("a.otlp")->name, "otlp");
	assert_string_equal(profile_format_of_file("a.otlp.pb")->name, "otlp");
	/* one is the end of the other */
	assert_string_equal(profile_format_of_file("a.otlp.pb.gz")->name, "otlp");
	assert_null(profile_format_of_file("pprof"));
	assert_null(profile_format_of_file(".pprof"));
	assert_null(profile_format_of_file("callgrind.out.d/file"));
	assert_null(profile_format_of_file("a.gz"));
	assert_null(profile_format_of_file(""));
	assert_null(profile_format_find("pprof "));
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(frames_are_outermost_first_and_inlined_ones_apart),
		cmocka_unit_test(frames_have_places_if_they_are_asked_for),
		cmocka_unit_test(samples_of_several_cpus_may_be_told_apart),
		cmocka_unit_test(each_thing_is_there_once),
		cmocka_unit_test(a_thread_is_another_one_in_another_cgroup),
		cmocka_unit_test(texts_may_be_missing),
		cmocka_unit_test(inlined_functions_stay_with_their_location),
		cmocka_unit_test(samples_that_differ_in_time_are_one_total),
		cmocka_unit_test(weights_do_not_run_over),
		cmocka_unit_test(samples_are_read_by_thread_and_in_order),
		cmocka_unit_test(samples_are_not_kept_unasked),
		cmocka_unit_test(sources_are_cut_where_the_text_is_full),
		cmocka_unit_test(formats_are_known_by_files_names),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
