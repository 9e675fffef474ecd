/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* described_rules.h - the rules of code whose run time describes it. */
#ifndef BOBBIN_INFER_DESCRIBED_RULES_H
#define BOBBIN_INFER_DESCRIBED_RULES_H

#include "table/described_code.h"

/*
 * The rows of a piece of code, from offset 0 on; in one pass, in time and memory of its size.
 * @ret->rows is to be freed.  0; -EFBIG: it is too large; -ENOTSUP: not by this build; -ENOMEM.
 */
int described_rules(const struct described_code *code, struct described_rows *ret);

#endif
