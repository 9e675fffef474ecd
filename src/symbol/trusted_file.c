/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
#include "symbol/trusted_file.h"

#include "base/text_file.h"

#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#define STATUS_SIZE 8192

static void parse_status(const char *status, struct file_teller *t)
{
	const char *uid = strstr(status, "\nUid:"), *pids = strstr(status, "\nNSpid:");
	char *end;

	if (!uid)
		return;
	t->user = (uid_t)strtoul(uid + 5, &end, 10);
	t->effective = (uid_t)strtoul(end, NULL, 10);
	t->alive = true;
	/* One number for each namespace, the innermost last. */
	end = pids ? (char *)pids + 7 : NULL;
	while (end && (*end == ' ' || *end == '\t'))
		t->inner_pid = (pid_t)strtol(end, &end, 10);
}

struct file_teller file_teller_of(pid_t pid)
{
	struct file_teller t = {.inner_pid = pid, .user = geteuid(), .effective = geteuid()};
	char path[64], status[STATUS_SIZE];

	snprintf(path, sizeof(path), "/proc/%d/status", (int)pid);
	text_file_read(path, status, sizeof(status));
	parse_status(status, &t);
	return t;
}

bool file_teller_owns(const struct file_teller *teller, const struct stat *st)
{
	return st->st_uid == 0 || st->st_uid == teller->user || st->st_uid == teller->effective;
}

int trusted_file_open(const struct remote_process *process, const char *path,
		      const struct file_teller *teller, struct stat *st)
{
	int fd = process_file_open(process, path, O_NOFOLLOW, st);

	if (fd < 0 || file_teller_owns(teller, st))
		return fd;
	close(fd);
	return -1;
}
