/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * path_list.h - folders with colons between them, as in $PATH.
 *
 *	while ((folder = path_list_next(&list, &length)))
 *		...
 */
#ifndef BOBBIN_BASE_PATH_LIST_H
#define BOBBIN_BASE_PATH_LIST_H

#include <stddef.h>
#include <string.h>

/*
 * The next folder that is not empty, of @length bytes; *@list, which may be NULL, becomes what comes
 * after it.  NULL: there are no more.
 */
static inline const char *path_list_next(const char **list, size_t *length)
{
	const char *folder = *list ? *list + strspn(*list, ":") : NULL;

	if (!folder || !*folder)
		return NULL;
	*length = strcspn(folder, ":");
	*list = folder + *length;
	return folder;
}

#endif
