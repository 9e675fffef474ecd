/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
#include "cli/live_process.h"

#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "base/process_stat.h"
#include "base/text_file.h"
#include "cli/command.h"
#include "unwind/module.h"
#include "unwind/remote_update.h"

#define STATUS_SIZE 2048

bool parse_pid(const char *text, pid_t *ret)
{
	uint64_t pid;

	if (!parse_number("PID", text, 1, INT32_MAX, &pid))
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

static void read_status(pid_t id, char status[STATUS_SIZE])
{
	char name[32];

	snprintf(name, sizeof(name), "/proc/%d/status", id);
	text_file_read(name, status, STATUS_SIZE);
}

bool complain_nothing_there(const char *kind, pid_t id)
{
	bool is_process = !strcmp(kind, "process");
	char status[STATUS_SIZE], state = process_state(id);
	bool others;

	read_status(id, status);
	others = text_number_after(status, "\nThreads:") > 1;
	if (process_is_kernels(id))
		complain("%s %d: is the kernel's own, no program's", kind, id);
	else if ((state != 'Z' && state != 'X') || (others && is_process))
		return false;
	else if (others)
		complain("%s %d: has ended; other threads of its process have not", kind, id);
	else
		complain("%s %d: has ended; it is a zombie, since process %d has not waited for it",
			 kind, id, process_parent(id));
	return true;
}

/* The name of a process, or "?". */
static void read_comm(pid_t id, char comm[32])
{
	char name[32];

	snprintf(name, sizeof(name), "/proc/%d/comm", id);
	if (!text_file_read(name, comm, 32))
		strcpy(comm, "?");
	comm[strcspn(comm, "\n")] = 0;
}

static void complain_denied(const char *kind, pid_t id)
{
	char status[STATUS_SIZE], comm[32];
	long tracer;

	read_status(id, status);
	tracer = text_number_after(status, "\nTracerPid:");
	if (tracer > 0) {
		read_comm((pid_t)tracer, comm);
		complain("%s %d: a debugger holds it: process %ld (%s)", kind, id, tracer, comm);
	} else {
		complain("%s %d: not allowed to trace it: be its owner or root, see "
			 "kernel.yama.ptrace_scope",
			 kind, id);
	}
}

void complain_process(const char *kind, pid_t id, int error)
{
	if (complain_nothing_there(kind, id))
		return;
	if (error == -EPERM || error == -EACCES)
		complain_denied(kind, id);
	else if (error == -ETIMEDOUT)
		complain("%s %d: does not stop: it waits in the kernel, as in vfork(2)", kind, id);
	else
		complain("%s %d: %s", kind, id,
			 error == -ENOTSUP ? "not a 64-bit program" : strerror(-error));
}
