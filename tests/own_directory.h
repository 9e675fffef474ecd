/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * own_directory.h - a new directory in which a test works, for cmocka's setup and teardown.
 */
#ifndef BOBBIN_TESTS_OWN_DIRECTORY_H
#define BOBBIN_TESTS_OWN_DIRECTORY_H

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

static inline int enter_directory(void **state)
{
	char template[] = "/tmp/bobbin_test.XXXXXX";

	*state = strdup(mkdtemp(template));
	return chdir(*state);
}

static inline int leave_directory(void **state)
{
	char command[64];

	snprintf(command, sizeof(command), "rm -rf %s", (char *)*state);
	free(*state);
	return chdir("/") || system(command);
}

#endif
