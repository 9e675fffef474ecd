/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
#include "cli/arguments.h"

#include "cli/command.h"

bool parse_pid(const struct arguments *a, pid_t *ret)
{
	uint64_t pid;

	if (!parse_number("PID", a->operands[0], 1, INT32_MAX, &pid))
		return false;
	*ret = (pid_t)pid;
	return true;
}
