/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
#include "agent/otlp_client.h"

#include <errno.h>
#include <setjmp.h>
#include <stdarg.h>
/* after those */
#include <cmocka.h>

#include "http_peer.h"

static volatile sig_atomic_t stop;

/* Posts "body" to a server that answers so. */
static struct otlp_answer post(struct http_peer *peer, struct otlp_settings *settings,
			       const char *answer, size_t size)
{
	struct otlp_answer ret;
	struct otlp_client *client;
	char url[64];

	http_peer_start(peer, answer, size);
	snprintf(url, sizeof(url), "http://127.0.0.1:%u/path", peer->port);
	settings->url = url;
	if (!settings->timeout_ms)
		settings->timeout_ms = 20000;
	assert_int_equal(otlp_client_open(settings, &stop, &client), 0);
	otlp_client_post(client, "body", 4, &ret);
	otlp_client_close(client);
	http_peer_end(peer);
	settings->url = NULL;
	return ret;
}

static struct otlp_answer post_text(const char *answer)
{
	static struct http_peer peer;
	struct otlp_settings settings = {0};

	return post(&peer, &settings, answer, strlen(answer));
}

static void the_request_is_as_the_protocol_wants_it(void **state)
{
	static struct http_peer peer;
	char key[] = "X-Scope", value[] = "tenant";
	struct otlp_settings settings = {.headers = {.list = {{key, value}}, .count = 1}};
	const char *answer = "HTTP/1.1 200 OK\r\nContent-Length: 0\r\n\r\n";
	struct otlp_answer got = post(&peer, &settings, answer, strlen(answer));

	assert_int_equal(got.outcome, OTLP_ACCEPTED);
	assert_int_equal(got.status, 200);
	assert_memory_equal(peer.request, "POST /path HTTP/1.1\r\n", 21);
	assert_non_null(strstr(peer.request, "\r\nContent-Type: application/x-protobuf\r\n"));
	assert_non_null(strstr(peer.request, "\r\nContent-Encoding: gzip\r\n"));
	assert_non_null(strstr(peer.request, "\r\nX-Scope: tenant\r\n"));
	assert_non_null(strstr(peer.request, "\r\nUser-Agent: bobbin/"));
	assert_null(strstr(peer.request, "Expect"));
	assert_string_equal(peer.request + peer.size - 8, "\r\n\r\nbody");
	settings.plain = true;
	post(&peer, &settings, answer, strlen(answer));
	assert_null(strstr(peer.request, "Content-Encoding"));
}

static void a_busy_server_is_asked_again(void **state)
{
	struct otlp_answer answer =
		post_text("HTTP/1.1 503 Busy\r\nRetry-After: 17\r\nContent-Length: 0\r\n\r\n");

	assert_int_equal(answer.outcome, OTLP_LATER);
	assert_int_equal(answer.status, 503);
	assert_int_equal(answer.retry_after, 17);
	answer = post_text("HTTP/1.1 429 Slow\r\nContent-Length: 0\r\n\r\n");
	assert_int_equal(answer.outcome, OTLP_LATER);
	assert_int_equal(answer.retry_after, 0);
	answer = post_text("HTTP/1.1 502 Bad\r\nRetry-After: soon\r\nContent-Length: 0\r\n\r\n");
	assert_int_equal(answer.outcome, OTLP_LATER);
	assert_int_equal(answer.retry_after, 0);
}

static void what_is_wrong_is_refused_for_good(void **state)
{
	static const char *const statuses[] = {"301", "400", "401", "404", "413", "500", "501"};
	char text[128];

	for (size_t i = 0; i < sizeof(statuses) / sizeof(*statuses); i++) {
		struct otlp_answer answer;

		snprintf(text, sizeof(text),
			 "HTTP/1.1 %s No\r\nRetry-After: 9\r\nContent-Length: 0\r\n\r\n",
			 statuses[i]);
		answer = post_text(text);
		assert_int_equal(answer.outcome, OTLP_REFUSED);
		assert_int_equal(answer.retry_after, 0);
		assert_non_null(strstr(answer.text, statuses[i]));
	}
}

static void a_server_that_is_not_there_may_come(void **state)
{
	struct otlp_answer answer = post_text("");

	assert_int_equal(answer.outcome, OTLP_LATER);
	assert_int_equal(answer.status, 0);
	assert_true(*answer.text);
	answer = post_text("nonsense\r\n\r\n");
	assert_int_equal(answer.outcome, OTLP_LATER);
}

/* ExportProfilesServiceResponse{partial_success{rejected_profiles 3, error_message "full"}} */
static void profiles_that_are_not_taken_are_counted(void **state)
{
	static struct http_peer peer;
	static const char answer[] = "HTTP/1.1 200 OK\r\nContent-Length: 10\r\n\r\n"
				     "\x0a\x08\x08\x03\x12\x04"
				     "full";
	struct otlp_settings settings = {0};
	struct otlp_answer got = post(&peer, &settings, answer, sizeof(answer) - 1);

	assert_int_equal(got.outcome, OTLP_ACCEPTED);
	assert_int_equal(got.rejected, 3);
	assert_string_equal(got.text, "full");
	got = post_text("HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\n{}");
	assert_int_equal(got.outcome, OTLP_ACCEPTED);
	assert_int_equal(got.rejected, 0);
	assert_string_equal(got.text, "");
}

static void a_request_can_be_ended(void **state)
{
	struct otlp_answer answer;

	stop = 1;
	answer = post_text("HTTP/1.1 200 OK\r\nContent-Length: 5\r\n\r\n");
	stop = 0;
	assert_int_equal(answer.outcome, OTLP_LATER);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(the_request_is_as_the_protocol_wants_it),
		cmocka_unit_test(a_busy_server_is_asked_again),
		cmocka_unit_test(what_is_wrong_is_refused_for_good),
		cmocka_unit_test(a_server_that_is_not_there_may_come),
		cmocka_unit_test(profiles_that_are_not_taken_are_counted),
		cmocka_unit_test(a_request_can_be_ended),
	};

	signal(SIGPIPE, SIG_IGN);
	unsetenv("http_proxy");
	return cmocka_run_group_tests(tests, NULL, NULL);
}
