/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
#include "base/proc_map.h"

#include <string.h>

/* A number and the character after it; false: there is none, or another one comes. */
static bool take_number(const char **at, unsigned int base, char end, uint64_t *ret)
{
	const char *p = *at;
	uint64_t number = 0;

	for (; *p && *p != end; p++) {
		unsigned int digit = *p >= 'a' ? (unsigned int)(*p - 'a') + 10
					       : (unsigned int)(*p - '0');

		if (digit >= base || number > (UINT64_MAX - digit) / base)
			return false;
		number = base * number + digit;
	}
	if (p == *at || *p != end)
		return false;
	*at = p + 1;
	*ret = number;
	return true;
}

/* As "r-xp ". */
static bool take_permissions(const char **at, struct proc_map *ret)
{
	const char *p = *at;

	if (strnlen(p, 5) < 5 || p[4] != ' ')
		return false;
	ret->read = p[0] == 'r';
	ret->write = p[1] == 'w';
	ret->exec = p[2] == 'x';
	ret->shared = p[3] == 's';
	*at = p + 5;
	return true;
}

bool proc_map_parse(const char *line, struct proc_map *ret)
{
	struct proc_map map = {0};
	uint64_t major, minor;
	const char *p = line;

	if (!take_number(&p, 16, '-', &map.start) || !take_number(&p, 16, ' ', &map.end) ||
	    !take_permissions(&p, &map) || !take_number(&p, 16, ' ', &map.offset) ||
	    !take_number(&p, 16, ':', &major) || !take_number(&p, 16, ' ', &minor) ||
	    !take_number(&p, 10, ' ', &map.ino))
		return false;
	map.major = (uint32_t)major;
	map.minor = (uint32_t)minor;
	map.path = p + strspn(p, " ");
	*ret = map;
	return true;
}
