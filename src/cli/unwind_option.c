/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
#include "cli/unwind_option.h"

#include <inttypes.h>
#include <stdlib.h>

#include "unwind/remote_update.h"

/* Pages come from slow disks, too, and the machine may be busy. */
#define DEADLINE_MS 1000

static const char *default_sframe_path(void)
{
	const char *path = getenv("BOBBIN_SFRAME_PATH");

	return path ? path : "/usr/lib/debug/.build-id";
}

struct bobbin_unwinder_options unwind_defaults(void)
{
	return (struct bobbin_unwinder_options){.size = sizeof(struct bobbin_unwinder_options),
						.debug_path = "/usr/lib/debug",
						.sframe_path = default_sframe_path(),
						.deadline_ms = DEADLINE_MS};
}

bool unwind_option(int option, const char *arg, struct bobbin_unwinder_options *options)
{
	switch (option) {
	case UNWIND_NO_SFRAME:
		options->ignore_sframe = true;
		return true;
	case UNWIND_DEBUG_PATH:
		options->debug_path = arg;
		return true;
	case UNWIND_SFRAME_PATH:
		options->sframe_path = arg;
		return true;
	default:
		return false;
	}
}

void complain_left_out(const struct bobbin_unwinder *unwinder, pid_t pid)
{
	uint64_t count = unwinder_left_out(unwinder);

	if (count)
		complain("process %d: %" PRIu64
			 " pieces of its registered code are left out: there are too many",
			 pid, count);
}

int parse_pid(int argc, char **argv, const struct command *command, pid_t *ret)
{
	uint64_t pid;

	if (optind != argc - 1) {
		complain_use("one process number is needed");
		return show_usage(command);
	}
	if (!parse_number("PID", argv[optind], 1, INT32_MAX, &pid))
		return EXIT_USAGE;
	*ret = (pid_t)pid;
	return 0;
}
