/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
#include "cli/targets.h"

#include <dirent.h>
#include <errno.h>
#include <poll.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "base/process_stat.h"
#include "base/text_file.h"
#include "base/vector.h"
#include "cli/command.h"
#include "cli/live_process.h"
#include "profile/process_table.h"
#include "target/lineage.h"

#define SHOWN_CHILDREN 6

static bool add(struct targets *t, struct recorder_target target)
{
	for (size_t i = 0; i < t->count; i++)
		if (t->all[i].pid == target.pid && t->all[i].tid == target.tid)
			return true;
	if (!vector_push(t->all, t->count, t->capacity, target))
		return true;
	complain("%s", strerror(ENOMEM));
	return false;
}

/* The kernel keeps the first 15 bytes of a name. */
static bool is_called(pid_t pid, const char *name)
{
	char path[32], text[COMM_SIZE + 1];

	snprintf(path, sizeof(path), "/proc/%d/comm", pid);
	text_file_read(path, text, sizeof(text));
	text[strcspn(text, "\n")] = '\0';
	return *text && !strncmp(text, name, COMM_SIZE - 1) &&
	       (strlen(name) >= COMM_SIZE - 1 || !strcmp(text, name));
}

static bool add_called(struct targets *t, const char *option, const char *name)
{
	bool found = false, is_good = true;
	struct dirent *entry;
	DIR *all = opendir("/proc");

	while (all && is_good && (entry = readdir(all))) {
		pid_t pid = (pid_t)strtol(entry->d_name, NULL, 10);

		if (pid <= 0 || pid == getpid() || !is_called(pid, name))
			continue;
		found = true;
		is_good = add(t, (struct recorder_target){.pid = pid});
	}
	if (all)
		closedir(all);
	if (is_good && !found)
		complain_use("%s: no process is called '%s'", option, name);
	return is_good && found;
}

static bool add_number(struct targets *t, const char *option, const char *text, bool thread)
{
	struct recorder_target target = {0};
	uint64_t value;

	if (!parse_number(option, text, 1, INT32_MAX, &value))
		return false;
	*(thread ? &target.tid : &target.pid) = (pid_t)value;
	return add(t, target);
}

bool targets_parse(struct targets *targets, const char *option, const char *list, bool threads)
{
	char word[64];

	for (;;) {
		size_t length = strcspn(list, ",");
		bool is_name = !threads && length && !memchr("-+0123456789", *list, 12);

		snprintf(word, sizeof(word), "%.*s", (int)length, list);
		if (is_name ? !add_called(targets, option, word)
			    : !add_number(targets, option, word, threads))
			return false;
		if (!list[length])
			return true;
		list += length + 1;
	}
}

bool targets_are_mixed(const struct targets *targets)
{
	for (size_t i = 1; i < targets->count; i++)
		if (!targets->all[i].tid != !targets->all[0].tid)
			return true;
	return false;
}

static int open_target(struct recorder_target *target, int *pidfd)
{
	if (target->tid) {
		target->pid = process_of(target->tid);
		if (!target->pid) {
			complain("thread %d: no such thread", target->tid);
			return 1;
		}
	}
	*pidfd = (int)syscall(SYS_pidfd_open, target->pid, 0);
	if (*pidfd >= 0)
		return 0;
	complain_process("process", target->pid, -errno);
	return 1;
}

static bool is_sampled(const struct targets *t, pid_t pid)
{
	for (size_t i = 0; i < t->count; i++)
		if (t->all[i].pid == pid)
			return true;
	for (size_t i = 0; i < t->child_count; i++)
		if (t->children[i] == pid)
			return true;
	return false;
}

static int add_children(struct targets *t, pid_t pid)
{
	pid_t *found = NULL;
	int count = descendants_list(pid, &found);
	int r = count < 0 ? -ENOMEM
			  : vector_reserve(&t->children, &t->child_capacity,
					   t->child_count + (size_t)count, sizeof(*t->children));

	for (int i = 0; i < count && !r; i++)
		if (!is_sampled(t, found[i]))
			t->children[t->child_count++] = found[i];
	free(found);
	return r;
}

/* Those of a thread are not expected to be sampled. */
static int find_children(struct targets *t)
{
	int error = 0;

	for (size_t i = 0; i < t->count && !error; i++)
		if (!t->all[i].tid)
			error = add_children(t, t->all[i].pid);
	if (error)
		complain("%s", strerror(ENOMEM));
	return error;
}

static int note_children(struct targets *t)
{
	if (find_children(t))
		return 1;
	t->cpu_ms = calloc(t->child_count + 1, sizeof(*t->cpu_ms));
	if (!t->cpu_ms) {
		complain("%s", strerror(ENOMEM));
		return 1;
	}
	for (size_t i = 0; i < t->child_count; i++)
		t->cpu_ms[i] = process_cpu_ms(t->children[i]);
	return 0;
}

/* What was started by what is sampled becomes a target of its own. */
static int take_children(struct targets *t)
{
	int error = find_children(t);

	for (size_t i = 0; i < t->child_count && !error; i++)
		error = !add(t, (struct recorder_target){.pid = t->children[i]});
	t->child_count = 0;
	return error ? 1 : 0;
}

int targets_open(struct targets *targets)
{
	if (targets->with_children && take_children(targets))
		return 1;
	targets->pidfds = malloc(targets->count * sizeof(*targets->pidfds));
	if (!targets->pidfds) {
		complain("%s", strerror(ENOMEM));
		return 1;
	}
	memset(targets->pidfds, 0xff, targets->count * sizeof(*targets->pidfds));
	for (size_t i = 0; i < targets->count; i++)
		if (open_target(&targets->all[i], &targets->pidfds[i]))
			return 1;
	return note_children(targets);
}

void targets_close(struct targets *targets)
{
	for (size_t i = 0; targets->pidfds && i < targets->count; i++)
		if (targets->pidfds[i] >= 0)
			close(targets->pidfds[i]);
	free(targets->all);
	free(targets->pidfds);
	free(targets->children);
	free(targets->cpu_ms);
	*targets = (struct targets){0};
}

static bool has_ended(const struct recorder_target *target, int pidfd)
{
	struct pollfd p = {.fd = pidfd, .events = POLLIN};

	if (poll(&p, 1, 0) > 0)
		return true;
	return target->tid && syscall(SYS_tgkill, target->pid, target->tid, 0) && errno == ESRCH;
}

bool targets_ended(const struct targets *targets)
{
	for (size_t i = 0; i < targets->count; i++)
		if (!has_ended(&targets->all[i], targets->pidfds[i]))
			return false;
	return true;
}

void targets_tell_children(const struct targets *targets)
{
	size_t count = targets->child_count;

	if (!count)
		return;
	fprintf(stderr, "%s: children that run already are not sampled:", called_command());
	for (size_t i = 0; i < count && i < SHOWN_CHILDREN; i++)
		fprintf(stderr, "%s %d", i ? "," : "", targets->children[i]);
	if (count > SHOWN_CHILDREN)
		fprintf(stderr, " and %zu more", count - SHOWN_CHILDREN);
	fputs("; --with-children samples them, too\n", stderr);
}

uint64_t targets_missed_ms(const struct targets *targets)
{
	uint64_t sum = 0;

	for (size_t i = 0; i < targets->child_count; i++) {
		uint64_t now = process_cpu_ms(targets->children[i]);

		sum += now > targets->cpu_ms[i] ? now - targets->cpu_ms[i] : 0;
	}
	return sum;
}
