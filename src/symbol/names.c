/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
#include "symbol/names.h"

#include <stdio.h>
#include <string.h>

int names_keep(struct names *names, const char *text, const char **ret)
{
	char clean[NAME_MAX_SIZE];

	snprintf(clean, sizeof(clean), "%s", text);
	for (char *at = clean; *at; at++)
		if ((unsigned char)*at < ' ' || *at == 0x7f)
			*at = '?';
	return name_pool_intern(&names->pool, clean, ret);
}

/* "name@VERSION" and "name@@VERSION" of symbol tables, but not "name@plt". */
static size_t unversioned_length(const char *mangled)
{
	const char *at = strchr(mangled, '@');

	return at && at > mangled && strcmp(at, "@plt") ? (size_t)(at - mangled) : strlen(mangled);
}

int names_symbol(struct names *names, const char *mangled, struct name_pair *ret)
{
	char plain[NAME_MAX_SIZE], readable[NAME_MAX_SIZE];
	size_t len = unversioned_length(mangled);
	struct name_pair pair;
	int err;

	if (len >= sizeof(plain))
		len = sizeof(plain) - 1;
	memcpy(plain, mangled, len);
	plain[len] = '\0';
	err = names_keep(names, mangled, &pair.mangled);
	if (!err && names->demangle &&
	    names->demangle(names->ctx, plain, readable, sizeof(readable)))
		err = names_keep(names, readable, &pair.name);
	else if (!err)
		err = names_keep(names, plain, &pair.name);
	if (!err)
		*ret = pair;
	return err;
}
