/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
#include "cli/file_limit.h"

#include <stdbool.h>
#include <stdlib.h>
#include <sys/resource.h>

#include "base/text_file.h"

static struct rlimit original;
static bool is_raised;

/* The most that anybody may have; root need not obey its own limit. */
static rlim_t kernels_most(void)
{
	char text[32];

	text_file_read("/proc/sys/fs/nr_open", text, sizeof(text));
	return strtoull(text, NULL, 10);
}

void file_limit_raise(void)
{
	struct rlimit limit;

	if (getrlimit(RLIMIT_NOFILE, &original))
		return;
	limit = original;
	limit.rlim_cur = kernels_most();
	if (limit.rlim_cur > limit.rlim_max)
		limit.rlim_max = limit.rlim_cur;
	is_raised = limit.rlim_cur > original.rlim_max && !setrlimit(RLIMIT_NOFILE, &limit);
	if (is_raised)
		return;
	limit = original;
	limit.rlim_cur = limit.rlim_max;
	is_raised = !setrlimit(RLIMIT_NOFILE, &limit);
}

void file_limit_restore(void)
{
	if (is_raised)
		setrlimit(RLIMIT_NOFILE, &original);
}
