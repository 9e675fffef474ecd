/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
#include "symbol/debug_servers.h"

#include <errno.h>
#include <fcntl.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

#include "base/clock.h"
#include "base/loaded_library.h"

#define MOST_PATIENCE 3600

/* The few calls of libdebuginfod that are needed; @client is its own. */
struct debuginfod_calls {
	void *(*begin)(void);
	void (*end)(void *client);
	int (*find_debuginfo)(void *client, const unsigned char *build_id, int length, char **path);
	void (*set_progressfn)(void *client, int (*call)(void *client, long done, long all));
	void (*set_user_data)(void *client, void *data);
	void *(*get_user_data)(void *client);
};

struct debug_servers {
	struct debuginfod_calls calls;
	void *client;
	void (*on_silence)(void *ctx);
	void *ctx;
	uint64_t patience, until; /* nanoseconds; of the file that is being asked for */
	bool silent;
};

/* The library gives a callback nothing but the client: how to get at its data is the same for all. */
static void *(*data_of)(void *client);

static int bind_calls(struct debuginfod_calls *c)
{
	static const char *const names[] = {"libdebuginfod.so.1", NULL};
	const struct library_function functions[] = {
		{"debuginfod_begin", &c->begin},
		{"debuginfod_end", &c->end},
		{"debuginfod_find_debuginfo", &c->find_debuginfo},
		{"debuginfod_set_progressfn", &c->set_progressfn},
		{"debuginfod_set_user_data", &c->set_user_data},
		{"debuginfod_get_user_data", &c->get_user_data},
	};

	return loaded_library_open(names, functions, sizeof(functions) / sizeof(*functions));
}

/* Nothing that has begun to arrive is cut off: the library does that if it takes too long. */
static int is_too_late(void *client, long done, long all)
{
	const struct debug_servers *s = data_of(client);

	return !all && clock_now() >= s->until;
}

static uint64_t patience(void)
{
	const char *text = getenv("DEBUGINFOD_TIMEOUT");
	long seconds = text ? strtol(text, NULL, 10) : 0;

	if (seconds <= 0)
		seconds = DEBUG_SERVERS_PATIENCE;
	return NS_PER_SECOND * (uint64_t)(seconds < MOST_PATIENCE ? seconds : MOST_PATIENCE);
}

static int bind_library(struct debug_servers *s)
{
	if (bind_calls(&s->calls))
		return -ENOENT;
	s->client = s->calls.begin();
	if (!s->client)
		return -ENOMEM;
	data_of = s->calls.get_user_data;
	s->calls.set_user_data(s->client, s);
	s->calls.set_progressfn(s->client, is_too_late);
	return 0;
}

int debug_servers_open(void (*on_silence)(void *ctx), void *ctx, struct debug_servers **ret)
{
	struct debug_servers *s = calloc(1, sizeof(*s));
	int r;

	if (!s)
		return -ENOMEM;
	s->on_silence = on_silence;
	s->ctx = ctx;
	s->patience = patience();
	r = bind_library(s);
	if (r)
		debug_servers_close(s);
	else
		*ret = s;
	return r;
}

void debug_servers_close(struct debug_servers *servers)
{
	if (!servers)
		return;
	if (servers->client)
		servers->calls.end(servers->client);
	free(servers);
}

static int give_up(struct debug_servers *s)
{
	if (!s->silent && s->on_silence)
		s->on_silence(s->ctx);
	s->silent = true;
	return -ETIMEDOUT;
}

/* A file of the library's cache, which it may have opened for writing. */
static int open_again(int fd)
{
	char path[48];
	int ret;

	snprintf(path, sizeof(path), "/proc/self/fd/%d", fd);
	ret = open(path, O_RDONLY | O_CLOEXEC);
	close(fd);
	return ret < 0 ? -ENOENT : ret;
}

int debug_servers_fetch(struct debug_servers *servers, const uint8_t *build_id, size_t length)
{
	int fd;

	if (servers->silent)
		return -ETIMEDOUT;
	servers->until = clock_now() + servers->patience;
	fd = servers->calls.find_debuginfo(servers->client, build_id, (int)length, NULL);
	if (fd >= 0)
		return open_again(fd);
	return clock_now() >= servers->until ? give_up(servers) : -ENOENT;
}
