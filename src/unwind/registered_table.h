/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * registered_table.h - a compiled table that was registered, as a table that can be asked.
 */
#ifndef BOBBIN_UNWIND_REGISTERED_TABLE_H
#define BOBBIN_UNWIND_REGISTERED_TABLE_H

#include "codemap/code.h"
#include "unwind/table_set.h"

/* Of a struct compiled_code. */
extern const struct table_ops registered_table_ops;

#endif
