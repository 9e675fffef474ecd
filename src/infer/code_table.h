/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * code_table.h - inferred rules of a file's code that no table covers, as a compiled table.
 */
#ifndef BOBBIN_INFER_CODE_TABLE_H
#define BOBBIN_INFER_CODE_TABLE_H

#include "table/infer_ops.h"

/*
 * It finds tables by a digest of all code of a file, and of what its tables cover.  Where there
 * is nothing to infer, or nothing is found, the table is there, and says nothing.
 */
extern const struct infer_ops code_table_ops;

#endif
