/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* function_sink.h - takes the functions of a table, one by one. */
#ifndef BOBBIN_UNWIND_FUNCTION_SINK_H
#define BOBBIN_UNWIND_FUNCTION_SINK_H

#include <bobbin/types.h>

/* What is not 0 ends the sequence and is returned. */
typedef int (*function_sink)(void *ctx, uint64_t start, uint64_t end);

#endif
