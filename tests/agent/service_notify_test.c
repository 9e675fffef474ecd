/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
#include "agent/service_notify.h"

#include <errno.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <unistd.h>
/* after those */
#include <cmocka.h>

#include "../own_directory.h"

/* A manager's socket; @path: with '@' first, an abstract one. */
static int listen_at(const char *path)
{
	struct sockaddr_un address = {.sun_family = AF_UNIX};
	const size_t length = strlen(path);
	int fd = socket(AF_UNIX, SOCK_DGRAM, 0);

	memcpy(address.sun_path, path, length);
	if (*path == '@')
		address.sun_path[0] = '\0';
	assert_true(fd >= 0);
	assert_int_equal(bind(fd, (const struct sockaddr *)&address,
			      (socklen_t)(offsetof(struct sockaddr_un, sun_path) + length)),
			 0);
	return fd;
}

static void assert_told(const char *path)
{
	char text[64] = "";
	int fd = listen_at(path);

	assert_int_equal(setenv("NOTIFY_SOCKET", path, 1), 0);
	assert_int_equal(service_notify("READY=1"), 0);
	assert_int_equal(recv(fd, text, sizeof(text) - 1, 0), 7);
	assert_string_equal(text, "READY=1");
	close(fd);
}

static void a_manager_is_told(void **state)
{
	char path[108];

	snprintf(path, sizeof(path), "%s/socket", (const char *)*state);
	assert_told(path);
	snprintf(path, sizeof(path), "@%s", (const char *)*state);
	assert_told(path);
}

static void without_a_manager_nobody_is_told(void **state)
{
	unsetenv("NOTIFY_SOCKET");
	assert_int_equal(service_notify("READY=1"), 0);
	setenv("NOTIFY_SOCKET", "", 1);
	assert_int_equal(service_notify("READY=1"), 0);
}

static void what_is_no_socket_is_an_error(void **state)
{
	char path[200];

	setenv("NOTIFY_SOCKET", "relative", 1);
	assert_int_equal(service_notify("READY=1"), -EINVAL);
	memset(path, 'a', sizeof(path) - 1);
	*path = '/';
	path[sizeof(path) - 1] = '\0';
	setenv("NOTIFY_SOCKET", path, 1);
	assert_int_equal(service_notify("READY=1"), -EINVAL);
	setenv("NOTIFY_SOCKET", "/nobody/is/here", 1);
	assert_int_equal(service_notify("READY=1"), -ENOENT);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(a_manager_is_told),
		cmocka_unit_test(without_a_manager_nobody_is_told),
		cmocka_unit_test(what_is_no_socket_is_an_error),
	};

	return cmocka_run_group_tests(tests, enter_directory, leave_directory);
}
