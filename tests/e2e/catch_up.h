/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * catch_up.h - let the recorder read what a program has in its memory, before it changes.
 *
 * On a busy machine the recorder may be seconds late: it reads samples that the kernel has
 * taken, but memory as it is now.
 */
#ifndef BOBBIN_TESTS_E2E_CATCH_UP_H
#define BOBBIN_TESTS_E2E_CATCH_UP_H

#include <stdbool.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

/* More than it sleeps at once: each time that it is seen asleep, it has been awake before. */
#define CATCH_UP_PAUSE_US 60000
#define CATCH_UP_LOOKS 3

static inline bool proc_says(pid_t pid, const char *file, const char *word)
{
	char path[64], text[64] = "";
	FILE *f;

	snprintf(path, sizeof(path), "/proc/%d/%s", pid, file);
	f = fopen(path, "r");
	if (!f)
		return false;
	if (!fgets(text, sizeof(text), f))
		text[0] = 0;
	fclose(f);
	return strstr(text, word);
}

/* Until the recorder has nothing left to do but to poll; @pid: others wait for nobody. */
static inline void let_catch_up(pid_t pid)
{
	int looks = 0;

	while (looks < CATCH_UP_LOOKS && proc_says(pid, "comm", "bobbin")) {
		usleep(CATCH_UP_PAUSE_US);
		looks += proc_says(pid, "wchan", "poll");
	}
}

#endif
