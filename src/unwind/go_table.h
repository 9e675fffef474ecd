/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* go_table.h - Go's own table (golang/pclntab.h) among those of a file. */
#ifndef BOBBIN_UNWIND_GO_TABLE_H
#define BOBBIN_UNWIND_GO_TABLE_H

#include "unwind/table_ops.h"

/* Of a struct pclntab. */
extern const struct table_ops go_table_ops;

#endif
