/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
#include "agent/otlp_settings.h"

#include <errno.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
/* after those */
#include <cmocka.h>

#define COLLECTOR "http://collector:4318"

static int clear(void **state)
{
	return clearenv();
}

static void set(const char *name, const char *value)
{
	assert_int_equal(setenv(name, value, 1), 0);
}

static struct otlp_settings read_settings(const char *url)
{
	struct otlp_settings_fault fault;
	struct otlp_settings settings;

	assert_int_equal(otlp_settings_read(url, &settings, &fault), 0);
	return settings;
}

static void assert_url(const char *given, const char *expected)
{
	struct otlp_settings settings = read_settings(given);

	if (expected)
		assert_string_equal(settings.url, expected);
	else
		assert_null(settings.url);
	otlp_settings_fini(&settings);
}

static void assert_refused(const char *name, const char *value)
{
	struct otlp_settings_fault fault;
	struct otlp_settings settings;

	set(name, value);
	assert_int_equal(otlp_settings_read(NULL, &settings, &fault), -EINVAL);
	assert_string_equal(fault.variable, name);
	assert_non_null(fault.reason);
	unsetenv(name);
}

static void an_endpoint_gets_the_path_of_profiles_unless_it_is_their_own(void **state)
{
	assert_url(NULL, NULL);
	set("OTEL_EXPORTER_OTLP_ENDPOINT", "");
	assert_url(NULL, NULL);
	set("OTEL_EXPORTER_OTLP_ENDPOINT", COLLECTOR);
	assert_url(NULL, COLLECTOR "/v1development/profiles");
	set("OTEL_EXPORTER_OTLP_ENDPOINT", COLLECTOR "/base/");
	assert_url(NULL, COLLECTOR "/base/v1development/profiles");
	set("OTEL_EXPORTER_OTLP_PROFILES_ENDPOINT", "https://other/p");
	assert_url(NULL, "https://other/p");
	assert_url("http://given", "http://given");
}

static void what_is_no_url_is_refused(void **state)
{
	struct otlp_settings_fault fault;
	struct otlp_settings settings;

	assert_refused("OTEL_EXPORTER_OTLP_ENDPOINT", "collector:4318");
	assert_refused("OTEL_EXPORTER_OTLP_PROFILES_ENDPOINT", "file:///etc/passwd");
	assert_int_equal(otlp_settings_read("ftp://x", &settings, &fault), -EINVAL);
	assert_string_equal(fault.variable, "--otlp");
}

static void lists_are_decoded(void **state)
{
	struct otlp_settings settings;

	set("OTEL_EXPORTER_OTLP_HEADERS", "Authorization=Bearer%20a%2Cb, x-scope = t ,empty=");
	settings = read_settings(NULL);
	assert_int_equal(settings.headers.count, 3);
	assert_string_equal(settings.headers.list[0].key, "Authorization");
	assert_string_equal(settings.headers.list[0].value, "Bearer a,b");
	assert_string_equal(settings.headers.list[1].key, "x-scope");
	assert_string_equal(settings.headers.list[1].value, "t");
	assert_string_equal(settings.headers.list[2].value, "");
	otlp_settings_fini(&settings);
	set("OTEL_EXPORTER_OTLP_PROFILES_HEADERS", "own=1");
	settings = read_settings(NULL);
	assert_int_equal(settings.headers.count, 1);
	assert_string_equal(settings.headers.list[0].key, "own");
	otlp_settings_fini(&settings);
}

static void hostile_lists_are_refused(void **state)
{
	char many[4096] = "";

	assert_refused("OTEL_EXPORTER_OTLP_HEADERS", "a");
	assert_refused("OTEL_EXPORTER_OTLP_HEADERS", "=a");
	assert_refused("OTEL_EXPORTER_OTLP_HEADERS", " =a");
	assert_refused("OTEL_EXPORTER_OTLP_HEADERS", "a=b,,c=d");
	assert_refused("OTEL_EXPORTER_OTLP_HEADERS", "a=%4");
	assert_refused("OTEL_EXPORTER_OTLP_HEADERS", "a=%zz");
	assert_refused("OTEL_EXPORTER_OTLP_HEADERS", "a=b%0d%0aInjected:%20c");
	assert_refused("OTEL_RESOURCE_ATTRIBUTES", "a=%00b");
	for (int i = 0; i <= OTLP_PAIRS_MAX; i++)
		snprintf(many + strlen(many), sizeof(many) - strlen(many), "%sk%d=v", i ? "," : "",
			 i);
	assert_refused("OTEL_EXPORTER_OTLP_HEADERS", many);
}

static void the_service_has_one_name(void **state)
{
	struct otlp_settings settings;

	set("OTEL_RESOURCE_ATTRIBUTES", "service.name=a,deployment.environment=test");
	set("OTEL_SERVICE_NAME", "b");
	settings = read_settings(NULL);
	assert_int_equal(settings.attributes.count, 2);
	assert_string_equal(settings.attributes.list[0].key, "service.name");
	assert_string_equal(settings.attributes.list[0].value, "b");
	otlp_settings_fini(&settings);
}

static void other_settings_are_read(void **state)
{
	struct otlp_settings settings = read_settings(NULL);

	assert_int_equal(settings.timeout_ms, 10000);
	assert_false(settings.plain);
	otlp_settings_fini(&settings);
	set("OTEL_EXPORTER_OTLP_TIMEOUT", "250");
	set("OTEL_EXPORTER_OTLP_PROFILES_COMPRESSION", "none");
	set("OTEL_EXPORTER_OTLP_COMPRESSION", "gzip");
	set("OTEL_EXPORTER_OTLP_PROTOCOL", "http/protobuf");
	set("OTEL_EXPORTER_OTLP_CERTIFICATE", "/ca.pem");
	set("OTEL_EXPORTER_OTLP_CLIENT_KEY", "/key.pem");
	settings = read_settings(NULL);
	assert_int_equal(settings.timeout_ms, 250);
	assert_true(settings.plain);
	assert_string_equal(settings.certificate, "/ca.pem");
	assert_null(settings.client_certificate);
	assert_string_equal(settings.client_key, "/key.pem");
	otlp_settings_fini(&settings);
}

static void what_cannot_be_done_is_refused(void **state)
{
	assert_refused("OTEL_EXPORTER_OTLP_PROTOCOL", "grpc");
	assert_refused("OTEL_EXPORTER_OTLP_COMPRESSION", "zstd");
	assert_refused("OTEL_EXPORTER_OTLP_TIMEOUT", "0");
	assert_refused("OTEL_EXPORTER_OTLP_TIMEOUT", "-1");
	assert_refused("OTEL_EXPORTER_OTLP_PROFILES_TIMEOUT", "10s");
	assert_refused("OTEL_EXPORTER_OTLP_TIMEOUT", "99999999999999999999");
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_setup(an_endpoint_gets_the_path_of_profiles_unless_it_is_their_own,
				       clear),
		cmocka_unit_test_setup(what_is_no_url_is_refused, clear),
		cmocka_unit_test_setup(lists_are_decoded, clear),
		cmocka_unit_test_setup(hostile_lists_are_refused, clear),
		cmocka_unit_test_setup(the_service_has_one_name, clear),
		cmocka_unit_test_setup(other_settings_are_read, clear),
		cmocka_unit_test_setup(what_cannot_be_done_is_refused, clear),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
