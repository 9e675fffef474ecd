/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
#include "cli/live_process.h"

#include <errno.h>
#include <inttypes.h>
#include <string.h>

#include "cli/command.h"
#include "unwind/module.h"
#include "unwind/remote_update.h"

bool parse_pid(const struct arguments *a, pid_t *ret)
{
	uint64_t pid;

	if (!parse_number("PID", a->operands[0], 1, INT32_MAX, &pid))
		return false;
	*ret = (pid_t)pid;
	return true;
}

int live_process_open(const struct bobbin_unwinder_options *options, const struct infer_ops *infer,
		      pid_t pid, struct live_process *ret)
{
	struct bobbin_process_options process = {.size = sizeof(process)};
	int r;

	*ret = (struct live_process){.pid = pid};
	r = unwinder_open(options, infer, &ret->unwinder);
	process.unwinder = ret->unwinder;
	return r ? r : bobbin_process_open(pid, &process, &ret->process);
}

void live_process_close(struct live_process *live)
{
	bobbin_process_close(live->process);
	bobbin_unwinder_close(live->unwinder);
}

static const char *why(int error)
{
	switch (error) {
	case -EBADMSG:
		return bobbin_reason_str(BOBBIN_REASON_CODE_PAGE);
	case -ETIMEDOUT:
		return bobbin_reason_str(BOBBIN_REASON_NO_ANSWER);
	default:
		return strerror(-error);
	}
}

void live_process_tell_code(const struct live_process *live, bool denied)
{
	uint64_t left_out = unwinder_left_out(live->unwinder);
	int r = bobbin_process_code_status(live->process);

	if (left_out)
		complain("process %d: %" PRIu64
			 " pieces of its registered code are left out: there are too many",
			 live->pid, left_out);
	if (r == -EBADMSG || r == -ETIMEDOUT || r == -ENOMEM || (denied && r < 0 && r != -ENOENT))
		complain("process %d: its registered code: %s", live->pid, why(r));
}
