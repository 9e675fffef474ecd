/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * debuginfod.c - the few calls of libdebuginfod that are needed, bound at run
 * time: it draws in an HTTP client, and most profiles never ask a server.
 */
#include "symbol/debuginfod.h"

#include <dlfcn.h>
#include <errno.h>
#include <stdlib.h>

struct debuginfod {
	void *library, *client;
	void (*end)(void *client);
	int (*find_debuginfo)(void *client, const unsigned char *build_id, int len, char **path);
};

static int bind_library(struct debuginfod *d)
{
	void *(*begin)(void);

	d->library = dlopen("libdebuginfod.so.1", RTLD_LAZY | RTLD_LOCAL);
	if (!d->library)
		return -ENOENT;
	*(void **)&begin = dlsym(d->library, "debuginfod_begin");
	*(void **)&d->end = dlsym(d->library, "debuginfod_end");
	*(void **)&d->find_debuginfo = dlsym(d->library, "debuginfod_find_debuginfo");
	if (!begin || !d->end || !d->find_debuginfo)
		return -ENOENT;
	d->client = begin();
	return d->client ? 0 : -ENOMEM;
}

int debuginfod_open(struct debuginfod **ret)
{
	struct debuginfod *d = calloc(1, sizeof(*d));
	int err;

	if (!d)
		return -ENOMEM;
	err = bind_library(d);
	if (err) {
		debuginfod_close(d);
		return err;
	}
	*ret = d;
	return 0;
}

void debuginfod_close(struct debuginfod *d)
{
	if (!d)
		return;
	if (d->client)
		d->end(d->client);
	if (d->library)
		dlclose(d->library);
	free(d);
}

int debuginfod_fetch(struct debuginfod *d, const uint8_t *build_id, size_t len)
{
	return d->find_debuginfo(d->client, build_id, (int)len, NULL);
}
