/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
#include "base/process_stat.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/clock.h"
#include "base/text_file.h"

#define STAT_SIZE 1024
#define PATIENCE 20
#define FLAG_KERNEL 0x00200000 /* PF_KTHREAD of Linux */
/* linux/sched.h: PF_EXITING */
#define FLAG_EXITING 0x4
/* linux/proc_ns.h: PROC_PID_INIT_INO */
#define INITIAL_PID_NAMESPACE 0xEFFFFFFC

/* The numbers of proc(5). */
enum stat_field {
	FIELD_NAME = 2,
	FIELD_STATE = 3,
	FIELD_PARENT = 4,
	FIELD_FLAGS = 9,
	FIELD_USER_TIME = 14,
	FIELD_START_TIME = 22,
	FIELD_RESIDENT = 24,
};

/* Text from a field on; "" for none. */
static const char *read_from(pid_t pid, enum stat_field field, char text[STAT_SIZE])
{
	int spaces = (int)field - FIELD_NAME;
	char name[32], *at;

	snprintf(name, sizeof(name), "/proc/%d/stat", pid);
	text_file_read(pid ? name : "/proc/self/stat", text, STAT_SIZE);
	/* the name may have anything in it but is in brackets */
	at = strrchr(text, ')');
	while (at && spaces--)
		at = strchr(at + 1, ' ');
	return at ? at + 1 : "";
}

uint64_t process_start_time(pid_t pid)
{
	char text[STAT_SIZE];

	return strtoull(read_from(pid, FIELD_START_TIME, text), NULL, 10);
}

bool process_is_kernels(pid_t pid)
{
	char text[STAT_SIZE];

	return strtoull(read_from(pid, FIELD_FLAGS, text), NULL, 10) & FLAG_KERNEL;
}

static long read_status(pid_t pid, const char *word)
{
	char name[32], status[1024];

	snprintf(name, sizeof(name), "/proc/%d/status", pid);
	text_file_read(name, status, sizeof(status));
	return text_number_after(status, word);
}

pid_t process_of(pid_t tid)
{
	long pid = read_status(tid, "\nTgid:");

	return pid > 0 ? (pid_t)pid : 0;
}

bool process_user(pid_t pid, uint32_t *ret)
{
	long user = read_status(pid, "\nUid:");

	if (user >= 0)
		*ret = (uint32_t)user;
	return user >= 0;
}

uint64_t process_cpu_ms(pid_t pid)
{
	char text[STAT_SIZE], *end;
	uint64_t user = strtoull(read_from(pid, FIELD_USER_TIME, text), &end, 10);
	uint64_t system = strtoull(end, NULL, 10);

	return (user + system) * 1000 / (uint64_t)sysconf(_SC_CLK_TCK);
}

uint64_t process_resident(pid_t pid)
{
	char text[STAT_SIZE];

	return strtoull(read_from(pid, FIELD_RESIDENT, text), NULL, 10) *
	       (uint64_t)sysconf(_SC_PAGESIZE);
}

char process_state(pid_t pid)
{
	char text[STAT_SIZE];

	return *read_from(pid, FIELD_STATE, text);
}

pid_t process_parent(pid_t pid)
{
	char text[STAT_SIZE];

	return (pid_t)strtol(read_from(pid, FIELD_PARENT, text), NULL, 10);
}

bool process_has_memory(pid_t pid)
{
	char text[STAT_SIZE];
	const char *flags = read_from(pid, FIELD_FLAGS, text);

	return *flags && !(strtoul(flags, NULL, 10) & FLAG_EXITING);
}

bool process_is_late(pid_t pid, uint64_t since_ns, uint64_t limit_ns)
{
	uint64_t passed = clock_now() - since_ns;

	return passed >= limit_ns &&
	       (passed / (PATIENCE + 1) >= limit_ns || process_state(pid) != 'R');
}

/* Those are the numbers of the first namespace. */
bool pid_namespace_is_initial(void)
{
	struct stat st;

	return !stat("/proc/self/ns/pid", &st) && st.st_ino == INITIAL_PID_NAMESPACE;
}
