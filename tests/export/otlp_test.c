/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
#include "export/otlp.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "export/otlp.pb-c.h"
#include "stacks.h"

#define PERIOD 1000

typedef Otlp__ExportProfilesServiceRequest Request;

/* main, and what it calls: the same function in two files of code. */
static struct profile *small_profile(void)
{
	const struct profile_event event = {
		.name = "cpu-clock", .unit = "nanoseconds", .period = PERIOD};
	struct profile *p;
	uint32_t id, stack = PROFILE_ROOT;

	assert_int_equal(profile_open(false, &p), 0);
	assert_int_equal(profile_event(p, &event, &id), 0);
	assert_int_equal(
		profile_thread(p, &(struct profile_thread){.pid = 1, .tid = 2, .comm = "a"}, &id),
		0);
	for (uint32_t i = 0; i < 2; i++) {
		const struct profile_function function = {.name = "f", .dso = i ? "a" : "b"};
		struct profile_line line = {0};

		assert_int_equal(profile_function(p, &function, &line.function), 0);
		assert_int_equal(line.function, i);
		assert_int_equal(profile_location(p, i, PROFILE_NONE, &line, 1, &id), 0);
		assert_int_equal(profile_stack(p, stack, id, &stack), 0);
	}
	return p;
}

static void add_sample(struct profile *p, uint64_t weight, uint32_t stack)
{
	const struct profile_sample sample = {.weight = weight, .stack = stack};

	assert_int_equal(profile_add(p, &sample), 0);
}

/* Of any number of resources. */
static Request *whole_request_of(struct profile *p, const struct otlp_attribute *attributes,
				 size_t count)
{
	char *bytes;
	size_t size;
	FILE *out = open_memstream(&bytes, &size);
	Request *request;

	assert_non_null(out);
	assert_int_equal(otlp_write_request(p, attributes, count, out), 0);
	assert_int_equal(fclose(out), 0);
	request = otlp__export_profiles_service_request__unpack(NULL, size, (uint8_t *)bytes);
	free(bytes);
	profile_close(p);
	assert_non_null(request);
	return request;
}

static Request *request_of(struct profile *p, const struct otlp_attribute *attributes, size_t count)
{
	Request *request = whole_request_of(p, attributes, count);

	assert_int_equal(request->n_resource_profiles, 1);
	assert_int_equal(request->resource_profiles[0]->n_scope_profiles, 1);
	return request;
}

static void free_request(Request *request)
{
	otlp__export_profiles_service_request__free_unpacked(request, NULL);
}

static const Otlp__Profile *profile_in(const Request *request)
{
	const Otlp__ScopeProfiles *scope = request->resource_profiles[0]->scope_profiles[0];

	assert_int_equal(scope->n_profiles, 1);
	return scope->profiles[0];
}

/* NULL: it has none */
static const char *attribute_of(const Otlp__Resource *resource, const char *key)
{
	const char *found = NULL;

	for (size_t i = 0; i < resource->n_attributes; i++) {
		if (strcmp(resource->attributes[i]->key, key))
			continue;
		assert_null(found);
		found = resource->attributes[i]->value->string_value;
	}
	return found;
}

static const char *resource_attribute(const Request *request, const char *key)
{
	return attribute_of(request->resource_profiles[0]->resource, key);
}

static const char *text(const Request *request, int32_t number)
{
	assert_in_range(number, 0, request->dictionary->n_string_table - 1);
	return request->dictionary->string_table[number];
}

static void services_are_unknown_unless_they_are_given(void **state)
{
	const struct otlp_attribute own[] = {
		{"service.name", "mail"}, {"host.name", "mine"}, {"container.id", "a\xff\n"}};
	struct profile *p = small_profile();
	Request *request = request_of(p, NULL, 0);

	assert_string_equal(resource_attribute(request, "service.name"), "unknown_service");
	assert_null(resource_attribute(request, "host.name"));
	free_request(request);
	p = small_profile();
	assert_int_equal(profile_set_host(p, "its"), 0);
	request = request_of(p, own, 1);
	assert_string_equal(resource_attribute(request, "service.name"), "mail");
	assert_string_equal(resource_attribute(request, "host.name"), "its");
	free_request(request);
	p = small_profile();
	assert_int_equal(profile_set_host(p, "its"), 0);
	request = request_of(p, own, 3);
	assert_string_equal(resource_attribute(request, "host.name"), "mine");
	assert_string_equal(resource_attribute(request, "container.id"), "a\xef\xbf\xbd");
	free_request(request);
}

/* A sample of a thread, with two events in all. */
static void add_thread_sample(struct profile *p, const struct profile_thread *thread,
			      uint32_t event)
{
	struct profile_sample sample = {.weight = PERIOD, .stack = 1, .event = event};

	assert_int_equal(profile_thread(p, thread, &sample.thread), 0);
	assert_int_equal(profile_add(p, &sample), 0);
}

#define ID "0123456789abcdef0123456789abcdef0123456789abcdef0123456789abcdef"
#define UID "2f9a7c15-3c1d-4a0e-9d52-7f1f8b6f0c11"
#define POD "/kubepods/burstable/pod" UID "/" ID

static struct profile *profile_of_services(void)
{
	static const struct profile_event faults = {.name = "page-faults", .unit = "count"};
	static const struct profile_thread threads[] = {
		{.pid = 3, .tid = 4, .comm = "worker 1", .cgroup = POD, .process = "java"},
		{.pid = 5, .tid = 5, .comm = "sshd", .cgroup = "/system.slice/ssh.service"},
		{.pid = 3, .tid = 5, .comm = "worker 2", .cgroup = POD, .process = "java"},
		{.pid = 6,
		 .tid = 6,
		 .comm = "kworker/0:1",
		 .cgroup = "/",
		 .process = "kworker/0:1"},
		{.pid = 7,
		 .tid = 7,
		 .comm = "kworker/1:1",
		 .cgroup = "/",
		 .process = "kworker/1:1"},
	};
	struct profile *p = small_profile();
	uint32_t id;

	assert_int_equal(profile_event(p, &faults, &id), 0);
	for (size_t i = 0; i < sizeof(threads) / sizeof(*threads); i++)
		add_thread_sample(p, &threads[i], 0);
	add_thread_sample(p, &threads[2], 1);
	return p;
}

/* @profiles, and @samples of the first one; NULL: no such attribute. */
static void assert_resource(const Otlp__ResourceProfiles *profiles, const char *service,
			    const char *container, const char *pod, size_t count, size_t samples)
{
	const Otlp__Resource *resource = profiles->resource;
	const Otlp__ScopeProfiles *scope = profiles->scope_profiles[0];

	assert_string_equal(attribute_of(resource, "service.name"), service);
	if (container)
		assert_string_equal(attribute_of(resource, "container.id"), container);
	else
		assert_null(attribute_of(resource, "container.id"));
	if (pod)
		assert_string_equal(attribute_of(resource, "k8s.pod.uid"), pod);
	else
		assert_null(attribute_of(resource, "k8s.pod.uid"));
	assert_int_equal(profiles->n_scope_profiles, 1);
	assert_int_equal(scope->n_profiles, count);
	assert_int_equal(scope->profiles[0]->n_samples, samples);
}

static void there_is_a_resource_for_each_service(void **state)
{
	Request *request = whole_request_of(profile_of_services(), NULL, 0);

	assert_int_equal(request->n_resource_profiles, 3);
	assert_resource(request->resource_profiles[0], "java", ID, UID, 2, 2);
	assert_resource(request->resource_profiles[1], "ssh.service", NULL, NULL, 1, 1);
	assert_resource(request->resource_profiles[2], "kworker", NULL, NULL, 1, 2);
	free_request(request);
}

static void what_is_given_is_told_apart_no_more(void **state)
{
	const struct otlp_attribute given[] = {
		{"service.name", "mail"}, {"k8s.pod.uid", "its"}, {"container.id", "one"}};
	Request *request = whole_request_of(profile_of_services(), given, 2);

	assert_int_equal(request->n_resource_profiles, 2);
	assert_resource(request->resource_profiles[0], "mail", ID, "its", 2, 2);
	assert_resource(request->resource_profiles[1], "mail", NULL, "its", 1, 3);
	free_request(request);
	request = whole_request_of(profile_of_services(), given, 3);
	assert_int_equal(request->n_resource_profiles, 1);
	assert_resource(request->resource_profiles[0], "mail", "one", "its", 2, 5);
	free_request(request);
}

static void samples_of_a_clock_are_counted_if_each_is_a_period(void **state)
{
	struct profile *p = small_profile();
	Request *request;

	add_sample(p, PERIOD, 1);
	add_sample(p, PERIOD, 1);
	add_sample(p, PERIOD, 2);
	request = request_of(p, NULL, 0);
	assert_string_equal(text(request, profile_in(request)->sample_type->type_strindex),
			    "samples");
	assert_string_equal(text(request, profile_in(request)->period_type->type_strindex), "cpu");
	assert_int_equal(profile_in(request)->samples[0]->values[0], 2);
	free_request(request);
}

static void other_samples_of_a_clock_are_times(void **state)
{
	struct profile *p = small_profile();
	Request *request;

	/* two periods together, which is not each of them */
	add_sample(p, PERIOD, 1);
	add_sample(p, PERIOD + 1, 1);
	add_sample(p, PERIOD - 1, 2);
	request = request_of(p, NULL, 0);
	assert_string_equal(text(request, profile_in(request)->sample_type->type_strindex), "cpu");
	assert_int_equal(profile_in(request)->samples[0]->values[0], 2 * PERIOD + 1);
	assert_int_equal(profile_in(request)->samples[1]->values[0], PERIOD - 1);
	free_request(request);
}

static void tables_have_what_samples_refer_to(void **state)
{
	struct profile *p = small_profile();
	const Otlp__ProfilesDictionary *d;
	Request *request;

	add_sample(p, PERIOD, PROFILE_ROOT);
	add_sample(p, PERIOD, 2);
	request = request_of(p, NULL, 0);
	d = request->dictionary;
	/* the stack that is only a part of the other one is not there, functions of the same name are one */
	assert_int_equal(d->n_stack_table, 2);
	assert_int_equal(d->n_function_table, 2);
	assert_int_equal(d->n_location_table, 3);
	assert_int_equal(d->n_mapping_table, 1);
	assert_int_equal(d->n_link_table, 1);
	assert_int_equal(profile_in(request)->samples[0]->stack_index, 0);
	assert_int_equal(profile_in(request)->samples[1]->stack_index, 1);
	/* leaf first */
	assert_int_equal(d->stack_table[1]->n_location_indices, 2);
	assert_int_equal(d->stack_table[1]->location_indices[0], 2);
	assert_int_equal(d->stack_table[1]->location_indices[1], 1);
	assert_string_equal(text(request, d->function_table[1]->name_strindex), "f");
	free_request(request);
}

static void profiles_have_ids_of_their_own(void **state)
{
	Request *one = request_of(small_profile(), NULL, 0);
	Request *other = request_of(small_profile(), NULL, 0);

	assert_int_equal(profile_in(one)->profile_id.len, 16);
	assert_int_equal(profile_in(other)->profile_id.len, 16);
	assert_memory_not_equal(profile_in(one)->profile_id.data,
				profile_in(other)->profile_id.data, 16);
	free_request(one);
	free_request(other);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(services_are_unknown_unless_they_are_given),
		cmocka_unit_test(there_is_a_resource_for_each_service),
		cmocka_unit_test(what_is_given_is_told_apart_no_more),
		cmocka_unit_test(samples_of_a_clock_are_counted_if_each_is_a_period),
		cmocka_unit_test(other_samples_of_a_clock_are_times),
		cmocka_unit_test(tables_have_what_samples_refer_to),
		cmocka_unit_test(profiles_have_ids_of_their_own),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
