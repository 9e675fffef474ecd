/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * report_line.h - numbers and names of a report.
 */
#ifndef BOBBIN_EXPORT_REPORT_LINE_H
#define BOBBIN_EXPORT_REPORT_LINE_H

#include <stdint.h>
#include <stdio.h>
#include <string.h>

#define REPORT_PERCENT_SIZE 16

/* Printed from whole hundredths: the point is a point in every locale. */
static inline void report_hundredths(char text[REPORT_PERCENT_SIZE], unsigned int hundredths)
{
	snprintf(text, REPORT_PERCENT_SIZE, "%u.%02u%%", hundredths / 100, hundredths % 100);
}

/* In hundredths of a per cent, rounded; @weight is at most @total. */
static inline int64_t report_share(uint64_t weight, uint64_t total)
{
	unsigned __int128 hundredths = (unsigned __int128)weight * 10000;

	return total ? (int64_t)((hundredths + total / 2) / total) : 0;
}

/* "12.34%" */
static inline void report_percent(char text[REPORT_PERCENT_SIZE], uint64_t weight, uint64_t total)
{
	report_hundredths(text, (unsigned int)report_share(weight, total));
}

/* A limit that the user chose, in per cent. */
static inline void report_limit(char text[REPORT_PERCENT_SIZE], double percent)
{
	report_hundredths(text, percent < 100 ? (unsigned int)(percent * 100 + 0.5) : 10000);
}

/* What is shown of a file's path, which may be NULL. */
static inline const char *report_file_name(const char *path)
{
	const char *slash = path && *path != '[' ? strrchr(path, '/') : NULL;

	if (!path || !*path)
		return "[unknown]";
	return slash && slash[1] ? slash + 1 : path;
}

#endif
