/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* uncovered_code.h - the code of a file that no table covers. */
#ifndef BOBBIN_INFER_UNCOVERED_CODE_H
#define BOBBIN_INFER_UNCOVERED_CODE_H

#include "infer/program_code.h"

/*
 * Add the code outside of @functions, which tables cover, to @ret, and settle it.  Where those
 * functions start becomes known to @program, which is not settled yet.  0, -ENOMEM.
 */
int uncovered_code_find(struct program *program, struct coverage *functions, struct coverage *ret);

#endif
