/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
#include "agent/metrics_page.h"

#include <errno.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
/* after those */
#include <cmocka.h>

#include "http_peer.h"

static void write_count(void *ctx, FILE *out)
{
	fprintf(out, "count %d\n", ++*(int *)ctx);
}

static void ask(const struct metrics_page *page, const char *line, char *text, size_t size)
{
	char request[256];

	snprintf(request, sizeof(request), "%s HTTP/1.1\r\nHost: x\r\nConnection: close\r\n\r\n",
		 line);
	http_ask(metrics_page_port(page), request, text, size);
}

static void it_is_written_for_each_request(void **state)
{
	struct metrics_page *page;
	char text[2048];
	int count = 0;

	assert_int_equal(metrics_page_open("127.0.0.1:0", write_count, &count, &page), 0);
	ask(page, "GET /metrics", text, sizeof(text));
	assert_memory_equal(text, "HTTP/1.1 200 ", 13);
	assert_non_null(strstr(text, "text/plain; version=0.0.4"));
	assert_string_equal(text + strlen(text) - 8, "count 1\n");
	ask(page, "GET /metrics", text, sizeof(text));
	assert_string_equal(text + strlen(text) - 8, "count 2\n");
	metrics_page_close(page);
}

static void there_is_nothing_else(void **state)
{
	struct metrics_page *page;
	char text[2048];
	int count = 0;

	assert_int_equal(metrics_page_open("0", write_count, &count, &page), 0);
	ask(page, "GET /", text, sizeof(text));
	assert_memory_equal(text, "HTTP/1.1 404 ", 13);
	ask(page, "GET /metrics/../../etc/passwd", text, sizeof(text));
	assert_memory_equal(text, "HTTP/1.1 404 ", 13);
	ask(page, "DELETE /metrics", text, sizeof(text));
	assert_memory_equal(text, "HTTP/1.1 405 ", 13);
	assert_int_equal(count, 0);
	metrics_page_close(page);
}

static void what_is_no_address_is_refused(void **state)
{
	static const char *const addresses[] = {"",          "x",          "127.0.0.1",
						":9464",     "127.0.0.1:", "127.0.0.1:65536",
						"host:9464", "[::1:9464",  "127.0.0.1:-1"};
	struct metrics_page *page;

	for (size_t i = 0; i < sizeof(addresses) / sizeof(*addresses); i++)
		assert_int_equal(metrics_page_open(addresses[i], write_count, NULL, &page),
				 -EINVAL);
}

static void a_port_has_one_page(void **state)
{
	struct metrics_page *page, *other;
	char address[32];
	int count = 0;

	assert_int_equal(metrics_page_open("127.0.0.1:0", write_count, &count, &page), 0);
	snprintf(address, sizeof(address), "127.0.0.1:%u", metrics_page_port(page));
	assert_int_equal(metrics_page_open(address, write_count, &count, &other), -EADDRINUSE);
	metrics_page_close(page);
	metrics_page_close(NULL);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(it_is_written_for_each_request),
		cmocka_unit_test(there_is_nothing_else),
		cmocka_unit_test(what_is_no_address_is_refused),
		cmocka_unit_test(a_port_has_one_page),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
