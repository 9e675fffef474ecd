/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * A recording of this program is read by the public calls.
 */
#include <bobbin/recording.h>
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cmocka.h>

#include "../own_directory.h"
#include "own_recording.h"

#define DATA "data"

static struct bobbin_recording *open_recording(void)
{
	struct bobbin_recording *recording = NULL;

	own_recording_write(DATA);
	assert_int_equal(bobbin_recording_open(DATA, NULL, NULL, &recording), 0);
	return recording;
}

static const struct bobbin_sample *next(struct bobbin_recording *recording)
{
	const struct bobbin_sample *sample = NULL;

	assert_int_equal(bobbin_recording_next(recording, NULL, &sample), 1);
	return sample;
}

static void a_sample_says_who_where_and_when(void **state)
{
	struct bobbin_recording *recording = open_recording();
	const struct bobbin_sample *sample = next(recording);

	assert_string_equal(sample->event, "cpu-clock");
	assert_string_equal(sample->comm, "subject");
	assert_int_equal(sample->pid, OWN_RECORDING_PID);
	assert_int_equal(sample->tid, OWN_RECORDING_PID);
	assert_int_equal(sample->cpu, 3);
	assert_int_equal(sample->time, 1000);
	assert_int_equal(sample->period, 250);
	assert_int_equal(sample->reason, BOBBIN_REASON_NONE);
	assert_int_equal(sample->count, 3);
	assert_true(sample->frames[0].kernel && !sample->frames[1].kernel);
	assert_int_equal(sample->frames[1].pc, own_recording_pc());
	assert_true(sample->frames[1].exact && !sample->frames[2].exact);
	bobbin_recording_close(recording);
}

static void samples_come_in_the_order_of_time_and_end(void **state)
{
	struct bobbin_recording *recording = open_recording();
	const struct bobbin_sample *sample = next(recording);

	assert_int_equal(sample->time, 1000);
	sample = next(recording);
	assert_int_equal(sample->time, 2000);
	assert_int_equal(sample->count, 1);
	sample = NULL;
	assert_int_equal(bobbin_recording_next(recording, NULL, &sample), 0);
	assert_int_equal(bobbin_recording_next(recording, NULL, &sample), 0);
	assert_null(sample);
	bobbin_recording_close(recording);
}

static void an_address_leads_to_the_mapped_file(void **state)
{
	struct bobbin_recording *recording = open_recording();
	struct bobbin_place_info place;
	struct bobbin_mapping mapping = {.pid = 77};
	char program[PATH_MAX] = "";

	assert_true(readlink("/proc/self/exe", program, sizeof(program) - 1) > 0);
	next(recording);
	assert_int_equal(bobbin_recording_find(recording, own_recording_pc(), &place), 0);
	assert_string_equal(place.mapping.path, program);
	assert_int_equal(place.file_offset - place.mapping.offset,
			 own_recording_pc() - place.mapping.start);
	assert_int_equal(bobbin_recording_find(recording, 0x1234, &place), -ENOENT);
	assert_int_equal(bobbin_recording_mapping(recording, 0, &mapping), 0);
	assert_int_equal(mapping.start, place.mapping.start);
	assert_string_equal(mapping.path, program);
	mapping.pid = 77;
	assert_int_equal(bobbin_recording_mapping(recording, 1, &mapping), -ENOENT);
	assert_int_equal(mapping.pid, 77);
	bobbin_recording_close(recording);
}

static void a_frame_has_the_name_of_its_function(void **state)
{
	struct bobbin_recording *recording = open_recording();
	const struct bobbin_sample *sample = next(recording);
	const struct bobbin_name *name = bobbin_recording_name(recording, &sample->frames[1], 0);

	assert_string_equal(name->function, "sampled_function");
	assert_int_equal(name->offset, 1);
	assert_non_null(strstr(name->file, "recording_test"));
	assert_false(name->inlined);
	assert_null(name->source_file);
	assert_null(bobbin_recording_name(recording, &sample->frames[1], 1));
	name = bobbin_recording_name(recording, &sample->frames[2], 0);
	assert_null(name->function);
	assert_string_equal(name->file, "[unknown]");
	name = bobbin_recording_name(recording, &sample->frames[0], 0);
	assert_string_equal(name->file, "[kernel.kallsyms]");
	assert_int_equal(bobbin_recording_info(recording)->unnamed, 0);
	bobbin_recording_close(recording);
}

static void lines_are_looked_up_if_they_are_asked_for(void **state)
{
	const struct bobbin_recording_options options = {
		.size = sizeof(options), .debug_path = "/nowhere", .lines = true};
	struct bobbin_recording *recording;
	const struct bobbin_sample *sample;
	const struct bobbin_name *name;

	own_recording_write(DATA);
	assert_int_equal(bobbin_recording_open(DATA, &options, NULL, &recording), 0);
	sample = next(recording);
	name = bobbin_recording_name(recording, &sample->frames[1], 0);
	assert_string_equal(name->function, "sampled_function");
	assert_non_null(strstr(name->source_file, "own_recording.c"));
	assert_true(name->line > 0);
	bobbin_recording_close(recording);
}

static void without_a_sample_there_is_no_answer(void **state)
{
	struct bobbin_recording *recording = open_recording();
	const struct bobbin_frame frame = {.pc = own_recording_pc(), .exact = true};
	struct bobbin_place_info place;
	struct bobbin_mapping mapping;

	for (int i = 0; i < 2; i++) {
		const struct bobbin_sample *sample;

		assert_null(bobbin_recording_name(recording, &frame, 0));
		assert_int_equal(bobbin_recording_find(recording, frame.pc, &place), -ENOENT);
		assert_int_equal(bobbin_recording_mapping(recording, 0, &mapping), -ENOENT);
		while (bobbin_recording_next(recording, NULL, &sample) > 0)
			;
	}
	bobbin_recording_close(recording);
}

static void the_whole_is_counted(void **state)
{
	struct bobbin_recording *recording = open_recording();
	const struct bobbin_recording_info *info = bobbin_recording_info(recording);

	assert_int_equal(info->samples, 2);
	assert_int_equal(info->lost_records, 0);
	assert_int_equal(info->unnamed_error, 0);
	assert_false(info->cut_off);
	bobbin_recording_close(recording);
}

/* What a failed call must leave alone. */
static int untouched;

static void assert_refused(const char *path, int error, enum bobbin_reason reason)
{
	struct bobbin_recording *recording = (void *)&untouched;
	struct bobbin_error err = {.offset = 99, .reason = BOBBIN_REASON_DEPTH};

	assert_int_equal(bobbin_recording_open(path, NULL, &err, &recording), error);
	assert_int_equal(err.reason, reason);
	assert_ptr_equal(recording, &untouched);
	assert_int_equal(bobbin_recording_open(path, NULL, NULL, &recording), error);
}

static void what_is_no_recording_is_refused(void **state)
{
	assert_refused("nothing", -ENOENT, BOBBIN_REASON_NONE);
	assert_refused("/", -EISDIR, BOBBIN_REASON_NONE);
	assert_refused("/bin/true", -EBADMSG, BOBBIN_REASON_PERF_MAGIC);
}

static void options_of_another_version_are_refused(void **state)
{
	struct {
		struct bobbin_recording_options options;
		uint64_t more;
	} later = {{.size = sizeof(later)}, 1};
	struct bobbin_recording_options options = {0};
	struct bobbin_recording *recording;

	own_recording_write(DATA);
	assert_int_equal(bobbin_recording_open(DATA, &options, NULL, &recording), -EINVAL);
	assert_int_equal(bobbin_recording_open(DATA, &later.options, NULL, &recording), -E2BIG);
	later.more = 0;
	assert_int_equal(bobbin_recording_open(DATA, &later.options, NULL, &recording), 0);
	bobbin_recording_close(recording);
}

/* Read all of it, whatever is in it. */
static void read_damaged(void)
{
	struct bobbin_recording *recording;
	const struct bobbin_sample *sample;
	struct bobbin_place_info place;
	int r = bobbin_recording_open(DATA, NULL, NULL, &recording);

	if (r) {
		assert_true(r < 0);
		return;
	}
	while ((r = bobbin_recording_next(recording, NULL, &sample)) != 0)
		for (size_t i = 0; r > 0 && i < sample->count; i++)
			bobbin_recording_find(recording, sample->frames[i].pc, &place);
	bobbin_recording_close(recording);
}

static void a_recording_that_was_cut_off_is_read_to_there(void **state)
{
	struct bobbin_recording *recording = open_recording();
	struct stat st;

	bobbin_recording_close(recording);
	assert_int_equal(stat(DATA, &st), 0);
	for (off_t size = st.st_size - 1; size >= 0; size -= 7) {
		assert_int_equal(truncate(DATA, size), 0);
		read_damaged();
	}
}

static void a_recording_with_a_wrong_byte_crashes_nothing(void **state)
{
	uint8_t byte;
	struct stat st;
	int fd;

	own_recording_write(DATA);
	fd = open(DATA, O_RDWR | O_CLOEXEC);
	assert_int_equal(fstat(fd, &st), 0);
	for (off_t at = 0; at < st.st_size; at += 3) {
		assert_int_equal(pread(fd, &byte, 1, at), 1);
		byte ^= 0x81;
		assert_int_equal(pwrite(fd, &byte, 1, at), 1);
		read_damaged();
		byte ^= 0x81;
		assert_int_equal(pwrite(fd, &byte, 1, at), 1);
	}
	close(fd);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(a_sample_says_who_where_and_when),
		cmocka_unit_test(samples_come_in_the_order_of_time_and_end),
		cmocka_unit_test(an_address_leads_to_the_mapped_file),
		cmocka_unit_test(a_frame_has_the_name_of_its_function),
		cmocka_unit_test(lines_are_looked_up_if_they_are_asked_for),
		cmocka_unit_test(without_a_sample_there_is_no_answer),
		cmocka_unit_test(the_whole_is_counted),
		cmocka_unit_test(what_is_no_recording_is_refused),
		cmocka_unit_test(options_of_another_version_are_refused),
		cmocka_unit_test(a_recording_that_was_cut_off_is_read_to_there),
		cmocka_unit_test(a_recording_with_a_wrong_byte_crashes_nothing),
	};

	return cmocka_run_group_tests(tests, enter_directory, leave_directory);
}
