/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
#include "export/pprof.pb-c.h"

#include <stdlib.h>
#include <string.h>

#include "export/profile_format.h"
#include "stacks.h"

#define ID "0123456789abcdef0123456789abcdef0123456789abcdef0123456789abcdef"

typedef Perftools__Profiles__Profile Message;

/* A profile of one sample in a cgroup. */
static Message *message_in(const char *cgroup)
{
	const struct profile_event event = {.name = "cpu-clock", .unit = "nanoseconds"};
	const struct profile_thread thread = {.pid = 1, .tid = 2, .comm = "a", .cgroup = cgroup};
	const struct profile_sample sample = {.weight = 1};
	struct profile *p;
	char *bytes;
	size_t size;
	FILE *out = open_memstream(&bytes, &size);
	Message *message;
	uint32_t id;

	assert_non_null(out);
	assert_int_equal(profile_open(false, &p), 0);
	assert_int_equal(profile_event(p, &event, &id), 0);
	assert_int_equal(profile_thread(p, &thread, &id), 0);
	assert_int_equal(profile_add(p, &sample), 0);
	assert_int_equal(pprof_write(p, out), 0);
	assert_int_equal(fclose(out), 0);
	profile_close(p);
	message = perftools__profiles__profile__unpack(NULL, size, (uint8_t *)bytes);
	free(bytes);
	assert_non_null(message);
	assert_int_equal(message->n_sample, 1);
	return message;
}

/* Of the sample; NULL expects none. */
static void assert_label(const Message *message, const char *key, const char *expected)
{
	const Perftools__Profiles__Sample *sample = message->sample[0];
	const char *found = NULL;

	for (size_t i = 0; i < sample->n_label; i++) {
		const Perftools__Profiles__Label *label = sample->label[i];

		if (strcmp(message->string_table[label->key], key))
			continue;
		assert_null(found);
		found = message->string_table[label->str];
	}
	if (expected)
		assert_string_equal(found, expected);
	else
		assert_null(found);
}

static void samples_have_their_cgroup_and_container(void **state)
{
	Message *message = message_in("/system.slice/docker-" ID ".scope");

	assert_label(message, "comm", "a");
	assert_label(message, "cgroup", "/system.slice/docker-" ID ".scope");
	assert_label(message, "container.id", ID);
	perftools__profiles__profile__free_unpacked(message, NULL);
}

static void what_is_not_known_is_no_label(void **state)
{
	Message *message = message_in("/system.slice/a\xff\n.service");

	assert_label(message, "cgroup", "/system.slice/a\xef\xbf\xbd.service");
	assert_label(message, "container.id", NULL);
	perftools__profiles__profile__free_unpacked(message, NULL);
	message = message_in(NULL);
	assert_label(message, "cgroup", NULL);
	assert_label(message, "container.id", NULL);
	perftools__profiles__profile__free_unpacked(message, NULL);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(samples_have_their_cgroup_and_container),
		cmocka_unit_test(what_is_not_known_is_no_label),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
