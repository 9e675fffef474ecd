/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
#include "symbol/language_names.h"

#include <ctype.h>
#include <libiberty/demangle.h>
#include <stdlib.h>
#include <string.h>

/*
 * libiberty makes the whole name in memory, and a symbol can name parts of itself
 * again ('Q'), so that twenty levels of two would be a million.  With these limits
 * it is a few hundred times the symbol at most.
 */
#define MAX_SYMBOL 1024
#define MAX_BACK_REFERENCES 16

static bool is_bounded(const char *symbol)
{
	size_t references = 0, len = 0;

	for (; symbol[len] && len <= MAX_SYMBOL; len++)
		references += symbol[len] == 'Q';
	return len <= MAX_SYMBOL && references <= MAX_BACK_REFERENCES;
}

/* Where the last parameter list starts, if the name ends with one, and what may follow it. */
static size_t length_without_parameters(const char *name)
{
	const char *end = strrchr(name, ')');
	size_t at = end ? (size_t)(end - name) : 0, depth = 0;

	if (!end || strpbrk(end, ".!"))
		return strlen(name);
	for (; at; at--) {
		depth += name[at] == ')';
		depth -= name[at] == '(';
		if (!depth)
			break;
	}
	return at ? at : strlen(name);
}

bool dlang_name(const char *symbol, char *dst, size_t size)
{
	char *name = NULL;
	size_t len;

	if (strncmp(symbol, "_D", 2) || !isdigit((unsigned char)symbol[2]) || !is_bounded(symbol))
		return false;
	name = dlang_demangle(symbol, DMGL_DLANG);
	len = name ? length_without_parameters(name) : 0;
	if (len && len < size) {
		memcpy(dst, name, len);
		dst[len] = '\0';
	}
	free(name);
	return len && len < size;
}
