/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
#include "symbol/debug_servers.h"

#include <errno.h>
#include <netinet/in.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stddef.h>
#include <sys/socket.h>

#include <cmocka.h>

#include "../own_directory.h"

static const uint8_t build_id[20] = {1, 2, 3};

/* A server on the loopback that takes connections and never answers. */
static int open_silent_server(void)
{
	struct sockaddr_in address = {.sin_family = AF_INET,
				      .sin_addr.s_addr = htonl(INADDR_LOOPBACK)};
	socklen_t size = sizeof(address);
	int fd = socket(AF_INET, SOCK_STREAM | SOCK_NONBLOCK | SOCK_CLOEXEC, 0);
	char url[64];

	assert_true(fd >= 0);
	assert_int_equal(bind(fd, (struct sockaddr *)&address, size), 0);
	assert_int_equal(listen(fd, 16), 0);
	assert_int_equal(getsockname(fd, (struct sockaddr *)&address, &size), 0);
	snprintf(url, sizeof(url), "http://127.0.0.1:%d", ntohs(address.sin_port));
	setenv("DEBUGINFOD_URLS", url, 1);
	return fd;
}

static int count_connections(int server)
{
	int count = 0, fd;

	while ((fd = accept(server, NULL, NULL)) >= 0) {
		close(fd);
		count++;
	}
	return count;
}

static void count_silence(void *ctx)
{
	++*(int *)ctx;
}

static struct debug_servers *open_servers(int *silences)
{
	struct debug_servers *servers = NULL;
	char cache[64];

	assert_non_null(getcwd(cache, sizeof(cache)));
	setenv("DEBUGINFOD_CACHE_PATH", cache, 1);
	/* of the loopback no proxy knows */
	setenv("no_proxy", "*", 1);
	if (debug_servers_open(count_silence, silences, &servers) == -ENOENT) {
		print_message("no libdebuginfod\n");
		skip();
	}
	assert_non_null(servers);
	return servers;
}

static void servers_that_do_not_answer_are_waited_for_once(void **state)
{
	int server = open_silent_server(), silences = 0;
	struct debug_servers *servers;

	setenv("DEBUGINFOD_TIMEOUT", "1", 1);
	servers = open_servers(&silences);
	assert_int_equal(debug_servers_fetch(servers, build_id, sizeof(build_id)), -ETIMEDOUT);
	assert_int_equal(silences, 1);
	assert_true(count_connections(server) > 0);
	for (int i = 0; i < 100; i++)
		assert_int_equal(debug_servers_fetch(servers, build_id, sizeof(build_id)),
				 -ETIMEDOUT);
	assert_int_equal(silences, 1);
	assert_int_equal(count_connections(server), 0);
	debug_servers_close(servers);
	close(server);
}

static void servers_that_are_not_there_are_asked_again(void **state)
{
	int silences = 0;
	struct debug_servers *servers;

	/* nobody listens there */
	close(open_silent_server());
	setenv("DEBUGINFOD_TIMEOUT", "100", 1);
	servers = open_servers(&silences);
	for (int i = 0; i < 3; i++)
		assert_int_equal(debug_servers_fetch(servers, build_id, sizeof(build_id)), -ENOENT);
	assert_int_equal(silences, 0);
	debug_servers_close(servers);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_setup_teardown(servers_that_do_not_answer_are_waited_for_once,
						enter_directory, leave_directory),
		cmocka_unit_test_setup_teardown(servers_that_are_not_there_are_asked_again,
						enter_directory, leave_directory),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
