/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* shortage.h - errors that say that something has run out, not that it does not exist. */
#ifndef BOBBIN_BASE_SHORTAGE_H
#define BOBBIN_BASE_SHORTAGE_H

#include <errno.h>
#include <stdbool.h>

/* @err: a negative errno. */
static inline bool is_shortage(int err)
{
	return err == -ENOMEM || err == -EMFILE || err == -ENFILE;
}

#endif
