/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * promise.h - conditions that hold for any input; otherwise the program aborts and prints
 * where.
 */
#ifndef BOBBIN_TESTS_PROMISE_H
#define BOBBIN_TESTS_PROMISE_H

#include <stdio.h>
#include <stdlib.h>

#define promise(what) \
	do { \
		if (!(what)) { \
			fprintf(stderr, "%s:%d: broken: %s\n", __FILE__, __LINE__, #what); \
			abort(); \
		} \
	} while (0)

#endif
