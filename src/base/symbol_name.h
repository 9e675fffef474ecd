/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * symbol_name.h - which of the names of a function people know.
 */
#ifndef BOBBIN_BASE_SYMBOL_NAME_H
#define BOBBIN_BASE_SYMBOL_NAME_H

#include <stdbool.h>
#include <string.h>

/* glibc's own calls of what it exports */
#define SYMBOL_INTERNAL "__GI_"

/* "name@VERSION" is for programs of the past; "name@@VERSION" is the name of today. */
static inline bool symbol_is_superseded(const char *name)
{
	const char *at = strchr(name, '@');

	return at && at[1] != '@';
}

static inline bool symbol_is_internal(const char *name)
{
	return !strncmp(name, SYMBOL_INTERNAL, strlen(SYMBOL_INTERNAL));
}

/* Whether @b is the better name. */
static inline bool symbol_reads_better(const char *a, const char *b)
{
	size_t m = strspn(a, "_"), n = strspn(b, "_");

	if (symbol_is_superseded(a) != symbol_is_superseded(b))
		return symbol_is_superseded(a);
	if (symbol_is_internal(a) != symbol_is_internal(b))
		return symbol_is_internal(a);
	return m != n ? n < m : strcmp(b, a) < 0;
}

#endif
