/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
#include "cli/preload.h"

#include <errno.h>
#include <libgen.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "cli/command.h"

/* Of a command in the folder in which it was built: "../libbobbin-….so" from there. */
static bool find_built(const char *name, char ret[PATH_MAX])
{
	char self[PATH_MAX], built[PATH_MAX];
	ssize_t size = readlink("/proc/self/exe", self, sizeof(self) - 1);

	if (size <= 0)
		return false;
	self[size] = 0;
	size = snprintf(built, sizeof(built), "%s/../%s", dirname(self), name);
	return size < (int)sizeof(built) && realpath(built, ret) && !access(ret, R_OK);
}

/* It ends in ".0", as what is linked with it wants it. */
static bool find_installed(const char *name, char ret[PATH_MAX])
{
	int size = snprintf(ret, PATH_MAX, "%s/%s.0", BOBBIN_LIBRARIES, name);

	return size < PATH_MAX && !access(ret, R_OK);
}

static bool find(const char *name, char ret[PATH_MAX])
{
	return find_built(name, ret) || find_installed(name, ret);
}

bool preload_exists(const char *name)
{
	char path[PATH_MAX];

	return find(name, path);
}

bool preload_find(const char *name, struct preload *ret)
{
	if (!find(name, ret->library)) {
		complain("%s is not in %s: it comes with bobbin's libraries", name,
			 BOBBIN_LIBRARIES);
		return false;
	}
	if (!strpbrk(ret->library, " :"))
		return true;
	complain("%s: a path with a space or a colon cannot be preloaded", ret->library);
	return false;
}

int preload_set(const struct preload *preload)
{
	const char *others = getenv("LD_PRELOAD");
	char *list;
	int r;

	if (asprintf(&list, "%s%s%s", preload->library, others ? ":" : "", others ? others : "") <
	    0)
		return ENOMEM;
	r = setenv("LD_PRELOAD", list, 1) || setenv(preload->variable, preload->value, 1);
	free(list);
	return r ? errno : 0;
}
