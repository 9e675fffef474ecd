/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * kallsyms.h - the functions of the running kernel and its modules.
 */
#ifndef BOBBIN_SYMBOL_KALLSYMS_H
#define BOBBIN_SYMBOL_KALLSYMS_H

#include "symbol/interval.h"

/*
 * Read a file in the format of /proc/kallsyms.  Names come out as "name" or
 * "name [module]".  A file that cannot be read, or whose addresses are all zero
 * (kptr_restrict), gives an empty list.
 * Returns 0, -ENOMEM.
 */
int kallsyms_read(const char *path, struct symlist *ret);

#endif
