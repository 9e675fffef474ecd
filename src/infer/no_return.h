/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * no_return.h - functions of common libraries that do not return, by their names.
 */
#ifndef BOBBIN_INFER_NO_RETURN_H
#define BOBBIN_INFER_NO_RETURN_H

#include <bobbin/types.h>

bool name_ends_control(const char *name);

#endif
